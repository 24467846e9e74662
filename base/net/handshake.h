#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/crypto/tls_server.h"
#include "base/net/event_loop.h"
#include "base/net/pump.h"

namespace gridtorrent::net {

/// Shakes hands with one caller, in a loop of its own kind: a handshake takes half a millisecond of CPU, for which
/// calls under way must not wait. A caller that says nothing costs a socket only, and so
/// does one that waits for a place among the strangers.
class Handshake final : public Task {
 public:
  struct Parts {
    StrangerPlaces& strangers;
    std::function<std::shared_ptr<const crypto::TlsServerContext>()> tls;
    std::string protocol;                            ///< that must be agreed upon
    std::chrono::milliseconds time{10'000};          ///< without waiting for a place
    std::chrono::milliseconds waiting_time{20'000};  ///< gRPC's clients give up then
    Refused refused;
    /// Takes the connection over.
    std::function<void(Caller, crypto::TlsSession)> done;
  };
  Handshake(Caller caller, const Parts& parts) : parts_(parts), caller_(std::move(caller)) {}
  ~Handshake() override;

  Next begin() override;
  Next ready(unsigned slot, std::uint32_t events) override;
  Next tick(MonoTime now) override;

 private:
  /// In the loop: ends that one, if it is still there.
  static void refuse_later(EventLoop& loop, std::uint64_t id, Reason reason);
  Next ask_for_place();
  void admitted(std::shared_ptr<StrangerPlaces::Place> place);
  Next go_on();
  Next refuse(Reason reason);

  const Parts& parts_;
  Caller caller_;
  std::optional<crypto::TlsSession> tls_;
  bool waiting_ = false;
  std::uint64_t in_line_ = 0;  ///< its number among those who wait
  MonoTime began_{};
};

}  // namespace gridtorrent::net
