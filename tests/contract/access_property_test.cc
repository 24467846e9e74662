#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/server_world.h"

// Random users, contents and operations: what the services and every store answer is compared with a small model that
// knows the rules only from the papers (security 1.11, model "Content"). A failing run prints its seed; GT_SEED replays
// it.

namespace gridtorrent {
namespace {

using ccm::AccessLevel;
using ccm::ContentState;
using testing_support::ServerWorld;

constexpr int kUsers = 5;
constexpr int kNames = 4;
constexpr int kSteps = 250;

struct ModelContent {
  ContentId id;
  int owner = 0;
  std::string name;
  bool is_public = false;
  std::set<int> users{};  ///< shared with; empty and not public: private
  ContentState state = ContentState::kDraft;
  WallTime published;
};

/// What must hold, in as few words as possible.
class Model {
 public:
  std::vector<ModelContent> contents;

  ModelContent* holder(int owner, const std::string& name) {
    for (ModelContent& c : contents) {
      if (c.owner == owner && c.name == name) return &c;
    }
    return nullptr;
  }
  static bool may_see(int viewer, const ModelContent& c) {
    if (c.owner == viewer) return true;
    return (c.is_public || c.users.contains(viewer)) && c.state != ContentState::kDraft;
  }
  static bool may_find(int viewer, const ModelContent& c) {
    return may_see(viewer, c) && c.state == ContentState::kPublished;
  }
  static bool may_transfer(int viewer, const ModelContent& c) { return may_find(viewer, c); }

  std::vector<std::string> listing(int viewer) const {
    std::vector<ModelContent> found;
    for (const ModelContent& c : contents) {
      if (may_find(viewer, c)) found.push_back(c);
    }
    std::sort(found.begin(), found.end(), [](const ModelContent& a, const ModelContent& b) {
      return std::pair(a.published, a.id.str()) > std::pair(b.published, b.id.str());
    });
    std::vector<std::string> ids;
    for (const ModelContent& c : found) ids.push_back(c.id.str());
    return ids;
  }
};

std::uint64_t seed_of_run() {
  if (const char* given = std::getenv("GT_SEED")) return std::strtoull(given, nullptr, 10);
  SystemRng rng;
  return rng.next() % 1'000'000;
}

class AccessProperty : public testing::TestWithParam<const char*> {
 protected:
  struct World : ServerWorld {
    World(const std::string& kind, std::uint64_t seed) : ServerWorld(kind), dice(seed) {
      for (int i = 0; i < kUsers; ++i) {
        users.push_back(user("user" + std::to_string(i)));
        nodes_of.push_back(node(users.back(), "node" + std::to_string(i)));
      }
    }
    int any(int bound) { return static_cast<int>(dice.below(static_cast<std::uint64_t>(bound))); }
    SeededRng dice;
    std::vector<ccm::Actor> users, nodes_of;
    Model model;
  };

  struct Choice {
    ccm::Access access;
    bool is_public = false;
    std::set<int> users;
  };
  static Choice any_access(World& w) {
    Choice choice;
    switch (w.any(3)) {
      case 0:
        choice.is_public = true;
        choice.access.level = AccessLevel::kPublic;
        break;
      case 1:
        choice.access.level = AccessLevel::kPrivate;
        break;
      default:
        choice.access.level = AccessLevel::kShared;
        for (int i = 1 + w.any(3); i > 0; --i) choice.users.insert(w.any(kUsers));
        for (const int user : choice.users) choice.access.users.push_back("user" + std::to_string(user));
    }
    return choice;
  }

  static void begin(World& w) {
    const int owner = w.any(kUsers);
    const std::string name = "Name " + std::to_string(w.any(kNames));
    ModelContent* held = w.model.holder(owner, name);
    ccm::BeginPublish request{w.request_id(), name, {}, "", "", {}};
    const Choice choice = any_access(w);
    request.access = choice.access;
    const auto ticket = w.contents.begin_publish(w.users[static_cast<std::size_t>(owner)], request);
    if (held != nullptr && held->state != ContentState::kDraft) {
      ASSERT_FALSE(ticket.ok());
      EXPECT_EQ(ticket.error().code, Code::kConflict);
      return;
    }
    ASSERT_TRUE(ticket.ok()) << ticket.error().message;
    if (held != nullptr) {
      EXPECT_EQ(ticket->content, held->id);
      held->is_public = choice.is_public;
      held->users = choice.users;
      return;
    }
    w.model.contents.push_back(
        {ticket->content, owner, name, choice.is_public, choice.users, ContentState::kDraft, {}});
  }

  /// An operation of a random user on a random content, and whether it must work.
  static void change(World& w) {
    if (w.model.contents.empty()) return;
    ModelContent& c = w.model.contents[static_cast<std::size_t>(w.any(static_cast<int>(w.model.contents.size())))];
    const int who = w.any(3) == 0 ? w.any(kUsers) : c.owner;
    const ccm::Actor& actor = w.users[static_cast<std::size_t>(who)];
    const bool is_owner = who == c.owner;
    bool worked = false;
    bool must_work = false;
    Error error;
    const auto note = [&](const auto& result) {
      worked = result.ok();
      if (!worked) error = result.error();
    };
    switch (w.any(3)) {
      case 0:
        note(w.contents.finish_publish(actor, w.finish_of(c.id)));
        must_work = is_owner && c.state != ContentState::kWithdrawn;  // finishing twice is finishing once
        if (must_work && c.state == ContentState::kDraft) {
          c.state = ContentState::kPublished;
          c.published = w.clock.wall();
        }
        break;
      case 1: {
        const Choice choice = any_access(w);
        note(w.contents.set_access(actor, w.request_id(), c.id, choice.access));
        must_work = is_owner && c.state == ContentState::kPublished;
        if (must_work) {
          c.is_public = choice.is_public;
          c.users = choice.users;
        }
        break;
      }
      default:
        note(w.contents.unpublish(actor, w.request_id(), c.id));
        must_work = is_owner && c.state != ContentState::kDraft;
        if (must_work) c.state = ContentState::kWithdrawn;
    }
    ASSERT_EQ(worked, must_work) << error.message;
    if (!worked && !Model::may_see(who, c)) {
      EXPECT_EQ(error, ccm::missing_content(c.id.str())) << "what is hidden looks like what is missing";
    }
  }

  static std::vector<std::string> listing(World& w, int viewer) {
    std::vector<std::string> ids;
    ccm::SearchQuery query;
    query.limit = static_cast<std::uint32_t>(1 + w.any(4));
    do {
      const auto page = w.contents.search(w.users[static_cast<std::size_t>(viewer)], query);
      EXPECT_TRUE(page.ok());
      if (!page.ok()) break;
      for (const auto& view : page->contents) ids.push_back(view.content.id.str());
      query.page = page->next_page;
    } while (!query.page.empty());
    return ids;
  }

  static void compare(World& w) {
    for (int viewer = 0; viewer < kUsers; ++viewer) {
      EXPECT_EQ(listing(w, viewer), w.model.listing(viewer)) << "user " << viewer;
      for (const ModelContent& c : w.model.contents) {
        const auto shown = w.contents.get(w.users[static_cast<std::size_t>(viewer)], c.id.str());
        EXPECT_EQ(shown.ok(), Model::may_see(viewer, c));
        const auto announced = w.nodes.announce(w.nodes_of[static_cast<std::size_t>(viewer)],
                                                {NodeId(), c.id, 1, tracker::SwarmRole::kFetching, 0, 0, {}});
        EXPECT_EQ(announced.ok(), Model::may_transfer(viewer, c));
        if (!announced.ok()) continue;
        EXPECT_EQ(announced->generation, c.is_public ? 0u : 1u);
        EXPECT_EQ(told(w, viewer, announced->audience), c.is_public ? std::set<NodeId>() : entitled(w, c));
      }
    }
  }
  /// The nodes that the viewer's node would let in.
  static std::set<NodeId> told(World& w, int viewer, const std::string& audience) {
    std::set<NodeId> nodes;
    for (const auto& one : w.audiences.of_node(w.nodes_of[static_cast<std::size_t>(viewer)].node)) {
      if (one->id != audience) continue;
      for (const auto& [print, node] : one->members) nodes.insert(node);
    }
    return nodes;
  }
  static std::set<NodeId> entitled(World& w, const ModelContent& c) {
    std::set<NodeId> nodes;
    for (int user = 0; user < kUsers; ++user) {
      if (Model::may_transfer(user, c)) nodes.insert(w.nodes_of[static_cast<std::size_t>(user)].node);
    }
    return nodes;
  }
};

INSTANTIATE_TEST_SUITE_P(Over, AccessProperty, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(AccessProperty, ServicesAnswerAsTheModelSays) {
  const std::uint64_t seed = seed_of_run();
  SCOPED_TRACE("GT_SEED=" + std::to_string(seed));
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  World w(GetParam(), seed);
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    if (w.any(3) == 0) w.clock.advance(std::chrono::milliseconds(w.any(3)));
    if (w.any(3) == 0) {
      begin(w);
    } else {
      change(w);
    }
    if (step % 10 == 9) compare(w);
  }
  // Nobody learnt of swarms that they may not join.
  for (const ModelContent& c : w.model.contents) {
    const auto counts = w.swarms.counts(c.id, 1);
    EXPECT_TRUE(c.state == ContentState::kPublished || counts.seeders + counts.leechers == 0);
  }
}

}  // namespace
}  // namespace gridtorrent
