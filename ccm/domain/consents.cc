#include "ccm/domain/consents.h"

#include <string_view>

#include "ccm/domain/group_service.h"

namespace gridtorrent::ccm {

void Consents::follow(const AuditRecord& record) {
  constexpr std::string_view kPrefix = "group.";
  if (!record.action.starts_with(kPrefix)) return;
  const std::string_view action = std::string_view(record.action).substr(kPrefix.size());
  const std::size_t space = record.object.find(' ');
  const std::string group = record.object.substr(0, space);
  if (action == "create") places_[{group, record.actor_name}] = {Standing::kManager, {}};
  if (action == "delete") {
    std::erase_if(places_, [&](const auto& entry) { return entry.first.first == group; });
  }
  const Result<MembershipStep> step = parse_step(action);
  if (!step || space == std::string::npos) return;
  Place& place = places_[{group, record.object.substr(space + 1)}];
  if (is_pending(place.standing) && place.expires <= record.at) place.standing = Standing::kNone;
  if (const Result<Standing> next = next_standing(place.standing, *step)) place.standing = *next;
  place.expires = record.at + GroupService::kPendingLifetime;
}

bool Consents::member(const std::string& group, const std::string& user) const {
  const auto found = places_.find({group, user});
  return found != places_.end() && is_active(found->second.standing);
}

}  // namespace gridtorrent::ccm
