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

/// Looks at what a connection carries, in plain text, before it is passed on. Used by one thread at a time.
class Filter {
 public:
  virtual ~Filter() = default;
  /// A reason: the connection ends, and nothing of `bytes` is passed on.
  virtual std::optional<Reason> from_caller(std::span<const std::uint8_t> bytes, MonoTime now) = 0;
  virtual std::optional<Reason> from_server(std::span<const std::uint8_t> bytes, MonoTime now) = 0;
  /// Once a second.
  virtual std::optional<Reason> check_time(MonoTime now) = 0;
  /// Last bytes for the caller, behind all that from_server() saw, when the connection ends for this reason.
  virtual std::string farewell(Reason reason) = 0;
};

/// Ends a connection from outside, for example because others need its memory; any thread, does not block.
using EndConnection = std::function<void(Reason)>;
using MakeFilter = std::function<std::unique_ptr<Filter>(const PeerAddress&, EndConnection, MonoTime now)>;
/// A connected stream socket (non-blocking) to whatever serves the plain text.
using OpenBackend = std::function<Result<UniqueFd>(const PeerAddress&)>;
/// Tells that a connection was refused or ended by us; any thread, must not block.
using Refused = std::function<void(Reason, const PeerAddress&)>;

}  // namespace gridtorrent::net
