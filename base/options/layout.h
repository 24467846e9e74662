#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/options/options.h"

/// What the renderers of help, man page, markdown and completion share.
namespace gridtorrent::options {

/// "--lane-ports FIRST-LAST", "-h, --help".
std::string option_heading(const Option& option);
/// "CONTENT"; "[CONTENT]" where it may be left out, "CONTENT..." where there may be several.
std::string positional_usage(const Positional& positional);
/// "get [OPTION]... CONTENT", without the program's name.
std::string command_usage(const Command& command);
/// "default: 50000-50015; given several times", or empty.
std::string option_notes(const Option& option);
std::vector<std::string> paragraphs_of(std::string_view text);
/// Command groups in the order of their first appearance; commands without a group stand under "Commands".
std::vector<std::string> command_groups(const Program& program);
/// The options that are shown, standard ones last where `with_standard`.
std::vector<Option> shown_options(const std::vector<Option>& own, bool with_standard);

}  // namespace gridtorrent::options
