#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/crypto/tls_server.h"
#include "base/net/connection_limits.h"
#include "base/net/event_loop.h"
#include "base/net/filter.h"
#include "base/net/stranger_places.h"

namespace gridtorrent::net {

/// A connection that was accepted and has its place.
struct Caller {
  UniqueFd socket;
  PeerAddress address;
  ConnectionLimits::Place place;
  std::shared_ptr<StrangerPlaces::Place> stranger = nullptr;  ///< from the handshake on
};

/// What pumps of one terminator share; outlives them.
struct PumpParts {
  MakeFilter make_filter;
  OpenBackend open_backend;
  Refused refused;
};

/// Carries bytes between a TLS session and a backend, each direction through the filter. Reads no more on one side
/// while the other has not taken what came before, so at most one turn's bytes wait in each direction. The backend is
/// opened when the first bytes have passed the filter. An end of one direction is passed on, and the other goes on.
class Pump final : public Task {
 public:
  Pump(Caller caller, crypto::TlsSession tls, const PumpParts& parts);

  Next begin() override;
  Next ready(unsigned slot, std::uint32_t events) override;
  Next tick(MonoTime now) override;
  /// Ends the connection: nothing more is read, and the backend is let go at once. The caller is told a second later,
  /// as far as its socket takes it at once, so that who connects again after each refusal does so once a second.
  void refuse(Reason reason);

 private:
  enum class Go : std::uint8_t { kOn, kOver };
  Next move();
  Next over() const { return refused_at_ ? Next::kWait : Next::kOver; }
  void say_farewell();
  Go move_from_caller();
  Go move_from_backend();
  Go take_from_caller(std::span<const std::uint8_t> bytes);
  Go take_from_backend(std::span<const std::uint8_t> bytes);
  Go open_backend();
  Go send_to_backend();
  Go send_to_caller();
  std::size_t read_records(std::span<std::uint8_t> into);
  bool caller_may_be_read() const;
  bool backend_may_be_read() const;
  bool watch_both();

  const PumpParts& parts_;
  Caller caller_;
  crypto::TlsSession tls_;
  Backend backend_;
  std::unique_ptr<Filter> filter_;
  std::string to_backend_, to_caller_;  ///< what did not fit; mostly empty
  bool caller_readable_ = true, backend_readable_ = false;
  bool records_wait_ = false;  ///< whole TLS records left the socket and were not read yet
  bool caller_ended_ = false, backend_ended_ = false, backend_hung_up_ = false;
  bool told_backend_ = false;
  bool read_wants_write_ = false;  ///< TLS must answer the caller before it can read on
  MonoTime ended_since_{};
  std::optional<MonoTime> refused_at_;
  bool said_farewell_ = false;
};

}  // namespace gridtorrent::net
