#include "ccm/domain/offer.h"

#include <algorithm>

#include "ccm/domain/policy.h"

namespace gridtorrent::ccm {

Access access_after_handover(const Access& before, const std::string& old_owner, bool old_owner_stays,
                             const std::string& new_owner) {
  if (before.level == AccessLevel::kPublic) return before;
  Access after = before;
  after.buddies = false;
  std::erase(after.users, new_owner);
  const bool room = after.users.size() + after.groups.size() < kMaxAccessTargets;
  if (old_owner_stays && room) after.users.push_back(old_owner);
  std::sort(after.users.begin(), after.users.end());
  after.level = after.users.empty() && after.groups.empty() ? AccessLevel::kPrivate : AccessLevel::kShared;
  return after;
}

}  // namespace gridtorrent::ccm
