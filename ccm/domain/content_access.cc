#include "ccm/domain/content_access.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ccm/domain/names.h"
#include "common/cut_text.h"
#include "common/text.h"

namespace gridtorrent::ccm {

namespace {
constexpr std::size_t kMaxNamesakes = 20;

Result<Content> one_of(std::vector<Content> candidates, std::string_view reference) {
  for (const ContentState state : {ContentState::kPublished, ContentState::kDraft}) {
    const auto in_state = [&](const Content& c) { return c.state == state; };
    if (!std::any_of(candidates.begin(), candidates.end(), in_state)) continue;
    std::erase_if(candidates, [&](const Content& c) { return !in_state(c); });
    break;
  }
  if (candidates.empty()) return missing_content(reference);
  if (candidates.size() == 1) return std::move(candidates.front());
  std::string choices;
  for (const Content& candidate : candidates) {
    // Of withdrawn ones an owner may have several of one name.
    const bool withdrawn = candidate.state == ContentState::kWithdrawn;
    choices += choices.empty() ? "" : ", ";
    choices += withdrawn ? candidate.id.str() + " (withdrawn)"
                         : candidate.owner_name + "/" + escape_for_display(candidate.name);
  }
  return Error{Code::kConflict,
               "several contents are named \"" + escape_for_display(reference) + "\": say which: " + choices};
}
}  // namespace

Result<std::vector<GroupId>> sorted_groups_of(Tx& tx, const UserId& person) {
  GT_ASSIGN(auto groups, tx.groups.active_of(person));
  std::sort(groups.begin(), groups.end());
  return groups;
}

Result<Grants> grants_among(Tx& tx, const UserId& person, const Content& content, const std::vector<GroupId>& groups) {
  Grants grants;
  if (content.access.level != AccessLevel::kShared || person == content.owner) return grants;
  for (const GroupTarget& target : content.access.groups) {
    if (std::binary_search(groups.begin(), groups.end(), target.id)) grants.groups.push_back(target.id);
  }
  if (content.access.buddies) {
    GT_ASSIGN(const auto since, tx.buddies.since(content.owner, person));
    grants.buddy = since.has_value();
  }
  return grants;
}

Result<Grants> grants_of(Tx& tx, const UserId& person, const Content& content) {
  std::vector<GroupId> groups;
  if (!content.access.groups.empty()) {
    GT_ASSIGN(groups, sorted_groups_of(tx, person));
  }
  return grants_among(tx, person, content, groups);
}

Result<Content> open_content(Tx& tx, const Actor& actor, Action action, const ContentId& id) {
  const Error missing = missing_content(id.str());
  GT_ASSIGN(auto content, tx.contents.visible_by_id(actor.user, actor.name, id));
  if (!content) return missing;
  // The store has filtered; the policy has the last word.
  GT_ASSIGN(const Grants grants, grants_of(tx, actor.user, *content));
  const AccessDecision decision = decide(subject_of(actor), action, *content, grants);
  if (!decision.allowed) return denial_error(decision, *content, missing);
  return std::move(*content);
}

Result<Content> resolve_content(Tx& tx, const Actor& actor, std::string_view reference) {
  GT_ASSIGN(const ContentReference parts, parse_content_reference(reference));
  std::vector<Content> candidates;
  if (!parts.id.empty()) {
    GT_ASSIGN(const ContentId id, ContentId::parse(parts.id));
    GT_ASSIGN(auto found, tx.contents.visible_by_id(actor.user, actor.name, id));
    if (found) candidates.push_back(std::move(*found));
  } else {
    GT_ASSIGN(candidates, tx.contents.visible_by_name(actor.user, actor.name, parts.owner, parts.name, kMaxNamesakes));
  }
  std::vector<Content> visible;
  for (Content& candidate : candidates) {
    GT_ASSIGN(const Grants grants, grants_of(tx, actor.user, candidate));
    if (decide(subject_of(actor), Action::kShow, candidate, grants).allowed) visible.push_back(std::move(candidate));
  }
  return one_of(std::move(visible), reference);
}

Result<Quotas> quotas_of(Tx& tx, const Quotas& everybodys, const UserId& person) {
  GT_ASSIGN(const std::vector<QuotaLimit> own, tx.users.quota_limits(person));
  return with_limits(everybodys, own);
}

Result<User> resolve_user(Tx& tx, std::string_view reference) {
  const auto id = UserId::parse(reference);
  GT_ASSIGN(auto user, id ? tx.users.by_id(*id) : tx.users.by_name(reference));
  if (!user)
    return Error{Code::kNotFound,
                 "no user \"" + escape_for_display(reference.substr(0, 200)) + "\"; check how the name is spelled"};
  return std::move(*user);
}

Result<GroupTarget> own_group(Tx& tx, const Actor& actor, std::string_view reference) {
  GT_ASSIGN(const auto group, tx.groups.own_one(actor.user, reference));
  if (group) return GroupTarget{group->id, group->name};
  return Error{Code::kNotFound, "no group \"" + escape_for_display(reference.substr(0, 200)) +
                                    "\" that you are a member of; look with: gridtorrent group list"};
}

Result<Access> checked_access(Tx& tx, const Actor& actor, Access access, const Access& now) {
  GT_TRY(check_access_form(access));
  std::sort(access.users.begin(), access.users.end());
  access.users.erase(std::unique(access.users.begin(), access.users.end()), access.users.end());
  for (const std::string& name : access.users) {
    GT_ASSIGN(const auto user, tx.users.by_name(name));
    if (user) continue;
    return Error{Code::kNotFound,
                 "no user \"" + escape_for_display(name.substr(0, 200)) + "\" to share with; look at the name"};
  }
  for (GroupTarget& target : access.groups) {
    const auto kept = std::find_if(now.groups.begin(), now.groups.end(), [&](const GroupTarget& known) {
      return known.name == target.name || known.id.str() == target.name;
    });
    if (kept != now.groups.end()) {
      target = *kept;
      continue;
    }
    GT_ASSIGN(target, own_group(tx, actor, target.name));
  }
  std::sort(access.groups.begin(), access.groups.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  access.groups.erase(std::unique(access.groups.begin(), access.groups.end()), access.groups.end());
  return access;
}

bool is_access(const Access& asked, const Access& kept) {
  const auto has_group = [&](const GroupTarget& group) {
    return std::ranges::any_of(kept.groups, [&](const GroupTarget& known) {
      return known.name == group.name || known.id.str() == group.name;
    });
  };
  return asked.level == kept.level && asked.buddies == kept.buddies && asked.users.size() == kept.users.size() &&
         asked.groups.size() == kept.groups.size() && std::ranges::is_permutation(asked.users, kept.users) &&
         std::ranges::all_of(asked.groups, has_group);
}

Result<std::vector<UserId>> sharees(Tx& tx, const Content& content) {
  std::vector<UserId> people;
  if (content.access.level != AccessLevel::kShared) return people;
  for (const std::string& name : content.access.users) {
    GT_ASSIGN(const auto user, tx.users.by_name(name));
    if (user) people.push_back(user->id);
  }
  for (const GroupTarget& target : content.access.groups) {
    GT_ASSIGN(const auto members, tx.groups.of_group(target.id));
    for (const Membership& member : members) {
      if (is_active(member.standing)) people.push_back(member.user);
    }
  }
  if (content.access.buddies) {
    GT_ASSIGN(const auto buddies, tx.buddies.of(content.owner));
    for (const User& buddy : buddies) people.push_back(buddy.id);
  }
  return people;
}

Result<std::vector<Replica>> known_replicas(Tx& tx, const Actor& actor, const Content& content, std::uint32_t version) {
  GT_ASSIGN(auto replicas, tx.replicas.of_content(content.id, version));
  if (content.owner != actor.user && content.access.level != AccessLevel::kPublic) {
    std::erase_if(replicas, [&](const Replica& replica) { return replica.owner_name != actor.name; });
  }
  return replicas;
}

Result<Content> at_version(Tx& tx, Content content, std::uint32_t version) {
  if (version == 0 || version == content.version) return content;
  const std::string name = content.owner_name + "/" + escape_for_display(content.name);
  if (version > content.version) {
    return Error{Code::kInvalid, name + " has no version " + std::to_string(version) + "; its newest is " +
                                     std::to_string(content.version)};
  }
  GT_ASSIGN(const auto earlier, tx.versions.find(content.id, version));
  if (earlier && earlier->sealed) return with_version(std::move(content), *earlier);
  return Error{Code::kNotFound, "version " + std::to_string(version) + " of " + name +
                                    " is held by nobody any more; its newest is " + std::to_string(content.version)};
}

Status keep_replaced(Tx& tx, const Content& next) {
  GT_ASSIGN(const auto before, tx.contents.by_id(next.id));
  if (!before || before->version == next.version) return {};
  VersionRecord earlier = version_of(*before);
  earlier.touched = next.published;
  GT_TRY(tx.versions.put(earlier));
  return tx.versions.remove(next.id, next.version);
}

namespace {

Result<bool> has_unread(Tx& tx, const Notice& notice) {
  constexpr std::size_t kRecent = 200;
  GT_ASSIGN(const WallTime read_until, tx.notices.read_until(notice.to));
  GT_ASSIGN(const auto recent, tx.notices.of_user(notice.to, kRecent));
  return std::ranges::any_of(recent, [&](const Notice& one) {
    return one.kind == notice.kind && one.object == notice.object && one.at > read_until;
  });
}

}  // namespace

Result<std::vector<UserId>> tell_holders(Tx& tx, const Content& content) {
  GT_ASSIGN(const auto people, tx.replicas.people(content.id));
  std::vector<UserId> told;
  for (const UserId& person : people) {
    if (person == content.owner) continue;
    GT_ASSIGN(const auto user, tx.users.by_id(person));
    if (!user) continue;
    GT_ASSIGN(const Grants grants, grants_of(tx, user->id, content));
    if (!decide({user->id, user->name, user->disabled}, Action::kShow, content, grants).allowed) continue;
    const Notice notice{user->id,
                        content.published,
                        NoticeKind::kNewVersion,
                        content.owner_name,
                        "",
                        content.owner_name + "/" + content.name};
    GT_ASSIGN(const bool unread, has_unread(tx, notice));
    if (unread) continue;
    GT_TRY(tx.notices.append(notice));
    told.push_back(user->id);
  }
  return told;
}

Status update_version(Tx& tx, const Content& content) {
  GT_ASSIGN(const auto now, tx.contents.by_id(content.id));
  if (now && now->version == content.version) return tx.contents.update(content);
  return tx.versions.put(version_of(content));
}

Error name_taken(const Content& by) {
  const std::string who = by.owner_name + "/" + escape_for_display(by.name);
  switch (by.state) {
    case ContentState::kDraft:
      return {Code::kConflict,
              "name " + who + " is taken: " +
                  (by.publisher_node.is_nil() ? std::string("it is") : "node " + by.publisher_node.str() + " is") +
                  " publishing it right now; wait for it, or choose another name"};
    default:
      return {Code::kConflict, "name " + who + " is taken by " + by.id.str() + "; choose another name"};
  }
}

Status check_name_is_free(Tx& tx, const Content& content) {
  GT_ASSIGN(const auto holder, tx.contents.by_owner_and_name(content.owner, content.name));
  if (!holder || holder->id == content.id) return {};
  return name_taken(*holder);
}

Result<std::string> checked_new_name(const Content& content, std::string_view name) {
  GT_ASSIGN(std::string kept, normalize_content_name(name));
  if (kept != content.name) GT_TRY(check_new_content_name(kept));
  return kept;
}

AuditRecord audit_record(const Actor& actor, WallTime now, std::string_view action, std::string object,
                         std::string request_id, std::string outcome) {
  return {now,
          actor.user,
          actor.name,
          actor.token_id,
          actor.address,
          std::string(action),
          std::move(object),
          std::move(outcome),
          std::move(request_id)};
}

AuditRecord as_listed(AuditRecord record) {
  for (std::string* field : {&record.actor_name, &record.token_id, &record.address, &record.action, &record.object,
                             &record.outcome, &record.request_id}) {
    *field = cut_text(std::move(*field), kMaxListedAuditBytes);
  }
  return record;
}

}  // namespace gridtorrent::ccm
