#include "base/rpc/access_text.h"

#include "common/text.h"

namespace gridtorrent::rpc {
namespace {

constexpr std::string_view kGroup = "group:";
constexpr std::string_view kUser = "user:";

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Status add_target(v1::Access& access, std::string_view target) {
  if (target == "buddies") {
    access.set_buddies(true);
  } else if (target.starts_with(kGroup) && target.size() > kGroup.size()) {
    access.add_groups(std::string(target.substr(kGroup.size())));
  } else if (target.starts_with(kUser) && target.size() > kUser.size()) {
    access.add_users(std::string(target.substr(kUser.size())));
  } else {
    return Error{Code::kInvalid, "access '" + escape_for_display(target) +
                                     "' is none of public, private, group:NAME, user:NAME, buddies"};
  }
  return {};
}

}  // namespace

Result<v1::Access> parse_access(std::string_view text) {
  v1::Access access;
  text = trim(text);
  if (text.empty() || text == "private") {
    access.set_level(v1::Access::PRIVATE);
    return access;
  }
  if (text == "public") {
    access.set_level(v1::Access::PUBLIC);
    return access;
  }
  access.set_level(v1::Access::SHARED);
  while (true) {
    const auto comma = text.find(',');
    GT_TRY(add_target(access, trim(text.substr(0, comma))));
    if (comma == std::string_view::npos) return access;
    text.remove_prefix(comma + 1);
  }
}

std::string access_text(const v1::Access& access) {
  if (access.level() == v1::Access::PUBLIC) return "public";
  if (access.level() != v1::Access::SHARED) return "private";
  std::string text;
  const auto add = [&text](const std::string& target) { text += (text.empty() ? "" : ",") + target; };
  for (const std::string& group : access.groups()) add(std::string(kGroup) + group);
  for (const std::string& user : access.users()) add(std::string(kUser) + user);
  if (access.buddies()) add("buddies");
  return text.empty() ? "shared" : text;
}

}  // namespace gridtorrent::rpc
