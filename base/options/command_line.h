#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/options/options.h"

namespace gridtorrent::options {

/// The command line taken apart by CLI11, not yet checked: which command, and the values given for each option and
/// positional by name ("true" or "false" for flags).
struct CommandLine {
  std::string command;
  bool command_is_group = false;  ///< "node": its words are only the beginning of commands
  std::map<std::string, std::vector<std::string>, std::less<>> values;
};

/// kInvalid, with the way out, for unknown commands and options, missing values and too many arguments.
Result<CommandLine> split_command_line(const Program& program, std::span<const std::string> arguments);

/// The candidate nearest to `word`, for "did you mean"; empty where none is near.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// The refusal of words that are no command, with what may have been meant: by the words of other tools, else the
/// nearest. `words` are those typed, as far as the first that is unknown.
Error unknown_command(const Program& program, const std::string& words);

/// "see 'gridtorrent get --help'".
std::string help_hint(const Program& program, std::string_view command);

}  // namespace gridtorrent::options
