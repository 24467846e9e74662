#include "tests/support/access_model.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/server_world.h"

// The services over every store, against the model. Through gRPC: tests/integration/server_access_test.cc.

namespace gridtorrent {
namespace {

using testing_support::AccessRun;
using testing_support::AccessWorld;
using testing_support::kPeople;
using testing_support::ServerWorld;

template <class T>
Status status_of(const Result<T>& result) {
  return result ? Status() : Status(result.error());
}

class ServicesWorld final : public AccessWorld {
 public:
  explicit ServicesWorld(const std::string& store) : w(store) {
    for (int i = 0; i < kPeople; ++i) {
      users_.push_back(w.user("user" + std::to_string(i)));
      nodes_.push_back(w.node(users_.back(), "node" + std::to_string(i)));
    }
  }
  Result<ContentId> begin(int owner, const std::string& name, const ccm::Access& access) override {
    GT_ASSIGN(const auto ticket, w.contents.begin_publish(user(owner), {w.request_id(), name, access, "", "", {}}));
    return ticket.content;
  }
  Status finish(int who, const ContentId& content) override {
    return status_of(w.contents.finish_publish(user(who), w.finish_of(content)));
  }
  Status set_access(int who, const ContentId& content, const ccm::Access& access) override {
    return status_of(w.contents.set_access(user(who), w.request_id(), content, access));
  }
  Status unpublish(int who, const ContentId& content) override {
    return status_of(w.contents.unpublish(user(who), w.request_id(), content));
  }
  Status restore(int who, const ContentId& content) override {
    return status_of(w.contents.restore(user(who), w.request_id(), content, ""));
  }
  Status create_group(int who, const std::string& name, bool hidden) override {
    return status_of(w.groups.create(user(who), {w.request_id(), name, "", hidden}));
  }
  Status delete_group(int who, const std::string& name) override {
    return w.groups.remove(user(who), w.request_id(), name);
  }
  Status step(int who, const std::string& group, const std::string& person, ccm::MembershipStep step) override {
    return status_of(w.groups.change(user(who), {w.request_id(), group, person, step, ""}));
  }
  Status buddy(int who, const std::string& other, bool add) override {
    return status_of(add ? w.buddies.add(user(who), w.request_id(), other)
                         : w.buddies.remove(user(who), w.request_id(), other));
  }
  Status show(int who, const ContentId& content) override {
    const auto shown = w.contents.get(user(who), content.str());
    if (!shown) {
      EXPECT_EQ(shown.error(), ccm::missing_content(content.str()));
    }
    return status_of(shown);
  }
  Status list_replicas(int who, const ContentId& content) override {
    const auto listed = w.contents.replicas(user(who), content);
    if (!listed) {
      EXPECT_EQ(listed.error(), ccm::missing_content(content.str()));
    }
    return status_of(listed);
  }
  Status announce(int who, const ContentId& content) override {
    tracker::Announce fetching;
    fetching.content = content;
    const auto announced = w.nodes.announce(node(who), fetching);
    if (announced) audience_[{who, content}] = announced->audience;
    return status_of(announced);
  }
  Result<std::set<std::string>> search(int who) override {
    std::set<std::string> ids;
    ccm::SearchQuery query;
    query.limit = 3;  // so that pages are joined as well
    do {
      GT_ASSIGN(const auto page, w.contents.search(user(who), query));
      for (const auto& view : page.contents) EXPECT_TRUE(ids.insert(view.content.id.str()).second) << "twice";
      query.page = page.next_page;
    } while (!query.page.empty());
    return ids;
  }
  Status show_group(int who, const std::string& group) override { return status_of(w.groups.get(user(who), group)); }
  Result<bool> explain(int owner, const ContentId& content, const std::string& person) override {
    GT_ASSIGN(const auto told, w.contents.explain(user(owner), content, person));
    return told.allowed;
  }
  std::optional<std::set<int>> audience(int who, const ContentId& content) override {
    EXPECT_TRUE(w.audiences.refresh().ok());
    std::set<int> people;
    for (const auto& one : w.audiences.of_node(node(who).node)) {
      if (one->id != audience_[{who, content}]) continue;
      for (const auto& [print, member] : one->members) {
        for (int i = 0; i < kPeople; ++i) {
          if (node(i).node == member) people.insert(i);
        }
      }
    }
    return people;
  }
  void pass_time() override { w.clock.advance(std::chrono::milliseconds(w.rng.below(3))); }

  ServerWorld w;

 private:
  const ccm::Actor& user(int number) const { return users_.at(static_cast<std::size_t>(number)); }
  const ccm::Actor& node(int number) const { return nodes_.at(static_cast<std::size_t>(number)); }
  std::vector<ccm::Actor> users_, nodes_;
  std::map<std::pair<int, ContentId>, std::string> audience_;
};

class AccessProperty : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Over, AccessProperty, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(AccessProperty, ServicesAnswerAsTheModelSays) {
  const std::uint64_t seed = testing_support::seed_of_run();
  SCOPED_TRACE("GT_SEED=" + std::to_string(seed));
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  ServicesWorld world(GetParam());
  AccessRun run(world, seed);
  run.run(500, 20);
  EXPECT_GT(run.cases(), 1000);
}

}  // namespace
}  // namespace gridtorrent
