#include <future>

#include "tests/support/publish_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::TransferState;

using Publish = PublishFixture;

TEST_F(Publish, FailsBeforeHashingWhereTheNameIsTaken) {
  link_.with([](auto& state) { state.begin_error = Error{Code::kConflict, "the name is taken"}; });
  const auto outcome = node_->publish(publish_job(), {}, {});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, Code::kConflict);
  EXPECT_EQ(files_.count("hash /home/data"), 0);
  EXPECT_TRUE(store_.publishes()->empty());
}

TEST_F(Publish, RefusesARelativePath) {
  auto wish = publish_job();
  wish.path = "data";
  EXPECT_EQ(node_->publish(wish, {}, {}).error().code, Code::kInvalid);
}

TEST_F(Publish, ThatLostAFileSinceGetsItBackFromOthers) {
  const auto outcome = node_->publish(publish_job(), {}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  wait_for(outcome->transfer, TransferState::kSeeding);
  files_.with([](auto& state) { state.gone.insert("/home/data/a"); });
  ASSERT_TRUE(node_->verify("", "/home/data", false, {}, {}).ok());
  wait_for(outcome->transfer, TransferState::kFailed);
  const auto again = get(job("set", "/home"));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->id, outcome->transfer);
  ASSERT_TRUE(eventually([&] { return engine_->torrent(again->id).has_value(); }));
  EXPECT_EQ(engine_->torrent(again->id)->spec.wanted, (std::vector<bool>{true, false}));
  engine_->completes(again->id);
  wait_for(again->id, TransferState::kSeeding);
}

TEST_F(Publish, KeepsNothingUnderANameThatIsNotItsMetadatas) {
  link_.with([](auto& state) { state.metadata_name = "../credential.json"; });
  const auto outcome = node_->publish(publish_job(), {}, {});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, Code::kCorrupt);
  EXPECT_FALSE(store_.load_metadata("../credential.json")->has_value());
  EXPECT_TRUE(node_->transfers().empty());
}

TEST_F(Publish, NotesItsProgressUnderAnIdOfItsOwn) {
  ASSERT_TRUE(node_->publish(publish_job("../node.db"), {}, {}).ok());
  const auto file = files_.with([](auto& state) { return state.checkpoint_file; });
  EXPECT_EQ(file, client::checkpoint_file("/data", store_.publishes()->front().transfer));
  EXPECT_EQ(file.find(".."), std::string::npos);
}

TEST_F(Publish, LeavesNoTransferWhereHashingFails) {
  files_.with([](auto& state) { state.hash_error = Error{Code::kConflict, "a changed while being hashed"}; });
  EXPECT_EQ(node_->publish(publish_job(), {}, {}).error().code, Code::kConflict);
  EXPECT_TRUE(node_->transfers().empty());
}

TEST_F(Publish, HashesPublishesAndSeedsInPlace) {
  std::uint64_t seen = 0;
  const auto outcome = node_->publish(publish_job(), [&](std::uint64_t done, std::uint64_t) { seen = done; }, {});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(seen, 1u);
  EXPECT_EQ(outcome->skipped, 2u);
  const auto view = wait_for(outcome->transfer, TransferState::kSeeding);
  EXPECT_EQ(view.path, "/home/data");
  EXPECT_EQ(view.source, "published");
  const auto spec = engine_->added().front();
  EXPECT_EQ(spec.trust, client::DiskTrust::kComplete);
  EXPECT_EQ(spec.save_path, "/home");
  EXPECT_TRUE(eventually([&] { return link_.with([](auto& state) { return state.checksums == 1; }); }));
}

TEST_F(Publish, IsNotSeededAnyMoreWhereTheServerRefuses) {
  const auto outcome = node_->publish(publish_job(), {}, {});
  ASSERT_TRUE(outcome.ok());
  wait_for(outcome->transfer, TransferState::kSeeding);
  link_.with([](auto& state) {
    state.contents["set"].access_level = "private";
    state.announce_error = Error{Code::kDenied, "private"};
  });
  clock_.advance(std::chrono::minutes(1));
  EXPECT_TRUE(eventually([&] { return node_->transfer(outcome->transfer)->state == TransferState::kComplete; }));
  EXPECT_FALSE(engine_->torrent(outcome->transfer));
}

TEST_F(Publish, OfDataWithoutAByteNeedsNoTorrent) {
  files_.with([](auto& state) {
    state.tree.metadata.segments.clear();
    state.tree.metadata.manifest.entries = {{"", metainfo::EntryKind::kFolder, 0, 0755, 1, {}},
                                            {"empty", metainfo::EntryKind::kFile, 0, 0644, 1, {}}};
  });
  const auto outcome = node_->publish(publish_job(), {}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(wait_for(outcome->transfer, TransferState::kComplete).total_bytes, 0u);
  EXPECT_TRUE(engine_->added().empty());
  restart();
  wait_for(outcome->transfer, TransferState::kComplete);
}

TEST_F(Publish, RepeatedIsDoneOnce) {
  const auto first = node_->publish(publish_job(), {}, {});
  ASSERT_TRUE(first.ok());
  restart();
  const auto again = node_->publish(publish_job(), {}, {});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->content.id, first->content.id);
  EXPECT_EQ(files_.count("hash /home/data"), 1);
}

TEST_F(Publish, OfANewVersionIsByTheRulesOfTheOneBefore) {
  auto one = publish_job();
  one.rules.exclude = {"secrets"};
  ASSERT_TRUE(node_->publish(one, {}, {}).ok());
  files_.with([](auto& state) { state.tree.metadata.segments.front().piece_hashes = std::string(20, 'v'); });
  auto next = publish_job("u1");
  next.request.update = next.as_before = true;
  const auto outcome = node_->publish(next, {}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(files_.with([](auto& state) { return state.rules; }), one.rules);
  EXPECT_EQ(outcome->rules_as_before, "--exclude secrets");
}

TEST_F(Publish, GoesOnUnderItsFirstRequestAfterAFailure) {
  link_.with([](auto& state) { state.finish_error = Error{Code::kUnreachable, "gone"}; });
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(node_->publish(publish_job("r1"), {}, stop.get_token()).error().code, Code::kCancelled);
  link_.with([](auto& state) { state.finish_error.reset(); });
  ASSERT_TRUE(node_->publish(publish_job("r2"), {}, {}).ok());
  link_.with([](auto& state) {
    EXPECT_EQ(state.tickets.size(), 1u);
    EXPECT_TRUE(state.tickets.contains("r1"));
  });
}

TEST_F(Publish, GivesAQuotaUpAtOnce) {
  link_.with([](auto& state) { state.begin_error = Error{Code::kExhausted, "as many as the quota allows"}; });
  const auto outcome = node_->publish(publish_job(), {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "as many as the quota allows");
  EXPECT_EQ(link_.with([](auto& state) { return state.begins_refused; }), 1);
  EXPECT_TRUE(store_.publishes()->empty());
}

TEST_F(Publish, WaitsAsLongAsABusyServerAsks) {
  const Error busy{Code::kBusy, "publish: too often; try again in 6 s"};
  link_.with([&](auto& state) {
    state.begin_error = busy;
    state.asked_pause = std::chrono::minutes(1);
  });
  auto outcome = std::async(std::launch::async, [&] { return node_->publish(publish_job(), {}, {}); });
  const std::chrono::seconds step(10);
  // More often than it would try without a word from the server.
  EXPECT_TRUE(eventually([&] { return link_.with([](auto& state) { return state.begins_refused == 7; }); }, step));
  EXPECT_EQ(files_.count("hash /home/data"), 0);
  link_.with([&](auto& state) {
    state.begin_error.reset();
    state.finish_error = busy;
  });
  EXPECT_TRUE(eventually(
      [&] {
        const auto views = node_->transfers();
        return !views.empty() && views.front().waiting_for.starts_with("server busy, retrying: publish: too often");
      },
      step));
  link_.with([](auto& state) { state.finish_error.reset(); });
  EXPECT_TRUE(eventually([&] { return outcome.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }, step));
  EXPECT_TRUE(outcome.get().ok());
}

TEST_F(Publish, IsVerifiedWhereFilesChangeWhileTheServerIsAway) {
  files_.with([](auto& state) { state.existing["/home/data"] = 1; });
  link_.with([](auto& state) { state.finish_error = Error{Code::kUnreachable, "gone"}; });
  auto outcome = std::async(std::launch::async, [&] { return node_->publish(publish_job(), {}, {}); });
  EXPECT_TRUE(eventually([&] {
    const auto views = node_->transfers();
    return !views.empty() && views.front().waiting_for.starts_with("server down");
  }));
  files_.with([](auto& state) {
    state.existing["/home/data"] = 2;
    state.damaged.insert("/home/data");
  });
  link_.with([](auto& state) { state.finish_error.reset(); });
  EXPECT_TRUE(eventually([&] { return outcome.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
  ASSERT_TRUE(outcome.get().ok());
  const auto failed = wait_for(node_->transfers().front().id, TransferState::kFailed);
  EXPECT_TRUE(failed.error) << "what the server has is not what lies there";
  EXPECT_TRUE(engine_->added().empty());
}

TEST_F(Publish, SendsItsSumsOnceABusyServerHasTime) {
  link_.with([](auto& state) { state.checksums_error = Error{Code::kBusy, "the server is overloaded"}; });
  ASSERT_TRUE(node_->publish(publish_job(), {}, {}).ok());
  EXPECT_TRUE(eventually([&] { return link_.with([](auto& state) { return state.checksums == 2; }); },
                         std::chrono::seconds(5)));
  link_.with([](auto& state) { state.checksums_error.reset(); });
  EXPECT_TRUE(eventually([&] { return !store_.transfers()->front().checksums_due; }, std::chrono::seconds(5)));
}

TEST_F(Publish, OfPrivateDataIsSeededOverEncryptedLanes) {
  auto wish = publish_job();
  wish.request.access = "private";
  const auto outcome = node_->publish(wish, {}, {});
  ASSERT_TRUE(outcome.ok());
  wait_for(outcome->transfer, TransferState::kSeeding);
  ASSERT_TRUE(eventually([&] { return link_.with([](auto& state) { return state.announces.size() >= 3; }); },
                         std::chrono::seconds(10)));
  ASSERT_EQ(engine_->added().size(), 1u) << "once, however many rounds go by";
  EXPECT_EQ(engine_->added()[0].generation, 1u);
  EXPECT_NE(engine_->added()[0].info_dict.find("8:ssl-cert"), std::string::npos);
}

TEST_F(Publish, SeedsAgainAfterARestartWithoutHashing) {
  const auto outcome = node_->publish(publish_job(), {}, {});
  restart();
  wait_for(outcome->transfer, TransferState::kSeeding);
  EXPECT_EQ(files_.count("verify /home/data"), 0);
}

TEST_F(Publish, IsVerifiedAfterARestartWhereFilesWereTouched) {
  const auto outcome = node_->publish(publish_job(), {}, {});
  end();
  files_.with([](auto& state) { state.existing["/home/data"] = 2; });
  start();
  wait_for(outcome->transfer, TransferState::kSeeding);
  EXPECT_EQ(files_.count("verify /home/data"), 1);
}

TEST_F(Publish, IsNotSeededAfterARestartWhereFilesWereChanged) {
  const auto outcome = node_->publish(publish_job(), {}, {});
  end();
  files_.with([](auto& state) {
    state.existing["/home/data"] = 2;
    state.damaged.insert("/home/data");
  });
  start();
  const auto view = wait_for(outcome->transfer, TransferState::kFailed);
  EXPECT_EQ(view.error->code, Code::kCorrupt);
  EXPECT_TRUE(engine_->added().empty());
}

TEST_F(Publish, ThroughLinksIsReadThroughThemEverAfter) {
  files_.with([](auto& state) {
    state.tree.follow_links = true;
    state.behind_links.insert("/home/data");
  });
  const auto outcome = node_->publish(publish_job(), {}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  wait_for(outcome->transfer, TransferState::kSeeding);
  EXPECT_TRUE(engine_->added().front().save_path.follow_links);
  const auto report = node_->verify("", "/home/data", false, {}, {});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->report.fault_count, 0u);
  end();
  start();
  wait_for(outcome->transfer, TransferState::kSeeding);
  EXPECT_TRUE(engine_->added().front().save_path.follow_links);
}

class Seed : public NodeFixture {};

TEST_F(Seed, BelowANamedRootFollowsNoLinks) {
  published("set");
  files_.with([](auto& state) {
    state.existing["/home/data"] = 1;
    state.behind_links.insert("/home/data");
  });
  // The folder that holds a root is its owner's to name, so the place of the files has no root itself.
  const auto view = node_->seed("set", Place("/home/data", "/home/data"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(wait_for(view->id, TransferState::kFailed).error->code, Code::kCorrupt);
}

TEST_F(Seed, OfFilesThatAreThereOnlyByWayOfLinksFollowsThem) {
  published("set");
  files_.with([](auto& state) {
    state.existing["/home/data"] = 1;
    state.behind_links.insert("/home/data");
  });
  const auto view = node_->seed("set", "/home/data");
  ASSERT_TRUE(view.ok()) << view.error().message;
  wait_for(view->id, TransferState::kSeeding);
  EXPECT_TRUE(engine_->added().front().save_path.follow_links);
}

TEST_F(Seed, RefusesAPlaceWithoutTheFiles) {
  published("set");
  EXPECT_EQ(node_->seed("set", "/home").error().code, Code::kNotFound);
}

TEST_F(Seed, AttachesVerifiedFiles) {
  published("set");
  files_.with([](auto& state) { state.existing["/home/data"] = 1; });
  const auto view = node_->seed("set", "/home/data");
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->state, TransferState::kVerifying);
  EXPECT_EQ(wait_for(view->id, TransferState::kSeeding).source, "attached");
  EXPECT_EQ(engine_->added().front().save_path, "/home");
}

TEST_F(Seed, FailsWhereTheFilesDiffer) {
  published("set");
  files_.with([](auto& state) {
    state.existing["/home/data"] = 1;
    state.damaged.insert("/home/data");
  });
  const auto view = node_->seed("set", "/home");
  ASSERT_TRUE(view.ok());
  const auto failed = wait_for(view->id, TransferState::kFailed);
  EXPECT_EQ(failed.error->code, Code::kCorrupt);
  EXPECT_NE(failed.error->message.find("`gridtorrent seed --from /home/data "), std::string::npos)
      << failed.error->message;
}

TEST_F(Seed, PassesToTheOtherCopyWhenTheSeedingOneIsCancelled) {
  published("set");
  const auto first = fetched(job("set"));
  const auto copy = get(job("set", "/elsewhere"));
  wait_for(copy->id, TransferState::kComplete);
  ASSERT_TRUE(node_->cancel(first.id).ok());
  wait_for(copy->id, TransferState::kSeeding);
}

class Verify : public NodeFixture {};

TEST_F(Verify, ReportsWhatDiffers) {
  published("set");
  fetched(job("set"));
  EXPECT_EQ(node_->verify("nothing", "", false, {}, {}).error().code, Code::kNotFound);
  const auto whole = node_->verify("set", "", true, {}, {});
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->report.fault_count, 0u);
  EXPECT_EQ(whole->digests.size(), 2u);
  files_.with([](auto& state) { state.damaged.insert("/home/in/data"); });
  const auto damaged = node_->verify("", "/home/in/data", false, {}, {});
  ASSERT_TRUE(damaged.ok());
  EXPECT_EQ(damaged->report.fault_count, 1u);
}

TEST_F(Verify, OfWhatIsNotHeldNamesTheWayToServeIt) {
  published("set");
  const auto refused = node_->verify("set", "", false, {}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kNotFound);
  EXPECT_NE(refused.error().message.find("`gridtorrent seed ada/set --from PATH`"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace gridtorrent::testing
