#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/crypto/password.h"
#include "common/result.h"
#include "tracker/core/address.h"

namespace gridtorrent::tracker::app {

struct ServerConfig {
  std::string data_dir;
  std::string listen = "127.0.0.1:0";
  std::string advertise;       ///< HOST:PORT, or empty
  std::string metrics_listen;  ///< empty: none
  std::string sealing_key;     ///< file of the key that the data CA's keys are sealed under; empty: in data_dir
  bool reflection = false;
  bool managers_make_accounts = false;  ///< by invitations to a group of theirs
  bool as_new = false;                  ///< start a new server deliberately, where the database is lost (first_start.h)
  std::vector<Network> dial_back_allow;  ///< networks in which nodes' endpoints are dialled, wherever a node is seen
  std::size_t connections_by_address = 512;
  std::chrono::milliseconds probe_period{15'000};
  crypto::ScryptCost password_cost;  ///< tests make it cheap
  /// Something is broken for good (the disk, the listener): the program should end. Called from any thread, maybe more
  /// than once.
  std::function<void(const Error&)> on_fatal;
};

/// The whole server, wired: store, domain, authority, RPC. Thread-safe.
class Server {
 public:
  /// Takes the data folder, makes what is missing, serves when it returns. Errors: kConflict folder or port in use;
  /// kInvalid; kCorrupt; kDenied; kDisk.
  static Result<std::unique_ptr<Server>> start(ServerConfig config);
  /// stop(0).
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  /// HOST:PORT for clients of this host, or the advertised one.
  std::string address() const;
  const std::string& ca_file() const;
  /// Holds admin's first token; empty where it was removed.
  std::string admin_token_file() const;
  /// This start made its first account.
  bool is_new() const;
  /// What the ready file says: one JSON object.
  std::string ready_json() const;

  /// Makes the certificate anew if it is time; the listener takes it up within seconds.
  Status renew_certificate();

  /// Ends streams, lets calls finish for so long, ends all threads. Idempotent.
  void stop(std::chrono::milliseconds grace);

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace gridtorrent::tracker::app
