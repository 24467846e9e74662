#include "base/options/options.h"
#include "base/options/render.h"

namespace gridtorrent::options {

const std::vector<Option>& standard_options() {
  static const std::vector<Option> options{
      {.name = "config", .value = "FILE", .help = "read this file instead of the user's own; it must exist"},
      {.name = "help", .help = "show this help, or that of a command, and exit", .command_line_only = true},
      {.name = "version", .help = "show the version and exit", .command_line_only = true},
      {.name = "help-man", .help = "print the man page", .hidden = true, .command_line_only = true},
      {.name = "help-markdown", .help = "print the reference", .hidden = true, .command_line_only = true},
      {.name = "help-completion",
       .value = "SHELL",
       .help = "print a completion script",
       .hidden = true,
       .command_line_only = true}};
  return options;
}

std::vector<Option> logging_options(std::string level) {
  return {{.name = "log-format",
           .value = "FORMAT",
           .help = "how messages are written to standard error: lines for people, or one JSON object a line",
           .default_value = "text",
           .choices = {"text", "json"}},
          {.name = "log-level",
           .value = "LEVEL",
           .help = "the least important messages to write",
           .default_value = std::move(level),
           .choices = {"debug", "info", "warning", "error"}}};
}

std::vector<Option> daemon_options() {
  return {{.name = "data-dir",
           .value = "DIR",
           .help = "where the program keeps what it must not lose; made with mode 0700 where it is missing",
           .required = true,
           .check = is_not_empty},
          {.name = "ready-file",
           .value = "FILE",
           .help = "written in one piece once the program serves: JSON with its pid and the addresses really bound"}};
}

std::vector<Option> join(std::initializer_list<std::vector<Option>> parts) {
  std::vector<Option> all;
  for (const std::vector<Option>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<Option> on_command_line_only(std::vector<Option> options) {
  for (Option& option : options) option.command_line_only = true;
  return options;
}

}  // namespace gridtorrent::options
