#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

/// Words of a command that somebody pastes into a shell. Every hint that prints a command with a name or a path in it
/// makes that part here. Pure functions; the results are printable.
namespace gridtorrent {

/// One word as bash and zsh read it: plain where it can be, else in quotes; what is not printable as in $'a\nb\xff'.
std::string shell_word(std::string_view bytes);

/// The arguments at the end of a command, with "--" before them where one begins with a dash: "-- -x 'a b'".
std::string shell_arguments(std::initializer_list<std::string_view> arguments);

}  // namespace gridtorrent
