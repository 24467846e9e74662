#pragma once

#include <grpcpp/grpcpp.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/result.h"
#include "common/unique_fd.h"

namespace gridtorrent::rpc {

/// Longest path that fits sockaddr_un with its closing zero.
inline constexpr std::size_t kMaxSocketPathBytes = 107;

/// A listening Unix socket for a local control API. The socket is 0600, a missing parent folder is made 0700; each
/// connection's uid (SO_PEERCRED) must be our own or a listed one, else it is closed before gRPC sees it. gRPC's own
/// "unix:" listener does neither. Keeps a few descriptors in reserve, so that it answers where the process has none
/// left. Owns the descriptor, the file and one accept thread ("rpc-accept"). Thread-safe.
class UnixListener {
 public:
  /// Binds: the file is there, and who connects is refused as where nobody listens. A stale socket file (nobody
  /// answers) is replaced; a live one is kConflict; a path over 107 bytes, or a parent folder into which others may
  /// write, is kInvalid; what the system refuses is kDisk or kDenied.
  static Result<std::unique_ptr<UnixListener>> bind(const std::string& path, std::vector<uid_t> allowed_uids = {});
  /// bind(), and listens.
  static Result<std::unique_ptr<UnixListener>> open(const std::string& path, std::vector<uid_t> allowed_uids = {});

  /// stop().
  ~UnixListener();
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  /// Listens, and hands each accepted connection to `server`, which must have been built without ports and outlive
  /// stop(). Call once. kConflict: another process has the path by now.
  Status serve(grpc::Server& server);

  /// Accepts no more and removes the socket file. Connections that stand belong to the server. Idempotent.
  void stop();

  const std::string& path() const { return path_; }

 private:
  UnixListener(std::string path, UniqueFd listening, UniqueFd wake, std::vector<uid_t> allowed_uids);
  void accept_loop(const std::stop_token& stop, grpc::Server& server);
  UniqueFd accept_one();
  Status listen();
  void fill_reserve();

  const std::string path_;
  const UniqueFd listening_;
  const UniqueFd wake_;
  const std::vector<uid_t> allowed_uids_;
  const ino_t inode_;  ///< of our socket file: a stranger's in its place is left alone
  std::vector<UniqueFd> reserve_;
  std::jthread thread_;
};

/// A channel to such a socket. kUnreachable where there is none, kInvalid where the path is too long, kDenied where
/// the socket file belongs to somebody else. Connects lazily and again after losses.
Result<std::shared_ptr<grpc::Channel>> connect_unix(const std::string& path);

/// kInvalid, naming the path and the limit, if it is over 107 bytes.
Status check_socket_path(const std::string& path);

}  // namespace gridtorrent::rpc
