#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::DiskTrust;
using client::SwarmRole;
using client::TransferState;

class Get : public NodeFixture {};

TEST_F(Get, RefusesAnUnknownContent) {
  const auto view = get(job("nothing"));
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, Code::kNotFound);
}

TEST_F(Get, RefusesARelativeTarget) {
  published("set");
  EXPECT_EQ(get(job("set", "in")).error().code, Code::kInvalid);
}

TEST_F(Get, NamesTheGlobThatMatchesNothing) {
  published("set");
  auto wish = job("set");
  wish.globs = {"nowhere*"};
  const auto view = get(wish);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, Code::kNotFound);
  EXPECT_NE(view.error().message.find("nowhere*"), std::string::npos);
  EXPECT_TRUE(node_->transfers().empty());
}

TEST_F(Get, RefusesAForeignFileInTheWayAndLeavesNothingBehind) {
  published("set");
  files_.with([](auto& state) {
    state.existing["/home/in/data"] = 9;
    state.foreign.insert("/home/in/data");
  });
  const auto view = get(job("set"));
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, Code::kConflict);
  EXPECT_TRUE(node_->transfers().empty());
  EXPECT_TRUE(eventually([&] { return store_.transfers()->empty(); }))
      << "where the server was told of it before, it is told that it ended";
}

TEST_F(Get, RefusesMetadataThatIsNotWhatTheServerNamed) {
  auto content = published("set");
  link_.with([&](auto& state) { state.contents["set"].metadata_sha256 = std::string(64, '0'); });
  EXPECT_EQ(get(job("set")).error().code, Code::kCorrupt);
}

TEST_F(Get, RefusesWhatTheDiskCanNeverHold) {
  published("set");
  files_.with([](auto& state) { state.space = {1, 2}; });
  const auto view = get(job("set"));
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, Code::kDisk);
}

TEST_F(Get, IsNotAcknowledgedWhereTheNodeCannotRemember) {
  published("set");
  store_.fail(Error{Code::kDisk, "disk full"});
  EXPECT_EQ(get(job("set")).error().code, Code::kDisk);
  EXPECT_TRUE(node_->transfers().empty());
}

TEST_F(Get, FetchesVerifiesMovesAndSeeds) {
  const auto content = published("set");
  const auto begun = get(job("set"));
  ASSERT_TRUE(begun.ok()) << begun.error().message;
  EXPECT_EQ(begun->content, content.id);
  EXPECT_EQ(begun->path, "/home/in/data");
  complete(begun->id);
  const auto done = wait_for(begun->id, TransferState::kSeeding);
  EXPECT_EQ(done.verified_bytes, 8u);
  EXPECT_EQ(done.source, "swarm");
  EXPECT_EQ(files_.count("commit /home/in"), 1);
  const auto spec = engine_->added().front();
  EXPECT_EQ(spec.trust, DiskTrust::kNothingThere);
  EXPECT_EQ(spec.save_path, "/home/in/.gridtorrent-" + begun->id.str());
  EXPECT_EQ(spec.file_paths, (std::vector<std::string>{"data/a", "data/sub/b"}));
  EXPECT_EQ(engine_->torrent(begun->id)->spec.save_path, "/home/in");
  EXPECT_TRUE(eventually([&] {
    return link_.with(
        [&](auto& state) { return !state.announces.empty() && state.announces.back().role == SwarmRole::kSeeding; });
  }));
}

TEST_F(Get, OfAZeroByteDatasetNeedsNoSwarm) {
  metainfo::VersionMetadata metadata;
  metadata.manifest.base_name = "empty";
  metadata.manifest.entries = {{"", metainfo::EntryKind::kFile, 0, 0644, 1, {}}};
  link_.with([&](auto& state) {
    auto& content = state.contents["empty"];
    content.name = "empty";
    content.access_level = "public";
    FakeLink::describe(content, ContentId::make(clock_.wall(), rng_), metadata);
    state.metadata[content.id] = metadata;
  });
  const auto view = get(job("empty"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  wait_for(view->id, TransferState::kComplete);
  EXPECT_TRUE(engine_->added().empty());
  EXPECT_EQ(files_.count("commit /home/in"), 1);
}

TEST_F(Get, TakesOnlyTheFilesAskedFor) {
  published("set");
  auto wish = job("set");
  wish.globs = {"sub"};
  const auto view = get(wish);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->total_bytes, 5u);
  complete(view->id);
  EXPECT_EQ(engine_->added().front().wanted, (std::vector<bool>{false, true}));
}

TEST_F(Get, ThatJoinsTakesOverTheWishesThatItGives) {
  published("set");
  auto gentle = job("set");
  gentle.limit_bits_per_s = 8'000;
  gentle.priority = 3;
  const auto first = get(gentle);
  ASSERT_TRUE(eventually([&] { return engine_->torrent(first->id).has_value(); }));
  auto again = job("set");
  again.lanes = 2;
  again.limit_bits_per_s = 16'000;
  again.wish = {.tuner = "auto", .target_bits_per_s = 12'000};
  ASSERT_TRUE(get(again).ok());
  EXPECT_EQ(engine_->torrent(first->id)->receive_limit, 16'000u);
  const auto row = store_.transfers()->front();
  EXPECT_EQ(row.lanes_wish, 2);
  EXPECT_EQ(row.wish, (client::TuningWish{.tuner = "auto", .target_bits_per_s = 12'000}));
  EXPECT_EQ(row.priority, 3) << "was not given anew";
}

TEST_F(Get, JoinsTheSamePlaceAndRefusesAnother) {
  published("set");
  const auto first = get(job("set"));
  ASSERT_TRUE(first.ok());
  bool joined = false;
  const auto same = node_->get(job("set"), joined);
  ASSERT_TRUE(same.ok());
  EXPECT_TRUE(joined);
  EXPECT_EQ(same->id, first->id);
  const auto other = node_->get(job("set", "/elsewhere"), joined);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::kConflict);
  EXPECT_NE(other.error().message.find(first->id.str()), std::string::npos);
}

TEST_F(Get, OnlySoManyFetchAtOnceByPriority) {
  for (const auto* name : {"one", "two", "three"}) published(name);
  link_.with([&](auto& state) {
    client::PeerInfo seeder;
    seeder.node = NodeId::make(clock_.wall(), rng_);
    seeder.complete = true;
    state.peers = {seeder};
  });
  const auto one = get(job("one", "/1"));
  clock_.advance(std::chrono::milliseconds(1));  // the one that was wanted first keeps its place
  const auto two = get(job("two", "/2"));
  auto urgent = job("three", "/3");
  wait_for(one->id, TransferState::kFetching);
  wait_for(two->id, TransferState::kFetching);
  urgent.priority = 5;
  const auto three = get(urgent);
  wait_for(three->id, TransferState::kFetching);
  EXPECT_EQ(wait_for(two->id, TransferState::kQueued).state, TransferState::kQueued) << "the last one gives way";
  EXPECT_EQ(node_->transfer(one->id)->state, TransferState::kFetching);
  EXPECT_TRUE(eventually([&] { return node_->transfer(two->id)->waiting_for.starts_with("waits for its turn"); }));
  complete(three->id);
  EXPECT_EQ(wait_for(two->id, TransferState::kFetching).state, TransferState::kFetching);
  EXPECT_TRUE(eventually([&] { return node_->transfer(two->id)->waiting_for.empty(); }));
}

TEST_F(Get, TakesANewLimitOfFetchingTransfersAtOnce) {
  for (const auto* name : {"one", "two"}) published(name);
  link_.with([&](auto& state) {
    client::PeerInfo seeder;
    seeder.node = NodeId::make(clock_.wall(), rng_);
    seeder.complete = true;
    state.peers = {seeder};
  });
  const auto one = get(job("one", "/1")), two = get(job("two", "/2"));
  wait_for(two->id, TransferState::kFetching);
  client::TransferSettings urgent;
  urgent.priority = 1;
  ASSERT_TRUE(node_->set(one->id, urgent).ok());
  node_->reconfigure({{}, {}, 1});
  wait_for(two->id, TransferState::kQueued);
  EXPECT_EQ(node_->transfer(one->id)->state, TransferState::kFetching);
}

TEST_F(Get, CancelRemovesStagingAndForgets) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  ASSERT_TRUE(node_->cancel(view->id).ok());
  wait_for(view->id, TransferState::kCancelled);
  EXPECT_TRUE(eventually([&] { return files_.count("discard /home/in") == 1 && store_.transfers()->empty(); }));
  EXPECT_FALSE(engine_->torrent(view->id));
  EXPECT_TRUE(node_->transfers().empty());
}

TEST_F(Get, CancelOfASeedingTransferLeavesItsFiles) {
  published("set");
  const auto view = fetched(job("set"));
  ASSERT_TRUE(node_->cancel(view.id).ok());
  EXPECT_TRUE(eventually([&] { return store_.transfers()->empty(); }));
  EXPECT_EQ(files_.count("discard /home/in"), 0);
}

TEST_F(Get, PauseAndResumeReachTheEngineAndTheServer) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  ASSERT_TRUE(node_->pause(view->id).ok());
  EXPECT_EQ(node_->transfer(view->id)->state, TransferState::kPaused);
  EXPECT_TRUE(eventually([&] { return engine_->torrent(view->id)->paused; }));
  EXPECT_TRUE(eventually(
      [&] { return link_.with([&](auto& state) { return state.announces.back().role == SwarmRole::kPaused; }); }));
  ASSERT_TRUE(node_->resume(view->id).ok());
  EXPECT_TRUE(eventually([&] { return !engine_->torrent(view->id)->paused; }));
}

TEST_F(Get, SettingsReachTheEngine) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  client::TransferSettings settings;
  settings.lanes = 33;
  EXPECT_EQ(node_->set(view->id, settings).error().code, Code::kInvalid);
  settings.lanes = 9;
  settings.limit_bits_per_s = 1000;
  ASSERT_TRUE(node_->set(view->id, settings).ok());
  EXPECT_EQ(engine_->torrent(view->id)->receive_limit, 1000u);
  client::PeerInfo seeder;
  seeder.node = NodeId::make(clock_.wall(), rng_);
  seeder.complete = true;
  // Also in the answer to an announce that is under way: it replaces what was told before.
  link_.with([&](auto& state) { state.peers = {seeder}; });
  link_.listener().peer_changed(view->content, 1, seeder);
  EXPECT_TRUE(eventually([&] {
    const auto torrent = engine_->torrent(view->id);
    return torrent->plan.peers.size() == 1 && torrent->plan.peers.front().lanes == 9;
  }));
}

}  // namespace
}  // namespace gridtorrent::testing
