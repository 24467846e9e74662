#include "ccm/domain/content_service.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ccm/domain/content_access.h"
#include "ccm/domain/names.h"
#include "ccm/domain/once.h"
#include "common/text.h"

namespace gridtorrent::ccm {

namespace {

constexpr std::uint32_t kDefaultPage = 50;
constexpr std::uint32_t kMaxPage = 200;
constexpr std::size_t kSweepBatch = 200;
constexpr std::chrono::milliseconds kEndedTokenLifetime = std::chrono::hours(24 * 30);

Result<SearchFilter> make_filter(const Actor& actor, const SearchQuery& query) {
  SearchFilter filter;
  filter.viewer = actor.user;
  filter.viewer_name = actor.name;
  if (query.limit > kMaxPage) {
    return Error{Code::kInvalid, "limit " + std::to_string(query.limit) + " is refused: 1 to 200 a page"};
  }
  filter.limit = query.limit == 0 ? kDefaultPage : query.limit;
  if (query.text.size() > kMaxContentNameCharacters * 8) return Error{Code::kInvalid, "the query is too long"};
  filter.folded_query = fold_case(query.text);
  filter.owner = query.owner;
  if (!query.tag.empty()) {
    GT_ASSIGN(const auto tags, normalize_tags({query.tag}));
    filter.tag = tags.front();
  }
  if (!query.access.empty()) {
    GT_ASSIGN(filter.access, parse_access_level(query.access));
  }
  filter.min_bytes = query.min_bytes;
  filter.since = query.since;
  if (!query.page.empty()) {
    GT_ASSIGN(filter.after, parse_page(query.page));
  }
  return filter;
}

/// The content as the actor may know it, and whether the action is allowed. `groups`: see grants_among.
Result<bool> show_as_seen(Tx& tx, const Actor& actor, Action action, const std::vector<GroupId>& groups,
                          Content& content) {
  const Subject subject = subject_of(actor);
  GT_ASSIGN(const Grants grants, grants_among(tx, actor.user, content, groups));
  const bool allowed = decide(subject, action, content, grants).allowed;
  content.access = access_as_seen(subject, content, grants);
  return allowed;
}

/// Whether somebody may come in who could not before.
bool adds_targets(const Access& before, const Access& after) {
  if (after.level != AccessLevel::kShared) return false;
  const auto in = [](const auto& list, const auto& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  const auto is_new_user = [&](const std::string& user) { return !in(before.users, user); };
  const auto is_new_group = [&](const GroupTarget& group) { return !in(before.groups, group); };
  return std::any_of(after.users.begin(), after.users.end(), is_new_user) ||
         std::any_of(after.groups.begin(), after.groups.end(), is_new_group) || (after.buddies && !before.buddies);
}

/// What is told of somebody else is not more than the asker could know: no grants by groups that the asker is not in.
Result<Explanation> explain_other(Tx& tx, const Actor& actor, const Content& content, const User& other) {
  GT_ASSIGN(const auto asker_groups, sorted_groups_of(tx, actor.user));
  GT_ASSIGN(Grants grants, grants_of(tx, other.id, content));
  std::erase_if(grants.groups, [&](const GroupId& group) {
    return !std::binary_search(asker_groups.begin(), asker_groups.end(), group);
  });
  const AccessDecision decision = decide({other.id, other.name, other.disabled}, Action::kTransfer, content, grants);
  if (decision.denial != Denial::kHidden || content.state != ContentState::kPublished || other.disabled)
    return Explanation{decision.allowed, decision.reason};
  for (const GroupTarget& target : content.access.groups) {
    if (std::binary_search(asker_groups.begin(), asker_groups.end(), target.id)) continue;
    return Error{Code::kDenied, "whether user " + other.name + " may is not yours to know: it is shared with group " +
                                    target.name + ", which you are not a member of any more"};
  }
  return Explanation{false, decision.reason};
}

}  // namespace

ContentView ContentService::listed(Content content) const {
  const auto counts = d_.live.counts(content.id, content.version);
  const std::uint32_t version = content.version;
  return {std::move(content), counts.seeders, counts.leechers, {}, version};
}

ContentView ContentService::view(Content content) const {
  ContentView shown = listed(std::move(content));
  shown.data_ca_pem = d_.editions.ca_pem(shown.content.generation);
  return shown;
}

Result<std::uint32_t> ContentService::edition_for(const Access& access, std::uint32_t now,
                                                  const Result<std::uint32_t>& restricted) const {
  if (access.level == AccessLevel::kPublic) return std::uint32_t{0};
  if (now != 0 && !d_.editions.ca_pem(now).empty()) return now;
  return restricted;
}

ContentView ContentService::after_change(Content content, const Concerned& concerned) {
  for (const NodeId& node : concerned.tasked) d_.waker.tasks_waiting(node);
  d_.waker.content_changed(content.id, concerned.holders);
  if (!concerned.people.empty()) d_.inboxes.ring(concerned.people);
  return view(std::move(content));
}

Result<SearchResult> ContentService::search(const Actor& actor, const SearchQuery& query) {
  GT_ASSIGN(SearchFilter filter, make_filter(actor, query));
  const std::size_t page = filter.limit;
  filter.limit = page + 1;  // one more says whether there is a next page
  SearchResult result;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    if (!query.group.empty()) {
      GT_ASSIGN(const GroupTarget target, own_group(tx, actor, query.group));
      filter.group = target.id;
    }
    GT_ASSIGN(std::vector<Content> found, tx.contents.search(filter));
    if (found.size() > page) {
      found.resize(page);
      result.next_page = encode_page({found.back().published, found.back().id});
    }
    GT_ASSIGN(const auto groups, sorted_groups_of(tx, actor.user));
    for (Content& content : found) {
      // The store has filtered; the policy has the last word.
      GT_ASSIGN(const bool allowed, show_as_seen(tx, actor, Action::kSearch, groups, content));
      if (allowed) result.contents.push_back(listed(std::move(content)));
    }
    return {};
  }));
  return result;
}

Result<ContentService::Named> ContentService::resolve_named(Tx& tx, const Actor& actor,
                                                            std::string_view reference) const {
  Result<Content> literal = resolve_content(tx, actor, reference);
  const auto versioned = split_version(reference);
  const bool own = literal && literal->owner == actor.user;
  const bool several = !literal && literal.error().code == Code::kConflict;
  if (!versioned || own || several || (literal && reference.find('/') != std::string_view::npos)) {
    GT_ASSIGN(Content content, std::move(literal));
    return Named{std::move(content), 0};
  }
  Result<Content> of_version = resolve_content(tx, actor, versioned->first);
  const bool none = !of_version && of_version.error().code == Code::kNotFound;
  if (none && literal) return Named{*std::move(literal), 0};
  if (none) return missing_content(reference);
  if (!of_version && (!literal || of_version.error().code != Code::kConflict)) return of_version.error();
  if (literal) {
    const std::string other = of_version ? of_version->owner_name + "/" + escape_for_display(of_version->name)
                                         : "one of several named \"" + escape_for_display(versioned->first) + "\"";
    return Error{Code::kConflict, "\"" + escape_for_display(reference) + "\" is " + literal->owner_name + "/" +
                                      escape_for_display(literal->name) + ", and version " +
                                      std::to_string(versioned->second) + " of " + other +
                                      ": say which, as OWNER/NAME"};
  }
  return Named{*std::move(of_version), versioned->second};
}

Result<ContentView> ContentService::get(const Actor& actor, std::string_view reference, std::uint32_t version) {
  Content content;
  std::uint32_t newest = 0;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    if (version == 0) {
      GT_ASSIGN(Named named, resolve_named(tx, actor, reference));
      content = std::move(named.content);
      version = named.version;
    } else {
      GT_ASSIGN(content, resolve_content(tx, actor, reference));
    }
    newest = content.version;
    auto asked = at_version(tx, std::move(content), version);
    // Of what somebody looks for, not of what a program states.
    if (!asked && asked.error().code == Code::kInvalid) return Error{Code::kNotFound, asked.error().message};
    GT_ASSIGN(content, std::move(asked));
    GT_ASSIGN(const auto groups, sorted_groups_of(tx, actor.user));
    GT_TRY(show_as_seen(tx, actor, Action::kShow, groups, content));
    return {};
  }));
  ContentView shown = view(std::move(content));
  shown.newest_version = newest;
  return shown;
}

Result<Content> ContentService::open_metadata(const Actor& actor, const ContentId& id, std::uint32_t version) {
  Content content;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(content, open_content(tx, actor, Action::kShow, id));
    GT_ASSIGN(content, at_version(tx, std::move(content), version));
    return {};
  }));
  if (content.metadata_sha256.empty()) {
    return Error{Code::kConflict, "content " + id.str() + " is still being published; it has no metadata yet"};
  }
  return content;
}

Result<Page<ReplicaView>> ContentService::replicas(const Actor& actor, const ContentId& id, const PageRequest& page,
                                                   std::uint32_t version) {
  const std::string list = "replicas of " + id.str();
  const auto key_of = [](const Replica& replica) {
    return PageKey{replica.complete ? "0" : "1", replica.node_name, replica.node.str()};
  };
  GT_ASSIGN(const PageKey after, parse_page_token(list, 3, page.token));
  std::vector<Replica> found;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(Content content, open_content(tx, actor, Action::kListReplicas, id));
    GT_ASSIGN(content, at_version(tx, std::move(content), version));
    version = content.version;
    GT_ASSIGN(found, known_replicas(tx, actor, content, version));
    return {};
  }));
  const std::vector<NodeId> seeders = d_.live.seeders(id, version);
  keep_page(found, page, after, key_of);
  std::vector<ReplicaView> views;
  views.reserve(found.size());
  for (Replica& replica : found) {
    const bool online = d_.live.online(replica.node);
    if (online) replica.last_seen = d_.clock.wall();
    const bool served = std::ranges::binary_search(seeders, replica.node);
    views.push_back({std::move(replica), online, served});
  }
  return make_page<ReplicaView>(std::move(views), page, [list, key_of](const ReplicaView& view) {
    return encode_page_token(list, key_of(view.replica));
  });
}

Result<ContentView> ContentService::set_access(const Actor& actor, const std::string& request_id, const ContentId& id,
                                               const Access& access, const std::optional<Access>& expected) {
  constexpr std::string_view kMethod = "content.set_access";
  const auto restricted = d_.editions.restricted();
  Content content;
  Concerned concerned;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(content, open_content(tx, actor, Action::kSetAccess, id));
    GT_ASSIGN(const bool done, was_done(tx, actor.user, request_id, kMethod, id.str()));
    if (done) return {};
    const WallTime now = d_.clock.wall();
    if (expected && !is_access(*expected, content.access)) {
      return Error{Code::kConflict, "who may get " + escape_for_display(content.name) +
                                        " has been changed meanwhile, to " + to_text(content.access) +
                                        ": look at it, and change it again"};
    }
    GT_ASSIGN(Access wanted, checked_access(tx, actor, access, content.access));
    GT_ASSIGN(const std::uint32_t generation, edition_for(access, content.generation, restricted));
    if (wanted == content.access && generation == content.generation) return {};
    const std::string change = to_text(content.access) + " to " + to_text(wanted);
    GT_ASSIGN(concerned.people, sharees(tx, content));
    if (adds_targets(content.access, wanted)) content.shared = now;
    content.access = std::move(wanted);
    content.generation = generation;
    GT_ASSIGN(const std::vector<UserId> more, sharees(tx, content));
    concerned.people.insert(concerned.people.end(), more.begin(), more.end());
    GT_ASSIGN(concerned.holders, tx.replicas.holders(id));
    GT_TRY(tx.contents.update(content));
    GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, id.str(), now));
    return tx.audit.append(audit_record(actor, now, kMethod, id.str(), request_id, "ok: " + change));
  }));
  return after_change(std::move(content), concerned);
}

Result<ContentService::Concerned> ContentService::withdraw_in(Tx& tx, const Actor& actor, Content& content,
                                                              WallTime now) {
  Concerned concerned;
  GT_ASSIGN(content.state, next_state(content.state, ContentEvent::kWithdraw));
  GT_TRY(tx.contents.update(content));
  GT_ASSIGN(concerned.tasked, tx.node_effects.content_closed(content.id, actor.user, now));
  GT_ASSIGN(concerned.people, sharees(tx, content));
  return concerned;
}

Result<ContentView> ContentService::unpublish(const Actor& actor, const std::string& request_id, const ContentId& id) {
  constexpr std::string_view kMethod = "content.unpublish";
  Content content;
  Concerned concerned;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(content, open_content(tx, actor, Action::kUnpublish, id));
    GT_ASSIGN(const bool done, was_done(tx, actor.user, request_id, kMethod, id.str()));
    if (done || content.state == ContentState::kWithdrawn) return {};
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(concerned, withdraw_in(tx, actor, content, now));
    GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, id.str(), now));
    return tx.audit.append(audit_record(actor, now, kMethod, id.str(), request_id));
  }));
  return after_change(std::move(content), concerned);
}

Result<ContentView> ContentService::restore(const Actor& actor, const std::string& request_id, const ContentId& id,
                                            const std::string& name) {
  constexpr std::string_view kMethod = "content.restore";
  const auto restricted = d_.editions.restricted();
  Content content;
  Concerned concerned;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(content, open_content(tx, actor, Action::kRestore, id));
    GT_ASSIGN(const bool done, was_done(tx, actor.user, request_id, kMethod, id.str()));
    if (done || content.state == ContentState::kPublished) return {};
    GT_ASSIGN(content.state, next_state(content.state, ContentEvent::kRestore));
    if (!name.empty()) {
      GT_ASSIGN(content.name, checked_new_name(content, name));
    }
    GT_TRY(check_name_is_free(tx, content));
    GT_TRY(tx.contents.set_owner_and_name(content.id, content.owner, content.name));
    GT_ASSIGN(content.generation, edition_for(content.access, content.generation, restricted));
    GT_TRY(tx.contents.update(content));
    GT_ASSIGN(concerned.holders, tx.replicas.holders(content.id));
    GT_ASSIGN(concerned.people, sharees(tx, content));
    const WallTime now = d_.clock.wall();
    GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, id.str(), now));
    return tx.audit.append(audit_record(actor, now, kMethod, id.str(), request_id, "ok: as \"" + content.name + "\""));
  }));
  return after_change(std::move(content), concerned);
}

Result<Explanation> ContentService::explain(const Actor& actor, const ContentId& id, const std::string& user) {
  Explanation explanation;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    const bool asks_for_self = user.empty() || user == actor.name || user == actor.user.str();
    GT_ASSIGN(const Content content, open_content(tx, actor, asks_for_self ? Action::kShow : Action::kExplain, id));
    if (!asks_for_self) {
      GT_ASSIGN(const User other, resolve_user(tx, user));
      GT_ASSIGN(explanation, explain_other(tx, actor, content, other));
      return {};
    }
    GT_ASSIGN(const Grants grants, grants_of(tx, actor.user, content));
    const AccessDecision decision = decide(subject_of(actor), Action::kTransfer, content, grants);
    const bool by_sharing =
        decision.allowed && content.access.level == AccessLevel::kShared && content.owner != actor.user;
    explanation = {decision.allowed, by_sharing ? "it is shared with you" : decision.reason};
    return {};
  }));
  return explanation;
}

Result<AccessPreview> ContentService::preview(const Actor& actor, const Access& access) {
  AccessPreview preview;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(const Access wanted, checked_access(tx, actor, access, {}));
    GT_ASSIGN(preview.audience, tx.contents.audience(actor.user, wanted));
    return {};
  }));
  preview.text = to_text(access.level, preview.audience);
  return preview;
}

Status ContentService::sweep() {
  const WallTime now = d_.clock.wall();
  return d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(auto drafts, tx.contents.stale_drafts(now - kDraftLifetime, kSweepBatch));
    for (Content& draft : drafts) {
      GT_ASSIGN(draft.state, next_state(draft.state, ContentEvent::kPurge));
      GT_TRY(tx.contents.update(draft));
    }
    GT_ASSIGN(auto versions, tx.versions.stale_drafts(now - kDraftLifetime, kSweepBatch));
    GT_ASSIGN(const auto unheld, tx.versions.unheld(now - kUnheldLifetime, kSweepBatch));
    versions.insert(versions.end(), unheld.begin(), unheld.end());
    for (const VersionRecord& version : versions) GT_TRY(tx.versions.remove(version.content, version.number));
    GT_TRY(tx.requests.prune(now - kRequestLifetime));
    return tx.tokens.prune(now - kEndedTokenLifetime);
  });
}

}  // namespace gridtorrent::ccm
