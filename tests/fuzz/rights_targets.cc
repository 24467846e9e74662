#include <google/protobuf/stubs/logging.h>

#include "client/engine/wire.h"
#include "client/remote/convert.h"
#include "common/hex.h"
#include "common/result.h"
#include "gridtorrent/v1/tracker.pb.h"
#include "tests/fuzz/targets.h"
#include "tracker/authority/tokens.h"

namespace gridtorrent::fuzz {

/// What a peer that was let in may say. The first byte chooses the message; what is understood is within its range, and
/// comes back the same from what we would write.
void gt_message(std::span<const std::uint8_t> input) {
  using namespace client::engine;
  if (input.empty()) return;
  const std::string_view body = as_chars(input.subspan(1));
  switch (input.front() % 4) {
    case 0:
      if (const auto hello = decode_hello(body)) {
        GT_CHECK(!hello->node.is_nil() && hello->grant >= 0 && hello->grant <= kMaxLanes);
        GT_CHECK(decode_hello(encode_hello(*hello)) == hello);
      }
      break;
    case 1:
      if (const auto want = decode_lanes(body)) GT_CHECK(*want >= 0 && *want <= kMaxLanes);
      break;
    case 2:
      if (const auto grant = decode_grant(body)) GT_CHECK(*grant >= 0 && *grant <= kMaxLanes);
      break;
    default:
      if (const auto figures = decode_stats(body)) GT_CHECK(decode_stats(encode_stats(*figures)) == figures);
      if (const auto proof = decode_proof(body)) GT_CHECK(decode_proof(encode_proof(*proof)) == proof);
  }
}

/// A list of who may have a content, as a server sends it: whatever is taken has an id, and no more members than came.
void audience(std::span<const std::uint8_t> input) {
  // It would write a line for each text that is none.
  [[maybe_unused]] static const auto said_so = google::protobuf::SetLogHandler(nullptr);
  v1::Audience message;
  if (!message.ParseFromArray(input.data(), static_cast<int>(input.size()))) return;
  const auto list = client::remote::to_audience(message);
  if (!list) return;
  GT_CHECK(!list->ref.id.empty());
  GT_CHECK(list->members != nullptr && list->members->size() <= static_cast<std::size_t>(message.members_size()));
}

/// Whatever is taken for a token has its form and its checksum.
void token(std::span<const std::uint8_t> input) {
  constexpr std::size_t kIdCharacters = 10, kChecksumCharacters = 6, kHashBytes = 32;
  const std::string_view text = as_chars(input);
  const auto parsed = tracker::authority::parse_token(text);
  if (!parsed) return;
  GT_CHECK(parsed->id.size() == kIdCharacters && parsed->secret_hash.size() == kHashBytes);
  GT_CHECK(text.ends_with(tracker::authority::token_checksum(text.substr(0, text.size() - kChecksumCharacters))));
}

}  // namespace gridtorrent::fuzz
