// A get to where it was brought before, and some of it is not there any more.
#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::DiskTrust;
using client::TransferState;
using Wanted = std::vector<bool>;  // of the torrent's files, a and sub/b

class Lost : public NodeFixture {
 protected:
  Lost() {
    published("set");
    id_ = fetched(job("set")).id;
  }
  void lose(const std::string& entry) {
    files_.with([&](auto& state) { state.gone.insert("/home/in/data/" + entry); });
  }
  /// Asks again, and waits until the missing part is asked of the engine.
  void get_again() {
    const auto view = get(job("set"));
    ASSERT_TRUE(view.ok()) << view.error().message;
    EXPECT_EQ(view->id, id_);
    expect_announced_at_once();
    ASSERT_TRUE(eventually([&] {
      const auto torrent = engine_->torrent(id_);
      return torrent && torrent->spec.save_path != "/home/in";
    }));
  }
  /// Hands that hardly turn: the announce that is due after half a minute anyway never comes.
  void expect_announced_at_once() {
    const auto fetching = [](auto& state) {
      return !state.announces.empty() && state.announces.back().role == client::SwarmRole::kFetching;
    };
    EXPECT_TRUE(eventually([&] { return link_.with(fetching); }, std::chrono::milliseconds(1)));
  }
  void expect_whole(std::size_t transfers = 1) {
    const auto whole = wait_for(id_, TransferState::kSeeding);
    EXPECT_EQ(whole.total_bytes, 8U);
    EXPECT_TRUE(engine_->torrent(id_)->spec.wanted.empty() ||
                engine_->torrent(id_)->spec.wanted == Wanted({true, true}));
    EXPECT_EQ(store_.transfers()->size(), transfers);
    EXPECT_TRUE(store_.transfers()->front().lost.empty());
  }
  TransferId other() {
    for (const auto& view : node_->transfers()) {
      if (view.id != id_) return view.id;
    }
    return {};
  }

  TransferId id_;
};

TEST_F(Lost, FilesAreFetchedAndTheRestStays) {
  lose("sub/b");
  ASSERT_NO_FATAL_FAILURE(get_again());
  EXPECT_EQ(engine_->torrent(id_)->spec.wanted, (Wanted{false, true}));
  EXPECT_EQ(node_->transfer(id_)->total_bytes, 5U);
  engine_->completes(id_);
  expect_whole();
  EXPECT_EQ(get(job("set"))->id, id_) << "all of it is there now";
}

TEST_F(Lost, FilesBesideChangedOnesAreNotFetchedUntilThoseAreMovedAway) {
  lose("sub/b");
  files_.with([](auto& state) { state.damaged.insert("/home/in/data"); });
  ASSERT_TRUE(get(job("set")).ok());
  const auto failed = wait_for(id_, TransferState::kFailed);
  EXPECT_EQ(failed.error->code, Code::kConflict);
  EXPECT_NE(failed.error->message.find("differs from byte 0 on); move away what differs and run the command again"),
            std::string::npos)
      << failed.error->message;
  files_.with([](auto& state) { state.damaged.clear(); });
  lose("a");
  ASSERT_NO_FATAL_FAILURE(get_again());
  EXPECT_EQ(engine_->torrent(id_)->spec.wanted, (Wanted{true, true}));
  engine_->completes(id_);
  expect_whole();
}

TEST_F(Lost, FilesBesideChangedOnesAreNotTheStartOfAnotherGet) {
  files_.with([](auto& state) { state.damaged.insert("/home/in/data"); });
  ASSERT_TRUE(node_->verify("set", "", false, {}, {}).ok());
  wait_for(id_, TransferState::kFailed);
  auto some = job("set");
  some.globs = {"a"};
  const auto refused = get(some);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("was changed since it was fetched, so nothing is added"), std::string::npos)
      << refused.error().message;
}

TEST_F(Lost, FilesThatVerifyMissedAreFetched) {
  lose("a");
  const auto outcome = node_->verify("set", "", false, {}, {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->report.fault_count, 1U);
  wait_for(id_, TransferState::kFailed);
  ASSERT_NO_FATAL_FAILURE(get_again());
  EXPECT_EQ(engine_->torrent(id_)->spec.wanted, (Wanted{true, false}));
  engine_->completes(id_);
  expect_whole();
}

TEST_F(Lost, FilesThatWerePutBackAreNotFetched) {
  lose("a");
  ASSERT_TRUE(node_->verify("set", "", false, {}, {}).ok());
  wait_for(id_, TransferState::kFailed);
  files_.with([](auto& state) { state.gone.clear(); });
  ASSERT_TRUE(get(job("set")).ok());
  expect_whole();
  EXPECT_EQ(node_->transfer(id_)->source, "local");
}

TEST_F(Lost, FilesStayLostWhereTheRepairIsCancelledAndTheRestIsSeeded) {
  lose("sub/b");
  ASSERT_NO_FATAL_FAILURE(get_again());
  const TransferId rest = other();
  ASSERT_TRUE(node_->cancel(id_).ok());
  wait_for(rest, TransferState::kSeeding);
  EXPECT_EQ(engine_->torrent(rest)->spec.wanted, (Wanted{true, false}));
  EXPECT_EQ(engine_->torrent(rest)->spec.trust, DiskTrust::kComplete);

  const auto again = get(job("set"));
  ASSERT_TRUE(again.ok()) << again.error().message;
  id_ = again->id;
  EXPECT_NE(id_, rest);
  complete(id_);
  expect_whole();
}

TEST_F(Lost, FilesGoOnComingAfterARestart) {
  lose("sub/b");
  ASSERT_NO_FATAL_FAILURE(get_again());
  restart();
  ASSERT_TRUE(eventually([&] { return engine_->torrent(id_).has_value(); }));
  EXPECT_EQ(engine_->torrent(id_)->spec.wanted, (Wanted{false, true}));
  engine_->completes(id_);
  expect_whole();
}

TEST_F(Lost, FilesComeInPartsWhereOnlySomeAreAskedFor) {
  lose("a");
  lose("sub/b");
  ASSERT_NO_FATAL_FAILURE(get_again());
  ASSERT_TRUE(node_->cancel(id_).ok());
  wait_for(other(), TransferState::kComplete);  // nothing of it can be seeded
  auto some = job("set");
  some.globs = {"a"};
  const auto first = fetched(some);
  EXPECT_EQ(first.total_bytes, 3U);
  EXPECT_EQ(engine_->torrent(first.id)->spec.wanted, (Wanted{true, false})) << "sub/b is still lost";
  ASSERT_EQ(get(some)->id, first.id);
  EXPECT_EQ(wait_for(first.id, TransferState::kSeeding).total_bytes, 3U) << "nobody asked for more";
  const auto second = fetched(job("set"));
  EXPECT_EQ(second.total_bytes, 8U);
}

TEST_F(Lost, FilesOfWithdrawnContentDoNotCome) {
  lose("a");
  link_.with([](auto& state) { state.contents["set"].withdrawn = true; });
  ASSERT_TRUE(get(job("set")).ok());
  const auto failed = wait_for(id_, TransferState::kFailed);
  EXPECT_NE(failed.error->message.find("withdrawn"), std::string::npos) << failed.error->message;
}

}  // namespace
}  // namespace gridtorrent::testing
