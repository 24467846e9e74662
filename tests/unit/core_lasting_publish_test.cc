// Publishes that go on without their caller (StartPublish).

#include "client/core/hash_pace.h"
#include "client/core/lasting_publish.h"
#include "tests/support/publish_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::PublishMatch;
using client::TransferState;
using client::TransferView;

class LastingPublish : public PublishFixture {
 protected:
  LastingPublish() {
    files_.with([](auto& state) {
      state.tree.warnings = {"skipped 'link'"};
      state.existing = {{"/home/data", 1}, {"/home/other", 1}};
    });
  }
  client::PublishJob publish_job(const std::string& request_id = "r1") {
    client::PublishJob made = PublishFixture::publish_job(request_id);
    made.request.tags = {"raw"};
    return made;
  }
  TransferView start_publish(const client::PublishJob& wish) {
    auto view = node_->start_publish(wish);
    EXPECT_TRUE(view.ok()) << view.error().message;
    return view.ok() ? *view : TransferView();
  }
  /// One whose hashing does not end before it is asked to.
  TransferView hashing() {
    hash_waits(true);
    const auto view = start_publish(publish_job());
    return wait_until(view.id, [](const auto& now) { return now.verified_bytes == 1; });
  }
  void hash_waits(bool waits) {
    files_.with([&](auto& state) { state.hash_waits = waits; });
  }
  int hashed() { return files_.count("hash /home/data"); }
  bool is_gone(const TransferId& id) {
    const auto listed = node_->transfers();
    return std::ranges::none_of(listed, [&](const auto& view) { return view.id == id; }) &&
           store_.transfers()->empty() && store_.publishes()->empty();
  }
  void server_is(std::optional<Error> down) {
    link_.with([&](auto& state) { state.down = std::move(down); });
  }
};

const Error kDown{Code::kUnreachable, "no server at lab:7443"};

TEST_F(LastingPublish, KeepsNothingOfWhatTheServerRefusesAtOnce) {
  link_.with([](auto& state) { state.begin_error = Error{Code::kConflict, "the name is taken"}; });
  const auto refused = node_->start_publish(publish_job());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "the name is taken");
  EXPECT_TRUE(is_gone({}));
  EXPECT_EQ(hashed(), 0);
}

TEST_F(LastingPublish, RefusesARelativePath) {
  auto wish = publish_job();
  wish.path = "data";
  EXPECT_EQ(node_->start_publish(wish).error().code, Code::kInvalid);
}

TEST_F(LastingPublish, RefusesAPathThatIsNotThere) {
  auto wish = publish_job();
  wish.path = "/home/nothing";
  const auto refused = node_->start_publish(wish);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kNotFound);
  EXPECT_TRUE(is_gone({}));
}

TEST_F(LastingPublish, RefusesTheNameFromAnotherPathWhileItIsUnderWay) {
  const auto first = hashing();
  auto other = publish_job("r2");
  other.path = "/home/other";
  const auto refused = node_->start_publish(other);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_NE(refused.error().message.find(first.id.str()), std::string::npos);
  EXPECT_EQ(node_->publish(publish_job("r3"), {}, {}).error().code, Code::kConflict) << "nor does a Publish call";
}

TEST_F(LastingPublish, IsWrittenDownBeforeItIsAnswered) {
  hash_waits(true);
  const auto view = start_publish(publish_job());
  ASSERT_EQ(store_.publishes()->size(), 1u);
  const auto row = store_.publishes()->front();
  EXPECT_EQ(row.request_id, "r1");
  EXPECT_EQ(row.transfer, view.id);
  ASSERT_TRUE(row.lasting);
  EXPECT_EQ(row.lasting->tags, std::vector<std::string>{"raw"});
  ASSERT_EQ(store_.transfers()->size(), 1u);
  EXPECT_TRUE(store_.transfers()->front().unpublished);
}

TEST_F(LastingPublish, IsNotAnsweredWhereItCannotBeWrittenDown) {
  store_.fail(Error{Code::kDisk, "the disk is full"});
  EXPECT_EQ(node_->start_publish(publish_job()).error().code, Code::kDisk);
  store_.fail(std::nullopt);
  EXPECT_TRUE(is_gone({}));
}

TEST_F(LastingPublish, HashesPublishesAndSeedsWithoutItsCaller) {
  auto wish = publish_job();
  wish.path = "/home/data/";
  const auto view = start_publish(wish);
  const auto done = wait_for(view.id, TransferState::kSeeding);
  EXPECT_EQ(done.path, "/home/data");
  EXPECT_EQ(done.source, "published");
  EXPECT_FALSE(done.publishing);
  EXPECT_EQ(engine_->added().front().save_path, "/home");
  EXPECT_EQ(link_.with([](auto& state) { return state.begins; }), 1) << "the server counts these calls";
  const auto told = node_->publish(publish_job(), {}, {});
  ASSERT_TRUE(told.ok()) << told.error().message;
  EXPECT_EQ(told->transfer, view.id);
  EXPECT_EQ(told->skipped, 2u);
  EXPECT_EQ(told->warnings, std::vector<std::string>{"skipped 'link'"});
  EXPECT_EQ(hashed(), 1);
}

TEST_F(LastingPublish, ShowsItsPhaseFilesAndBytes) {
  const auto view = hashing();
  EXPECT_EQ(view.state, TransferState::kHashing);
  EXPECT_EQ(view.name, "set");
  EXPECT_EQ(view.total_bytes, 1u);
  ASSERT_TRUE(view.publishing);
  EXPECT_EQ(view.publishing->request_id, "r1");
  EXPECT_EQ(view.publishing->phase, client::PublishPhase::kHash);
  EXPECT_EQ(view.publishing->files, 2u);
}

TEST_F(LastingPublish, RepeatedIsTheSameTransfer) {
  const auto first = hashing();
  EXPECT_EQ(start_publish(publish_job()).id, first.id);
  EXPECT_EQ(start_publish(publish_job("r2")).id, first.id) << "the same path, name and access";
  EXPECT_EQ(node_->transfers().size(), 1u);
}

TEST_F(LastingPublish, GoesOnAfterARestart) {
  const auto view = hashing();
  end();
  hash_waits(false);
  start();
  wait_for(view.id, TransferState::kSeeding);
  EXPECT_EQ(hashed(), 2);
  link_.with([](auto& state) { EXPECT_EQ(state.tickets.size(), 1u) << "under its first request"; });
}

TEST_F(LastingPublish, WaitsForAServerThatIsAway) {
  server_is(kDown);
  const auto view = start_publish(publish_job());
  wait_until(view.id, [](const auto& now) {
    return now.state == TransferState::kQueued &&
           now.waiting_for.starts_with("server down, retrying: no server at lab:7443");
  });
  EXPECT_EQ(hashed(), 0) << "the name may be taken";
  server_is(std::nullopt);
  EXPECT_TRUE(
      eventually([&] { return node_->transfer(view.id)->state == TransferState::kSeeding; }, std::chrono::seconds(5)));
}

TEST_F(LastingPublish, DoesNotHashAgainWhereOnlyTheServerWasMissing) {
  link_.with([](auto& state) { state.finish_error = kDown; });
  const auto view = start_publish(publish_job());
  ASSERT_TRUE(eventually([&] { return node_->transfer(view.id)->waiting_for.starts_with("server down"); }));
  restart();
  link_.with([](auto& state) { state.finish_error.reset(); });
  EXPECT_TRUE(
      eventually([&] { return node_->transfer(view.id)->state == TransferState::kSeeding; }, std::chrono::seconds(5)));
  EXPECT_EQ(hashed(), 1);
  EXPECT_EQ(node_->publish(publish_job(), {}, {})->warnings, std::vector<std::string>{"skipped 'link'"});
}

TEST_F(LastingPublish, HashesAgainWhatChangedMeanwhile) {
  link_.with([](auto& state) { state.finish_error = kDown; });
  const auto view = start_publish(publish_job());
  ASSERT_TRUE(eventually([&] { return node_->transfer(view.id)->waiting_for.starts_with("server down"); }));
  files_.with([](auto& state) { state.existing["/home/data"] = 2; });
  link_.with([](auto& state) { state.finish_error.reset(); });
  EXPECT_TRUE(
      eventually([&] { return node_->transfer(view.id)->state == TransferState::kSeeding; }, std::chrono::seconds(5)));
  EXPECT_EQ(hashed(), 2);
}

TEST_F(LastingPublish, BeginsADraftAnewThatTheServerHasGivenUp) {
  link_.with([](auto& state) { state.finish_error = kDown; });
  const auto view = start_publish(publish_job());
  ASSERT_TRUE(eventually([&] { return node_->transfer(view.id)->waiting_for.starts_with("server down"); }));
  link_.with([](auto& state) { state.finish_error = Error{Code::kNotFound, "there is no such draft"}; });
  EXPECT_TRUE(
      eventually([&] { return link_.with([](auto& state) { return state.begins >= 2; }); }, std::chrono::seconds(5)));
}

TEST_F(LastingPublish, ThatFailsSaysWhyAndIsTriedAgainOnResume) {
  files_.with([](auto& state) { state.hash_error = Error{Code::kConflict, "a changed while it was being hashed"}; });
  const auto view = start_publish(publish_job());
  const auto failed = wait_for(view.id, TransferState::kFailed);
  EXPECT_EQ(failed.error->message, "a changed while it was being hashed");
  restart();
  EXPECT_EQ(node_->transfer(view.id)->state, TransferState::kFailed);
  files_.with([](auto& state) { state.hash_error.reset(); });
  ASSERT_TRUE(node_->resume(view.id).ok());
  wait_for(view.id, TransferState::kSeeding);
}

TEST_F(LastingPublish, ThatFailedIsTriedAgainByTheSameCommand) {
  files_.with([](auto& state) { state.hash_error = Error{Code::kDenied, "a cannot be read"}; });
  const auto view = start_publish(publish_job());
  wait_for(view.id, TransferState::kFailed);
  files_.with([](auto& state) { state.hash_error.reset(); });
  EXPECT_EQ(start_publish(publish_job("r2")).id, view.id);
  wait_for(view.id, TransferState::kSeeding);
}

TEST_F(LastingPublish, ThatFailedGivesItsNameToOneThatIsAskedForInAnotherWay) {
  files_.with([](auto& state) { state.hash_error = Error{Code::kInvalid, "a link leads outside"}; });
  const auto failed = start_publish(publish_job());
  wait_for(failed.id, TransferState::kFailed);
  files_.with([](auto& state) { state.hash_error.reset(); });
  auto anew = publish_job("r2");
  anew.rules.exclude = {"out"};
  anew.request.access = "private";
  const auto view = start_publish(anew);
  EXPECT_NE(view.id, failed.id);
  wait_for(view.id, TransferState::kSeeding);
  EXPECT_EQ(link_.with([](auto& state) { return state.given_up; }), std::vector<std::string>{"r1"});
  EXPECT_TRUE(eventually([&] { return store_.transfers()->size() == 1; }));
}

TEST_F(LastingPublish, ThatFailedKeepsItsNameWhereTheServerCannotBeToldOfItsEnd) {
  files_.with([](auto& state) { state.hash_error = Error{Code::kDenied, "a cannot be read"}; });
  const auto failed = start_publish(publish_job());
  wait_for(failed.id, TransferState::kFailed);
  link_.with([](auto& state) { state.give_up_error = kDown; });
  auto anew = publish_job("r2");
  anew.strict = true;
  const auto refused = node_->start_publish(anew);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_NE(refused.error().message.find("is being cancelled: try again once it is gone"), std::string::npos);
}

TEST_F(LastingPublish, PausedRestsAndResumedGoesOn) {
  const auto view = hashing();
  ASSERT_TRUE(node_->pause(view.id).ok());
  wait_for(view.id, TransferState::kPaused);
  restart();
  EXPECT_EQ(node_->transfer(view.id)->state, TransferState::kPaused);
  EXPECT_EQ(hashed(), 1);
  hash_waits(false);
  ASSERT_TRUE(node_->resume(view.id).ok());
  wait_for(view.id, TransferState::kSeeding);
}

TEST_F(LastingPublish, PausedWhileItsMetadataWaitsDoesNotAskTheServer) {
  link_.with([](auto& state) { state.finish_error = kDown; });
  const auto view = start_publish(publish_job());
  ASSERT_TRUE(eventually([&] { return node_->transfer(view.id)->waiting_for.starts_with("server down"); }));
  ASSERT_TRUE(node_->pause(view.id).ok());
  link_.with([](auto& state) { state.finish_error.reset(); });
  clock_.advance(std::chrono::minutes(5));
  wait_for(view.id, TransferState::kPaused);
  EXPECT_EQ(link_.with([](auto& state) { return state.finishes; }), 0);
  ASSERT_TRUE(node_->resume(view.id).ok());
  wait_for(view.id, TransferState::kSeeding);
}

TEST_F(LastingPublish, CancelledWhileItHashesIsGivenUpAtTheServer) {
  const auto view = hashing();
  ASSERT_TRUE(node_->cancel(view.id).ok());
  EXPECT_TRUE(eventually([&] { return is_gone(view.id); }));
  link_.with([](auto& state) { EXPECT_EQ(state.given_up, std::vector<std::string>{"r1"}); });
  files_.with([&](auto& state) {
    EXPECT_EQ(state.forgotten, std::vector<std::string>{client::checkpoint_file("/data", view.id)});
  });
  hash_waits(false);
  const auto again = start_publish(publish_job("r2"));
  EXPECT_NE(again.id, view.id);
  wait_for(again.id, TransferState::kSeeding);
}

TEST_F(LastingPublish, CancelledWhileItWaitsIsGivenUpOnceTheServerIsBack) {
  server_is(kDown);
  const auto view = start_publish(publish_job());
  ASSERT_TRUE(node_->cancel(view.id).ok());
  clock_.advance(std::chrono::minutes(1));
  const auto early = node_->start_publish(publish_job("r2"));
  ASSERT_FALSE(early.ok()) << "the name is not free yet";
  EXPECT_EQ(early.error().code, Code::kConflict);
  restart();
  EXPECT_TRUE(node_->cancel(view.id).ok());
  server_is(std::nullopt);
  EXPECT_TRUE(eventually([&] { return is_gone(view.id); }, std::chrono::seconds(5)));
  link_.with([](auto& state) { EXPECT_EQ(state.given_up, std::vector<std::string>{"r1"}); });
  EXPECT_EQ(hashed(), 0);
}

TEST_F(LastingPublish, CancelledWhereItFailedOrWasPausedIsGivenUp) {
  files_.with([](auto& state) { state.hash_error = Error{Code::kDenied, "a cannot be read"}; });
  const auto failed = start_publish(publish_job());
  wait_for(failed.id, TransferState::kFailed);
  ASSERT_TRUE(node_->cancel(failed.id).ok());
  EXPECT_TRUE(eventually([&] { return is_gone(failed.id); }));

  files_.with([](auto& state) { state.hash_error.reset(); });
  hash_waits(true);
  const auto paused = start_publish(publish_job("r2"));
  ASSERT_TRUE(node_->pause(paused.id).ok());
  ASSERT_TRUE(node_->cancel(paused.id).ok());
  EXPECT_TRUE(eventually([&] { return is_gone(paused.id); }));
  link_.with([](auto& state) { EXPECT_EQ(state.given_up, (std::vector<std::string>{"r1", "r2"})); });
}

TEST_F(LastingPublish, CancelledWhileItsMetadataWaitsIsGivenUp) {
  link_.with([](auto& state) { state.finish_error = kDown; });
  const auto view = start_publish(publish_job());
  ASSERT_TRUE(eventually([&] { return node_->transfer(view.id)->waiting_for.starts_with("server down"); }));
  ASSERT_TRUE(node_->cancel(view.id).ok());
  EXPECT_TRUE(eventually([&] { return is_gone(view.id); }));
}

TEST_F(LastingPublish, CancelledIsForgottenAlsoWhereAnOlderServerKeepsTheName) {
  const auto view = hashing();
  link_.with([](auto& state) { state.give_up_error = Error{Code::kUnsupported, "unknown method GiveUpPublish"}; });
  ASSERT_TRUE(node_->cancel(view.id).ok());
  EXPECT_TRUE(eventually([&] { return is_gone(view.id); }));
  const std::lock_guard lock(log_mutex_);
  EXPECT_TRUE(std::ranges::any_of(log_, [](const auto& line) { return line.find("two days") != std::string::npos; }));
}

TEST_F(LastingPublish, CancelledAfterItIsPublishedStaysAtTheServer) {
  const auto view = start_publish(publish_job());
  wait_for(view.id, TransferState::kSeeding);
  ASSERT_TRUE(node_->cancel(view.id).ok());
  EXPECT_TRUE(eventually([&] { return store_.transfers()->empty(); }));
  link_.with([](auto& state) { EXPECT_TRUE(state.given_up.empty()); });
}

TEST_F(LastingPublish, OfWhichNobodyWasAnsweredIsForgottenAtTheStart) {
  end();
  client::PublishRow row;
  row.request_id = "r1";
  row.path = "/home/data";
  row.name = "set";
  row.transfer = TransferId::make(clock_.wall(), rng_);
  row.lasting = client::PublishRow::Lasting{};
  ASSERT_TRUE(store_.put_publish(row).ok());
  start();
  EXPECT_TRUE(store_.publishes()->empty());
}

TEST_F(LastingPublish, TakesUpWhatAPublishCallLeft) {
  link_.with([](auto& state) { state.finish_error = kDown; });
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(node_->publish(publish_job("r1"), {}, stop.get_token()).error().code, Code::kCancelled);
  link_.with([](auto& state) { state.finish_error.reset(); });
  const auto view = start_publish(publish_job("r2"));
  EXPECT_EQ(view.publishing->request_id, "r1");
  wait_for(view.id, TransferState::kSeeding);
}

class LastingUpdate : public LastingPublish {
 protected:
  /// "set" was published from here.
  TransferView first_version(const client::WalkRules& rules = {}) {
    files_.with([](auto& state) { state.tree.inodes = {0, 11, 0, 12}; });
    client::PublishJob first = publish_job();
    first.rules = rules;
    const auto view = start_publish(first);
    wait_for(view.id, TransferState::kSeeding);
    files_.with([](auto& state) {
      state.tree.metadata.segments.front().piece_hashes = std::string(20, 'v');
      state.tree.inodes = {0, 21, 0, 22};
      state.tree.unchanged_files = 1;
      state.tree.unchanged_bytes = 3;
      state.tree.read_bytes = 5;
    });
    return view;
  }
  client::PublishJob update_job(const std::string& request_id = "u1") {
    client::PublishJob made;
    made.path = "/home/data";
    made.request.request_id = request_id;
    made.request.name = "set";
    made.request.update = true;
    return made;
  }
};

TEST_F(LastingUpdate, TakesThePlaceOfTheVersionBefore) {
  const auto first = first_version();
  const auto next = start_publish(update_job());
  const auto done = wait_for(next.id, TransferState::kSeeding);
  EXPECT_EQ(done.version, 2u);
  EXPECT_TRUE(files_.with([](auto& state) { return state.had_known; }));
  EXPECT_TRUE(eventually([&] {
    const auto view = node_->transfer(first.id);
    return !view.ok() || view->state == TransferState::kCancelled;
  }));
  EXPECT_EQ(store_.load_known_files(next.id)->inodes, (std::vector<std::uint64_t>{0, 21, 0, 22}));
  const auto told = node_->publish(update_job(), {}, {});
  ASSERT_TRUE(told.ok()) << told.error().message;
  EXPECT_EQ(told->transfer, next.id);
  EXPECT_EQ(told->unchanged_files, 1u);
  EXPECT_EQ(told->unchanged_bytes, 3u);
  EXPECT_EQ(told->read_bytes, 5u);
  EXPECT_FALSE(told->unchanged);
}

TEST_F(LastingUpdate, MakesNoVersionWhereNothingChanged) {
  const auto first = start_publish(publish_job());
  wait_for(first.id, TransferState::kSeeding);
  const auto next = start_publish(update_job());
  EXPECT_EQ(wait_for(next.id, TransferState::kSeeding).version, 1u);
  EXPECT_TRUE(eventually([&] {
    const auto view = node_->transfer(first.id);
    return !view.ok() || view->state == TransferState::kCancelled;
  })) << "one transfer seeds it";
  const auto told = node_->publish(update_job(), {}, {});
  ASSERT_TRUE(told.ok()) << told.error().message;
  EXPECT_TRUE(told->unchanged);
  EXPECT_EQ(told->content.version, 1u);
  EXPECT_EQ(told->transfer, next.id);
}

TEST_F(LastingUpdate, StaysOneAfterARestart) {
  first_version();
  hash_waits(true);
  const auto view = start_publish(update_job());
  wait_until(view.id, [](const auto& now) { return now.verified_bytes == 1; });
  link_.with([](auto& state) { state.last_begun = {}; });
  end();
  hash_waits(false);
  start();
  EXPECT_EQ(wait_for(view.id, TransferState::kSeeding).version, 2u);
  const auto begun = link_.with([](auto& state) { return state.last_begun; });
  EXPECT_TRUE(begun.update);
  EXPECT_EQ(begun.name, "set");
}

const client::WalkRules kSecret{.links = client::LinkRule::kKeep, .exclude = {"secrets"}};

TEST_F(LastingUpdate, IsByTheRulesOfTheVersionBefore) {
  first_version(kSecret);
  auto next = update_job();
  next.as_before = true;
  next.rules.exclude = {"*.tmp"};  // a habit
  const auto view = start_publish(next);
  wait_for(view.id, TransferState::kSeeding);
  EXPECT_EQ(files_.with([](auto& state) { return state.rules; }), kSecret);
  EXPECT_EQ(node_->publish(next, {}, {})->rules_as_before, "--links keep --exclude secrets");

  auto last = update_job("u2");
  last.as_before = true;
  files_.with([](auto& state) { state.tree.metadata.segments.front().piece_hashes = std::string(20, 'w'); });
  link_.with([](auto& state) { state.contents["set"].version = 2; });
  restart();
  wait_for(start_publish(last).id, TransferState::kSeeding);
  EXPECT_EQ(files_.with([](auto& state) { return state.rules; }), kSecret) << "and so is the one after it";
}

TEST_F(LastingUpdate, IsByItsOwnRulesWhereItHasAnyOrNoneAreKnown) {
  first_version(kSecret);
  const auto view = start_publish(update_job());
  wait_for(view.id, TransferState::kSeeding);
  EXPECT_EQ(files_.with([](auto& state) { return state.rules; }), client::WalkRules());
  EXPECT_EQ(node_->publish(update_job(), {}, {})->rules_as_before, "");

  auto next = update_job("u2");
  next.as_before = true;
  next.rules.exclude = {"*.tmp"};
  link_.with([](auto& state) { state.contents["set"].version = 2; });
  wait_for(start_publish(next).id, TransferState::kSeeding);
  EXPECT_EQ(files_.with([](auto& state) { return state.rules; }), next.rules) << "the version before has none";
  EXPECT_EQ(node_->publish(next, {}, {})->rules_as_before, "");
}

TEST_F(LastingUpdate, ThatIsAskedForAgainIsTheSameWorkAlsoOnceTheRulesAreKnown) {
  first_version(kSecret);
  auto next = update_job();
  next.as_before = true;
  link_.with([](auto& state) { state.finish_error = kDown; });
  const auto view = start_publish(next);
  wait_until(view.id, [](const auto& now) { return !now.waiting_for.empty(); });
  next.request.request_id = "u2";
  EXPECT_EQ(start_publish(next).id, view.id);
}

/// An update as a version wrote it down that did not know of rules before.
class OlderUpdate : public LastingUpdate {
 protected:
  /// Interrupted, and what the node's database has of it.
  TransferView interrupted(const client::WalkRules& rules = {}) {
    first_version(kSecret);
    hash_waits(true);
    auto wish = update_job();
    wish.rules = rules;
    const auto view = start_publish(wish);
    wait_until(view.id, [](const auto& now) { return now.verified_bytes == 1; });
    end();
    client::PublishRow::Lasting older;
    older.license = "CC-BY-4.0";  // of a file
    older.rules = rules;
    const auto rows = store_.publishes();
    for (client::PublishRow row : *rows) {
      if (row.request_id != "u1") continue;
      row.lasting = older;
      EXPECT_TRUE(store_.put_publish(row).ok());
    }
    return view;
  }
  static client::PublishJob as_before(client::PublishJob wish) {
    wish.as_before = true;
    return wish;
  }
};

TEST_F(OlderUpdate, IsJoinedByItsRepetitionAndKeepsToTheRulesOfTheVersionBefore) {
  const auto view = interrupted();
  start();
  EXPECT_EQ(start_publish(as_before(update_job("u2"))).id, view.id);
  EXPECT_EQ(node_->start_publish(update_job("u3")).error().code, Code::kConflict) << "that asks for no rules at all";
  end();
  hash_waits(false);
  start();
  wait_for(view.id, TransferState::kSeeding);
  EXPECT_EQ(files_.with([](auto& state) { return state.rules; }), kSecret);
}

TEST_F(OlderUpdate, IsJoinedByItsRepetitionWithItsRules) {
  const client::WalkRules rules{.exclude = {"*.tmp"}};
  const auto view = interrupted(rules);
  start();
  auto again = update_job("u2");
  again.rules = rules;
  EXPECT_EQ(start_publish(again).id, view.id) << "that were given";
  EXPECT_EQ(start_publish(as_before(again)).id, view.id) << "that are a habit";
}

TEST_F(OlderUpdate, ThatFailedIsTriedAgainByItsRepetition) {
  const auto view = interrupted();
  hash_waits(false);
  files_.with([](auto& state) { state.hash_error = Error{Code::kDenied, "a cannot be read"}; });
  start();
  wait_for(view.id, TransferState::kFailed);
  files_.with([](auto& state) { state.hash_error.reset(); });
  EXPECT_EQ(start_publish(as_before(update_job("u2"))).id, view.id);
  wait_for(view.id, TransferState::kSeeding);
  EXPECT_TRUE(link_.with([](auto& state) { return state.given_up.empty(); })) << "it was not begun anew";
}

TEST_F(LastingUpdate, IsScannedByTheRulesOfTheVersionBefore) {
  first_version(kSecret);
  const auto scanned = node_->scan_publish({"/home/data", {}, "set"}, {}, {});
  ASSERT_TRUE(scanned.ok()) << scanned.error().message;
  EXPECT_EQ(files_.with([](auto& state) { return state.rules; }), kSecret);
  EXPECT_EQ(scanned->rules_as_before, "--links keep --exclude secrets");
  EXPECT_EQ(node_->scan_publish({"/home/data", {}, "nothing"}, {}, {}).error().code, Code::kNotFound);
}

TEST_F(LastingUpdate, IsNoPublishOfThatName) {
  first_version();
  hash_waits(true);
  const auto view = start_publish(update_job());
  EXPECT_EQ(start_publish(update_job("u2")).id, view.id) << "the same work";
  EXPECT_EQ(node_->start_publish(publish_job("r2")).error().code, Code::kConflict);
}

TEST_F(LastingUpdate, AskedForByItsOwnerHasTheContentsName) {
  first_version();
  hash_waits(true);
  link_.with([](auto& state) { state.contents["me/set"] = state.contents["set"]; });
  auto job = update_job();
  job.request.name = "me/set";
  EXPECT_EQ(start_publish(job).name, "set");
}

TEST_F(LastingUpdate, AskedForByItsIdHasTheContentsName) {
  first_version();
  hash_waits(true);
  auto job = update_job();
  link_.with([&](auto& state) {
    job.request.name = state.contents["set"].id.str();
    state.contents[job.request.name] = state.contents["set"];
  });
  EXPECT_EQ(start_publish(job).name, "set");
}

TEST_F(LastingUpdate, OfOneContentIsOneAtATimeByWhateverWords) {
  first_version();
  hash_waits(true);
  const auto view = start_publish(update_job());
  link_.with([](auto& state) { state.contents["me/set"] = state.contents["set"]; });
  auto again = update_job("u2");
  again.request.name = "me/set";
  const auto refused = node_->start_publish(again);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_NE(refused.error().message.find("by transfer " + view.id.str() + ": wait for it"), std::string::npos)
      << refused.error().message;
  hash_waits(false);
  EXPECT_EQ(wait_for(view.id, TransferState::kSeeding).version, 2u) << "the first one ends well";
}

TEST_F(LastingPublish, DoneAndStoppedSaysHowItIsSeededAgain) {
  const auto view = start_publish(publish_job());
  wait_for(view.id, TransferState::kSeeding);
  ASSERT_TRUE(node_->change_all({view.id}, {client::ChangeKind::kStopSeeding}).failures.empty());
  ASSERT_TRUE(eventually([&] { return !node_->transfer(view.id).ok(); }));
  const auto refused = node_->start_publish(publish_job());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("`gridtorrent seed --from /home/data c_"), std::string::npos)
      << refused.error().message;
}

client::PublishRow known(const std::string& request, const std::string& path, const std::string& name, bool done) {
  client::PublishRow row;
  row.request_id = request;
  row.path = path;
  row.name = name;
  row.access = "public";
  row.done = done;
  return row;
}

TEST(AMatchOfPublishes, PrefersTheSameRequestThenTheSameWork) {
  using Relation = PublishMatch::Relation;
  client::PublishJob job;
  job.path = "/a";
  job.request.request_id = "r";
  job.request.name = "set";
  job.request.access = "public";
  const auto relation = [&](const std::vector<client::PublishRow>& rows) {
    return client::match_publish(rows, job).relation;
  };
  EXPECT_EQ(relation({}), Relation::kNew);
  EXPECT_EQ(relation({known("q", "/a", "other", false)}), Relation::kNew);
  EXPECT_EQ(relation({known("q", "/a", "set", true)}), Relation::kNew) << "that one is done";
  EXPECT_EQ(relation({known("q", "/b", "set", false)}), Relation::kSameName);
  EXPECT_EQ(relation({known("q", "/b", "set", false), known("p", "/a", "set", false)}), Relation::kSameWork);
  job.request.update = true;
  EXPECT_EQ(relation({known("q", "/a", "set", false)}), Relation::kSameName) << "that one makes the first version";
  job.request.update = false;
  const auto match = client::match_publish({known("q", "/a", "set", false), known("r", "/z", "set", true)}, job);
  EXPECT_EQ(match.relation, Relation::kSameRequest);
  EXPECT_EQ(match.row, 1u);
}

TEST(APaceOfHashing, CountsFromTheFirstReport) {
  client::HashPace pace;
  MonoTime now{};
  EXPECT_EQ(pace.note(now, 1'000'000), 0u) << "a checkpoint knew it";
  now += std::chrono::seconds(1);
  EXPECT_EQ(pace.note(now, 2'000'000), 8'000'000u);
  EXPECT_EQ(pace.note(now, 2'500'000), 8'000'000u) << "too soon to tell";
  now += std::chrono::seconds(1);
  EXPECT_EQ(pace.note(now, 5'000'000), 16'000'000u);
}

}  // namespace
}  // namespace gridtorrent::testing
