#include "client/profile/link.h"

#include <algorithm>
#include <cctype>

#include "common/ids.h"
#include "common/server_address.h"
#include "common/text.h"

namespace gridtorrent::client {

namespace {

constexpr std::string_view kScheme = "gridtorrent:";
constexpr std::size_t kMaxBytes = 1024, kDigits = 64;

Error not_a_link(const std::string& why) {
  return {Code::kInvalid, "this is no GridTorrent link: " + why +
                              "; one looks like gridtorrent:HOST:PORT?ca=HEX[&code=CODE], and is to be quoted on a "
                              "command line"};
}

bool is_hex(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

bool is_word(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

Status read_parameter(std::string_view parameter, Link& link) {
  const auto equals = parameter.find('=');
  const std::string_view name = parameter.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : parameter.substr(equals + 1);
  if (name == "ca") {
    if (value.size() != kDigits || !is_hex(value)) return not_a_link("ca= is to have 64 hexadecimal digits");
    link.ca = to_lower_ascii(value);
  } else if (name == "code") {
    if (value.empty() || !is_word(value)) return not_a_link("its code is cut off or damaged");
    link.code = value;
  } else {
    return not_a_link("\"" + escape_for_display(name.substr(0, 40)) + "\" is not known; a newer version may be needed");
  }
  return {};
}

}  // namespace

std::string link_text(const Link& link) {
  return std::string(kScheme) + link.server + (link.content.empty() ? "" : "/" + link.content) + "?ca=" + link.ca +
         (link.code.empty() ? "" : "&code=" + link.code);
}

Result<Link> parse_link(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  if (!text.starts_with(kScheme)) return not_a_link("it does not begin with gridtorrent:");
  if (text.size() > kMaxBytes) return not_a_link("it is too long");
  text.remove_prefix(kScheme.size());
  const auto question = text.find('?');
  const std::string_view place = text.substr(0, question);
  std::string_view parameters = question == std::string_view::npos ? "" : text.substr(question + 1);

  Link link;
  const auto slash = place.find('/');
  link.server = place.substr(0, slash);
  if (!is_server_address(link.server)) return not_a_link("it names no HOST:PORT");
  if (slash != std::string_view::npos) {
    const auto content = ContentId::parse(place.substr(slash + 1));
    if (!content) return not_a_link("what follows the server is no content's id");
    link.content = content->str();
  }
  while (!parameters.empty()) {
    const auto end = parameters.find('&');
    GT_TRY(read_parameter(parameters.substr(0, end), link));
    parameters = end == std::string_view::npos ? "" : parameters.substr(end + 1);
  }
  if (link.ca.empty()) return not_a_link("ca= is missing; an unquoted & may have cut it");
  return link;
}

}  // namespace gridtorrent::client
