#include <algorithm>

#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::TransferState;

class Update : public NodeFixture {
 protected:
  /// Version 1 is here; version 2 is what the server has now.
  client::TransferView held() {
    first_ = published("set");
    const auto view = fetched(job("set"));
    publish_next(2);
    return view;
  }
  void publish_next(std::uint32_t version) {
    metainfo::VersionMetadata metadata = metadata_of("data");
    metadata.segments.front().piece_hashes = std::string(20, static_cast<char>('A' + version));
    metadata.manifest.entries[3].size = 4 + version;
    link_.with([&](FakeLink::State& state) {
      client::ContentInfo next = first_;
      next.version = version;
      FakeLink::describe(next, first_.id, metadata);
      state.contents["set"] = next;
      state.versions[version] = next;
      state.versions[1] = first_;
      state.version_metadata[version] = metadata;
    });
  }
  client::GetJob update(const std::string& target = "") {
    auto wish = job("set", target);
    wish.update = true;
    return wish;
  }
  std::vector<std::uint32_t> versions() {
    std::vector<std::uint32_t> found;
    for (const auto& view : node_->transfers()) found.push_back(view.version);
    return found;
  }

  client::ContentInfo first_;
};

TEST_F(Update, IsRefusedWhereNoEarlierVersionIsHere) {
  held();
  const auto view = get(update("/elsewhere"));
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, Code::kNotFound);
}

TEST_F(Update, ByATaskReplacesOnlyWhatTasksBrought) {
  held();  // a person fetched it
  auto task = update("/home/in");
  task.root = "/home";
  const auto refused = get(task);
  ASSERT_FALSE(refused.ok()) << "or a server could take away what is not its own";
  EXPECT_EQ(refused.error().code, Code::kNotFound);
  EXPECT_NE(refused.error().message.find("in that folder that a task brought"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(versions(), std::vector<std::uint32_t>{1});
}

TEST_F(Update, ByATaskReplacesWhatATaskBrought) {
  first_ = published("set");
  auto wish = job("set", "/home/in");
  wish.root = "/home";
  fetched(wish);
  publish_next(2);
  auto task = update("/home/in");
  task.root = "/home";
  const auto view = get(task);
  ASSERT_TRUE(view.ok()) << view.error().message;
}

TEST_F(Update, ReplacesNothingThatIsReachedThroughLinks) {
  first_ = published("set");
  files_.with([](auto& state) {
    state.existing["/home/data"] = 1;
    state.behind_links.insert("/home/data");
  });
  const auto seeded = node_->seed("set", "/home/data");
  ASSERT_TRUE(seeded.ok()) << seeded.error().message;
  wait_for(seeded->id, TransferState::kSeeding);
  publish_next(2);
  const auto view = get(update());
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, Code::kConflict);
  EXPECT_NE(view.error().message.find("behind symbolic links"), std::string::npos) << view.error().message;
}

TEST_F(Update, TakesAllFilesThatAreHere) {
  held();
  auto wish = update();
  wish.globs = {"a"};
  const auto view = get(wish);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, Code::kInvalid);
}

TEST_F(Update, PutsTheNewVersionInThePlaceOfTheOld) {
  const auto old = held();
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_EQ(next->version, 2u);
  EXPECT_EQ(next->path, "/home/in/data");
  complete(next->id);
  const auto view = wait_for(next->id, TransferState::kSeeding);
  EXPECT_EQ(view.source, "swarm");
  EXPECT_EQ(node_->transfer(old.id)->state, TransferState::kCancelled) << "its files are there no more";
  EXPECT_EQ(versions(), std::vector<std::uint32_t>{2});
  EXPECT_EQ(files_.count("stage local /home/in /home/in"), 1);
  EXPECT_EQ(files_.count("commit /home/in"), 2) << "of version 1, and the exchange";
  EXPECT_EQ(files_.count("put back /home/in"), 0);
  EXPECT_EQ(engine_->torrent(next->id)->spec.trust, client::DiskTrust::kRecheck) << "what was taken over is hashed";
}

TEST_F(Update, CannotBeEndedWhileItsFilesTakeTheirPlaceNorWhatGivesWayToIt) {
  const auto before = held();
  auto other = job("set", "/elsewhere");
  other.version = 1;
  const auto elsewhere = get(other);
  ASSERT_TRUE(elsewhere.ok()) << elsewhere.error().message;
  wait_until(elsewhere->id, [](const auto& view) {
    return view.state == TransferState::kSeeding || view.state == TransferState::kComplete;
  });
  const auto view = get(update("/home/in"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  std::vector<std::string> said;
  std::string waits;
  files_.with([&](auto& state) {
    state.while_committed = [&, id = view->id] {
      const auto note = [&](const Result<client::TransferView>& ended) {
        said.push_back(ended ? "ended" : ended.error().message);
      };
      note(node_->cancel(id));
      note(node_->cancel(before.id));
      const auto removed = node_->remove_files(before.id, /*look_only=*/false);
      said.push_back(removed ? "removed" : removed.error().message);
      for (const auto& [of, why] : node_->change_all({before.id}, {client::ChangeKind::kVerify}).failures)
        said.push_back(why.message);
      EXPECT_TRUE(node_->cancel(elsewhere->id)) << "what else holds the version is settled anew";
      waits = node_->transfer(before.id)->waiting_for;
    };
  });
  complete(view->id);
  wait_for(view->id, TransferState::kSeeding);
  ASSERT_EQ(said.size(), 4u);
  for (const auto& one : said) EXPECT_NE(one.find("cannot be broken off"), std::string::npos) << one;
  EXPECT_NE(waits.find("an update takes its place"), std::string::npos) << waits;
  EXPECT_TRUE(eventually([&] { return versions() == std::vector<std::uint32_t>{2}; }));
  EXPECT_TRUE(node_->cancel(view->id)) << "once it is done";
}

TEST_F(Update, ThatFailedAfterItsExchangeIsEndedByTheNextAttempt) {
  const auto old = held();
  const auto next = get(update());
  ASSERT_TRUE(next.ok());
  ASSERT_TRUE(eventually([&] { return engine_->torrent(next->id).has_value(); }));
  end();
  const auto rows = *store_.transfers();
  auto row = *std::ranges::find(rows, next->id, &client::TransferRow::id);
  row.step = client::TransferStep::kFailed;
  row.error = Error{Code::kDisk, "cannot be written to the disk"};
  ASSERT_TRUE(store_.put_transfer(row).ok());
  files_.with([&](auto& state) {
    state.replaced = true;
    state.existing["/home/in/.gridtorrent-" + next->id.str() + "/data"] = state.existing["/home/in/data"]++;
    state.damaged.insert("/home/in/data");  // as version 1
  });
  start();
  wait_for(old.id, TransferState::kFailed);
  files_.with([](auto& state) { state.damaged.clear(); });
  ASSERT_TRUE(node_->resume(next->id).ok());
  const auto view = wait_for(next->id, TransferState::kSeeding);
  EXPECT_EQ(view.version, 2u);
  EXPECT_EQ(files_.count("stage local /home/in /home/in"), 1) << "only the first time";
  EXPECT_EQ(versions(), std::vector<std::uint32_t>{2});
}

TEST_F(Update, ReadsFromTheDiskWhatAnEarlierAttemptPutThere) {
  held();
  const auto next = get(update());
  ASSERT_TRUE(next.ok());
  ASSERT_TRUE(eventually([&] { return engine_->torrent(next->id).has_value(); }));
  const std::string dropped = "drop cached /home/in/.gridtorrent-" + next->id.str();
  EXPECT_EQ(files_.count(dropped), 0) << "it was copied just now";
  gives_up_on_its_disk(next->id);
  restart();
  ASSERT_TRUE(node_->resume(next->id).ok());
  ASSERT_TRUE(eventually([&] { return engine_->torrent(next->id).has_value(); }));
  EXPECT_EQ(files_.count(dropped), 1);
}

TEST_F(Update, KeepsTheNameThatTheOldVersionHasHere) {
  first_ = published("set");
  auto wish = job("set");
  wish.base_name = "mine";
  fetched(wish);
  publish_next(2);
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_EQ(next->path, "/home/in/mine");
  complete(next->id);
  wait_for(next->id, TransferState::kSeeding);
  EXPECT_EQ(files_.count("commit /home/in"), 2);
  EXPECT_EQ(versions(), std::vector<std::uint32_t>{2});
}

TEST_F(Update, OfSeveralPlacesIsOfTheOneThatIsNamed) {
  first_ = published("set");
  fetched(job("set"));
  auto wish = job("set");
  wish.base_name = "mine";
  ASSERT_TRUE(get(wish).ok());
  ASSERT_TRUE(eventually([&] {
    const auto views = node_->transfers();
    return std::ranges::all_of(views, [](const auto& view) {
      return view.state == TransferState::kSeeding || view.state == TransferState::kComplete;
    });
  }));
  publish_next(2);
  EXPECT_EQ(get(update()).error().code, Code::kConflict);
  auto named = update();
  named.base_name = "mine";
  const auto next = get(named);
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_EQ(next->path, "/home/in/mine");
}

TEST_F(Update, OfWhatLayThereBeforeIsSomebodysOwnToo) {
  first_ = published("set");
  files_.with([](auto& state) { state.existing["/home/in/data"] = 1; });
  const auto old = get(job("set"));
  ASSERT_TRUE(old.ok()) << old.error().message;
  wait_for(old->id, TransferState::kSeeding);
  publish_next(2);
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  complete(next->id);
  wait_for(next->id, TransferState::kSeeding);
  const auto rows = *store_.transfers();
  const auto row = std::ranges::find(rows, next->id, &client::TransferRow::id);
  ASSERT_NE(row, rows.end());
  EXPECT_EQ(row->kind, client::TransferKind::kAttach) << "it is not removed with its transfer";
}

TEST_F(Update, SeedsTheOldVersionUntilTheNewOneIsThere) {
  const auto old = held();
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  ASSERT_TRUE(eventually([&] { return engine_->torrent(next->id).has_value(); }));
  EXPECT_EQ(node_->transfer(old.id)->state, TransferState::kSeeding);
}

TEST_F(Update, ThatIsAskedForAgainIsJoined) {
  held();
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  bool joined = false;
  const auto again = node_->get(update(), joined);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(joined);
  EXPECT_EQ(again->id, next->id);
}

TEST_F(Update, OfOneVersionAtATime) {
  held();
  ASSERT_TRUE(get(update()).ok());
  publish_next(3);
  const auto third = get(update());
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().code, Code::kConflict);
}

TEST_F(Update, NamesWhatWasAddedAndReplacesNothing) {
  const auto old = held();
  files_.with([](auto& state) { state.added = "data/notes.txt"; });
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  const auto view = wait_for(next->id, TransferState::kFailed);
  EXPECT_EQ(view.error->code, Code::kConflict);
  EXPECT_NE(view.error->message.find("notes.txt"), std::string::npos);
  EXPECT_EQ(files_.count("stage local /home/in /home/in"), 0);
  EXPECT_EQ(node_->transfer(old.id)->state, TransferState::kSeeding);
  EXPECT_EQ(versions(), std::vector<std::uint32_t>{1}) << "nothing was begun, so nothing stays in the list";
}

TEST_F(Update, NamesWhatWasChanged) {
  held();
  files_.with([](auto& state) {
    state.damaged.insert("/home/in/data");
    ++state.existing["/home/in/data"];
  });
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_EQ(wait_for(next->id, TransferState::kFailed).error->code, Code::kConflict);
}

TEST_F(Update, OfWhatWasMovedAwayIsFetchedAsByAnyOtherGet) {
  held();
  files_.with([](auto& state) {
    state.existing.erase("/home/in/data");
    ++state.existing["/home/in"];
  });
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  complete(next->id);
  EXPECT_EQ(wait_for(next->id, TransferState::kSeeding).version, 2u);
  EXPECT_EQ(versions(), std::vector<std::uint32_t>{2});
}

TEST_F(Update, OfWhatLiesOnADiskThatIsNotThereLeavesTheVersionBefore) {
  const auto old = held();
  files_.with([](auto& state) { state.existing.erase("/home/in/data"); });
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_EQ(wait_for(next->id, TransferState::kFailed).error->code, Code::kDisk);
  EXPECT_TRUE(node_->transfer(old.id).ok());
  EXPECT_EQ(versions(), std::vector<std::uint32_t>{1});
}

TEST_F(Update, ThatFailedIsGoneOnWithByAPlainGetWhereAllWasMovedAway) {
  held();
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  ASSERT_TRUE(eventually([&] { return engine_->torrent(next->id).has_value(); }));
  files_.with([](auto& state) { state.added = "data/notes.txt"; });
  engine_->completes(next->id);
  wait_for(next->id, TransferState::kFailed);
  files_.with([](auto& state) {
    state.added = "";
    state.existing.erase("/home/in/data");
    ++state.existing["/home/in"];
  });
  const auto again = get(job("set"));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->id, next->id);
  complete(again->id);
  wait_for(again->id, TransferState::kSeeding);
  EXPECT_EQ(versions(), std::vector<std::uint32_t>{2});
}

TEST_F(Update, ReplacesNothingThatWasChangedWhileItWasFetched) {
  const auto old = held();
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  ASSERT_TRUE(eventually([&] { return engine_->torrent(next->id).has_value(); }));
  files_.with([](auto& state) { state.added = "data/notes.txt"; });
  engine_->completes(next->id);
  EXPECT_EQ(wait_for(next->id, TransferState::kFailed).error->code, Code::kConflict);
  EXPECT_EQ(files_.count("commit /home/in"), 1) << "of version 1";
  EXPECT_TRUE(eventually([&] { return node_->transfer(old.id)->state == TransferState::kSeeding; }));
  files_.with([](auto& state) { state.added = ""; });
  const auto again = get(update());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->id, next->id);
  complete(next->id);
  wait_for(next->id, TransferState::kSeeding);
  EXPECT_EQ(node_->transfer(old.id)->state, TransferState::kCancelled);
}

TEST_F(Update, IsUndoneWhereSomebodyAddedAFileJustBeforeTheExchange) {
  const auto old = held();
  files_.with([](auto& state) { state.added_late = "data/notes.txt"; });
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  complete(next->id);
  const auto view = wait_for(next->id, TransferState::kFailed);
  EXPECT_EQ(view.error->code, Code::kConflict);
  EXPECT_NE(view.error->message.find("notes.txt"), std::string::npos);
  EXPECT_EQ(files_.count("put back /home/in"), 1);
  EXPECT_EQ(files_.count("discard /home/in"), 0) << "the file is in what gave way";
  EXPECT_FALSE(node_->transfer(old.id)->seeds_later) << "at once, not from the server's next list on";
  EXPECT_TRUE(eventually([&] { return node_->transfer(old.id)->state == TransferState::kSeeding; }));
}

TEST_F(Update, GoesOnAfterARestart) {
  const auto old = held();
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  ASSERT_TRUE(eventually([&] { return engine_->torrent(next->id).has_value(); }));
  restart();
  complete(next->id);
  wait_for(next->id, TransferState::kSeeding);
  EXPECT_EQ(node_->transfer(old.id)->state, TransferState::kCancelled);
}

TEST_F(Update, WaitsAfterARestartForTheDiskOfTheOldVersion) {
  held();
  const auto view = get(update());
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  end();
  const auto rows = *store_.transfers();
  for (auto row : rows) {
    if (row.id != view->id) continue;
    row.step = client::TransferStep::kCheckLocal;
    row.old_place = row.replaces;
    ASSERT_TRUE(store_.put_transfer(row).ok());
  }
  files_.with([](auto& state) { state.existing.erase("/home/in/data"); });
  start();
  ASSERT_TRUE(eventually([&] { return node_->transfer(view->id)->error.has_value(); }));
  EXPECT_EQ(node_->transfer(view->id)->state, TransferState::kPaused);
  EXPECT_NE(node_->transfer(view->id)->error->message.find("/home/in/data is not there: is its disk mounted?"),
            std::string::npos);
  files_.with([](auto& state) { state.existing["/home/in/data"] = 1; });
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  EXPECT_FALSE(node_->transfer(view->id)->error.has_value());
}

TEST_F(Update, ForgetsAfterACrashWhatGaveWay) {
  const auto old = held();
  const auto next = get(update());
  ASSERT_TRUE(next.ok()) << next.error().message;
  complete(next->id);
  wait_for(next->id, TransferState::kSeeding);
  end();
  client::TransferRow row;
  const auto rows = *store_.transfers();
  for (const auto& one : rows) {
    if (one.id == next->id) row = one;
  }
  row.id = old.id;  // as if it had not been forgotten
  row.content = first_;
  row.created = WallTime{row.created.ms - 1};
  ASSERT_TRUE(store_.put_transfer(row).ok());
  start();
  EXPECT_EQ(versions(), std::vector<std::uint32_t>{2});
}

TEST_F(Update, OfWhatIsTheNewestAlreadyIsALookAtIt) {
  held();
  link_.with([&](auto& state) { state.contents["set"] = first_; });
  const auto view = get(update());
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(wait_for(view->id, TransferState::kSeeding).source, "local");
}

TEST_F(Update, AnEarlierVersionComesToAFolderOfItsOwn) {
  held();
  auto wish = job("set", "/elsewhere");
  wish.version = 1;
  const auto view = get(wish);
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->version, 1u);
}

}  // namespace
}  // namespace gridtorrent::testing
