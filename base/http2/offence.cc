#include "base/http2/offence.h"

#include "common/check.h"

namespace gridtorrent::http2 {
namespace {

struct Words {
  std::string_view name, text;
};

Words words(Offence offence) {
  switch (offence) {
    case Offence::kNoPreface:
      return {"no_preface", "this port speaks HTTP/2 (gRPC) only"};
    case Offence::kProtocol:
      return {"protocol", "the frames are in an order that HTTP/2 forbids"};
    case Offence::kFrameSize:
      return {"frame_size", "a frame is longer than the server allows"};
    case Offence::kHeaderBlock:
      return {"header_block", "the headers of a call are too large: send less metadata"};
    case Offence::kSlowHeaderBlock:
      return {"slow_header_block", "the headers of a call did not come in time"};
    case Offence::kStreams:
      return {"streams", "too many calls at once on one connection"};
    case Offence::kResets:
      return {"resets", "calls are cancelled too often: wait a minute, then connect again"};
    case Offence::kControlFrames:
      return {"control_frames", "SETTINGS or PING too often: set a longer keepalive time"};
    case Offence::kIdleFrames:
      return {"idle_frames", "too many frames without data"};
    case Offence::kUnfinishedHere:
      return {"unfinished_connection", "too many unfinished messages on one connection: send smaller or fewer at once"};
    case Offence::kUnfinishedByAddress:
      return {"unfinished_address", "too many unfinished messages from one address: send fewer at once"};
    case Offence::kUnfinishedInAll:
      return {"unfinished_all", "the server has no room for more unfinished messages: try again later"};
    case Offence::kSlowMessage:
      return {"slow_message", "a message comes too slowly"};
  }
  GT_CHECK(false);
}

}  // namespace

std::string_view offence_name(Offence offence) {
  return words(offence).name;
}

std::optional<Offence> offence_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(kLastOffence); ++i) {
    if (offence_name(static_cast<Offence>(i)) == name) return static_cast<Offence>(i);
  }
  return std::nullopt;
}

std::string_view offence_text(Offence offence) {
  return words(offence).text;
}

}  // namespace gridtorrent::http2
