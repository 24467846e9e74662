#include "ccm/domain/group_service.h"

#include <algorithm>
#include <utility>

#include "ccm/domain/content_access.h"
#include "ccm/domain/names.h"
#include "ccm/domain/once.h"
#include "common/text.h"

namespace gridtorrent::ccm {

namespace {

constexpr std::size_t kMaxGroupDescriptionBytes = 1024;

/// One text for groups that are missing and for those that are hidden.
Error missing_group(std::string_view reference) {
  return {Code::kNotFound, "no group \"" + escape_for_display(reference.substr(0, 200)) +
                               "\", or hidden from you; look with: gridtorrent group list --all"};
}

bool shows(const Membership& member, const Standing viewer) {
  if (member.standing == Standing::kManager) return true;
  if (member.standing == Standing::kMember) return is_active(viewer);
  return viewer == Standing::kManager;
}

/// Of the order of GroupStore::of_group.
PageKey member_key(const Membership& member) {
  const auto rank = [&]() -> const char* {
    switch (member.standing) {
      case Standing::kManager:
        return "0";
      case Standing::kMember:
        return "1";
      case Standing::kRequested:
        return "2";
      default:
        return "3";
    }
  };
  return {rank(), member.user_name};
}

}  // namespace

Result<GroupService::Opened> GroupService::open(Tx& tx, const Actor& actor, std::string_view reference,
                                                bool rescuing) const {
  GT_ASSIGN(auto group, tx.groups.visible_one(actor.user, d_.clock.wall(), reference));
  if (!group && rescuing && is_server_admin(actor)) {
    const auto id = GroupId::parse(reference);
    GT_ASSIGN(group, id ? tx.groups.by_id(*id) : tx.groups.by_name(reference));
  }
  if (!group) return missing_group(reference);
  GT_ASSIGN(const auto membership, tx.groups.membership(group->id, actor.user));
  const Standing own = membership ? standing_at(*membership, d_.clock.wall()) : Standing::kNone;
  return Opened{std::move(*group), own};
}

Result<GroupView> GroupService::brief(Tx& tx, const Actor& actor, const Group& group, const UserId& person) const {
  GroupView view;
  view.group = group;
  const WallTime now = d_.clock.wall();
  GT_ASSIGN(const auto own, tx.groups.membership(group.id, actor.user));
  if (own && standing_at(*own, now) != Standing::kNone) {
    view.own = own->standing;
    view.own_expires = own->expires;
    view.members.push_back(*own);
  }
  if (person == actor.user) return view;
  GT_ASSIGN(const auto theirs, tx.groups.membership(group.id, person));
  const bool stands = theirs && standing_at(*theirs, now) != Standing::kNone;
  if (stands && shows(*theirs, view.own)) view.members.push_back(*theirs);
  return view;
}

Result<GroupView> GroupService::view(Tx& tx, const Actor& actor, const Group& group, const PageRequest& page) const {
  const std::string list = "members of " + group.id.str();
  GT_ASSIGN(const PageKey after, parse_page_token(list, 2, page.token));
  GroupView view;
  view.group = group;
  const WallTime now = d_.clock.wall();
  GT_ASSIGN(auto members, tx.groups.of_group(group.id));
  std::erase_if(members, [&](const Membership& one) { return standing_at(one, now) == Standing::kNone; });
  for (const Membership& one : members) {
    if (one.user != actor.user) continue;
    view.own = one.standing;
    view.own_expires = one.expires;
  }
  for (Membership& one : members) {
    if (one.user == actor.user || shows(one, view.own)) view.members.push_back(std::move(one));
  }
  keep_page(view.members, page, after, member_key);
  if (view.members.size() > page.items()) {
    view.members.pop_back();
    view.next_page = encode_page_token(list, member_key(view.members.back()));
  }
  return view;
}

Result<GroupView> GroupService::create(const Actor& actor, const NewGroup& request) {
  constexpr std::string_view kMethod = "group.create";
  GT_TRY(check_name("group name", request.name));
  GT_ASSIGN(const std::string description,
            normalize_text("description", request.description, kMaxGroupDescriptionBytes, true));
  GroupView made;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto answered, first_answer(tx, actor.user, request.request_id, kMethod));
    if (answered) {
      GT_ASSIGN(const Opened opened, open(tx, actor, *answered));
      GT_ASSIGN(made, view(tx, actor, opened.group));
      return {};
    }
    GT_ASSIGN(const std::uint64_t managed, tx.groups.count_managed(actor.user));
    GT_ASSIGN(const Quotas quotas, quotas_of(tx, d_.quotas, actor.user));
    if (managed >= quotas.groups) {
      return Error{Code::kExhausted, "user " + actor.name + " manages " + std::to_string(managed) +
                                         " groups, as many as the quota allows; delete one, or hand one over"};
    }
    const WallTime now = d_.clock.wall();
    const Group group{GroupId::make(now, d_.rng), request.name, description, request.hidden, now};
    GT_TRY(tx.groups.insert(group));
    Membership first;
    first.group = group.id;
    first.user = actor.user;
    first.standing = Standing::kManager;
    first.asked_by = actor.user;
    first.since = now;
    GT_TRY(tx.groups.put(first));
    GT_TRY(keep_answer(tx, actor.user, request.request_id, kMethod, group.id.str(), now));
    GT_TRY(tx.audit.append(audit_record(actor, now, kMethod, group.name, request.request_id)));
    GT_ASSIGN(made, view(tx, actor, group));
    return {};
  }));
  return made;
}

Result<bool> GroupService::needs_rescue(Tx& tx, const Actor& actor, const GroupId& group) const {
  if (!is_server_admin(actor)) return false;
  GT_ASSIGN(const std::uint64_t managers, tx.groups.count_managers(group));
  return managers == 0;
}

Status GroupService::remove(const Actor& actor, const std::string& request_id, const std::string& reference) {
  constexpr std::string_view kMethod = "group.delete";
  std::vector<UserId> members;
  GroupId id;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto answered, first_answer(tx, actor.user, request_id, kMethod));
    const Result<Opened> opened = open(tx, actor, reference, /*rescuing=*/true);
    if (!opened && answered) return {};
    if (!opened) return opened.error();
    const Group& group = opened->group;
    id = group.id;
    // A conflict where the id was for another group.
    GT_TRY(was_done(tx, actor.user, request_id, kMethod, id.str()));
    GT_ASSIGN(const bool rescues, needs_rescue(tx, actor, id));
    if (opened->own != Standing::kManager && !rescues) {
      return Error{Code::kDenied, "group " + group.name + ": only its managers may do that"};
    }
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(const auto all, tx.groups.of_group(id));
    for (const Membership& member : all) {
      members.push_back(member.user);
      if (member.user == actor.user || !is_active(member.standing)) continue;
      GT_TRY(tx.notices.append({member.user, now, NoticeKind::kGroupDeleted, actor.name, group.name, ""}));
    }
    GT_TRY(tx.groups.remove(id));
    GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, id.str(), now));
    return tx.audit.append(audit_record(actor, now, kMethod, group.name, request_id,
                                        "ok: " + std::to_string(all.size()) + " memberships ended"));
  }));
  for (const UserId& member : members) d_.waker.membership_changed(id, member);
  if (!members.empty()) d_.inboxes.ring(members);
  return {};
}

Result<GroupView> GroupService::describe(const Actor& actor, const std::string& request_id,
                                         const std::string& reference, const std::optional<std::string>& description,
                                         std::optional<bool> hidden) {
  constexpr std::string_view kMethod = "group.describe";
  GroupView shown;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(Opened opened, open(tx, actor, reference));
    GT_ASSIGN(const bool done, was_done(tx, actor.user, request_id, kMethod, opened.group.id.str()));
    if (!done) {
      if (opened.own != Standing::kManager) {
        return Error{Code::kDenied, "group " + opened.group.name + ": only its managers may do that"};
      }
      if (description) {
        GT_ASSIGN(opened.group.description,
                  normalize_text("description", *description, kMaxGroupDescriptionBytes, true));
      }
      if (hidden) opened.group.hidden = *hidden;
      const WallTime now = d_.clock.wall();
      GT_TRY(tx.groups.update(opened.group));
      GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, opened.group.id.str(), now));
      GT_TRY(tx.audit.append(audit_record(actor, now, kMethod, opened.group.name, request_id)));
    }
    GT_ASSIGN(shown, view(tx, actor, opened.group));
    return {};
  }));
  return shown;
}

Result<Page<GroupView>> GroupService::list(const Actor& actor, bool all, const std::string& after,
                                           const PageRequest& page) {
  const std::string_view list = all ? "all groups" : "own groups";
  GT_ASSIGN(const PageKey key, parse_page_token(list, 1, page.token));
  const std::string from = key.empty() ? after : key[0];
  PageRequest wanted;
  wanted.limit = static_cast<std::uint32_t>(std::min(page.items(), kMaxPage));
  const std::size_t rows = wanted.items() + 1;
  std::vector<GroupView> views;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(auto own, tx.groups.of_user(actor.user));
    std::erase_if(own, [&](const Membership& one) { return standing_at(one, now) == Standing::kNone; });
    const auto own_of = [&](const GroupId& group) {
      return std::find_if(own.begin(), own.end(), [&](const Membership& one) { return one.group == group; });
    };
    std::vector<Group> groups;
    if (all) {
      GT_ASSIGN(groups, tx.groups.visible(actor.user, now, from, rows));
    } else {
      for (const Membership& one : own) {
        if (one.group_name <= from || groups.size() == rows) continue;
        GT_ASSIGN(const auto group, tx.groups.by_id(one.group));
        if (group) groups.push_back(*group);
      }
    }
    for (Group& group : groups) {
      GroupView view;
      if (const auto mine = own_of(group.id); mine != own.end()) {
        view.own = mine->standing;
        view.own_expires = mine->expires;
      }
      view.group = std::move(group);
      views.push_back(std::move(view));
    }
    return {};
  }));
  return make_page<GroupView>(std::move(views), wanted,
                              [list](const GroupView& view) { return encode_page_token(list, {view.group.name}); });
}

Result<GroupView> GroupService::get(const Actor& actor, const std::string& reference, const PageRequest& page) {
  GroupView shown;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(const Opened opened, open(tx, actor, reference));
    GT_ASSIGN(shown, view(tx, actor, opened.group, page));
    return {};
  }));
  return shown;
}

Status GroupService::sweep() {
  const WallTime now = d_.clock.wall();
  return d_.store.write([&](Tx& tx) -> Status {
    GT_TRY(tx.groups.prune(now));
    GT_TRY(tx.offers.prune(now));
    return tx.notices.prune(now - kNoticeLifetime);
  });
}

}  // namespace gridtorrent::ccm
