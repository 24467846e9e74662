#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gridtorrent::http2 {

/// Why a connection must end.
enum class Offence : std::uint8_t {
  kNoPreface,            ///< not HTTP/2, or its preface did not come in time
  kProtocol,             ///< frames in an order that RFC 9113 forbids
  kFrameSize,            ///< a frame longer than the server allowed
  kHeaderBlock,          ///< a header block of too many bytes or frames
  kSlowHeaderBlock,      ///< a header block that does not end
  kStreams,              ///< more streams open at once than anybody needs
  kResets,               ///< streams are reset too often, by either end
  kControlFrames,        ///< SETTINGS or PING too often
  kIdleFrames,           ///< other frames without data too often
  kUnfinishedHere,       ///< unfinished messages of this connection hold too much
  kUnfinishedByAddress,  ///< those of its address do, and this connection holds most for longest
  kUnfinishedInAll,      ///< those of all callers do, and this connection holds most for longest
  kSlowMessage,          ///< a message that comes too slowly, or not at all
};
inline constexpr Offence kLastOffence = Offence::kSlowMessage;

/// The metric label and log word of an offence: "header_block".
std::string_view offence_name(Offence offence);
std::optional<Offence> offence_named(std::string_view name);
/// One line for whoever reads the caller's error: the reason and the way out.
std::string_view offence_text(Offence offence);

}  // namespace gridtorrent::http2
