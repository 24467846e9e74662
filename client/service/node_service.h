#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "common/result.h"

namespace gridtorrent::client {

/// Where this person's own node keeps what it has.
struct NodeHome {
  std::string data_folder;   ///< ~/.local/share/gridtorrent/node, as the unit gridtorrent-node has it
  std::string state_folder;  ///< ~/.local/state/gridtorrent/node: log, ready file, what a first start needs
};
/// kInvalid: HOME is not set.
Result<NodeHome> node_home(const std::function<std::optional<std::string>(const std::string&)>& variable);

/// What a node needs that has not been enrolled.
struct FirstStart {
  std::string server;        ///< HOST:PORT
  std::string ca_file;       ///< stays where it is
  std::string enroll_token;  ///< a secret
  std::string name;          ///< of the node
};

/// Who runs the node.
enum class NodeKeeper : std::uint8_t {
  kSystemd,  ///< this person's systemd, by the unit gridtorrent-node: from login to logout, or always with lingering
  kNobody,   ///< it outlives the terminal, and ends with the machine
};

/// This person's node on this machine, as a service: started, looked at, stopped. Used from one thread; its calls block
/// on programs that are short. Errors besides those named: kDisk.
class NodeService {
 public:
  /// `program`: gridtorrentd, a path or a name of the PATH.
  NodeService(NodeHome home, std::string program);

  const NodeHome& home() const { return home_; }
  NodeKeeper keeper() const { return keeper_; }
  /// The person's systemd runs without a login of theirs, too (loginctl enable-linger).
  bool lingers() const;
  /// Enrolled at a server: the next start needs nothing.
  bool is_enrolled() const;

  /// The name that it was enrolled under, also where it was removed since; empty: it never was.
  std::string enrolled_name() const;
  /// The next start enrols its key again; transfers and files stay.
  Status set_enrolment_aside() const;

  /// Starts it; whether it came up shows at its control socket, or in failure(). `first`: for a node that is not
  /// enrolled. kNotFound: the program is not there.
  Status start(const std::optional<FirstStart>& first);
  /// Why the node that was started is not there any more; nothing while it may still come up.
  std::optional<Error> failure() const;
  /// What a first start needed and no start will need again is removed: its token is used up.
  void forget_first_start() const;
  /// Ends it in order and waits, at most `patience`. kNotFound: it does not run; kTimeout.
  Status stop(std::chrono::milliseconds patience = std::chrono::seconds(35)) const;

 private:
  Status prepare(const std::optional<FirstStart>& first) const;
  std::string credential_file() const { return home_.data_folder + "/credential.json"; }
  std::string log_file() const { return home_.state_folder + "/log"; }
  std::string first_start_file() const { return home_.state_folder + "/first-start.env"; }
  std::string token_file() const { return home_.state_folder + "/enroll-token"; }
  std::string ready_file() const { return home_.state_folder + "/ready.json"; }
  /// Of the ready file, where a gridtorrentd of this person runs under it; 0: none.
  int running_pid() const;
  bool systemd_keeps() const;

  NodeHome home_;
  std::string program_;
  NodeKeeper keeper_;
  int started_pid_ = 0;
  std::size_t log_start_ = 0;  ///< bytes in the log before this start
};

/// The text of an environment file for systemd: NAME="VALUE" a line, quoted. Pure.
std::string environment_text(const FirstStart& first, const std::string& token_file);

}  // namespace gridtorrent::client
