#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/options/options.h"
#include "client/api/node/node_api.h"
#include "client/api/server/server_api.h"
#include "client/cli/json.h"
#include "client/cli/terminal.h"
#include "client/profile/profile.h"
#include "client/profile/saved_login.h"
#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::client::cli {

/// What a command has at hand: its options, the terminal, and server and node, connected when first asked for. Used
/// from one thread; lives as long as the command.
class Context {
 public:
  Context(const options::Parsed& parsed, Terminal& terminal_, const Clock& clock_);

  const options::Parsed& options;
  Terminal& terminal;
  const Clock& clock;
  /// --json was given.
  const bool json;
  /// The last event was printed ("detached"): no "failed" is to follow.
  bool end_told = false;

  /// Logged in, or kUnauthenticated with how to do it. `deadline`: of each short call, where this one connects.
  Result<api::ServerApi*> server(std::chrono::milliseconds deadline = api::ServerApiOptions{}.deadline);
  /// Likewise, but logs nobody in: for the end of a login, and, with a short `deadline`, for what is shown with names
  /// where they can be had and with ids otherwise. A connection of its own.
  Result<api::ServerApi*> server_of_login(std::chrono::milliseconds deadline = api::ServerApiOptions{}.deadline);
  /// Who is logged in where, by the profile and what the command line puts in its place; fields are empty where nothing
  /// says.
  struct Login {
    std::string server, ca_file;
    std::string user, user_id;  ///< of the profile, and only for the profile's own server; the id while logged in
  };
  Result<Login> known_login() const;
  /// A connection without a token, as login needs it.
  Result<std::unique_ptr<api::ServerApi>> server_without_login();
  /// kUnreachable with how to start it.
  Result<api::NodeApi*> node(std::chrono::milliseconds deadline = api::NodeApiOptions{}.deadline);
  /// Drops the connection to the node; the next `node()` makes another.
  void forget_node() { node_.reset(); }

  Result<ProfileStore> profiles() const;
  /// Where the node's control socket is, by --socket or the default. kUnreachable where nothing says.
  Result<std::string> socket_path() const;

  void print(const Json& json_document) { terminal.result(document(json_document)); }
  void emit(const Json& event_line) { terminal.result(one_line(event_line)); }
  /// A line on standard error, and with --json an event of its own; for commands that emit events.
  void warn(const std::string& text);
  /// An absolute path without "." and ".." for one that may be relative to the working directory; bytes.
  static Result<std::string> absolute(const std::string& path);

 private:
  Result<std::string> token(const Login& login) const;
  static Status check_complete(const Login& login);
  Result<std::string> caller_id();
  /// Who administers a server of this machine need not log in: the login is kept as if they had.
  Result<api::ServerApi*> log_in_here(const ServerHere& here, std::chrono::milliseconds deadline);

  std::unique_ptr<api::ServerApi> server_, server_of_login_;
  std::unique_ptr<api::NodeApi> node_;
};

/// A command: its table, and what it does. An Error becomes one line and an exit code.
struct CommandEntry {
  options::Command table;
  Status (*run)(Context& context) = nullptr;
  bool emits_events = false;  ///< with --json it prints NDJSON, and a "failed" event at the end where it failed
};

std::vector<CommandEntry> account_commands();
std::vector<CommandEntry> content_commands();
std::vector<CommandEntry> access_commands();
std::vector<CommandEntry> content_edit_commands();
std::vector<CommandEntry> data_commands();
std::vector<CommandEntry> transfer_commands();
std::vector<CommandEntry> transfer_end_commands();
std::vector<CommandEntry> estimate_commands();
std::vector<CommandEntry> group_commands();
std::vector<CommandEntry> handover_commands();
std::vector<CommandEntry> inbox_commands();
std::vector<CommandEntry> join_commands();
std::vector<CommandEntry> settings_commands();
std::vector<CommandEntry> local_node_commands();
std::vector<CommandEntry> node_commands();
std::vector<CommandEntry> task_commands();
std::vector<CommandEntry> tune_commands();
std::vector<CommandEntry> user_commands();
std::vector<CommandEntry> help_commands();
std::vector<CommandEntry> commands_yet_to_come();

/// Words of other tools, and which commands do here what they do there.
std::vector<options::OtherWord> other_words();

/// All of them, in the order of the help.
const std::vector<CommandEntry>& all_commands();
/// The option table made from them.
const options::Program& program();

/// Runs what was parsed; returns the exit code.
int run_command(const options::Parsed& parsed, Terminal& terminal, const Clock& clock);

}  // namespace gridtorrent::client::cli
