#include "client/cli/completing.h"
#include "client/cli/context.h"

namespace gridtorrent::client::cli {

namespace {

std::vector<options::Option> shared_options() {
  return options::join(
      {{{.name = "json", .help = "print JSON: one document, or one object a line for what takes time"},
        {.name = "ids", .help = "show ids where names are shown, and beside names in lists"},
        {.name = "profile", .value = "NAME", .help = "which login to use", .default_value = "default"},
        {.name = "socket",
         .value = "PATH",
         .help = "the local node's control socket (default: $XDG_RUNTIME_DIR/gridtorrent/control.sock, or control.sock "
                 "in the data folder of 'gridtorrent node start' where one answers there)"},
        {.name = "server",
         .value = "HOST:PORT",
         .help = "the server, instead of the login's",
         .check = options::is_host_port},
        {.name = "ca", .value = "FILE", .help = "the certificate of the server's CA, instead of the login's"},
        {.name = "token-file",
         .value = "FILE",
         .help = "a file with your token, instead of the login's",
         .secret_file = true}},
       options::logging_options("warning")});
}

options::Program make_program() {
  options::Program made{
      .name = "gridtorrent",
      .summary = "share research data with colleagues, and fetch theirs from every node that has it",
      .description =
          "Talks to the node on this machine (gridtorrentd), which sends and receives the data, and to the server "
          "(gridtorrent-server), which knows who may have what.",
      .options = shared_options(),
      .other_words = other_words(),
      .completer = kCompleter,
      .needs_command = true,
      .examples = {{"gridtorrent login --server lab.example.org:7443 --ca ca.pem --user mia", ""},
                   {"gridtorrent publish ~/run42 --name run42 --access public", ""},
                   {"gridtorrent get mia/run42 --to /data", "on a colleague's machine"}},
      .files = {{"$XDG_CONFIG_HOME/gridtorrent/profiles/NAME.json",
                 "the login: server and user, with a copy of the CA beside it"},
                {"$XDG_STATE_HOME/gridtorrent/tokens/NAME", "the login's token, mode 0600"}},
      .exit_codes = {{"0", "done"},
                     {"1", "anything not named below"},
                     {"2", "wrong usage"},
                     {"3", "not found, or not yours to see"},
                     {"4", "not allowed, or not logged in"},
                     {"5", "server or node unreachable"},
                     {"6", "conflict: a name that is taken, a foreign file in the way"},
                     {"7", "data failed verification"},
                     {"8", "disk full or not writable"},
                     {"9", "timed out"},
                     {"10", "cancelled"}},
      .see_also = {"gridtorrentd(8)", "gridtorrent-server(8)"}};
  for (const CommandEntry& entry : all_commands()) {
    made.commands.push_back(entry.table);
    complete_by_placeholder(made.commands.back());
  }
  return made;
}

}  // namespace

const std::vector<CommandEntry>& all_commands() {
  static const std::vector<CommandEntry> commands = [] {
    std::vector<CommandEntry> all;
    for (const auto& part :
         {data_commands(),         estimate_commands(), content_commands(),      access_commands(),
          content_edit_commands(), transfer_commands(), transfer_end_commands(), tune_commands(),
          group_commands(),        handover_commands(), inbox_commands(),        local_node_commands(),
          node_commands(),         settings_commands(), task_commands(),         join_commands(),
          account_commands(),      user_commands(),     help_commands(),         completing_commands(),
          commands_yet_to_come()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return commands;
}

const options::Program& program() {
  static const options::Program made = make_program();
  return made;
}

}  // namespace gridtorrent::client::cli
