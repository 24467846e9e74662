#include "ccm/domain/buddy_service.h"

#include <utility>

#include "ccm/domain/content_access.h"
#include "ccm/domain/once.h"

namespace gridtorrent::ccm {

Result<User> BuddyService::add(const Actor& actor, const std::string& request_id, const std::string& user) {
  constexpr std::string_view kMethod = "buddy.add";
  User buddy;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(buddy, resolve_user(tx, user));
    GT_ASSIGN(const bool done, was_done(tx, actor.user, request_id, kMethod, buddy.id.str()));
    if (done) return {};
    if (buddy.id == actor.user) return Error{Code::kConflict, "nobody is their own buddy; name somebody else"};
    GT_ASSIGN(const auto list, tx.buddies.of(actor.user));
    if (list.size() >= d_.quotas.buddies) {
      return Error{Code::kExhausted, "user " + actor.name + " has " + std::to_string(list.size()) +
                                         " buddies, as many as the quota allows; make a group of them"};
    }
    const WallTime now = d_.clock.wall();
    GT_TRY(tx.buddies.add(actor.user, buddy.id, now));
    GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, buddy.id.str(), now));
    return tx.audit.append(audit_record(actor, now, kMethod, buddy.name, request_id));
  }));
  d_.waker.buddy_changed(actor.user, buddy.id);
  d_.inboxes.ring({buddy.id});
  return buddy;
}

Result<User> BuddyService::remove(const Actor& actor, const std::string& request_id, const std::string& user) {
  constexpr std::string_view kMethod = "buddy.remove";
  User buddy;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(buddy, resolve_user(tx, user));
    GT_ASSIGN(const bool done, was_done(tx, actor.user, request_id, kMethod, buddy.id.str()));
    if (done) return {};
    const WallTime now = d_.clock.wall();
    GT_TRY(tx.buddies.remove(actor.user, buddy.id));
    GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, buddy.id.str(), now));
    return tx.audit.append(audit_record(actor, now, kMethod, buddy.name, request_id));
  }));
  d_.waker.buddy_changed(actor.user, buddy.id);
  d_.inboxes.ring({buddy.id});
  return buddy;
}

Result<std::vector<User>> BuddyService::list(const Actor& actor) {
  std::vector<User> buddies;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(buddies, tx.buddies.of(actor.user));
    return {};
  }));
  return buddies;
}

}  // namespace gridtorrent::ccm
