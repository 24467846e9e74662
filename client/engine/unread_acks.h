#pragma once

#include <functional>
#include <vector>

#include "common/clock.h"

namespace gridtorrent::client::engine {

/// Has the kernel acknowledge at once what comes over lanes while nobody reads it.
///
/// Linux acknowledges every second segment, but where unread data would make the receive window smaller it waits until
/// they are read (`__tcp_ack_snd_check`). While the network thread rests (RoundClock) or is busy with another lane, all
/// acknowledgements then came late, and together: 54.5 instead of 51.4 ms of round trip at rests of 5 ms, and where
/// windows are what loss lets them be, a rate that is lower by as much. It does not wait where less than SO_RCVLOWAT is
/// unread, so that is high between looks at lanes that bring blocks. They are not heard meanwhile, but nobody listens
/// then. Not thread-safe: the network thread's.
class UnreadAcks {
 public:
  /// A block came over this socket. Where another one came just before it, the socket is heard in looks only, from now
  /// on.
  void received(int fd, MonoTime now);
  /// No longer ours to touch.
  void closes(int fd);
  /// Has each socket heard for as long as `handle` takes, which handles all that is ready; what came before is
  /// announced (epoll's edge, too) as if it came now.
  void look(MonoTime now, const std::function<void()>& handle);
  /// All are heard again.
  void end();

 private:
  struct Socket {
    int fd;
    MonoTime received;
    bool raised = false;
  };
  Socket* find(int fd);
  std::vector<Socket> sockets_;
};

}  // namespace gridtorrent::client::engine
