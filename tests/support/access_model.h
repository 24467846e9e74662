#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ccm/domain/content.h"
#include "ccm/domain/group.h"
#include "common/ids.h"
#include "common/result.h"
#include "common/rng.h"

// Who may do what, written down a second time from the table of rules (docs/security.md), in as few words as possible
// and without the code that it checks; and random people who do random things to a server, whose every answer is
// compared with it. A failing run prints its seed; GT_SEED replays it.

namespace gridtorrent::testing_support {

constexpr int kPeople = 5;
constexpr int kContentNames = 4;
constexpr int kGroupNames = 3;

/// What was asked for: groups and people by number.
struct WantedAccess {
  ccm::AccessLevel level = ccm::AccessLevel::kPrivate;
  std::set<int> groups{}, users{};
  bool buddies = false;
};

class AccessModel {
 public:
  struct Consent {
    bool person = false, group = false, manager = false;
    bool active() const { return person && group; }
  };
  struct Group {
    std::string name;
    bool hidden = false, deleted = false;
    std::array<Consent, kPeople> of{};
  };
  struct Content {
    ContentId id;
    int owner = 0;
    std::string name;
    ccm::AccessLevel level = ccm::AccessLevel::kPrivate;
    std::set<int> users{};
    std::set<std::size_t> groups{};  ///< places in `groups` below: a name may come again
    bool buddies = false;
    ccm::ContentState state = ccm::ContentState::kDraft;
  };
  std::vector<Group> groups;
  std::vector<Content> contents;
  std::set<std::pair<int, int>> buddies;  ///< owner, buddy

  // --- questions

  bool may_see(int viewer, const Content& c) const {
    if (c.owner == viewer) return true;
    if (c.state == ccm::ContentState::kDraft) return false;
    if (c.level == ccm::AccessLevel::kPublic) return true;
    if (c.level == ccm::AccessLevel::kPrivate) return false;
    const bool in_group = std::any_of(c.groups.begin(), c.groups.end(),
                                      [&](std::size_t g) { return groups[g].of.at(at(viewer)).active(); });
    return c.users.contains(viewer) || in_group || (c.buddies && buddies.contains({c.owner, viewer}));
  }
  bool may_find(int viewer, const Content& c) const {
    return may_see(viewer, c) && c.state == ccm::ContentState::kPublished;
  }
  bool may_transfer(int viewer, const Content& c) const { return may_find(viewer, c); }
  /// What the owner is told of a person; nothing: it hangs on a group that the owner is in no more.
  std::optional<bool> explained(int person, const Content& c) const {
    if (may_transfer(c.owner, c) && person != c.owner && c.level == ccm::AccessLevel::kShared) {
      Content known = c;
      std::erase_if(known.groups, [&](std::size_t g) { return !groups[g].of.at(at(c.owner)).active(); });
      if (!may_see(person, known) && known.groups.size() < c.groups.size()) return std::nullopt;
    }
    return may_transfer(person, c);
  }
  bool may_see_group(int viewer, const Group& g) const {
    const Consent& own = g.of.at(at(viewer));
    return !g.hidden || own.person || own.group;
  }
  Group* group(const std::string& name) {
    for (Group& g : groups) {
      if (g.name == name && !g.deleted) return &g;
    }
    return nullptr;
  }
  /// What has the name: a withdrawn content has it no more.
  Content* holder(int owner, const std::string& name) {
    for (Content& c : contents) {
      if (c.owner == owner && c.name == name && c.state != ccm::ContentState::kWithdrawn) return &c;
    }
    return nullptr;
  }

  // --- changes: nothing where it is done, or the code of the refusal

  using Refusal = std::optional<Code>;

  Refusal begin(int owner, const std::string& name, const WantedAccess& wanted) {
    Content* held = holder(owner, name);
    if (!targets_ok(owner, wanted, nullptr)) return Code::kNotFound;
    if (held != nullptr && held->state != ccm::ContentState::kDraft) return Code::kConflict;
    if (held == nullptr) {
      contents.push_back({ContentId(), owner, name});
      held = &contents.back();
    }
    put(*held, wanted);
    return {};
  }
  Refusal finish(int who, Content& c) {
    if (const auto no = not_owners(who, c)) return no;
    if (c.state == ccm::ContentState::kWithdrawn) return Code::kConflict;
    c.state = ccm::ContentState::kPublished;  // finishing twice is finishing once
    return {};
  }
  Refusal set_access(int who, Content& c, const WantedAccess& wanted) {
    if (const auto no = not_owners(who, c)) return no;
    if (c.state != ccm::ContentState::kPublished) return Code::kConflict;
    if (!targets_ok(who, wanted, &c)) return Code::kNotFound;
    put(c, wanted);
    return {};
  }
  Refusal unpublish(int who, Content& c) {
    if (const auto no = not_owners(who, c)) return no;
    if (c.state == ccm::ContentState::kDraft) return Code::kConflict;
    c.state = ccm::ContentState::kWithdrawn;
    return {};
  }
  Refusal restore(int who, Content& c) {
    if (const auto no = not_owners(who, c)) return no;
    if (c.state == ccm::ContentState::kPublished) return {};
    if (c.state == ccm::ContentState::kDraft || holder(c.owner, c.name) != nullptr) return Code::kConflict;
    c.state = ccm::ContentState::kPublished;
    return {};
  }
  Refusal create_group(int who, const std::string& name, bool hidden) {
    if (group(name) != nullptr) return Code::kConflict;
    groups.push_back({name, hidden});
    groups.back().of.at(at(who)) = {true, true, true};
    return {};
  }
  Refusal delete_group(int who, const std::string& name) {
    Group* g = group(name);
    if (g == nullptr || !may_see_group(who, *g)) return Code::kNotFound;
    if (!g->of.at(at(who)).manager) return Code::kDenied;
    g->deleted = true;
    g->of = {};
    const auto place = static_cast<std::size_t>(g - groups.data());
    for (Content& c : contents) {
      if (c.groups.erase(place) == 0) continue;
      if (c.groups.empty() && c.users.empty() && !c.buddies) c.level = ccm::AccessLevel::kPrivate;
    }
    return {};
  }
  Refusal step(int who, const std::string& name, int person, ccm::MembershipStep step) {
    using enum ccm::MembershipStep;
    Group* g = group(name);
    if (g == nullptr || !may_see_group(who, *g)) return Code::kNotFound;
    const bool own = step == kRequest || step == kAcceptInvitation || step == kDeclineInvitation ||
                     step == kWithdrawRequest || step == kLeave;
    if (own ? who != person : !g->of.at(at(who)).manager) return Code::kDenied;
    Consent& m = g->of.at(at(person));
    const bool ends_management = step == kLeave || step == kRemove || step == kDemote;
    const auto managers = std::count_if(g->of.begin(), g->of.end(), [](const Consent& one) { return one.manager; });
    if (ends_management && m.manager && managers == 1) return Code::kConflict;
    const auto unless = [](bool possible) { return possible ? Refusal() : Refusal(Code::kConflict); };
    const bool only_person = m.person && !m.group, only_group = m.group && !m.person;
    Refusal refused;
    switch (step) {
      case kRequest:
        refused = unless(!m.active());
        if (!refused) m.person = true;
        break;
      case kAcceptInvitation:
        refused = unless(m.group);
        if (!refused) m.person = true;
        break;
      case kInvite:
        refused = unless(!m.active());
        if (!refused) m.group = true;
        break;
      case kAcceptRequest:
        refused = unless(m.person);
        if (!refused) m.group = true;
        break;
      case kDeclineInvitation:
      case kWithdrawInvitation:
        refused = unless(only_group);
        if (!refused) m = {};
        break;
      case kWithdrawRequest:
      case kDeclineRequest:
        refused = unless(only_person);
        if (!refused) m = {};
        break;
      case kLeave:
        m = {};
        break;
      case kRemove:
        refused = unless(m.active());
        if (!refused) m = {};
        break;
      case kPromote:
      case kDemote:
        refused = unless(m.active());
        if (!refused) m.manager = step == kPromote;
        break;
    }
    return refused;
  }
  Refusal buddy(int who, int other, bool add) {
    if (!add) {
      buddies.erase({who, other});
      return {};
    }
    if (who == other) return Code::kConflict;
    buddies.insert({who, other});
    return {};
  }

 private:
  static std::size_t at(int person) { return static_cast<std::size_t>(person); }
  Refusal not_owners(int who, const Content& c) const {
    if (!may_see(who, c)) return Code::kNotFound;
    if (who != c.owner) return Code::kDenied;
    return {};
  }
  /// Groups are one's own, or were targets before.
  bool targets_ok(int who, const WantedAccess& wanted, const Content* before) {
    return std::all_of(wanted.groups.begin(), wanted.groups.end(), [&](int number) {
      const Group* g = group("group" + std::to_string(number));
      if (g == nullptr) return false;
      const auto place = static_cast<std::size_t>(g - groups.data());
      return g->of.at(at(who)).active() || (before != nullptr && before->groups.contains(place));
    });
  }
  void put(Content& c, const WantedAccess& wanted) {
    c.level = wanted.level;
    c.users = wanted.users;
    c.buddies = wanted.buddies;
    c.groups.clear();
    for (const int number : wanted.groups) {
      c.groups.insert(static_cast<std::size_t>(group("group" + std::to_string(number)) - groups.data()));
    }
  }
};

/// What is checked: a server, reached in some way, with people 0 to kPeople - 1 who are named user0 and so on and have
/// a node each.
class AccessWorld {
 public:
  virtual ~AccessWorld() = default;
  virtual Result<ContentId> begin(int owner, const std::string& name, const ccm::Access& access) = 0;
  virtual Status finish(int who, const ContentId& content) = 0;
  virtual Status set_access(int who, const ContentId& content, const ccm::Access& access) = 0;
  virtual Status unpublish(int who, const ContentId& content) = 0;
  virtual Status restore(int who, const ContentId& content) = 0;
  virtual Status create_group(int who, const std::string& name, bool hidden) = 0;
  virtual Status delete_group(int who, const std::string& name) = 0;
  virtual Status step(int who, const std::string& group, const std::string& person, ccm::MembershipStep step) = 0;
  virtual Status buddy(int who, const std::string& other, bool add) = 0;

  virtual Status show(int who, const ContentId& content) = 0;
  virtual Status list_replicas(int who, const ContentId& content) = 0;
  /// By the person's node.
  virtual Status announce(int who, const ContentId& content) = 0;
  virtual Result<std::set<std::string>> search(int who) = 0;
  virtual Status show_group(int who, const std::string& group) = 0;
  /// Whether `person` may get it, as its owner is told.
  virtual Result<bool> explain(int owner, const ContentId& content, const std::string& person) = 0;
  /// People, as their nodes are told, who may have what this person's node holds; nothing: this world cannot say.
  virtual std::optional<std::set<int>> audience(int who, const ContentId& content) = 0;
  virtual void pass_time() {}
};

inline std::uint64_t seed_of_run() {
  if (const char* given = std::getenv("GT_SEED")) return std::strtoull(given, nullptr, 10);
  SystemRng rng;
  return rng.next() % 1'000'000;
}

/// Random things done to a world, and compared.
class AccessRun {
 public:
  AccessRun(AccessWorld& world, std::uint64_t seed) : w_(world), dice_(seed) {}

  void run(int steps, int compare_each) {
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      w_.pass_time();
      switch (any(6)) {
        case 0:
          begin();
          break;
        case 1:
        case 2:
          change_content();
          break;
        case 3:
        case 4:
          change_membership();
          break;
        default:
          change_people();
      }
      if (step % compare_each == compare_each - 1) compare();
    }
    std::printf("%d cases compared, %d of them allowed\n", cases_, allowed_);
  }
  int cases() const { return cases_; }

 private:
  int any(int bound) { return static_cast<int>(dice_.below(static_cast<std::uint64_t>(bound))); }
  static std::string user(int number) { return "user" + std::to_string(number); }
  static std::string group(int number) { return "group" + std::to_string(number); }

  WantedAccess any_access() {
    WantedAccess wanted;
    wanted.level = static_cast<ccm::AccessLevel>(any(4) < 2 ? 2 : any(2));
    if (wanted.level != ccm::AccessLevel::kShared) return wanted;
    if (any(2) == 0) wanted.users.insert(any(kPeople));
    if (any(2) == 0) wanted.groups.insert(any(kGroupNames));
    wanted.buddies = any(3) == 0;
    if (wanted.users.empty() && wanted.groups.empty()) wanted.buddies = true;
    return wanted;
  }
  static ccm::Access access_of(const WantedAccess& wanted) {
    ccm::Access access;
    access.level = wanted.level;
    access.buddies = wanted.buddies;
    for (const int number : wanted.groups) access.groups.push_back({GroupId(), group(number)});
    for (const int number : wanted.users) access.users.push_back(user(number));
    return access;
  }

  void expect(const Status& got, const AccessModel::Refusal& expected, const std::string& what) {
    ++cases_;
    if (got.ok()) ++allowed_;
    EXPECT_EQ(got.ok() ? AccessModel::Refusal() : AccessModel::Refusal(got.error().code), expected)
        << what << ": " << (got.ok() ? "done" : got.error().message);
  }

  void begin() {
    const int owner = any(kPeople);
    const std::string name = "Name " + std::to_string(any(kContentNames));
    const WantedAccess wanted = any_access();
    const Result<ContentId> got = w_.begin(owner, name, access_of(wanted));
    expect(got ? Status() : Status(got.error()), m_.begin(owner, name, wanted), user(owner) + " begins " + name);
    if (got) m_.holder(owner, name)->id = *got;
  }
  void change_content() {
    if (m_.contents.empty()) return;
    auto& c = m_.contents[static_cast<std::size_t>(any(static_cast<int>(m_.contents.size())))];
    const int who = any(3) == 0 ? any(kPeople) : c.owner;
    const std::string what = user(who) + " on " + user(c.owner) + "/" + c.name + ", ";
    switch (any(8)) {
      case 0:
      case 1:
      case 2:
        return expect(w_.finish(who, c.id), m_.finish(who, c), what + "finish");
      case 3:
        return expect(w_.unpublish(who, c.id), m_.unpublish(who, c), what + "unpublish");
      case 4:
        return expect(w_.restore(who, c.id), m_.restore(who, c), what + "restore");
      default: {
        const WantedAccess wanted = any_access();
        return expect(w_.set_access(who, c.id, access_of(wanted)), m_.set_access(who, c, wanted), what + "set access");
      }
    }
  }
  void change_membership() {
    const int who = any(kPeople), person = any(2) == 0 ? who : any(kPeople);
    const std::string name = group(any(kGroupNames));
    const auto step = static_cast<ccm::MembershipStep>(any(static_cast<int>(ccm::kMembershipSteps)));
    expect(w_.step(who, name, user(person), step), m_.step(who, name, person, step),
           user(who) + " for " + user(person) + " in " + name + ": " + std::string(ccm::step_name(step)));
  }
  void change_people() {
    const int who = any(kPeople), other = any(kPeople);
    const std::string name = group(any(kGroupNames));
    switch (any(8)) {
      case 0:
        return expect(w_.delete_group(who, name), m_.delete_group(who, name), user(who) + " deletes " + name);
      case 1:
      case 2:
      case 3: {
        const bool hidden = any(2) == 0;
        return expect(w_.create_group(who, name, hidden), m_.create_group(who, name, hidden),
                      user(who) + " makes " + name);
      }
      default: {
        const bool add = any(3) > 0;
        return expect(w_.buddy(who, user(other), add), m_.buddy(who, other, add), user(who) + " buddy " + user(other));
      }
    }
  }

  void compare() {
    for (int viewer = 0; viewer < kPeople; ++viewer) {
      std::set<std::string> listed;
      for (const auto& c : m_.contents) {
        if (m_.may_find(viewer, c)) listed.insert(c.id.str());
        compare_content(viewer, c);
      }
      const auto found = w_.search(viewer);
      EXPECT_TRUE(found.ok()) << found.error().message;
      if (found) {
        EXPECT_EQ(*found, listed) << user(viewer) << " searches";
      }
      for (int number = 0; number < kGroupNames; ++number) {
        const auto* g = m_.group(group(number));
        const bool visible = g != nullptr && m_.may_see_group(viewer, *g);
        expect(w_.show_group(viewer, group(number)), visible ? AccessModel::Refusal() : Code::kNotFound,
               user(viewer) + " looks at " + group(number));
      }
    }
  }
  void compare_content(int viewer, const AccessModel::Content& c) {
    const std::string what = user(viewer) + " on " + user(c.owner) + "/" + c.name + ", ";
    const AccessModel::Refusal seen = m_.may_see(viewer, c) ? AccessModel::Refusal() : Code::kNotFound;
    expect(w_.show(viewer, c.id), seen, what + "show");
    expect(w_.list_replicas(viewer, c.id), seen, what + "list replicas");
    const AccessModel::Refusal transfer =
        seen ? seen : (m_.may_transfer(viewer, c) ? AccessModel::Refusal() : Code::kConflict);
    expect(w_.announce(viewer, c.id), transfer, what + "announce");
    const auto told_of = w_.explain(c.owner, c.id, user(viewer));
    const std::optional<bool> explained = m_.explained(viewer, c);
    EXPECT_EQ(told_of ? std::optional<bool>(*told_of) : std::nullopt, explained) << what << "explain";
    if (!told_of) {
      EXPECT_EQ(told_of.error().code, Code::kDenied) << told_of.error().message;
    }
    if (transfer || c.level == ccm::AccessLevel::kPublic) return;
    std::set<int> entitled;
    for (int one = 0; one < kPeople; ++one) {
      if (m_.may_transfer(one, c)) entitled.insert(one);
    }
    if (const auto told = w_.audience(viewer, c.id)) {
      EXPECT_EQ(*told, entitled) << what << "audience";
    }
  }

  AccessWorld& w_;
  SeededRng dice_;
  AccessModel m_;
  int cases_ = 0, allowed_ = 0;
};

}  // namespace gridtorrent::testing_support
