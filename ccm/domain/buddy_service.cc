#include "ccm/domain/buddy_service.h"

#include <utility>

#include "ccm/domain/content_access.h"
#include "ccm/domain/once.h"

namespace gridtorrent::ccm {

Result<User> BuddyService::change(const Actor& actor, const std::string& request_id, const std::string& user,
                                  bool add) {
  const std::string_view method = add ? "buddy.add" : "buddy.remove";
  User buddy;
  bool changed = false, is_news = false;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(buddy, resolve_user(tx, user));
    GT_ASSIGN(const bool done, was_done(tx, actor.user, request_id, method, buddy.id.str()));
    if (done) return {};
    if (add && buddy.id == actor.user) return Error{Code::kConflict, "nobody is their own buddy; name somebody else"};
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(changed, add ? tx.buddies.add(actor.user, buddy.id, now) : tx.buddies.remove(actor.user, buddy.id));
    if (!changed) return {};
    GT_ASSIGN(const auto list, tx.buddies.of(actor.user));
    GT_ASSIGN(const Quotas quotas, quotas_of(tx, d_.quotas, actor.user));
    if (add && list.size() > quotas.buddies) {
      return Error{Code::kExhausted, "user " + actor.name + " has " + std::to_string(quotas.buddies) +
                                         " buddies, as many as the quota allows; make a group of them"};
    }
    // Who is given nothing by it is not even woken.
    GT_ASSIGN(is_news, tx.contents.shares_with_buddies(actor.user));
    GT_TRY(keep_answer(tx, actor.user, request_id, method, buddy.id.str(), now));
    return tx.audit.append(audit_record(actor, now, method, buddy.name, request_id));
  }));
  if (is_news) {
    d_.waker.buddy_changed(actor.user, buddy.id);
    d_.inboxes.ring({buddy.id});
  } else if (changed) {
    // Nodes may still follow a list of keys from when something was shared with buddies, which may be so again.
    d_.waker.person_changed(actor.user);
  }
  return buddy;
}

Result<User> BuddyService::add(const Actor& actor, const std::string& request_id, const std::string& user) {
  return change(actor, request_id, user, true);
}

Result<User> BuddyService::remove(const Actor& actor, const std::string& request_id, const std::string& user) {
  return change(actor, request_id, user, false);
}

Result<Page<User>> BuddyService::list(const Actor& actor, const PageRequest& page) {
  constexpr std::string_view kList = "buddies";
  const auto key_of = [](const User& user) { return PageKey{user.name}; };
  GT_ASSIGN(const PageKey after, parse_page_token(kList, 1, page.token));
  std::vector<User> buddies;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(buddies, tx.buddies.of(actor.user));
    return {};
  }));
  keep_page(buddies, page, after, key_of);
  return make_page<User>(std::move(buddies), page,
                         [key_of](const User& user) { return encode_page_token(kList, key_of(user)); });
}

}  // namespace gridtorrent::ccm
