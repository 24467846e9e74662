#include "common/request_id.h"

#include <algorithm>

namespace gridtorrent {

Status check_request_id(std::string_view request_id) {
  constexpr std::size_t kMaxBytes = 64;
  const bool fits = !request_id.empty() && request_id.size() <= kMaxBytes &&
                    std::all_of(request_id.begin(), request_id.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (fits) return {};
  return Error{Code::kInvalid, "request_id must be 1 to 64 printable ASCII characters, made anew for each change"};
}

}  // namespace gridtorrent
