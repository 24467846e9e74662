#include <algorithm>

#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::DiskTrust;
using client::SwarmRole;
using client::TorrentState;
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
  wish.globs = {"a", "nowhere*"};
  const auto view = get(wish);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, Code::kNotFound);
  EXPECT_NE(view.error().message.find("nowhere*"), std::string::npos);
  EXPECT_TRUE(node_->transfers().empty());
}

TEST_F(Get, RefusesAForeignFileInTheWayAndLeavesNothingBehind) {
  published("set");
  files_.with([](auto& state) { state.existing["/home/in/data"] = 9; });
  const auto view = get(job("set"));
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, Code::kConflict);
  EXPECT_TRUE(node_->transfers().empty());
  EXPECT_TRUE(store_.transfers()->empty());
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
  ASSERT_TRUE(get(again).ok());
  EXPECT_EQ(engine_->torrent(first->id)->receive_limit, 16'000u);
  const auto row = store_.transfers()->front();
  EXPECT_EQ(row.lanes_wish, 2);
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

TEST_F(Get, OfWhatIsHereAndIntactIsDoneAtOnce) {
  published("set");
  const auto first = fetched(job("set"));
  const auto again = get(job("set"));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->id, first.id);
  const auto view = wait_for(first.id, TransferState::kSeeding);
  EXPECT_EQ(view.source, "local");
  EXPECT_EQ(engine_->added().size(), 1u);
  EXPECT_EQ(files_.count("verify /home/in/data"), 1);
}

TEST_F(Get, OfWhatIsHereIsCopiedToAnotherPlace) {
  published("set");
  fetched(job("set"));
  const auto copy = get(job("set", "/elsewhere"));
  ASSERT_TRUE(copy.ok());
  const auto view = wait_for(copy->id, TransferState::kComplete);
  EXPECT_EQ(view.source, "local");
  EXPECT_EQ(files_.count("copy /home/in /elsewhere"), 1);
  EXPECT_EQ(engine_->added().size(), 1u);
}

TEST_F(Get, OfWhatIsDamagedHereIsFetchedAgainAndTheOldForgotten) {
  published("set");
  const auto old = fetched(job("set"));
  files_.with([](auto& state) { state.damaged.insert("/home/in/data"); });
  const auto again = fetched(job("set", "/elsewhere"));
  EXPECT_EQ(again.source, "swarm");
  EXPECT_FALSE(node_->transfer(old.id).ok());
  EXPECT_EQ(store_.transfers()->size(), 1u);
}

TEST_F(Get, NeverOverwritesWhatWasChangedInTheSamePlace) {
  published("set");
  const auto old = fetched(job("set"));
  files_.with([](auto& state) { state.damaged.insert("/home/in/data"); });
  ASSERT_TRUE(get(job("set")).ok());
  const auto view = wait_for(old.id, TransferState::kFailed);
  EXPECT_EQ(view.error->code, Code::kConflict);
}

TEST_F(Get, RefetchesTheMissingInTheSamePlace) {
  published("set");
  const auto old = fetched(job("set"));
  files_.with([](auto& state) { state.existing.clear(); });
  ASSERT_TRUE(get(job("set")).ok());
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 2; }));
  engine_->completes(old.id);
  EXPECT_EQ(wait_for(old.id, TransferState::kSeeding).source, "swarm");
}

TEST_F(Get, WithRefetchGoesToTheNetwork) {
  published("set");
  fetched(job("set"));
  auto wish = job("set", "/elsewhere");
  wish.refetch = true;
  EXPECT_EQ(fetched(wish).source, "swarm");
  EXPECT_EQ(files_.count("verify /home/in/data"), 0);
}

TEST_F(Get, ThatIsRefusedLeavesWhatIsHeld) {
  published("set");
  auto some = job("set");
  some.globs = {"a"};
  const auto held = fetched(some);
  auto more = job("set");
  more.globs = {"sub"};
  more.refetch = true;
  const auto view = get(more);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, Code::kConflict);
  ASSERT_TRUE(node_->transfer(held.id).ok());
  EXPECT_EQ(node_->transfer(held.id)->state, TransferState::kSeeding);
  EXPECT_EQ(store_.transfers()->size(), 1u);
}

TEST_F(Get, OfOtherFilesIsNotTakenForHereAfterARestart) {
  published("set");
  auto some = job("set");
  some.globs = {"a"};
  const auto held = fetched(some);
  ASSERT_TRUE(node_->pause(held.id).ok());
  restart();
  const auto all = get(job("set"));
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_NE(all->id, held.id);
  EXPECT_EQ(all->total_bytes, 5u) << "what is missing";
}

TEST_F(Get, OfOtherFilesToAnotherPlaceTakesTheOldOnesPlace) {
  published("set");
  auto some = job("set");
  some.globs = {"a"};
  const auto old = fetched(some);
  auto more = job("set", "/elsewhere");
  more.globs = {"sub"};
  EXPECT_EQ(fetched(more).source, "swarm");
  EXPECT_FALSE(node_->transfer(old.id).ok());
}

TEST_F(Get, OnlySoManyFetchAtOnceByPriority) {
  for (const auto* name : {"one", "two", "three"}) published(name);
  link_.with([&](auto& state) {
    client::PeerInfo seeder;
    seeder.node = NodeId::make(clock_.wall(), rng_);
    seeder.complete = true;
    state.peers = {seeder};
  });
  const auto one = get(job("one", "/1")), two = get(job("two", "/2"));
  auto urgent = job("three", "/3");
  wait_for(one->id, TransferState::kFetching);
  wait_for(two->id, TransferState::kFetching);
  urgent.priority = 5;
  const auto three = get(urgent);
  wait_for(three->id, TransferState::kFetching);
  wait_for(two->id, TransferState::kQueued);
  complete(three->id);
  wait_for(two->id, TransferState::kFetching);
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

TEST_F(Get, PausesOnAFullDiskAndGoesOnByItself) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  files_.with([](auto& state) { state.space = {2, 1000}; });
  engine_->happens(view->id, [](auto& snapshot) {
    snapshot.state = TorrentState::kError;
    snapshot.error = {Code::kDisk, "No space left on device"};
  });
  const auto paused = wait_for(view->id, TransferState::kPaused);
  ASSERT_TRUE(paused.error);
  EXPECT_NE(paused.error->message.find("2 bytes"), std::string::npos) << paused.error->message;
  EXPECT_NE(paused.error->message.find("8 bytes"), std::string::npos) << paused.error->message;
  files_.with([](auto& state) { state.space = {1'000'000'000, 1'000'000'000}; });
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->state == TransferState::kFetching; }));
  EXPECT_FALSE(node_->transfer(view->id)->error);
}

TEST_F(Get, FailsOnADiskThatIsNotFullButRefuses) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  gives_up_on_its_disk(view->id);
  EXPECT_EQ(node_->transfer(view->id)->error->message,
            "Read-only file system; mend the disk, then: gridtorrent transfer resume " + view->id.str());
}

TEST_F(Get, ResumedAfterAFailureNeedsRoomOnlyForTheRest) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  gives_up_on_its_disk(view->id);
  const auto added = engine_->added().size();
  files_.with([](auto& state) {
    state.space = {3, 1000};
    state.staged_bytes = 6;  // of 8
  });
  ASSERT_TRUE(node_->resume(view->id).ok());
  EXPECT_TRUE(eventually([&] { return engine_->added().size() == added + 1; }));
  EXPECT_FALSE(node_->transfer(view->id)->error);
}

TEST_F(Get, KeepsWhatIsStagedWhereTheDiskBecameTooSmallForTheRest) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  gives_up_on_its_disk(view->id);
  files_.with([](auto& state) {
    state.space = {1, 2};
    state.staged_bytes = 4;
  });
  const auto discards = files_.count("discard /home/in");
  ASSERT_TRUE(node_->resume(view->id).ok());
  wait_for(view->id, TransferState::kFailed);
  EXPECT_EQ(files_.count("discard /home/in"), discards);
}

TEST_F(Get, ChecksAgainOnceWhereRootsDifferAndThenGivesUp) {
  published("set");
  files_.with([](auto& state) { state.roots_wrong = 1; });
  const auto healed = get(job("set"));
  complete(healed->id);
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 2; }));
  EXPECT_EQ(engine_->added().back().trust, DiskTrust::kRecheck);
  engine_->completes(healed->id);
  wait_for(healed->id, TransferState::kSeeding);

  published("other");
  files_.with([](auto& state) { state.roots_wrong = 2; });
  const auto corrupt = get(job("other", "/2"));
  complete(corrupt->id);
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 4; }));
  engine_->completes(corrupt->id);
  EXPECT_EQ(wait_for(corrupt->id, TransferState::kFailed).error->code, Code::kCorrupt);
  EXPECT_EQ(files_.count("commit /2"), 0);
}

TEST_F(Get, SurvivesARestartAndBelievesItsResumeData) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  restart();
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  EXPECT_EQ(engine_->added().front().trust, DiskTrust::kResumeData);
  EXPECT_EQ(engine_->added().front().resume_data, "resume " + view->id.str());
  engine_->completes(view->id);
  wait_for(view->id, TransferState::kSeeding);
}

TEST_F(Get, HashesWhatIsThereAfterADeathWithoutResumeData) {
  published("set");
  const auto view = get(job("set"));
  auto rows = *store_.transfers();
  end();
  // As kill -9 leaves it: the row says neither "clean" nor has resume data.
  auto row = store_.transfers()->front();
  row.clean = false;
  ASSERT_TRUE(store_.erase_transfer(row.id).ok());
  ASSERT_TRUE(store_.put_transfer(row).ok());
  start();
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  EXPECT_EQ(engine_->added().front().trust, DiskTrust::kRecheck);
}

TEST_F(Get, ACommitThatWasCutOffIsDoneAgain) {
  published("set");
  const auto view = get(job("set"));
  end();
  auto row = store_.transfers()->front();
  row.step = client::TransferStep::kCommit;
  ASSERT_TRUE(store_.put_transfer(row).ok());
  start();
  wait_for(view->id, TransferState::kSeeding);
  EXPECT_EQ(files_.count("commit /home/in"), 1);
}

TEST_F(Get, ACommitThatWasCutOffBelievesNothingThatStandsThere) {
  published("set");
  const auto view = get(job("set"));
  end();
  auto row = store_.transfers()->front();
  row.step = client::TransferStep::kCommit;
  ASSERT_TRUE(store_.put_transfer(row).ok());
  files_.with([](auto& state) {
    state.existing["/home/in/data"] = 9;
    state.damaged.insert("/home/in/data");
  });
  start();
  const auto failed = wait_for(view->id, TransferState::kFailed);
  EXPECT_EQ(failed.error->code, Code::kCorrupt);
  EXPECT_TRUE(engine_->added().empty());
}

TEST_F(Get, SavesResumeDataWhileItFetches) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  engine_->happens(view->id, [](auto& snapshot) {
    snapshot.wanted_bytes = std::uint64_t{1} << 40;
    snapshot.verified_bytes = std::uint64_t{64} << 20;
  });
  EXPECT_TRUE(eventually([&] { return engine_->resumes_saved() >= 1; }));
  EXPECT_TRUE((*store_.load_resume(view->id)).has_value());
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
  EXPECT_EQ(files_.count("discard /home/in"), 0);
  EXPECT_TRUE(store_.transfers()->empty());
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
  settings.lanes = 17;
  EXPECT_EQ(node_->set(view->id, settings).error().code, Code::kInvalid);
  settings.lanes = 9;
  settings.limit_bits_per_s = 1000;
  ASSERT_TRUE(node_->set(view->id, settings).ok());
  EXPECT_EQ(engine_->torrent(view->id)->receive_limit, 1000u);
  client::PeerInfo seeder;
  seeder.node = NodeId::make(clock_.wall(), rng_);
  seeder.complete = true;
  link_.listener().peer_changed(view->content, 1, seeder);
  EXPECT_TRUE(eventually([&] {
    const auto torrent = engine_->torrent(view->id);
    return torrent->plan.peers.size() == 1 && torrent->plan.peers.front().lanes == 9;
  }));
}

TEST_F(Get, SaysWhatItWaitsFor) {
  published("set");
  const auto view = get(job("set"));
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->waiting_for == "no seeders online"; }));
  link_.with([](auto& state) { state.down = Error{Code::kUnreachable, "connection refused"}; });
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->waiting_for.starts_with("server down"); }));
  link_.with([](auto& state) { state.down.reset(); });
  link_.listener().connected();
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->waiting_for == "no seeders online"; }));
}

TEST_F(Get, AnnouncesAgainWhenABusyServerAllowsIt) {
  const auto announces = [&] { return link_.with([](auto& state) { return state.announces.size(); }); };
  published("set");
  link_.with([](auto& state) {
    state.announce_error = Error{Code::kBusy, "announce: too often; try again in 1 s"};
    state.asked_pause = std::chrono::minutes(5);
  });
  const auto view = get(job("set"));
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->waiting_for.starts_with("server busy, retrying"); }));
  link_.with([](auto& state) { state.announce_error.reset(); });
  for (int i = 0; i < 20; ++i) {
    clock_.advance(std::chrono::seconds(10));
    events_->torrent_changed({});
  }
  EXPECT_EQ(announces(), 0u);
  EXPECT_TRUE(eventually([&] { return announces() > 0; }, std::chrono::seconds(5)));
}

TEST_F(Get, SaysOnceInTheLogThatTheServerWasNotToldWhereItListens) {
  const auto lines = [&] {
    const std::lock_guard lock(log_mutex_);
    return std::ranges::count_if(log_,
                                 [](const auto& line) { return line.find("was not told where") != std::string::npos; });
  };
  const auto calls = [&] { return link_.with([](auto& state) { return state.endpoint_calls; }); };
  link_.with([](auto& state) { state.down = Error{Code::kUnreachable, "connection refused"}; });
  clock_.advance(std::chrono::minutes(10));
  const int before = calls();
  EXPECT_TRUE(eventually([&] { return calls() >= before + 20; }, std::chrono::seconds(5)));
  EXPECT_EQ(lines(), 1);
  clock_.advance(std::chrono::hours(1));
  EXPECT_TRUE(eventually([&] { return lines() == 2; }));
  link_.with([](auto& state) { state.down.reset(); });
  EXPECT_TRUE(eventually([&] { return link_.with([](auto& state) { return state.endpoints.size() >= 2; }); },
                         std::chrono::seconds(5)));
  link_.with([](auto& state) { state.down = Error{Code::kUnreachable, "connection refused"}; });
  clock_.advance(std::chrono::minutes(10));
  EXPECT_TRUE(eventually([&] { return lines() == 3; }));
}

TEST_F(Get, LetsAPeerThatBeginsToWantDataDialFirst) {
  published("set");
  client::PeerInfo peer;
  peer.node = NodeId::make(clock_.wall(), rng_);
  peer.complete = true;
  peer.reachability = client::Reachability::kReachable;
  link_.with([&](auto& state) {
    state.reachability = client::Reachability::kReachable;
    state.peers = {peer};
  });
  const auto held = fetched(job("set"));
  const auto planned = [&] {
    const auto torrent = engine_->torrent(held.id);
    return torrent && !torrent->plan.peers.empty();
  };
  ASSERT_TRUE(eventually([&] { return !planned(); })) << "the fetch's plan is over";
  clock_.advance(std::chrono::minutes(5));  // without a lane, since both have everything
  peer.complete = false;
  peer.wants_data = true;
  link_.with([&](auto& state) { state.peers = {peer}; });
  link_.listener().peer_changed(held.content, 1, peer);
  for (int i = 0; i < 20; ++i) {
    clock_.advance(std::chrono::milliseconds(50));
    events_->torrent_changed({});
    EXPECT_FALSE(planned() && engine_->torrent(held.id)->plan.peers.front().dial);
  }
  EXPECT_TRUE(eventually([&] { return planned() && engine_->torrent(held.id)->plan.peers.front().dial; }))
      << "but after two seconds";
}

TEST_F(Get, TellsTheEngineOfOneMoreThatFetchesThoughItGetsNoLanes) {
  published("set");
  const auto peer = [&](bool complete) {
    client::PeerInfo info;
    info.node = NodeId::make(clock_.wall(), rng_);
    info.complete = complete;
    info.wants_data = !complete;
    return info;
  };
  std::vector<client::PeerInfo> seeders;
  for (int i = 0; i < 32; ++i) seeders.push_back(peer(true));
  link_.with([&](auto& state) { state.peers = seeders; });
  const auto view = get(job("set"));
  const auto plan = [&] {
    const auto torrent = engine_->torrent(view->id);
    return torrent ? torrent->plan : client::LanePlan{};
  };
  ASSERT_TRUE(eventually([&] { return plan().peers.size() == 32; }));
  const auto before = plan();
  EXPECT_TRUE(before.fetching.empty());
  const auto another = peer(false);
  link_.listener().peer_changed(node_->transfer(view->id)->content, 1, another);
  EXPECT_TRUE(eventually([&] {
    events_->torrent_changed({});
    return plan().fetching == std::vector{another.node};
  }));
  EXPECT_EQ(plan().peers, before.peers);
  EXPECT_GT(plan().revision, before.revision);
}

TEST_F(Get, SaysThatNeitherEndCanBeReached) {
  link_.with([](auto& state) { state.reachability = client::Reachability::kUnreachable; });
  restart();
  published("set");
  client::PeerInfo seeder;
  seeder.node = NodeId::make(clock_.wall(), rng_);
  seeder.complete = true;
  seeder.reachability = client::Reachability::kUnreachable;
  link_.with([&](auto& state) { state.peers = {seeder}; });
  const auto view = get(job("set"));
  EXPECT_TRUE(eventually([&] {
    return node_->transfer(view->id)->waiting_for == "no path to " + seeder.node.str() + ": needs a relay";
  })) << node_->transfer(view->id)->waiting_for;
}

TEST_F(Get, TellsTheServerTrafficOnceAndOnlyWhatItHasNotCounted) {
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  const auto peer_id = NodeId::make(clock_.wall(), rng_);
  const auto receive = [&](std::uint64_t bytes) {
    engine_->happens(view->id, [&](auto& snapshot) {
      client::PeerSnapshot peer;
      peer.node = peer_id;
      peer.received_bytes = bytes;
      snapshot.peers = {peer};
    });
  };
  const auto told = [&] {
    return link_.with([&](auto& state) {
      std::uint64_t sum = 0;
      for (const auto& announce : state.announces) {
        for (const auto& traffic : announce.traffic) sum += traffic.received_bytes;
      }
      return sum;
    });
  };
  receive(100);
  EXPECT_TRUE(eventually([&] { return told() == 100; }));
  link_.with([](auto& state) { state.announce_error = Error{Code::kUnreachable, "gone"}; });
  receive(150);
  clock_.advance(std::chrono::minutes(1));
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->waiting_for.starts_with("server down"); }));
  link_.with([](auto& state) { state.announce_error.reset(); });
  EXPECT_TRUE(eventually([&] { return told() == 150; }));
}

}  // namespace
}  // namespace gridtorrent::testing
