#include "ccm/domain/audience.h"

#include <string_view>

#include "ccm/domain/content.h"

namespace gridtorrent::ccm {

namespace {

constexpr std::size_t kMostNames = 3;

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  return std::to_string(number) + " " + std::string(number == 1 ? one : many);
}

std::string people(std::uint64_t number) {
  return counted(number, "person", "people");
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

std::string shared_text(const Audience& a) {
  std::vector<std::string> parts;
  if (a.group_people > 0)
    parts.push_back(people(a.group_people) + " of " + counted(a.groups.size(), "group", "groups"));
  if (a.buddies > 0) parts.push_back(counted(a.buddies, "buddy", "buddies"));
  if (a.users.size() <= kMostNames) {
    parts.insert(parts.end(), a.users.begin(), a.users.end());
  } else {
    parts.push_back(people(a.users.size()) + " by name");
  }
  const bool some_counted_twice = a.group_people + a.buddies + a.users.size() != a.people;
  return joined(parts) + (some_counted_twice ? " (" + people(a.people) + " in all)" : "") +
         " can find and fetch this. Nobody else sees that it exists.";
}

}  // namespace

std::string to_text(AccessLevel level, const Audience& audience) {
  if (level == AccessLevel::kPublic) {
    return "Everyone with an account on this server (" + people(audience.people) +
           " beside you) can find and fetch this.";
  }
  if (level == AccessLevel::kPrivate) return "Only you can find and fetch this. Nobody else sees that it exists.";
  if (audience.people == 0)
    return "Only you can find and fetch this now: nobody else is among those it is shared with.";
  return shared_text(audience);
}

}  // namespace gridtorrent::ccm
