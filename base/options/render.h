#pragma once

#include <string>
#include <string_view>

#include "base/options/options.h"

/// What people read about a program, generated from its option table. Pure functions; the texts end in a newline.
namespace gridtorrent::options {

/// For --help; `command` is empty for the program itself, or the words of a command or of a group of commands ("node").
std::string help_text(const Program& program, std::string_view command, int width = 100);
/// A man page in roff (man macros).
std::string man_page(const Program& program, std::string_view version);
/// A reference in markdown for docs/.
std::string markdown_reference(const Program& program);
/// A completion script for "bash", "zsh" or "fish"; kInvalid for another shell.
Result<std::string> completion_script(const Program& program, std::string_view shell);

/// An option's environment variable. Of the program (`command` is empty): "lane-ports" → "GRIDTORRENT_LANE_PORTS"; of a
/// command: "node enroll-token" and "ttl" → "GRIDTORRENT_NODE_ENROLL_TOKEN_TTL".
std::string environment_name(std::string_view command, std::string_view option);
/// The options that every program has: --help, --version, --config.
const std::vector<Option>& standard_options();
const Command* find_command(const Program& program, std::string_view name);

}  // namespace gridtorrent::options
