#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "client/profile/node_home.h"
#include "common/result.h"

namespace gridtorrent::client {

/// Whose node a data folder is of.
struct Enrolment {
  std::string node_name;
  std::string owner;
  std::string server;  ///< HOST:PORT
};

/// What a node needs that has not been enrolled.
struct FirstStart {
  std::string server;        ///< HOST:PORT
  std::string ca_file;       ///< stays where it is
  std::string enroll_token;  ///< a secret
  std::string name;          ///< that a person gave it; empty: as in the token
};

/// The code is of gridtorrentd's own exit code; kUnreachable where that tells no more.
struct NotStarted : Error {
  bool folder_in_use = false;  ///< by another node, which may have been started at the same time
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

  /// What it is enrolled as; nothing where it is not.
  std::optional<Enrolment> enrolment() const;
  /// The name that it was enrolled under, also where it was removed since; empty: it never was.
  std::string enrolled_name() const;
  /// The next start enrols its key again; transfers and files stay.
  Status set_enrolment_aside() const;

  /// Makes the data folder, and says whether a node can have its data there: before anything is made at a server.
  /// kUnsupported: it is on a network file system; kDenied: others may write into it; kInvalid, kDisk.
  Status check_place() const;
  /// Starts it; whether it came up shows at its control socket, or in failure(). `first`: for a node that is not
  /// enrolled. `socket`: where it listens, under nobody; empty: by its options, else in its data folder. kNotFound: the
  /// program is not there; kTimeout: systemd does not answer.
  Status start(const std::optional<FirstStart>& first, const std::string& socket = {});
  /// Why the node that was started is not there any more; nothing while it may still come up.
  std::optional<NotStarted> failure();
  /// What a first start needed and no start will need again is removed: its token is used up.
  void forget_first_start() const;
  /// Ends it in order and waits, at most `patience`. kNotFound: it does not run; kTimeout.
  Status stop(std::chrono::milliseconds patience = std::chrono::seconds(35)) const;

 private:
  Status prepare(const std::optional<FirstStart>& first) const;
  Status start_by_systemd();
  Status start_alone(const std::optional<FirstStart>& first, const std::string& socket);
  std::string credential_file() const { return home_.data_folder + "/credential.json"; }
  std::string log_file() const { return home_.state_folder + "/log"; }
  std::string first_start_file() const { return home_.state_folder + "/first-start.env"; }
  std::string token_file() const { return home_.state_folder + "/enroll-token"; }
  std::string ready_file() const { return home_.state_folder + "/ready.json"; }
  int pid_in_ready_file() const;
  /// Of the data folder's lock, unless that names another host; 0: none.
  int pid_in_lock() const;
  /// Of the ready file, which an older version has elsewhere, else of the lock, where a gridtorrentd of this person
  /// runs under it; 0: none.
  int running_pid() const;
  bool systemd_keeps() const;

  NodeHome home_;
  std::string program_;
  NodeKeeper keeper_;
  int started_pid_ = 0;
  std::uintmax_t log_start_ = 0;      ///< bytes in the log before this start
  std::optional<NotStarted> failed_;  ///< at the start by systemd
};

/// The text of an environment file for systemd: NAME="VALUE" a line, quoted. Pure.
std::string environment_text(const FirstStart& first, const std::string& token_file);

}  // namespace gridtorrent::client
