#include "tests/integration/server_http2_probe.h"

#include <span>

#include "common/hex.h"
#include "tests/support/http2_bytes.h"
#include "tests/support/tls_client.h"

namespace gridtorrent::test {

namespace {

using http2::FrameType;

/// Whether a whole frame in `bytes` ends stream 1 or the connection.
bool has_ended(const std::string& bytes) {
  http2::FrameReader reader;
  std::span<const std::uint8_t> rest = as_bytes(bytes);
  while (const auto piece = reader.next(rest)) {
    if (!piece->ends) continue;
    const FrameType type = piece->frame.type;
    const bool ends =
        (type == FrameType::kHeaders || type == FrameType::kData) && piece->frame.has(http2::kFlagEndStream);
    if (ends || type == FrameType::kResetStream || type == FrameType::kGoAway) return true;
  }
  return false;
}

}  // namespace

std::string http2_request_over_tls(std::uint16_t port, const std::string& path,
                                   const std::vector<std::pair<std::string, std::string>>& headers, bool with_message) {
  TlsClient client(port);
  std::string block = call_headers(path);
  for (const auto& [name, value] : headers) block += literal_header(name, value);
  const std::uint8_t flags = http2::kFlagEndHeaders | (with_message ? 0 : http2::kFlagEndStream);
  std::string request = kHttp2Preface + frame(FrameType::kSettings, 0, 0) + frame(FrameType::kHeaders, flags, 1, block);
  if (with_message) request += frame(FrameType::kData, http2::kFlagEndStream, 1, message_prefix(0));
  if (!client.send(request)) return {};
  std::string answer;
  while (!has_ended(answer)) {
    const std::string more = client.receive();
    if (more.empty()) return {};
    answer += more;
  }
  return answer;
}

}  // namespace gridtorrent::test
