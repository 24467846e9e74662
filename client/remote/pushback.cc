#include "client/remote/pushback.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace gridtorrent::client::remote {

std::optional<std::chrono::milliseconds> parse_pushback(std::string_view text) {
  constexpr std::int64_t kHourMs = 3'600'000;
  std::int64_t ms = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (failed != std::errc() || end != text.data() + text.size() || ms < 0) return std::nullopt;
  return std::chrono::milliseconds(std::min(ms, kHourMs));
}

std::optional<std::chrono::milliseconds> pushback_of(const grpc::ClientContext& context) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("grpc-retry-pushback-ms");
  if (found == trailers.end()) return std::nullopt;
  return parse_pushback({found->second.data(), found->second.size()});
}

}  // namespace gridtorrent::client::remote
