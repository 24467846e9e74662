#include "client/cli/access_change.h"

#include <algorithm>
#include <string>

#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

using Names = google::protobuf::RepeatedPtrField<std::string>;

bool has(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

Status take_away(Names& from, const Names& names, const std::string& kind) {
  for (const std::string& name : names) {
    const auto found = std::ranges::find(from, name);
    if (found == from.end())
      return Error{Code::kNotFound, kind + ":" + escape_for_display(name) + " is not among those who may get it"};
    from.erase(found);
  }
  return {};
}

Status take_away(v1::Access& from, const v1::Access& fewer) {
  GT_TRY(take_away(*from.mutable_groups(), fewer.groups(), "group"));
  GT_TRY(take_away(*from.mutable_users(), fewer.users(), "user"));
  if (!fewer.buddies()) return {};
  if (!from.buddies()) return Error{Code::kNotFound, "buddies are not among those who may get it"};
  from.set_buddies(false);
  return {};
}

void add(Names& to, const Names& names) {
  for (const std::string& name : names)
    if (!has(to, name)) to.Add()->assign(name);
}

bool overlap(const v1::Access& a, const v1::Access& b) {
  const auto any = [](const Names& left, const Names& right) {
    return std::ranges::any_of(left, [&](const std::string& name) { return has(right, name); });
  };
  return any(a.groups(), b.groups()) || any(a.users(), b.users()) || (a.buddies() && b.buddies());
}

bool names_nobody(const v1::Access& access) {
  return access.groups().empty() && access.users().empty() && !access.buddies();
}

}  // namespace

Result<v1::Access> changed_access(const v1::Access& now, const v1::Access* more, const v1::Access* fewer) {
  if (now.level() == v1::Access::PUBLIC) {
    return Error{Code::kInvalid, "it is public: every user may get it; --set TARGETS gives it to those alone"};
  }
  if (now.level() == v1::Access::SHARED && names_nobody(now)) {
    return Error{Code::kDenied, "only its owner may change who may get it"};
  }
  if (more != nullptr && fewer != nullptr && overlap(*more, *fewer)) {
    return Error{Code::kInvalid, "--add and --remove name the same; leave it out of one of them"};
  }
  v1::Access access = now;
  if (fewer != nullptr) GT_TRY(take_away(access, *fewer));
  if (more != nullptr) {
    add(*access.mutable_groups(), more->groups());
    add(*access.mutable_users(), more->users());
    if (more->buddies()) access.set_buddies(true);
  }
  access.set_level(names_nobody(access) ? v1::Access::PRIVATE : v1::Access::SHARED);
  return access;
}

}  // namespace gridtorrent::client::cli
