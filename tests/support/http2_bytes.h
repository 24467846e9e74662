#pragma once

#include <cstdint>
#include <string>

#include "base/http2/frame.h"

/// HTTP/2 as it stands on the wire, for tests that speak it badly.
namespace gridtorrent::test {

inline constexpr char kHttp2Preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

inline std::string frame(http2::FrameType type, std::uint8_t flags, std::uint32_t stream,
                         const std::string& payload = "") {
  const auto header = http2::write_frame_header({static_cast<std::uint32_t>(payload.size()), type, flags, stream});
  return std::string(header.begin(), header.end()) + payload;
}

/// A gRPC message's prefix that announces so many bytes.
inline std::string message_prefix(std::uint32_t bytes) {
  std::string prefix(1, '\0');
  for (const unsigned shift : {24u, 16u, 8u, 0u}) prefix.push_back(static_cast<char>(bytes >> shift));
  return prefix;
}

/// HPACK (RFC 7541, 6.2.2): a literal that is not indexed, without Huffman coding. Shorter than 127 bytes each.
inline std::string literal_header(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name + static_cast<char>(value.size()) + value;
}

/// The header block of a gRPC call.
inline std::string call_headers(const std::string& path) {
  return literal_header(":method", "POST") + literal_header(":scheme", "https") + literal_header(":path", path) +
         literal_header(":authority", "localhost") + literal_header("te", "trailers") +
         literal_header("content-type", "application/grpc");
}

}  // namespace gridtorrent::test
