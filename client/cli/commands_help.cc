#include "base/options/render.h"
#include "client/cli/context.h"

namespace gridtorrent::client::cli {

namespace {

Status completion(Context& c) {
  GT_ASSIGN(const std::string script, options::completion_script(program(), c.options.str("SHELL")));
  c.terminal.result(script);
  return {};
}

Status not_yet(Context& c) {
  const std::string& name = c.options.command();
  return Error{Code::kUnsupported, "'" + name + "' is not there yet: subscriptions come with a later release"};
}

}  // namespace

std::vector<CommandEntry> help_commands() {
  return {
      {{.name = "completion",
        .summary = "print a completion script for a shell",
        .positionals = {{.name = "SHELL", .help = "bash, zsh or fish", .choices = {"bash", "zsh", "fish"}}},
        .examples = {{"source <(gridtorrent completion bash)", "for this shell; put the line into ~/.bashrc for all"}},
        .group = "Help"},
       completion}};
}

std::vector<CommandEntry> commands_yet_to_come() {
  std::vector<CommandEntry> commands;
  for (const char* name : {"subscribe"})
    commands.push_back(
        {{.name = name, .summary = "not there yet", .group = "Yet to come", .takes_anything = true}, not_yet});
  return commands;
}

}  // namespace gridtorrent::client::cli
