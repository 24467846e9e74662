#include <charconv>

#include "base/options/options.h"
#include "common/clock.h"
#include "common/server_address.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::options {

namespace {

std::string in_quotes(std::string_view text) {
  return "'" + escape_for_display(text) + "'";
}

Error invalid(std::string message) {
  return {Code::kInvalid, std::move(message)};
}

template <class Int>
std::optional<Int> parse_integer(std::string_view text) {
  Int number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_root_name(std::string_view name) {
  const auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > 64 || !alnum(name.front())) return false;
  for (const char c : name)
    if (!alnum(c) && c != '.' && c != '_' && c != '-') return false;
  return true;
}

std::optional<std::pair<std::string, std::uint16_t>> try_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const auto port = parse_integer<std::uint16_t>(text.substr(colon + 1));
  if (host.starts_with('[') && host.ends_with(']') && host.size() > 2) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of(":[]") != std::string_view::npos) {
    return std::nullopt;
  }
  if (!port || host.empty() || host.find_first_of(" \t/@") != std::string_view::npos) return std::nullopt;
  return std::pair{std::string(host), *port};
}

std::optional<std::pair<std::uint16_t, std::uint16_t>> try_port_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_integer<std::uint16_t>(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_integer<std::uint16_t>(text.substr(dash + 1));
  if (!first || !last || *last < *first || *last - *first >= 64) return std::nullopt;
  if (*first == 0 && *last != 0) return std::nullopt;
  return std::pair{*first, *last};
}

}  // namespace

Status is_size(std::string_view text) {
  GT_TRY(parse_bytes(text));
  return {};
}

Status is_rate(std::string_view text) {
  GT_TRY(parse_bits_per_s(text));
  return {};
}

Status is_duration(std::string_view text) {
  GT_TRY(parse_duration(text));
  return {};
}

Status is_time(std::string_view text) {
  if (!parse_rfc3339(text))
    return invalid(in_quotes(text) + " is no time; write it like 2026-11-20 or 2026-11-20T19:15:50Z");
  return {};
}

Status is_host_port(std::string_view text) {
  if (!try_host_port(text))
    return invalid(in_quotes(text) + " is no HOST:PORT; write it like lab.example.org:7443 or [::1]:7443");
  return {};
}

Status is_server_address(std::string_view text) {
  GT_TRY(is_host_port(text));
  if (!gridtorrent::is_server_address(text))
    return invalid(in_quotes(text) +
                   " is no address that other machines can dial: a host of letters, digits, '.', '-' and '_', and a "
                   "port from 1 to 65535, as in lab.example.org:7443");
  return {};
}

Status is_port_range(std::string_view text) {
  if (!try_port_range(text))
    return invalid(in_quotes(text) + " is no range of at most 64 ports; write it like 50000-50015, or 0 for free ones");
  return {};
}

Status is_named_root(std::string_view text) {
  const std::size_t equals = text.find('=');
  const bool good = equals != std::string_view::npos && is_root_name(text.substr(0, equals)) &&
                    text.substr(equals + 1).starts_with('/') && text.find('\0') == std::string_view::npos;
  if (!good)
    return invalid(in_quotes(text) +
                   " is no NAME=DIR with a lower-case name and an absolute folder; write it like data=/srv/data");
  return {};
}

Status is_not_empty(std::string_view text) {
  if (text.empty()) return invalid("is empty");
  return {};
}

Check integer_between(std::int64_t smallest, std::int64_t largest) {
  return [=](std::string_view text) -> Status {
    const auto number = parse_integer<std::int64_t>(text);
    if (number && *number >= smallest && *number <= largest) return {};
    return invalid(in_quotes(text) + " is no whole number from " + std::to_string(smallest) + " to " +
                   std::to_string(largest));
  };
}

Check auto_or_integer_between(std::int64_t smallest, std::int64_t largest) {
  return [=](std::string_view text) -> Status {
    const auto number = parse_integer<std::int64_t>(text);
    if (text == "auto" || (number && *number >= smallest && *number <= largest)) return {};
    return invalid(in_quotes(text) + " is neither auto nor a whole number from " + std::to_string(smallest) + " to " +
                   std::to_string(largest));
  };
}

std::pair<std::string, std::uint16_t> split_host_port(std::string_view text) {
  const auto parts = try_host_port(text);
  GT_CHECK(parts.has_value());
  return *parts;
}

std::pair<std::uint16_t, std::uint16_t> split_port_range(std::string_view text) {
  const auto parts = try_port_range(text);
  GT_CHECK(parts.has_value());
  return *parts;
}

std::pair<std::string, std::string> split_named_root(std::string_view text) {
  GT_CHECK(is_named_root(text).ok());
  const std::size_t equals = text.find('=');
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

}  // namespace gridtorrent::options
