#include "ccm/domain/handover_service.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "ccm/domain/content_access.h"
#include "ccm/domain/names.h"
#include "ccm/domain/once.h"
#include "common/shell_words.h"
#include "common/text.h"

namespace gridtorrent::ccm {

namespace {

constexpr std::chrono::hours kOfferLifetime{14 * 24};
constexpr std::size_t kMaxMessageBytes = 1000;

std::string display_name(const Content& content) {
  return content.owner_name + "/" + content.name;
}

/// Where the account is disabled an administrator speaks for it, whether they may see the content or not.
Result<std::optional<Content>> of_disabled_owner(Tx& tx, const Actor& actor, std::string_view reference) {
  if (!actor.admin || !actor.scopes.has(Scope::kAdmin)) return std::optional<Content>();
  GT_ASSIGN(const ContentReference parts, parse_content_reference(reference));
  std::optional<Content> found;
  if (!parts.id.empty()) {
    GT_ASSIGN(const ContentId id, ContentId::parse(parts.id));
    GT_ASSIGN(found, tx.contents.by_id(id));
  } else if (!parts.owner.empty()) {
    GT_ASSIGN(const auto owner, tx.users.by_name(parts.owner));
    if (owner) {
      GT_ASSIGN(found, tx.contents.by_owner_and_name(owner->id, parts.name));
    }
  }
  if (!found) return std::optional<Content>();
  GT_ASSIGN(const auto owner, tx.users.by_id(found->owner));
  return owner && owner->disabled ? std::move(found) : std::optional<Content>();
}

/// A content that the actor may give away.
Result<Content> own_to_give(Tx& tx, const Actor& actor, std::string_view reference) {
  GT_ASSIGN(auto orphan, of_disabled_owner(tx, actor, reference));
  if (!orphan) {
    GT_ASSIGN(orphan, resolve_content(tx, actor, reference));
    if (orphan->owner != actor.user) {
      return Error{Code::kDenied, "only its owner may hand " + display_name(*orphan) +
                                      " over, or an administrator where the owner's account is disabled"};
    }
  }
  if (orphan->state != ContentState::kPublished) {
    return Error{Code::kConflict, display_name(*orphan) + " is " + std::string(content_state_name(orphan->state)) +
                                      ": only published content is handed over"};
  }
  return std::move(*orphan);
}

/// What was offered to the actor under this id or name.
Result<Offer> offered_to(Tx& tx, const Actor& actor, const std::string& reference, WallTime now) {
  const Error missing{Code::kNotFound, "no content \"" + escape_for_display(reference.substr(0, 200)) +
                                           "\" is offered to you; look with: gridtorrent handover list"};
  if (const auto id = ContentId::parse(reference)) {
    // However many others are listed before it.
    GT_ASSIGN(auto offer, tx.offers.of_content(*id));
    if (!offer || offer->to != actor.user || !offer->is_open(now)) return missing;
    return std::move(*offer);
  }
  std::optional<Offer> found;
  std::optional<OfferPlace> after;
  for (bool more = true; more;) {
    GT_ASSIGN(std::vector<Offer> open, tx.offers.to(actor.user, now, after, HandoverService::kMaxListed));
    more = open.size() == HandoverService::kMaxListed;
    if (more) after = OfferPlace{open.back().since, open.back().content.str()};
    for (Offer& one : open) {
      if (reference != one.content_name && reference != one.owner_name + "/" + one.content_name) continue;
      if (found) {
        return Error{Code::kConflict,
                     "several contents of that name are offered to you; say which: " + found->owner_name + "/" +
                         found->content_name + " or " + one.owner_name + "/" + one.content_name};
      }
      found = std::move(one);
    }
  }
  if (!found) return missing;
  return std::move(*found);
}

Status tell(Tx& tx, const UserId& to, NoticeKind kind, const Actor& by, const std::string& object, WallTime now) {
  return tx.notices.append({to, now, kind, by.name, "", object});
}

/// Where a page of one of the two lists begins; both fields are empty where nothing of it was given yet.
Result<std::optional<OfferPlace>> place_of(const std::string& since, const std::string& content) {
  if (since.empty() && content.empty()) return std::optional<OfferPlace>();
  GT_ASSIGN(const std::int64_t ms, page_number(since));
  return std::optional<OfferPlace>(OfferPlace{WallTime{ms}, content});
}

/// Of a list that was read with one more than `limit`: leaves `limit` and notes the place of the last. Whether there
/// are more.
bool cut_page(std::vector<Offer>& list, std::size_t limit, std::string& since, std::string& content) {
  const bool more = list.size() > limit;
  if (more) list.pop_back();
  if (!list.empty()) {
    since = std::to_string(list.back().since.ms);
    content = list.back().content.str();
  }
  return more;
}

}  // namespace

Result<Offer> HandoverService::offer(const Actor& actor, const NewOffer& wanted) {
  constexpr std::string_view kMethod = "handover.offer";
  GT_ASSIGN(const std::string message, normalize_text("message", wanted.message, kMaxMessageBytes, true));
  Offer offer;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(const Content content, own_to_give(tx, actor, wanted.content));
    GT_ASSIGN(const User to, resolve_user(tx, wanted.to));
    GT_ASSIGN(const bool done, was_done(tx, actor.user, wanted.request_id, kMethod, content.id.str() + to.id.str()));
    GT_ASSIGN(const auto before, tx.offers.of_content(content.id));
    if (done) {
      if (before) offer = *before;
      return {};
    }
    if (to.id == content.owner) {
      return Error{Code::kConflict, display_name(content) + " is " + to.name + "'s already; name somebody else"};
    }
    if (to.disabled) return Error{Code::kConflict, "the account of " + to.name + " is disabled; name somebody else"};
    if (before && before->is_open(now) && before->to != to.id) {
      return Error{Code::kConflict, display_name(content) + " is offered to " + before->to_name +
                                        "; first: gridtorrent handover withdraw " +
                                        shell_arguments({display_name(content)})};
    }
    GT_ASSIGN(const Quotas quotas, quotas_of(tx, d_.quotas, actor.user));
    GT_ASSIGN(const std::uint64_t steps, tx.groups.count_open(actor.user, now));
    GT_ASSIGN(const std::uint64_t offers, tx.offers.count_open(actor.user, now));
    if (steps + offers >= quotas.open_requests_and_invitations) {
      return Error{Code::kExhausted, "user " + actor.name + " has " + std::to_string(steps + offers) +
                                         " requests, invitations and offers open, as many as the quota allows"};
    }
    offer = {content.id, content.owner_name,   content.name, content.bytes, actor.user, actor.name, to.id, to.name,
             now,        now + kOfferLifetime, message};
    GT_TRY(tx.offers.put(offer));
    GT_TRY(keep_answer(tx, actor.user, wanted.request_id, kMethod, content.id.str() + to.id.str(), now));
    return tx.audit.append(audit_record(actor, now, kMethod, content.id.str(), wanted.request_id, "ok: to " + to.name));
  }));
  if (!offer.to.is_nil()) d_.inboxes.ring({offer.to});
  return offer;
}

Result<Offer> HandoverService::withdraw(const Actor& actor, const std::string& request_id, const std::string& content) {
  return end(actor, request_id, content, true);
}

Result<Offer> HandoverService::decline(const Actor& actor, const std::string& request_id, const std::string& content) {
  return end(actor, request_id, content, false);
}

Result<Offer> HandoverService::end(const Actor& actor, const std::string& request_id, const std::string& content,
                                   bool withdrawn) {
  const std::string_view method = withdrawn ? "handover.withdraw" : "handover.decline";
  Offer offer;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(const auto answered, first_answer(tx, actor.user, request_id, method));
    if (answered) {
      GT_ASSIGN(offer.content, ContentId::parse(*answered));
      return {};
    }
    if (withdrawn) {
      GT_ASSIGN(const Content own, own_to_give(tx, actor, content));
      GT_ASSIGN(const auto open, tx.offers.of_content(own.id));
      if (!open || !open->is_open(now)) {
        return Error{Code::kConflict, display_name(own) + " is offered to nobody; there is nothing to withdraw"};
      }
      offer = *open;
    } else {
      GT_ASSIGN(offer, offered_to(tx, actor, content, now));
      GT_TRY(tell(tx, offer.by, NoticeKind::kOfferDeclined, actor, offer.owner_name + "/" + offer.content_name, now));
    }
    GT_TRY(tx.offers.remove(offer.content));
    GT_TRY(keep_answer(tx, actor.user, request_id, method, offer.content.str(), now));
    return tx.audit.append(audit_record(actor, now, method, offer.content.str(), request_id));
  }));
  if (!offer.to.is_nil()) d_.inboxes.ring({offer.to, offer.by});
  return offer;
}

Status HandoverService::check_room(Tx& tx, const Actor& actor, const Content& content) const {
  GT_ASSIGN(const auto usage, tx.contents.usage(actor.user));
  GT_ASSIGN(const Quotas quotas, quotas_of(tx, d_.quotas, actor.user));
  const bool metadata_fits = content.metadata_bytes <= quotas.metadata_bytes &&
                             usage.metadata_bytes <= quotas.metadata_bytes - content.metadata_bytes;
  if (usage.contents < quotas.contents && metadata_fits) return {};
  return Error{Code::kExhausted, "user " + actor.name +
                                     " has as many contents as the quota allows, or as much metadata; " +
                                     "look with: gridtorrent user quota"};
}

Result<Offer> HandoverService::accept(const Actor& actor, const std::string& request_id, const std::string& reference,
                                      const std::string& new_name) {
  constexpr std::string_view kMethod = "handover.accept";
  Offer offer;
  Content content;
  std::vector<NodeId> concerned_nodes;
  std::vector<UserId> people;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(const auto answered, first_answer(tx, actor.user, request_id, kMethod));
    if (answered) {
      // As it was then: to whom it went since, and its name there, are not for this person to know.
      const std::size_t id_end = std::min(answered->find(' '), answered->size());
      GT_ASSIGN(offer.content, ContentId::parse(answered->substr(0, id_end)));
      offer.owner_name = actor.name;
      offer.content_name = answered->substr(std::min(id_end + 1, answered->size()));
      return {};
    }
    GT_ASSIGN(offer, offered_to(tx, actor, reference, now));
    GT_ASSIGN(const auto found, tx.contents.by_id(offer.content));
    if (!found || found->state != ContentState::kPublished) {
      return Error{Code::kConflict, offer.owner_name + "/" + offer.content_name + " is not published any more"};
    }
    content = *found;
    GT_ASSIGN(const auto old_owner, tx.users.by_id(content.owner));
    const bool old_owner_stays = old_owner && !old_owner->disabled;
    GT_TRY(check_room(tx, actor, content));
    std::string name = content.name;
    if (!new_name.empty()) {
      GT_ASSIGN(name, normalize_content_name(new_name));
      if (name != content.name) GT_TRY(check_new_content_name(name));
    }
    GT_ASSIGN(const auto namesake, tx.contents.by_owner_and_name(actor.user, name));
    if (namesake) {
      return Error{Code::kConflict, "you have a content \"" + name + "\"; take it under another name: gridtorrent " +
                                        "handover accept --name NAME " + shell_arguments({display_name(content)})};
    }
    GT_ASSIGN(people, sharees(tx, content));
    GT_ASSIGN(concerned_nodes, tx.replicas.holders(content.id));
    content.access = access_after_handover(content.access, content.owner_name, old_owner_stays, actor.name);
    content.shared = now;
    GT_TRY(tx.contents.update(content));
    GT_TRY(tx.contents.set_owner_and_name(content.id, actor.user, name));
    GT_TRY(tx.offers.remove(content.id));
    const std::string was = display_name(content);
    GT_TRY(tell(tx, offer.by, NoticeKind::kOfferAccepted, actor, was, now));
    if (old_owner_stays && content.owner != offer.by) {
      GT_TRY(tell(tx, content.owner, NoticeKind::kOfferAccepted, actor, was, now));
    }
    people.insert(people.end(), {offer.by, offer.to, content.owner});
    offer.owner_name = actor.name;
    offer.content_name = name;
    GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, content.id.str() + " " + name, now));
    return tx.audit.append(audit_record(actor, now, kMethod, content.id.str(), request_id, "ok: was " + was));
  }));
  if (offer.to.is_nil()) return offer;
  d_.waker.content_changed(content.id, concerned_nodes);
  d_.inboxes.ring(people);
  return offer;
}

Result<Offers> HandoverService::list(const Actor& actor, const PageRequest& page) {
  constexpr std::string_view kList = "offers";
  const std::size_t limit = std::min(page.items(), kMaxListed);
  GT_ASSIGN(PageKey key, parse_page_token(kList, 4, page.token));
  key.resize(4);
  GT_ASSIGN(const auto after_to_me, place_of(key[0], key[1]));
  GT_ASSIGN(const auto after_by_me, place_of(key[2], key[3]));
  Offers offers;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(offers.to_me, tx.offers.to(actor.user, now, after_to_me, limit + 1));
    GT_ASSIGN(offers.by_me, tx.offers.by(actor.user, now, after_by_me, limit + 1));
    return {};
  }));
  const bool more_to_me = cut_page(offers.to_me, limit, key[0], key[1]);
  const bool more_by_me = cut_page(offers.by_me, limit, key[2], key[3]);
  if (more_to_me || more_by_me) offers.next_page = encode_page_token(kList, key);
  return offers;
}

}  // namespace gridtorrent::ccm
