// Disks that lose what was written, and disks that are not mounted yet.
#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::DiskTrust;
using client::TransferState;
using client::TransferStep;

class LostWrites : public NodeFixture {
 protected:
  /// A transfer that fetches; the next `times` syncs of its files fail.
  TransferId fetches_while_syncs_fail(int times) {
    published("set");
    const TransferId id = get(job("set"))->id;
    EXPECT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
    engine_->fail_syncs(times);
    some_more_came(id);
    return id;
  }
  /// Enough for resume data to be due.
  void some_more_came(const TransferId& id) {
    engine_->happens(id, [](auto& snapshot) {
      snapshot.wanted_bytes = std::uint64_t{1} << 40;
      snapshot.verified_bytes += std::uint64_t{1} << 30;
    });
  }
};

TEST_F(LostWrites, AreLookedForOnTheDiskAndNotInMemory) {
  const TransferId id = fetches_while_syncs_fail(1);
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 2; }));
  EXPECT_EQ(engine_->added().back().trust, DiskTrust::kRecheck);
  EXPECT_EQ(files_.count("drop cached /home/in/.gridtorrent-" + id.str()), 1);
  EXPECT_NE(node_->transfer(id)->waiting_for.find("did not all reach the disk"), std::string::npos);
  engine_->completes(id);
  wait_for(id, TransferState::kSeeding);
}

TEST_F(LostWrites, AgainAndAgainEndTheTransfer) {
  const TransferId id = fetches_while_syncs_fail(100);
  ASSERT_TRUE(eventually([&] {
    if (engine_->torrent(id)) some_more_came(id);
    return node_->transfer(id)->state == TransferState::kFailed;
  }));
  EXPECT_EQ(node_->transfer(id)->error->message,
            "what was written below /home/in did not all reach the disk; mend the disk, then: gridtorrent transfer "
            "resume " +
                id.str());
  EXPECT_EQ(files_.count("commit /home/in"), 0);
}

TEST_F(LostWrites, ThatOnlyTheCommitSeesAreLookedForOnTheDiskAfterwards) {
  published("set");
  const TransferId id = get(job("set"))->id;
  files_.with([](auto& state) { state.commit_error = Error{Code::kDisk, "cannot be written to the disk"}; });
  complete(id);
  wait_for(id, TransferState::kFailed);
  files_.with([](auto& state) { state.commit_error.reset(); });
  ASSERT_TRUE(node_->resume(id).ok());
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 2; }));
  EXPECT_EQ(engine_->added().back().trust, DiskTrust::kRecheck);
  EXPECT_EQ(files_.count("drop cached /home/in/.gridtorrent-" + id.str()), 1);
}

TEST_F(LostWrites, AreNotNamedByTheSaveOfAnOrderlyEnd) {
  published("set");
  const TransferId id = get(job("set"))->id;
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
  engine_->fail_syncs(1);
  ASSERT_TRUE(node_->pause(id).ok());  // which saves
  ASSERT_TRUE(eventually([&] { return engine_->failing_syncs() == 0; }));
  const int saved = engine_->resumes_saved();
  restart();
  EXPECT_EQ(engine_->resumes_saved(), 0) << "of the new engine";
  EXPECT_EQ(saved, 0);
  EXPECT_FALSE(store_.transfers()->front().clean);
  ASSERT_TRUE(node_->resume(id).ok());
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
  EXPECT_EQ(engine_->added().back().trust, DiskTrust::kRecheck);
}

TEST_F(LostWrites, ThatAChoiceOfOtherFilesFindsAreLookedForOnTheDisk) {
  published("set");
  const TransferId id = get(job("set"))->id;
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
  engine_->fail_syncs(1);
  EXPECT_FALSE(node_->choose_files(id, {.globs = {"a"}}).ok());
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 2; }));
  EXPECT_EQ(engine_->added().back().trust, DiskTrust::kRecheck);
}

TEST_F(LostWrites, AreLookedForBeforeWhatCameIsPutInItsPlace) {
  published("set");
  const TransferId id = get(job("set"))->id;
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
  engine_->fail_syncs(1);
  engine_->completes(id);
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 2; }));
  EXPECT_EQ(engine_->added().back().trust, DiskTrust::kRecheck);
  EXPECT_EQ(files_.count("commit /home/in"), 0);
  engine_->completes(id);
  wait_for(id, TransferState::kSeeding);
}

class DiskAway : public NodeFixture {
 protected:
  void set_staging(const TransferId& id, bool there) {
    files_.with([&](auto& state) {
      const std::string path = "/home/in/.gridtorrent-" + id.str();
      if (there) {
        state.existing[path] = 1;
      } else {
        state.existing.erase(path);
      }
    });
  }
  void set_held(bool there) {
    files_.with([&](auto& state) {
      if (there) {
        state.existing["/home/in/data"] = 1;
      } else {
        state.existing.erase("/home/in/data");
      }
    });
  }
  /// A transfer that fetched when the node ended, and whose disk is not there when it starts again.
  TransferId restarted_without_its_staging() {
    published("set");
    const TransferId id = get(job("set"))->id;
    EXPECT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
    end();
    set_staging(id, false);
    start();
    EXPECT_TRUE(eventually([&] { return node_->transfer(id)->error.has_value(); }));
    return id;
  }
  TransferId other_than(const TransferId& id) {
    const auto rows = *store_.transfers();
    return rows.front().id != id ? rows.front().id : rows.back().id;
  }
  /// The node ended while that was looked at, and no disk but the one of /home/in is there when it starts again; that
  /// one neither where `change` makes it the place that is looked at.
  void restarted_while_checked(const TransferId& id, const std::function<void(client::TransferRow&)>& change) {
    end();
    const auto rows = *store_.transfers();
    for (auto row : rows) {
      if (row.id != id) continue;
      row.step = TransferStep::kCheckLocal;
      change(row);
      const bool hides = files_.with([](auto& state) { return !state.foreign.empty(); });
      if (row.old_place == id && !hides) set_held(false);
      EXPECT_TRUE(store_.put_transfer(row).ok());
    }
    start();
    EXPECT_TRUE(eventually([&] { return node_->transfer(id)->error.has_value(); }));
  }
  /// Which of two copies is seeded does not matter.
  void wait_until_whole(const TransferId& id) {
    ASSERT_TRUE(eventually([&] {
      const auto state = node_->transfer(id)->state;
      return state == TransferState::kComplete || state == TransferState::kSeeding;
    }));
  }
  /// The copy of what is held at /home/in.
  TransferId restarted_while_copied() {
    published("set");
    fetched(job("set"));
    const TransferId id = get(job("set", "/elsewhere"))->id;
    wait_until_whole(id);
    files_.with([](auto& state) { state.existing.erase("/elsewhere/data"); });
    restarted_while_checked(id, [&](auto& row) { row.old_place = other_than(id); });
    return id;
  }
  void wait_for_seeding(const TransferId& id) {
    ASSERT_TRUE(eventually([&] { return node_->transfer(id)->state == TransferState::kSeeding; }));
  }
  TransferId restarted_without_its_files() {
    published("set");
    const TransferId id = fetched(job("set")).id;
    end();
    set_held(false);
    start();
    EXPECT_TRUE(eventually([&] { return !node_->transfer(id)->waiting_for.empty(); }));
    return id;
  }
};

TEST_F(DiskAway, AFetchPutsNothingWhereItsStagingFolderWas) {
  const TransferId id = restarted_without_its_staging();
  const auto view = *node_->transfer(id);
  EXPECT_EQ(view.state, TransferState::kPaused);
  EXPECT_EQ(view.error->message, "/home/in/.gridtorrent-" + id.str() +
                                     ", where it is put together, is not there: is its disk mounted? It goes on by "
                                     "itself once the folder is there again; `gridtorrent transfer resume " +
                                     id.str() + "` begins anew in /home/in");
  EXPECT_TRUE(engine_->added().empty());
  EXPECT_EQ(files_.count("prepare /home/in"), 1) << "of the first start";
}

TEST_F(DiskAway, AFetchGoesOnByItselfOnceItsStagingFolderIsThere) {
  const TransferId id = restarted_without_its_staging();
  set_staging(id, true);
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
  EXPECT_EQ(engine_->added().back().trust, DiskTrust::kResumeData);
  EXPECT_FALSE(node_->transfer(id)->error);
  engine_->completes(id);
  wait_for(id, TransferState::kSeeding);
}

TEST_F(DiskAway, AFetchBeginsAnewWhereAPersonSaysSo) {
  const TransferId id = restarted_without_its_staging();
  ASSERT_TRUE(node_->resume(id).ok());
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
  EXPECT_EQ(engine_->added().back().trust, DiskTrust::kRecheck) << "no resume data is believed";
  EXPECT_EQ(files_.count("prepare /home/in"), 2);
}

TEST_F(DiskAway, AFetchThatIsCancelledDoesNotBeginAnew) {
  const TransferId id = restarted_without_its_staging();
  ASSERT_TRUE(node_->resume(id).ok());
  ASSERT_TRUE(node_->cancel(id).ok());
  const bool began_before = !engine_->added().empty();  // a machine that stood still between the two
  ASSERT_TRUE(eventually([&] { return files_.count("discard /home/in") >= 1; }));
  const auto view = node_->transfer(id);
  EXPECT_TRUE(!view.ok() || view->state == TransferState::kCancelled);
  if (began_before) GTEST_SKIP() << "it had begun before it was cancelled";
  EXPECT_TRUE(engine_->added().empty());
}

TEST_F(DiskAway, WhatIsThereAgainIsNotBegunAnew) {
  const TransferId id = restarted_without_its_staging();
  set_staging(id, true);
  ASSERT_TRUE(node_->resume(id).ok());  // before anybody looked
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
  EXPECT_EQ(engine_->added().back().trust, DiskTrust::kResumeData);
  EXPECT_EQ(files_.count("prepare /home/in"), 1) << "of the first start";
}

TEST_F(DiskAway, AFetchWhoseDiskGoesMeanwhileWaitsForIt) {
  published("set");
  const TransferId id = get(job("set"))->id;
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
  set_staging(id, false);
  engine_->happens(id, [](auto& snapshot) {
    snapshot.state = client::TorrentState::kError;
    snapshot.error = {Code::kDisk, "Input/output error"};
  });
  wait_for(id, TransferState::kPaused);
  set_staging(id, true);
  ASSERT_TRUE(eventually([&] { return engine_->added().size() == 2; }));
  EXPECT_EQ(engine_->added().back().trust, DiskTrust::kRecheck) << "what was not synced may be lost";
}

TEST_F(DiskAway, WhatIsHeldIsKeptAndNotSeeded) {
  const TransferId id = restarted_without_its_files();
  const auto view = *node_->transfer(id);
  EXPECT_EQ(view.state, TransferState::kComplete);
  EXPECT_EQ(view.waiting_for,
            "its files are not at /home/in/data: is the disk mounted? They are looked for every half minute");
  EXPECT_FALSE(engine_->torrent(id));
  EXPECT_EQ(store_.transfers()->front().step, TransferStep::kHold);
  EXPECT_TRUE(eventually([&] {
    return link_.with([](auto& state) {
      return !state.announces.empty() && state.announces.back().role == client::SwarmRole::kGone;
    });
  })) << "nobody is sent to it";
}

TEST_F(DiskAway, WhatIsHeldIsSeededOnceItsFilesAreThere) {
  const TransferId id = restarted_without_its_files();
  set_held(true);
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }, std::chrono::seconds(1)));
  EXPECT_EQ(node_->transfer(id)->state, TransferState::kSeeding);
  EXPECT_EQ(node_->transfer(id)->waiting_for, "");
  EXPECT_EQ(files_.count("verify /home/in/data"), 0) << "its stamp is the same";
}

TEST_F(DiskAway, FilesInDoubtAreVerifiedOnceTheyAreThere) {
  published("set");
  const TransferId id = fetched(job("set")).id;
  set_held(false);
  engine_->happens(id, [](auto& snapshot) {
    snapshot.state = client::TorrentState::kError;
    snapshot.error = {Code::kDisk, "Input/output error"};
  });
  ASSERT_TRUE(eventually([&] { return node_->transfer(id)->waiting_for.starts_with("its files are not at"); }));
  set_held(true);
  ASSERT_TRUE(
      eventually([&] { return node_->transfer(id)->state == TransferState::kSeeding; }, std::chrono::seconds(1)));
  EXPECT_EQ(files_.count("verify /home/in/data"), 1);
}

TEST_F(DiskAway, AFetchPutsNothingThereForFurtherFilesEither) {
  const TransferId id = restarted_without_its_staging();
  const auto refused = node_->choose_files(id, {.globs = {"a"}});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("is its disk mounted?"), std::string::npos) << refused.error().message;
  EXPECT_EQ(files_.count("prepare /home/in"), 1);
}

TEST_F(DiskAway, AFetchThatWasPausedIsLookedForAfterItsPause) {
  const TransferId id = restarted_without_its_staging();
  ASSERT_TRUE(node_->pause(id).ok());
  ASSERT_TRUE(node_->resume(id).ok());
  EXPECT_TRUE(engine_->added().empty());
  EXPECT_EQ(files_.count("prepare /home/in"), 1) << "that was no word on the disk";
}

TEST_F(DiskAway, ACommitWaitsForItsDisk) {
  published("set");
  const TransferId id = get(job("set"))->id;
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
  end();
  auto row = store_.transfers()->front();
  row.step = TransferStep::kCommit;
  ASSERT_TRUE(store_.put_transfer(row).ok());
  set_staging(id, false);
  start();
  ASSERT_TRUE(eventually([&] { return node_->transfer(id)->error.has_value(); }));
  EXPECT_EQ(node_->transfer(id)->state, TransferState::kPaused);
  EXPECT_EQ(files_.count("commit /home/in"), 0);
  set_held(true);  // it had moved BASE already
  wait_for_seeding(id);
  EXPECT_EQ(files_.count("verify /home/in/data"), 1) << "what was placed is not known to be right";
}

TEST_F(DiskAway, ACommitThatWasDoneButForItsRowIsEndedOnceItsDiskIsThere) {
  published("set");
  const TransferId id = fetched(job("set")).id;
  end();
  auto row = store_.transfers()->front();
  row.step = TransferStep::kCommit;
  ASSERT_TRUE(store_.put_transfer(row).ok());
  set_held(false);  // and no staging folder any more
  start();
  ASSERT_TRUE(eventually([&] { return node_->transfer(id)->error.has_value(); }));
  set_held(true);
  wait_for_seeding(id);
}

TEST_F(DiskAway, APausedFetchPutsNothingThereForFurtherFilesEither) {
  published("set");
  const TransferId id = get(job("set"))->id;
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
  ASSERT_TRUE(node_->pause(id).ok());
  end();
  set_staging(id, false);
  start();
  EXPECT_FALSE(node_->choose_files(id, {.globs = {"a"}}).ok());
  EXPECT_EQ(files_.count("prepare /home/in"), 1);
}

TEST_F(DiskAway, ResumedWithManyOthersAFetchIsOnlyLookedForAgain) {
  const TransferId id = restarted_without_its_staging();
  published("other");
  const auto other = get(job("other", "/2"));
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(node_->change_all({id, other->id}, {client::ChangeKind::kResume}).changed, 2U);
  EXPECT_EQ(files_.count("prepare /home/in"), 1);
  EXPECT_TRUE(eventually([&] { return engine_->torrent(other->id).has_value(); }));
  EXPECT_FALSE(engine_->torrent(id));
}

TEST_F(DiskAway, AFetchGoesOnAfterItsPauseOnlyWhereItsStagingFolderIs) {
  published("set");
  const TransferId id = get(job("set"))->id;
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
  ASSERT_TRUE(node_->pause(id).ok());
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id)->paused; }));
  set_staging(id, false);  // unmounted meanwhile
  ASSERT_TRUE(node_->resume(id).ok());
  ASSERT_TRUE(eventually([&] { return node_->transfer(id)->error.has_value(); }));
  EXPECT_FALSE(engine_->torrent(id)) << "it would make the folder anew";
  set_staging(id, true);
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
}

TEST_F(DiskAway, ACommitThatIsDoneNeedsNoRoom) {
  published("set");
  const TransferId id = fetched(job("set")).id;
  end();
  auto row = store_.transfers()->front();
  row.step = TransferStep::kCommit;
  ASSERT_TRUE(store_.put_transfer(row).ok());
  set_held(false);
  files_.with([](auto& state) { state.space = {1, 1000}; });
  start();
  ASSERT_TRUE(eventually([&] { return node_->transfer(id)->error.has_value(); }));
  set_held(true);
  wait_for_seeding(id);
}

TEST_F(DiskAway, WhatWasLookedAtWhenTheNodeEndedIsKept) {
  published("set");
  const TransferId id = fetched(job("set")).id;
  restarted_while_checked(id, [&](auto& row) { row.old_place = id; });  // by a get to the same place
  EXPECT_EQ(node_->transfer(id)->state, TransferState::kPaused);
  EXPECT_EQ(files_.count("prepare /home/in"), 1) << "of the first get";
  set_held(true);
  wait_for_seeding(id);
  EXPECT_GE(files_.count("verify /home/in/data"), 1);
}

TEST_F(DiskAway, AMountPointThatIsEmptyHoldsNothing) {
  published("set");
  const TransferId id = fetched(job("set")).id;
  restarted_while_checked(id, [&](auto& row) {
    row.old_place = id;
    files_.with([](auto& state) { state.foreign.insert("/home/in/data"); });
  });
  EXPECT_EQ(node_->transfer(id)->state, TransferState::kPaused);
  EXPECT_EQ(files_.count("prepare /home/in"), 1) << "of the first get";
  files_.with([](auto& state) { state.foreign.clear(); });
  wait_for_seeding(id);
}

TEST_F(DiskAway, ACopyThatIsPausedIsLookedForAfterItsPause) {
  published("set");
  fetched(job("set"));
  files_.with([](auto& state) { state.verify_waits = true; });
  const TransferId id = get(job("set", "/elsewhere"))->id;
  ASSERT_TRUE(eventually([&] { return files_.count("verify /home/in/data") == 1; }));
  ASSERT_TRUE(node_->pause(id).ok());
  files_.with([&](auto& state) {
    state.verify_waits = false;
    state.existing.erase("/elsewhere/.gridtorrent-" + id.str());
  });
  ASSERT_TRUE(node_->resume(id).ok());
  ASSERT_TRUE(eventually([&] { return node_->transfer(id)->error.has_value(); }));
  EXPECT_EQ(files_.count("prepare /elsewhere"), 1) << "of the get";
}

TEST_F(DiskAway, ACopyIsNotMadeBelowAMountPoint) {
  const TransferId id = restarted_while_copied();
  EXPECT_NE(node_->transfer(id)->error->message.find("is not there: is its disk mounted?"), std::string::npos);
  EXPECT_EQ(node_->transfer(id)->state, TransferState::kPaused);
  EXPECT_EQ(files_.count("copy /home/in /elsewhere"), 1) << "of the first time";
  wait_for_seeding(other_than(id));
  files_.with([&](auto& state) { state.existing["/elsewhere/.gridtorrent-" + id.str()] = 1; });
  ASSERT_TRUE(eventually([&] { return files_.count("copy /home/in /elsewhere") == 2; }));
  wait_until_whole(id);
  EXPECT_FALSE(node_->transfer(id)->error.has_value());
}

TEST_F(DiskAway, ACopyBeginsAnewWhereAPersonSaysSo) {
  const TransferId id = restarted_while_copied();
  ASSERT_TRUE(node_->resume(id).ok());
  wait_until_whole(id);
  EXPECT_EQ(files_.count("copy /home/in /elsewhere"), 2);
}

TEST_F(DiskAway, WhatIsToBeAdoptedIsWaitedFor) {
  published("set");
  const TransferId id = fetched(job("set")).id;
  restarted_while_checked(id, [&](auto& row) {
    row.kind = client::TransferKind::kAttach;
    row.old_place = id;
    row.stamp.clear();
  });
  EXPECT_EQ(node_->transfer(id)->state, TransferState::kPaused);
  EXPECT_EQ(files_.count("prepare /home/in"), 1) << "of the first get";
  set_held(true);
  wait_for_seeding(id);
  EXPECT_EQ(files_.count("prepare /home/in"), 1);
}

TEST_F(DiskAway, WhatIsHeldIsNotRemovedWhereItIsNot) {
  const TransferId id = restarted_without_its_files();
  const auto refused = node_->remove_files(id, false);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("are not at /home/in/data, so they cannot be removed: mount their disk"),
            std::string::npos)
      << refused.error().message;
}

TEST_F(DiskAway, WhatNobodyLookedForIsNotRemovedWhereItIsNotEither) {
  published("set");
  const TransferId id = fetched(job("set")).id;
  set_held(false);  // under the engine
  EXPECT_EQ(node_->remove_files(id, true).error().code, Code::kConflict);
  EXPECT_EQ(node_->remove_files(id, false).error().code, Code::kConflict);
  EXPECT_EQ(node_->transfer(id)->state, TransferState::kSeeding);
}

TEST_F(DiskAway, AnEmptyFolderInItsPlaceIsNoReturn) {
  const TransferId id = restarted_without_its_files();
  files_.with([](auto& state) {  // as a mount point is
    state.existing["/home/in/data"] = 7;
    state.foreign.insert("/home/in/data");
  });
  const auto looked = [&] { return files_.with([](auto& state) { return state.looks; }); };
  const int before = looked();
  ASSERT_TRUE(eventually([&] { return looked() > before; }, std::chrono::seconds(5)));
  EXPECT_EQ(node_->transfer(id)->state, TransferState::kComplete);
  EXPECT_FALSE(engine_->torrent(id));
}

TEST_F(DiskAway, APausedHoldIsKeptByAGetElsewhere) {
  published("set");
  const TransferId id = fetched(job("set")).id;
  ASSERT_TRUE(node_->pause(id).ok());
  set_held(false);
  const auto view = get(job("set", "/elsewhere"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  complete(view->id);
  wait_for_seeding(view->id);
  EXPECT_TRUE(node_->transfer(id).ok());
}

TEST_F(DiskAway, AGetElsewhereFetchesAndLeavesItOnTheList) {
  const TransferId id = restarted_without_its_files();
  const auto view = get(job("set", "/elsewhere"));
  ASSERT_TRUE(view.ok()) << view.error().message;
  complete(view->id);
  wait_for(view->id, TransferState::kSeeding);
  EXPECT_TRUE(node_->transfer(id).ok());
}

}  // namespace
}  // namespace gridtorrent::testing
