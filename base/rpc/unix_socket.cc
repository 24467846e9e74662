#include "base/rpc/unix_socket.h"

#include <fcntl.h>
#include <grpcpp/server_posix.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/rpc/channel.h"
#include "common/text.h"

namespace gridtorrent::rpc {

namespace {

/// Others take what is given up here, too: there are some for as many attempts.
constexpr std::size_t kReserve = 8;
constexpr int kRefillPauseMs = 1'000;
constexpr int kNoDescriptorPauseMs = 20;

Error system_error(const std::string& what, int error_number) {
  const Code code = error_number == EACCES || error_number == EPERM ? Code::kDenied : Code::kDisk;
  return {code, what + ": " + errno_text(error_number)};
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), kMaxSocketPathBytes));
  return address;
}

int bind_to(int fd, const std::string& path) {
  const sockaddr_un address = address_of(path);
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

bool somebody_answers(const std::string& path) {
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = address_of(path);
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
}

ino_t inode_of(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

Status prepare_folder(const std::string& socket_path) {
  const std::filesystem::path folder = std::filesystem::path(socket_path).parent_path();
  if (folder.empty()) return {};
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_error("cannot make the folder " + escape_for_display(folder.native()) + " of the control socket",
                        errno);
  }
  struct stat info{};
  if (::stat(folder.c_str(), &info) != 0) return system_error(escape_for_display(folder.native()), errno);
  const bool others_write = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0;
  if (others_write) {
    return Error{Code::kInvalid,
                 "others may write into " + escape_for_display(folder.native()) +
                     ", so no control socket goes there: chmod go-w it, or choose another with --socket"};
  }
  return {};
}

}  // namespace

Status check_socket_path(const std::string& path) {
  if (path.empty()) return Error{Code::kInvalid, "the control socket's path is empty"};
  if (path.size() > kMaxSocketPathBytes) {
    return Error{Code::kInvalid, "the socket path " + escape_for_display(path) + " has " + std::to_string(path.size()) +
                                     " bytes, more than the " + std::to_string(kMaxSocketPathBytes) +
                                     " that Linux takes: choose a shorter one with --socket"};
  }
  if (path.find('\0') != std::string::npos) return Error{Code::kInvalid, "the socket path contains a NUL byte"};
  return {};
}

Result<std::unique_ptr<UnixListener>> UnixListener::open(const std::string& path, std::vector<uid_t> allowed_uids) {
  GT_ASSIGN(std::unique_ptr<UnixListener> listener, bind(path, std::move(allowed_uids)));
  GT_TRY(listener->listen());
  return listener;
}

Status UnixListener::listen() {
  if (inode_of(path_) != inode_) {
    return Error{Code::kConflict, "another process has taken the control socket " + escape_for_display(path_) +
                                      " meanwhile: choose another path with --socket"};
  }
  if (::listen(listening_.get(), 64) == 0) return {};
  return system_error("cannot listen on " + escape_for_display(path_), errno);
}

Result<std::unique_ptr<UnixListener>> UnixListener::bind(const std::string& path, std::vector<uid_t> allowed_uids) {
  GT_TRY(check_socket_path(path));
  GT_TRY(prepare_folder(path));
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error("cannot make a Unix socket", errno);
  // On Linux the file gets the mode of the socket's inode, whatever the umask of other threads: no moment at 0755.
  if (::fchmod(fd.get(), 0600) != 0) return system_error("cannot protect the control socket", errno);
  if (bind_to(fd.get(), path) != 0) {
    if (errno != EADDRINUSE) return system_error("cannot bind the control socket " + escape_for_display(path), errno);
    struct stat info{};
    if (::lstat(path.c_str(), &info) == 0 && !S_ISSOCK(info.st_mode)) {
      return Error{Code::kConflict, escape_for_display(path) + " exists and is no socket: move it away"};
    }
    if (somebody_answers(path)) {
      return Error{Code::kConflict, "another process serves the control socket " + escape_for_display(path) +
                                        ": stop it, or choose another path with --socket"};
    }
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return system_error("cannot replace the stale socket " + escape_for_display(path), errno);
    }
    if (bind_to(fd.get(), path) != 0) {
      return system_error("cannot bind the control socket " + escape_for_display(path), errno);
    }
  }
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return system_error("cannot make an eventfd", errno);
  allowed_uids.push_back(::geteuid());
  return std::unique_ptr<UnixListener>(new UnixListener(path, std::move(fd), std::move(wake), std::move(allowed_uids)));
}

UnixListener::UnixListener(std::string path, UniqueFd listening, UniqueFd wake, std::vector<uid_t> allowed_uids)
    : path_(std::move(path)),
      listening_(std::move(listening)),
      wake_(std::move(wake)),
      allowed_uids_(std::move(allowed_uids)),
      inode_(inode_of(path_)) {
  fill_reserve();
}

UnixListener::~UnixListener() {
  stop();
}

Status UnixListener::serve(grpc::Server& server) {
  GT_CHECK(!thread_.joinable());
  GT_TRY(listen());
  thread_ = std::jthread([this, &server](const std::stop_token& token) { accept_loop(token, server); });
  pthread_setname_np(thread_.native_handle(), "rpc-accept");
  return {};
}

void UnixListener::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    const std::uint64_t one = 1;
    // An eventfd takes this write unless its counter is full, and then the thread is awake anyhow.
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
    thread_.join();
  }
  if (inode_ != 0 && inode_of(path_) == inode_) ::unlink(path_.c_str());
}

void UnixListener::fill_reserve() {
  while (reserve_.size() < kReserve) {
    UniqueFd spare(::fcntl(wake_.get(), F_DUPFD_CLOEXEC, 0));
    if (!spare) return;
    reserve_.push_back(std::move(spare));
  }
}

/// Empty, with the errno, where there was none.
UniqueFd UnixListener::accept_one() {
  while (true) {
    UniqueFd connection(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection || (errno != EMFILE && errno != ENFILE) || reserve_.empty()) return connection;
    reserve_.pop_back();
  }
}

void UnixListener::accept_loop(const std::stop_token& stop, grpc::Server& server) {
  while (!stop.stop_requested()) {
    fill_reserve();
    pollfd waits[] = {{listening_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (::poll(waits, 2, reserve_.size() < kReserve ? kRefillPauseMs : -1) < 0 && errno != EINTR) return;
    if ((waits[0].revents & POLLIN) == 0) continue;
    UniqueFd connection = accept_one();
    if (!connection) {
      // Out of descriptors: the pending connection would wake us at once, again and again.
      if (errno == EMFILE || errno == ENFILE) ::poll(&waits[1], 1, kNoDescriptorPauseMs);
      continue;
    }
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) continue;
    if (std::find(allowed_uids_.begin(), allowed_uids_.end(), peer.uid) == allowed_uids_.end()) continue;
    grpc::AddInsecureChannelFromFd(&server, connection.release());
  }
}

Result<std::shared_ptr<grpc::Channel>> connect_unix(const std::string& path) {
  GT_TRY(check_socket_path(path));
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    return Error{Code::kUnreachable, "no node answers at " + escape_for_display(path) + " (" + errno_text(errno) +
                                         "): start it with `gridtorrent node start`, or name its socket with --socket"};
  }
  if (!S_ISSOCK(info.st_mode)) return Error{Code::kInvalid, escape_for_display(path) + " is no socket"};
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    return Error{Code::kDenied, "the socket " + escape_for_display(path) + " belongs to uid " +
                                    std::to_string(info.st_uid) + ", not to you"};
  }
  const std::string absolute = std::filesystem::absolute(path).native();
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string target = "unix:";
  for (const char c : absolute) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::strchr("/._-~", c) != nullptr) {
      target += c;
    } else {
      target += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), client_channel_arguments());
}

}  // namespace gridtorrent::rpc
