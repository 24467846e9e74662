#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/options/options.h"

namespace gridtorrent::options {

/// A small program with one of each kind of option.
inline Program sample_program() {
  return {
      .name = "sample",
      .summary = "tries what an option table can do",
      .description = "First paragraph.\n\nSecond paragraph.",
      .options = join({{{.name = "listen",
                         .value = "HOST:PORT",
                         .help = "where to serve",
                         .default_value = "[::]:7443",
                         .check = is_host_port},
                        {.name = "share-root",
                         .value = "NAME=DIR",
                         .help = "a folder to share",
                         .repeatable = true,
                         .check = is_named_root},
                        {.name = "json", .help = "print JSON"}},
                       logging_options()}),
      .commands =
          {{.name = "get",
            .summary = "fetch a content",
            .positionals = {{.name = "CONTENT", .help = "what to fetch"}},
            .options = {{.name = "to", .value = "DIR", .help = "where to put it", .check = is_not_empty},
                        {.name = "limit", .value = "RATE", .help = "no faster than this", .check = is_rate},
                        {.name = "lanes",
                         .value = "N",
                         .help = "sockets a seeder",
                         .default_value = "auto",
                         .check = auto_or_integer_between(1, 32)},
                        {.name = "priority", .value = "N", .help = "higher first", .check = integer_between(-10, 10)},
                        {.name = "detach", .help = "do not wait"}},
            .examples = {{"sample get run42", "fetches run42"}},
            .group = "Data"},
           {.name = "node list", .summary = "list nodes", .group = "Nodes"},
           {.name = "node show",
            .summary = "show a node",
            .positionals = {{.name = "NODE", .help = "which"}},
            .group = "Nodes"},
           {.name = "drop",
            .summary = "drop some",
            .positionals = {{.name = "ID", .help = "which", .repeatable = true}},
            .options = {{.name = "quiet", .help = "say nothing"}},
            .group = "Data"},
           {.name = "search",
            .summary = "look around",
            .positionals = {{.name = "QUERY", .help = "part of a name", .required = false}},
            .group = "Data"},
           {.name = "completion",
            .summary = "print completion",
            .positionals = {{.name = "SHELL", .help = "which", .choices = {"bash", "zsh"}}}},
           {.name = "tune", .summary = "not there yet", .takes_anything = true}},
      .other_words = {{"ls", {"search", "node list"}}, {"node rm", {"node show", "node list", "search"}}},
      .needs_command = true,
      .examples = {{"sample search", "lists all"}},
      .exit_codes = {{"0", "done"}, {"2", "wrong usage"}},
      .see_also = {"gridtorrent(1)"}};
}

struct World {
  std::map<std::string, std::string> variables{{"XDG_CONFIG_HOME", "/home/u/.config"}};
  std::map<std::string, std::string> files;

  Environment environment() const {
    return {.variable = [this](const std::string& name) -> std::optional<std::string> {
              const auto found = variables.find(name);
              if (found == variables.end()) return std::nullopt;
              return found->second;
            },
            .read_file = [this](const std::string& path) -> Result<std::optional<std::string>> {
              const auto found = files.find(path);
              if (found == files.end()) return std::optional<std::string>();
              return std::optional(found->second);
            }};
  }

  Outcome parse(const std::vector<std::string>& arguments, const Program& program = sample_program()) const {
    return options::parse(program, arguments, environment());
  }
  /// The values, or an empty Parsed with a test failure at the caller's `has`.
  Parsed good(const std::vector<std::string>& arguments) const {
    Outcome outcome = parse(arguments);
    if (auto* parsed = std::get_if<Parsed>(&outcome)) return *parsed;
    if (const auto* error = std::get_if<Error>(&outcome)) throw std::runtime_error("refused: " + error->message);
    throw std::runtime_error("printed help");
  }
  /// The refusal's line, or "" where it was taken.
  std::string refusal(const std::vector<std::string>& arguments) const {
    Outcome outcome = parse(arguments);
    const auto* error = std::get_if<Error>(&outcome);
    if (error == nullptr) return "";
    return error->code == Code::kInvalid ? error->message : "wrong code: " + error->message;
  }
  std::string printed(const std::vector<std::string>& arguments) const {
    Outcome outcome = parse(arguments);
    const auto* printout = std::get_if<Printout>(&outcome);
    return printout == nullptr ? "" : printout->text;
  }
};

}  // namespace gridtorrent::options
