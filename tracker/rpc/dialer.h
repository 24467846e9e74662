#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"
#include "common/unique_fd.h"
#include "tracker/core/address.h"
#include "tracker/core/dial_back.h"
#include "tracker/core/dial_turns.h"
#include "tracker/core/node.h"

namespace gridtorrent::tracker::rpc {

/// Finds out whether nodes' endpoints can be reached from here: one TCP connect each, closed as soon as it stands;
/// nothing is sent or read. Only where dial_back.h allows it, within the node's budget and in the user's turn
/// (dial_turns.h). One thread ("dial-back") has all sockets, none of which blocks. Thread-safe.
class Dialer {
 public:
  struct Options {
    std::vector<Network> allowed;  ///< besides where a node is seen
    DialLimits limits;
  };
  Dialer(const Clock& clock, Options options);
  /// What is under way ends with the verdicts that are there.
  ~Dialer();
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  struct Request {
    UserId user;  ///< whose turn it takes
    NodeId node;
    std::vector<NodeEndpoint> endpoints;
    std::string observed_address;
  };
  /// The same endpoints with a verdict each; kUnknown where it may not or could not try.
  using Done = std::function<void(std::vector<NodeEndpoint>)>;
  /// Does not block. `done` is called once, within patience and timeout together: on this thread where there is nothing
  /// to dial, else on that of the dialer, which it must not block.
  void judge(Request request, Done done);

 private:
  struct Update {
    std::vector<NodeEndpoint> endpoints;
    std::size_t open = 0;  ///< dials without a verdict
    Done done;
  };
  struct Attempt {
    DialTurns::Turn turn;
    UniqueFd socket;
    MonoTime until;
  };

  void run(const std::stop_token& stop);
  void begin_next();
  /// Until a socket has something to say, a dial's time is over, or somebody rings.
  void wait();
  void settle_attempts();
  void give_up_waiting();
  void call_finished();
  void settle(const Dial& dial, Reachability verdict);
  std::chrono::milliseconds time_left() const;
  void ring() const;

  const Clock& clock_;
  const Options options_;
  const UniqueFd bell_;
  DialBackBudget budget_;

  mutable std::mutex mutex_;
  DialTurns turns_;
  std::uint64_t last_update_ = 0;
  std::map<std::uint64_t, Update> updates_;
  std::vector<Update> finished_;

  // Of the dialer's thread alone.
  std::vector<Attempt> attempts_;
  std::vector<bool> answered_;  ///< by attempt, after wait()

  std::jthread thread_;
};

/// Numeric addresses of this host's interfaces.
std::vector<std::string> own_addresses();

}  // namespace gridtorrent::tracker::rpc
