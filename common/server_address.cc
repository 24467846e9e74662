#include "common/server_address.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace gridtorrent {

bool is_server_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || text.front() == '-') return false;
  const std::string_view host = text.substr(0, colon), port = text.substr(colon + 1);
  const bool bracketed = host.front() == '[' && host.back() == ']';
  const std::string_view inside = bracketed ? host.substr(1, host.size() - 2) : host;
  const auto allowed = [&](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || (bracketed && c == ':');
  };
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool is_port = error == std::errc{} && end == port.data() + port.size() && number != 0;
  return !inside.empty() && std::ranges::all_of(inside, allowed) && is_port;
}

}  // namespace gridtorrent
