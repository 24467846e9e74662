#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/memory_state.h"

namespace gridtorrent::testing_support {

// A MemoryStore's tables of groups, buddies and notices.

class Groups final : public ccm::GroupStore {
 public:
  explicit Groups(MemoryState& state) : s_(state) {}
  Status insert(const ccm::Group& group) override {
    if (by_name(group.name)->has_value()) return Error{Code::kConflict, "group " + group.name + " exists"};
    s_.groups.emplace(group.id, group);
    return {};
  }
  Status update(const ccm::Group& group) override {
    s_.groups.at(group.id).description = group.description;
    s_.groups.at(group.id).hidden = group.hidden;
    return {};
  }
  Status remove(const GroupId& id) override {
    s_.groups.erase(id);
    std::erase_if(s_.memberships, [&](const auto& entry) { return entry.first.first == id; });
    for (auto& [content, c] : s_.contents) {
      const auto ended =
          std::erase_if(c.access.groups, [&](const ccm::GroupTarget& target) { return target.id == id; });
      const bool alone = c.access.groups.empty() && c.access.users.empty() && !c.access.buddies;
      if (ended > 0 && alone) c.access.level = ccm::AccessLevel::kPrivate;
    }
    return {};
  }
  Result<std::optional<ccm::Group>> by_id(const GroupId& id) override {
    const auto found = s_.groups.find(id);
    return found == s_.groups.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::optional<ccm::Group>> by_name(std::string_view name) override {
    for (const auto& [id, group] : s_.groups) {
      if (group.name == name) return std::optional(group);
    }
    return std::optional<ccm::Group>();
  }
  Result<std::optional<ccm::Group>> visible_one(const UserId& viewer, WallTime now,
                                                std::string_view reference) override {
    return one_where(reference, [&](const ccm::Group& group) {
      const auto own = s_.memberships.find({group.id, viewer});
      return !group.hidden || (own != s_.memberships.end() && standing_at(own->second, now) != ccm::Standing::kNone);
    });
  }
  Result<std::optional<ccm::Group>> own_one(const UserId& member, std::string_view reference) override {
    return one_where(reference, [&](const ccm::Group& group) {
      const auto own = s_.memberships.find({group.id, member});
      return own != s_.memberships.end() && is_active(own->second.standing);
    });
  }
  Result<std::vector<ccm::Group>> visible(const UserId& viewer, WallTime now, std::string_view after,
                                          std::size_t limit) override {
    std::vector<ccm::Group> found;
    for (const auto& [id, group] : s_.groups) {
      const auto own = s_.memberships.find({id, viewer});
      const bool stands = own != s_.memberships.end() && standing_at(own->second, now) != ccm::Standing::kNone;
      if (group.name > after && (!group.hidden || stands)) found.push_back(group);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    cut(found, limit);
    return found;
  }
  Status put(const ccm::Membership& membership) override {
    if (membership.standing == ccm::Standing::kNone) {
      s_.memberships.erase({membership.group, membership.user});
    } else {
      s_.memberships[{membership.group, membership.user}] = membership;
    }
    return {};
  }
  Result<std::optional<ccm::Membership>> membership(const GroupId& group, const UserId& user) override {
    const auto found = s_.memberships.find({group, user});
    return found == s_.memberships.end() ? std::nullopt : std::optional(named(found->second));
  }
  Result<std::vector<ccm::Membership>> of_group(const GroupId& group) override {
    auto found = where([&](const auto& m) { return m.group == group; });
    const auto rank = [](const ccm::Membership& m) {
      switch (m.standing) {
        case ccm::Standing::kManager:
          return 0;
        case ccm::Standing::kMember:
          return 1;
        case ccm::Standing::kRequested:
          return 2;
        default:
          return 3;
      }
    };
    std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
      return std::pair(rank(a), a.user_name) < std::pair(rank(b), b.user_name);
    });
    return found;
  }
  Result<std::vector<ccm::Membership>> of_user(const UserId& user) override {
    auto found = where([&](const auto& m) { return m.user == user; });
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.group_name < b.group_name; });
    return found;
  }
  Result<std::vector<GroupId>> active_of(const UserId& user) override {
    std::vector<GroupId> groups;
    for (const auto& m : where([&](const auto& one) { return one.user == user && is_active(one.standing); }))
      groups.push_back(m.group);
    return groups;
  }
  Result<std::vector<UserId>> managers_of(const GroupId& group) override {
    std::vector<UserId> managers;
    for (const auto& m :
         where([&](const auto& one) { return one.group == group && one.standing == ccm::Standing::kManager; }))
      managers.push_back(m.user);
    return managers;
  }
  Result<std::vector<ccm::Membership>> invitations_to(const UserId& user, WallTime now, std::size_t limit) override {
    return oldest(
        where([&](const auto& m) { return m.user == user && standing_at(m, now) == ccm::Standing::kInvited; }), limit);
  }
  Result<std::uint64_t> count_memberships(const GroupId& group) override {
    return where([&](const auto& m) { return m.group == group; }).size();
  }
  Result<std::vector<ccm::Membership>> requests_to(const UserId& manager, WallTime now, std::size_t limit) override {
    return oldest(where([&](const auto& m) {
                    const auto own = s_.memberships.find({m.group, manager});
                    return standing_at(m, now) == ccm::Standing::kRequested && own != s_.memberships.end() &&
                           own->second.standing == ccm::Standing::kManager;
                  }),
                  limit);
  }
  Result<std::uint64_t> count_managers(const GroupId& group) override {
    return where([&](const auto& m) {
             return m.group == group && m.standing == ccm::Standing::kManager && !named(m).user_disabled;
           })
        .size();
  }
  Result<std::uint64_t> count_open(const UserId& asked_by, WallTime now) override {
    return where([&](const auto& m) { return m.asked_by == asked_by && m.expires.ms > 0 && m.expires > now; }).size();
  }
  Result<std::uint64_t> count_managed(const UserId& manager) override {
    return where([&](const auto& m) { return m.user == manager && m.standing == ccm::Standing::kManager; }).size();
  }
  Status note_removal(const GroupId& group, const UserId& user, WallTime now) override {
    std::erase_if(s_.removals, [&](const auto& entry) { return entry.second < now - kRemovalsKept; });
    s_.removals[{group, user}] = now;
    return {};
  }
  Result<std::optional<WallTime>> removed_at(const GroupId& group, const UserId& user) override {
    const auto found = s_.removals.find({group, user});
    return found == s_.removals.end() ? std::nullopt : std::optional(found->second);
  }
  Status prune(WallTime before) override {
    std::erase_if(s_.memberships,
                  [&](const auto& entry) { return entry.second.expires.ms > 0 && entry.second.expires < before; });
    return {};
  }

 private:
  ccm::Membership named(ccm::Membership m) const {
    m.group_name = s_.groups.at(m.group).name;
    m.user_name = s_.user_name(m.user);
    m.asked_by_name = s_.user_name(m.asked_by);
    m.user_disabled = s_.users.at(m.user_name).disabled;
    return m;
  }
  template <class F>
  std::optional<ccm::Group> one_where(std::string_view reference, F&& matches) const {
    for (const auto& [id, group] : s_.groups) {
      if ((group.name == reference || id.str() == reference) && matches(group)) return group;
    }
    return std::nullopt;
  }
  static std::vector<ccm::Membership> oldest(std::vector<ccm::Membership> found, std::size_t limit) {
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.since.ms, a.group_name, a.user_name) < std::tuple(b.since.ms, b.group_name, b.user_name);
    });
    cut(found, limit);
    return found;
  }
  template <class F>
  std::vector<ccm::Membership> where(F&& matches) const {
    std::vector<ccm::Membership> found;
    for (const auto& [key, membership] : s_.memberships) {
      if (matches(membership)) found.push_back(named(membership));
    }
    return found;
  }
  MemoryState& s_;
};

class Buddies final : public ccm::BuddyStore {
 public:
  explicit Buddies(MemoryState& state) : s_(state) {}
  Result<bool> add(const UserId& owner, const UserId& buddy, WallTime now) override {
    return s_.buddies.emplace(std::pair(owner, buddy), now).second;
  }
  Result<bool> remove(const UserId& owner, const UserId& buddy) override {
    return s_.buddies.erase({owner, buddy}) > 0;
  }
  Result<std::optional<WallTime>> since(const UserId& owner, const UserId& buddy) override {
    const auto found = s_.buddies.find({owner, buddy});
    return found == s_.buddies.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::vector<ccm::User>> of(const UserId& owner) override {
    std::vector<ccm::User> found;
    for (const auto& [name, user] : s_.users) {
      if (s_.buddies.contains({owner, user.id})) found.push_back(user);
    }
    return found;
  }

 private:
  MemoryState& s_;
};

class Notices final : public ccm::NoticeStore {
 public:
  explicit Notices(MemoryState& state) : s_(state) {}
  Status append(const ccm::Notice& notice) override {
    s_.notices.push_back(notice);
    return {};
  }
  Result<std::vector<ccm::Notice>> of_user(const UserId& user, std::size_t limit) override {
    std::vector<ccm::Notice> found;
    std::copy_if(s_.notices.rbegin(), s_.notices.rend(), std::back_inserter(found),
                 [&](const ccm::Notice& notice) { return notice.to == user; });
    cut(found, limit);
    return found;
  }
  Result<std::uint64_t> count(const UserId& user) override {
    const auto is_theirs = [&](const ccm::Notice& notice) { return notice.to == user; };
    return static_cast<std::uint64_t>(std::count_if(s_.notices.begin(), s_.notices.end(), is_theirs));
  }
  Result<WallTime> read_until(const UserId& user) override { return s_.read_until[user]; }
  Status set_read_until(const UserId& user, WallTime until) override {
    s_.read_until[user] = until;
    return {};
  }
  Status prune(WallTime before) override {
    std::erase_if(s_.notices, [&](const ccm::Notice& notice) { return notice.at < before; });
    return {};
  }

 private:
  MemoryState& s_;
};

}  // namespace gridtorrent::testing_support
