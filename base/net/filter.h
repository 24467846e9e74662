#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/net/address.h"
#include "common/clock.h"

namespace gridtorrent::net {

/// Why a connection was refused or ended by us: a word of static storage, for metrics and the log.
using Reason = std::string_view;
/// A stranger's connection ended, as others wait for its place.
inline constexpr Reason kStrangers = "strangers";
/// Before a connection had a place.
inline constexpr Reason kFullByAddress = "connections_by_address", kFullInAll = "connections_in_all",
                        kHandshakeTime = "handshake_time", kNoDescriptor = "descriptors";
/// Whether callers are refused for it because there are too many of them.
constexpr bool is_limit(Reason reason) {
  return reason == kStrangers || reason == kFullByAddress || reason == kFullInAll || reason == kHandshakeTime ||
         reason == kNoDescriptor;
}

/// Looks at what a connection carries, in plain text, before it is passed on. Used by one thread at a time.
class Filter {
 public:
  virtual ~Filter() = default;
  /// A reason: the connection ends, and nothing of `bytes` is passed on.
  virtual std::optional<Reason> from_caller(std::span<const std::uint8_t> bytes, MonoTime now) = 0;
  virtual std::optional<Reason> from_server(std::span<const std::uint8_t> bytes, MonoTime now) = 0;
  /// Once a second.
  virtual std::optional<Reason> check_time(MonoTime now) = 0;
  /// Whether the caller waits for something. A stranger's connection that is idle goes where others wait for its place.
  virtual bool is_busy() const = 0;
  /// Last bytes for the caller, behind all that from_server() saw, when the connection ends for this reason.
  virtual std::string farewell(Reason reason) = 0;
};

/// Ends a connection from outside, for example because others need its memory; any thread, does not block.
using EndConnection = std::function<void(Reason)>;
using MakeFilter = std::function<std::unique_ptr<Filter>(const PeerAddress&, EndConnection, MonoTime now)>;
/// A connected stream socket (non-blocking) to whatever serves the plain text.
struct Backend {
  UniqueFd socket;
  std::shared_ptr<void> held;  ///< what must live as long as the connection
};
/// `known`: tells that the caller has shown who it is, any thread, also later than the connection lives.
using OpenBackend = std::function<Result<Backend>(const PeerAddress&, std::function<void()> known)>;
/// Tells that a connection was refused or ended by us; any thread, must not block.
using Refused = std::function<void(Reason, const PeerAddress&)>;

}  // namespace gridtorrent::net
