#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gridtorrent::test {

/// Sends one gRPC request with an empty message, or with none at all, as bare HTTP/2 over TLS to 127.0.0.1 (gRPC's own
/// client would refuse to send some headers, or die of them), and returns the bytes that came back up to the end of the
/// stream; empty: the connection broke.
std::string http2_request_over_tls(std::uint16_t port, const std::string& path,
                                   const std::vector<std::pair<std::string, std::string>>& headers,
                                   bool with_message = true);

}  // namespace gridtorrent::test
