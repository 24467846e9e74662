#include "tests/support/publish_fixture.h"

namespace gridtorrent::testing {
namespace {

class Umask : public PublishFixture {
 protected:
  client::GetJob asked_with(std::uint32_t umask, const std::string& target = "/home/in") {
    auto wish = job("set", target);
    wish.folder_mode = 0777 & ~umask;
    return wish;
  }
  client::StagingPlan committed() {
    return files_.with([](auto& state) { return state.committed; });
  }
  void publish_next() {
    link_.with([](FakeLink::State& state) {
      const client::ContentInfo first = state.contents["set"];
      metainfo::VersionMetadata metadata = state.metadata[first.id];
      metadata.segments.front().piece_hashes = std::string(20, 'v');
      client::ContentInfo next = first;
      next.version = 2;
      FakeLink::describe(next, first.id, metadata);
      state.contents["set"] = state.versions[2] = next;
      state.versions[1] = first;
      state.version_metadata[2] = metadata;
    });
  }
  /// A new version of what lies at /home/data, with its modes as the disk has them.
  Result<client::PublishOutcome> publish_anew(char piece, std::uint32_t mode_bits) {
    files_.with([&](auto& state) {
      state.tree.metadata = metadata_of("data");
      state.tree.metadata.segments.front().piece_hashes = std::string(20, piece);
      for (auto& entry : state.tree.metadata.manifest.entries) entry.mode &= mode_bits;
    });
    auto update = publish_job(std::string("update ") + piece);
    update.request.update = true;
    return node_->publish(update, {}, {});
  }
};

TEST_F(Umask, OfWhoAsksCountsForWhatIsFetched) {
  published("set");
  fetched(asked_with(027));
  EXPECT_EQ(committed().umask, 027u);
}

TEST_F(Umask, OfWhoAsksCountsAfterARestart) {
  published("set");
  const auto view = get(asked_with(027));
  ASSERT_TRUE(view.ok()) << view.error().message;
  restart();
  complete(view->id);
  wait_for(view->id, client::TransferState::kSeeding);
  EXPECT_EQ(committed().umask, 027u);
}

TEST_F(Umask, OfTheNodeCountsWhereNoOtherIsKnown) {
  published("set");
  fetched(job("set"));
  EXPECT_EQ(committed().umask, client::NodeOptions().umask);
}

TEST_F(Umask, OfWhoAsksAgainTakesMoreAndGivesNothingBack) {
  published("set");
  const auto view = get(asked_with(007));
  ASSERT_TRUE(view.ok()) << view.error().message;
  ASSERT_TRUE(get(asked_with(020)).ok());
  complete(view->id);
  wait_for(view->id, client::TransferState::kSeeding);
  EXPECT_EQ(committed().umask, 027u);
}

TEST_F(Umask, OfAnUpdateIsThatOfTheGetWhoseFilesItReplaces) {
  published("set");
  fetched(asked_with(027));
  publish_next();
  auto wish = asked_with(077);
  wish.update = true;
  fetched(wish);
  EXPECT_TRUE(committed().replaces);
  EXPECT_EQ(committed().umask, 027u);
  EXPECT_EQ(committed().replaced_mode, 0750u) << "as it came, so that it counts as unchanged";
}

TEST_F(Umask, TookNothingThatIsAChangeByWhoPublishesTheCopyAnew) {
  published("set");  // whose piece is 'a'
  fetched(asked_with(077, "/home"));
  const auto same = publish_anew('a', 0700);
  ASSERT_TRUE(same.ok()) << same.error().message;
  EXPECT_TRUE(same->unchanged);
  const auto changed = publish_anew('b', 0700);
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  EXPECT_EQ(changed->content.version, 2u);
  const auto closed = [](const auto& entry) { return entry.mode == (entry.mode & 0700); };
  link_.with([&](auto& state) {
    for (const auto& entry : state.version_metadata[2].manifest.entries) EXPECT_FALSE(closed(entry)) << entry.path;
  });
}

}  // namespace
}  // namespace gridtorrent::testing
