#include "ccm/domain/inbox_service.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ccm/domain/content_access.h"

namespace gridtorrent::ccm {

namespace {

/// When it came to be theirs: by the first of the ways in which it is.
WallTime shared_since(const Content& content, const Actor& actor, const Grants& grants,
                      const std::vector<Membership>& memberships, std::optional<WallTime> buddy_since) {
  const auto& users = content.access.users;
  if (std::find(users.begin(), users.end(), actor.name) != users.end()) return content.shared;
  std::optional<WallTime> first;
  const auto way = [&](WallTime since) {
    const WallTime open = std::max(since, content.shared);
    first = first ? std::min(*first, open) : open;
  };
  for (const Membership& one : memberships) {
    const bool counts = std::find(grants.groups.begin(), grants.groups.end(), one.group) != grants.groups.end();
    if (counts) way(one.since);
  }
  if (buddy_since) way(*buddy_since);
  return first.value_or(content.shared);
}

/// Leaves the first `limit` of what was read with one more, and notes where that one is.
template <class Item>
void keep_most(const char* kind, std::vector<Item>& items, std::size_t limit, std::vector<std::string>& more) {
  if (items.size() <= limit) return;
  items.pop_back();
  more.emplace_back(kind);
}

Result<std::vector<Content>> shares_of(Tx& tx, const Actor& actor, std::size_t limit, std::vector<std::string>& more) {
  GT_ASSIGN(auto found, tx.contents.shared_with(actor.user, actor.name, limit + 1));
  keep_most("shares", found, limit, more);
  GT_ASSIGN(const auto memberships, tx.groups.of_user(actor.user));
  GT_ASSIGN(const auto groups, sorted_groups_of(tx, actor.user));
  std::vector<Content> shares;
  for (Content& content : found) {
    GT_ASSIGN(const Grants grants, grants_among(tx, actor.user, content, groups));
    // The store has filtered; the policy has the last word.
    if (!decide(subject_of(actor), Action::kSearch, content, grants).allowed) continue;
    std::optional<WallTime> buddy_since;
    if (grants.buddy) {
      GT_ASSIGN(buddy_since, tx.buddies.since(content.owner, actor.user));
    }
    content.shared = shared_since(content, actor, grants, memberships, buddy_since);
    content.access = access_as_seen(subject_of(actor), content, grants);
    shares.push_back(std::move(content));
  }
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.shared > b.shared; });
  return shares;
}

}  // namespace

Result<Inbox> InboxService::read(const Actor& actor) {
  constexpr std::size_t kOneMore = kMaxOfAKind + 1;
  Inbox inbox;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(inbox.invitations, tx.groups.invitations_to(actor.user, now, kOneMore));
    GT_ASSIGN(inbox.requests, tx.groups.requests_to(actor.user, now, kOneMore));
    GT_ASSIGN(inbox.offers, tx.offers.to(actor.user, now, std::nullopt, kOneMore));
    if (actor.scopes.has(Scope::kContentRead)) {
      GT_ASSIGN(inbox.shares, shares_of(tx, actor, kMaxOfAKind, inbox.more));
    }
    GT_ASSIGN(inbox.notices, tx.notices.of_user(actor.user, kOneMore));
    if (inbox.notices.size() > kMaxOfAKind) {
      GT_ASSIGN(const std::uint64_t all, tx.notices.count(actor.user));
      inbox.older_notices = all - kMaxOfAKind;
    }
    GT_ASSIGN(inbox.read_until, tx.notices.read_until(actor.user));
    return {};
  }));
  keep_most("invitations", inbox.invitations, kMaxOfAKind, inbox.more);
  keep_most("requests", inbox.requests, kMaxOfAKind, inbox.more);
  keep_most("offers", inbox.offers, kMaxOfAKind, inbox.more);
  keep_most("notices", inbox.notices, kMaxOfAKind, inbox.more);
  return inbox;
}

Status InboxService::mark_read(const Actor& actor, WallTime until) {
  bool moved = false;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const WallTime before, tx.notices.read_until(actor.user));
    const WallTime after = std::min(until, d_.clock.wall());
    moved = before < after;
    return moved ? tx.notices.set_read_until(actor.user, after) : Status();
  }));
  if (moved) d_.inboxes.ring({actor.user});
  return {};
}

}  // namespace gridtorrent::ccm
