#include "ccm/domain/inbox_service.h"

#include <algorithm>
#include <utility>

#include "ccm/domain/content_access.h"

namespace gridtorrent::ccm {

Result<Inbox> InboxService::read(const Actor& actor) {
  Inbox inbox;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(inbox.invitations, tx.groups.of_user(actor.user));
    std::erase_if(inbox.invitations,
                  [&](const Membership& one) { return standing_at(one, now) != Standing::kInvited; });
    GT_ASSIGN(inbox.requests, tx.groups.requests_to(actor.user, kMaxOfAKind));
    std::erase_if(inbox.requests, [&](const Membership& one) { return standing_at(one, now) != Standing::kRequested; });
    GT_ASSIGN(auto shares, tx.contents.shared_with(actor.user, actor.name, kMaxOfAKind));
    for (Content& content : shares) {
      // The store has filtered; the policy has the last word.
      GT_ASSIGN(const Grants grants, grants_of(tx, actor.user, content));
      if (!decide(subject_of(actor), Action::kSearch, content, grants).allowed) continue;
      content.access = access_as_seen(subject_of(actor), content, grants);
      inbox.shares.push_back(std::move(content));
    }
    GT_ASSIGN(inbox.notices, tx.notices.of_user(actor.user, kMaxOfAKind));
    GT_ASSIGN(inbox.read_until, tx.notices.read_until(actor.user));
    return {};
  }));
  return inbox;
}

Status InboxService::mark_read(const Actor& actor, WallTime until) {
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const WallTime before, tx.notices.read_until(actor.user));
    const WallTime after = std::min(until, d_.clock.wall());
    return before < after ? tx.notices.set_read_until(actor.user, after) : Status();
  }));
  d_.inboxes.ring({actor.user});
  return {};
}

}  // namespace gridtorrent::ccm
