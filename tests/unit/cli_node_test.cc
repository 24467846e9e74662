// The command line against a control server whose node is played by the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli_node_fixture.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(WithNode, TuneHistoryListsAndForgets) {
  node_.remembered.resize(2);
  EXPECT_EQ(run({"tune", "history"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("SEEDER"));
  EXPECT_EQ(run({"tune", "history", "--forget", NodeId(NodeId::Bytes{1}).str()}), 3);
  EXPECT_THAT(err_, HasSubstr("tune history"));
  EXPECT_EQ(run({"tune", "history", "--forget", "everything"}), 2) << "neither a node nor all";
  EXPECT_EQ(node_.remembered.size(), 2U);
  EXPECT_EQ(run({"tune", "history", "--forget", "all"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("forgotten: 2 paths"));
  EXPECT_EQ(run({"tune", "history", "--json"}), 0) << err_;
  EXPECT_TRUE(Json::parse(out_)["paths"].empty());
}

TEST_F(WithNode, EstimateSaysHowLongAGetTakes) {
  EXPECT_EQ(run({"estimate", "run42", "--no-probe"}), 3);
  EXPECT_THAT(err_, HasSubstr("--no-probe"));
  EXPECT_EQ(run({"estimate", "run42"}), 0) << err_;
  EXPECT_EQ(out_,
            "mia/run42: 1.00 MB from 1 seeder: about 8 s (8 s to 8 s), 1.00 Mbit/s. From 2 transfers over this path, "
            "the last 0 minutes ago.\n");
  EXPECT_EQ(run({"estimate", "run42", "--json"}), 0) << err_;
  EXPECT_EQ(events().back()["event"], "estimate");
  EXPECT_EQ(events().back()["likely_ms"], 8000);
}

TEST_F(WithNode, TuneExplainsATransferAndListsWhatCanBeExplained) {
  EXPECT_EQ(run({"tune", "explain", id_of(1).str()}), 3);
  EXPECT_THAT(err_, HasSubstr("tune list"));
  EXPECT_EQ(run({"tune", "explain", "nonsense"}), 3);
  EXPECT_THAT(err_, HasSubstr("'nonsense'"));
  EXPECT_EQ(run({"tune", "list"}), 0);
  EXPECT_THAT(out_, HasSubstr("nothing has been fetched"));
  node_.tuned.transfer = id_of(1);
  node_.tuned.name = "mia/run42";
  node_.tuned.tuner = "fixed";
  node_.tuned.running = false;
  node_.tuned.revision = 1;
  node_.tuned.decisions = {{1, milliseconds(0), 0, 4, 0, "fixed: 4 lanes", Limit::kUnknown, std::nullopt, 1}};
  for (const char* more : {"--json", "--follow"}) {
    EXPECT_EQ(run({"tune", "explain", id_of(1).str(), more}), 0) << err_;
    EXPECT_THAT(out_, HasSubstr("fixed: 4 lanes")) << more;
  }
  EXPECT_EQ(run({"tune", "list", "--json"}), 0) << err_;
  EXPECT_EQ(Json::parse(out_)["tunings"][0]["tuner"], "fixed");
}

TEST_F(WithNode, TuneDrawsAPlotInPlaceOfWhatWasThere) {
  node_.tuned.transfer = id_of(1);
  node_.tuned.name = "mia/run42";
  node_.tuned.running = false;
  node_.tuned.revision = 1;
  node_.tuned.samples = {{milliseconds(0), 9'000'000, 4, 1, Limit::kLoss, 1}};
  const std::string id = id_of(1).str(), file = folder_ + "/run.svg";
  EXPECT_EQ(run({"tune", "explain", id, "--plot", folder_ + "/none/run.svg"}), 8);
  EXPECT_THAT(err_, HasSubstr("none/run.svg"));
  for (const char* other : {"--json", "--follow"}) {
    EXPECT_EQ(run({"tune", "explain", id, "--plot", "-", other}), 2) << other;
  }
  const auto read = [&] {
    std::ifstream stream(file);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  std::ofstream(file) << std::string(100'000, 'x');
  EXPECT_EQ(run({"tune", "explain", id, "--plot", file}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("DECISIONS"));
  EXPECT_THAT(err_, HasSubstr("run.svg"));
  EXPECT_THAT(read(), ::testing::StartsWith("<svg "));
  EXPECT_THAT(read(), EndsWith("</svg>\n"));
  EXPECT_EQ(run({"tune", "explain", id, "--plot", "-"}), 0) << err_;
  EXPECT_EQ(out_, read());
  for (const char* other : {"--json", "--follow"}) {
    std::filesystem::remove(file);
    EXPECT_EQ(run({"tune", "explain", id, "--plot", file, other}), 0) << err_;
    EXPECT_THAT(read(), EndsWith("</svg>\n")) << other;
  }
}

TEST_F(WithNode, GetTellsStartProgressAndEnd) {
  node_.script = {view(TransferState::kFetching), view(TransferState::kFetching, 500),
                  view(TransferState::kVerifying, 1000), view(TransferState::kSeeding, 1000)};
  EXPECT_EQ(run({"get", "run42", "--to", "/data", "--json", "--lanes", "8", "--seeders", "3", "--limit", "1MB",
                 "--file", "*.nc", "--priority", "5", "--refetch"}),
            0)
      << err_;
  EXPECT_EQ(event_names().front(), "started");
  EXPECT_EQ(event_names().back(), "done");
  EXPECT_EQ(events().back()["bits_per_s"], 16000);
  EXPECT_EQ(events().back()["path"], "/data/run42");
  EXPECT_EQ(node_.got.content, "run42");
  EXPECT_EQ(node_.got.target, "/data");
  EXPECT_EQ(node_.got.lanes, 8);
  EXPECT_EQ(node_.got.seeders, 3);
  EXPECT_EQ(node_.got.limit_bits_per_s, 8'000'000U);
  EXPECT_EQ(node_.got.priority, 5);
  EXPECT_TRUE(node_.got.refetch);
  EXPECT_THAT(node_.got.globs, ::testing::ElementsAre("*.nc"));
}

TEST_F(WithNode, GetAsksTheTunerForWhatIsGiven) {
  node_.script = {view(TransferState::kComplete, 1000)};
  clock_.set_wall(system_clock_.wall());
  EXPECT_EQ(run({"get", "run42", "--to", "/data", "--tuner", "later", "--mode", "background", "--min-rate", "10Mbit",
                 "--by", "+2h"}),
            0)
      << err_;
  EXPECT_EQ(node_.got.wish, (WishChange{.tuner = "later",
                                        .mode = "background",
                                        .floor_bits_per_s = 10'000'000,
                                        .by = clock_.wall() + std::chrono::hours(2)}));
  EXPECT_EQ(run({"get", "run42", "--to", "/data", "--target-rate", "30Mbit"}), 0) << err_;
  EXPECT_EQ(node_.got.wish, (WishChange{.target_bits_per_s = 30'000'000}));
  EXPECT_EQ(run({"get", "run42", "--to", "/data"}), 0) << err_;
  EXPECT_EQ(node_.got.wish, WishChange{});
}

TEST_F(WithNode, AnOlderNodeThatHeedsNoWishIsTold) {
  node_.script = {view(TransferState::kComplete, 1000)};
  EXPECT_EQ(run({"get", "run42", "--to", "/data", "--mode", "greedy"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("this node is of an older version: it heeds no --tuner, --mode"));
  node_.script.front().wish.mode = TuningMode::kGreedy;
  EXPECT_EQ(run({"get", "run42", "--to", "/data", "--mode", "greedy"}), 0) << err_;
  EXPECT_EQ(err_, "");
}

TEST_F(WithNode, GetSaysAtTheEndWhetherItWasInTime) {
  TransferView late = view(TransferState::kComplete, 1000);
  late.wish.by = WallTime{1'000'000};
  late.fetched = *late.wish.by + std::chrono::minutes(12);
  node_.script = {late};
  EXPECT_EQ(run({"get", "run42"}), 0);
  EXPECT_THAT(out_, HasSubstr("verified, 12 min 0 s late\n"));
  EXPECT_EQ(run({"get", "run42", "--json"}), 0);
  EXPECT_EQ(events().back()["in_time"], false);
  EXPECT_EQ(events().back()["by"], "1970-01-01T00:16:40.000Z");
  node_.script.front().fetched = *late.wish.by;
  EXPECT_EQ(run({"get", "run42"}), 0);
  EXPECT_THAT(out_, HasSubstr("verified, in time\n"));
}

TEST_F(WithNode, SetTakesWishesAway) {
  node_.script = {view(TransferState::kFetching)};
  EXPECT_EQ(run({"transfer", "set", id_of(1).str(), "--tuner", "default", "--mode", "default", "--target-rate", "0",
                 "--min-rate", "0", "--by", "none"}),
            0)
      << err_;
  EXPECT_EQ(node_.settings.wish,
            (WishChange{.tuner = "", .mode = "", .target_bits_per_s = 0, .floor_bits_per_s = 0, .by = WallTime{}}));
  EXPECT_EQ(run({"transfer", "set", id_of(1).str()}), 2);
  EXPECT_THAT(err_, HasSubstr("--min-rate or --by"));
}

TEST_F(WithNode, SetChoosesOtherFiles) {
  node_.script = {view(TransferState::kFetching)};
  const std::string id = id_of(1).str();
  EXPECT_EQ(run({"transfer", "set", id, "--file", "raw/*", "--file", "notes.txt", "--lanes", "3"}), 0) << err_;
  EXPECT_THAT(node_.choice.globs, ::testing::ElementsAre("raw/*", "notes.txt"));
  EXPECT_EQ(node_.settings.lanes, 3);
  EXPECT_EQ(run({"transfer", "set", id, "--all-files"}), 0) << err_;
  EXPECT_TRUE(node_.choice.globs.empty());
  EXPECT_EQ(run({"transfer", "set", id, "--all-files", "--file", "a"}), 2);
  EXPECT_THAT(err_, HasSubstr("--all-files is instead of --file"));
  EXPECT_EQ(run({"transfer", "set", id, id_of(2).str(), "--file", "a"}), 2);
  EXPECT_THAT(err_, HasSubstr("one transfer at a time"));
}

TEST_F(WithNode, TunersAreListedWithWhatTheNodeUses) {
  EXPECT_EQ(run({"tune", "tuners"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("fixed"));
  EXPECT_THAT(out_, HasSubstr("modes: balanced, greedy, background\nwhere nobody asks: auto, balanced\n"));
  EXPECT_EQ(run({"tune", "tuners", "--json"}), 0);
  EXPECT_EQ(Json::parse(out_)["tuners"][0]["name"], "auto");
}

TEST_F(WithNode, GetWithoutToPutsItHere) {
  node_.script = {view(TransferState::kComplete, 1000)};
  EXPECT_EQ(run({"get", "run42"}), 0);
  EXPECT_EQ(node_.got.target, std::filesystem::current_path().string());
  EXPECT_EQ(node_.got.lanes, 0) << "auto";
  EXPECT_THAT(out_, EndsWith("verified\n/data/run42\n"));
  EXPECT_EQ(err_, "");
}

TEST_F(WithNode, AFailedTransferHasItsOwnCodeAndLine) {
  TransferView failed = view(TransferState::kFailed);
  failed.error = Error{Code::kCorrupt, "run42/a does not match its root"};
  node_.script = {view(TransferState::kFetching), failed};
  EXPECT_EQ(run({"get", "run42", "--json"}), 7);
  EXPECT_EQ(events().back()["code"], "corrupt");
  EXPECT_EQ(err_, "gridtorrent: run42/a does not match its root\n");
}

TEST_F(WithNode, ACancelledTransferIsTen) {
  node_.script = {view(TransferState::kFetching), view(TransferState::kCancelled)};
  EXPECT_EQ(run({"get", "run42"}), 10);
  EXPECT_THAT(err_, HasSubstr("was cancelled"));
}

TEST_F(WithNode, WhatTheNodeRefusesIsPassedOn) {
  node_.get_error = Error{Code::kConflict, "/data/run42 is in the way"};
  EXPECT_EQ(run({"get", "run42"}), 6);
  EXPECT_EQ(err_, "gridtorrent: /data/run42 is in the way\n");
}

TEST_F(WithNode, WhatTheOtherSideRefusesWithCannotSteerTheTerminal) {
  node_.get_error = Error{Code::kConflict, "\x1b]0;x\x07 is in the way"};
  EXPECT_EQ(run({"get", "run42"}), 6);
  EXPECT_EQ(err_, "gridtorrent: \\x1b]0;x\\x07 is in the way\n");
}

TEST_F(WithNode, AnInterruptEndsTheWatchingAndNotTheTransfer) {
  node_.script = {view(TransferState::kFetching)};
  node_.signal_at_end = true;
  EXPECT_EQ(run({"get", "run42"}), 10);
  EXPECT_EQ(err_, "gridtorrent: the transfer " + id_of(1).str() +
                      " is no longer watched: it goes on; 'gridtorrent transfer cancel " + id_of(1).str() +
                      "' ends it\n");
  EXPECT_TRUE(node_.asked.empty());
}

TEST_F(WithNode, DetachPrintsTheIdAndReturns) {
  node_.script = {view(TransferState::kFetching)};
  EXPECT_EQ(run({"get", "run42", "--detach"}), 0);
  EXPECT_EQ(out_, id_of(1).str() + "\n");
  EXPECT_EQ(run({"get", "run42", "--detach", "--json"}), 0);
  EXPECT_THAT(event_names(), ::testing::ElementsAre("started"));
}

TEST_F(WithNode, SeedDetachesToo) {
  node_.script = {view(TransferState::kVerifying)};
  EXPECT_EQ(run({"seed", "run42", "--from", "x", "--detach"}), 0);
  EXPECT_EQ(out_, id_of(1).str() + "\n");
}

TEST_F(WithNode, WaitHasATimeLimit) {
  node_.script = {view(TransferState::kFetching)};
  EXPECT_EQ(run({"transfer", "wait", id_of(1).str(), "--timeout", "50ms"}), 9);
  EXPECT_THAT(err_, HasSubstr("did not end in time: it goes on"));
}

TEST_F(WithNode, SeedSendsAnAbsolutePath) {
  node_.script = {view(TransferState::kSeeding, 1000)};
  EXPECT_EQ(run({"seed", "run42", "--from", "x"}), 0);
  EXPECT_EQ(node_.got.target, std::filesystem::current_path().string() + "/x");
}

TEST_F(WithNode, TransferCommandsReachTheNode) {
  node_.script = {view(TransferState::kFetching)};
  const std::string id = id_of(1).str();
  EXPECT_EQ(run({"transfer", "pause", id}), 0);
  EXPECT_EQ(run({"transfer", "resume", id}), 0);
  EXPECT_EQ(run({"transfer", "cancel", id}), 0);
  EXPECT_EQ(run({"transfer", "set", id, "--lanes", "auto", "--limit", "0"}), 0);
  EXPECT_THAT(node_.asked, ::testing::ElementsAre("pause", "resume", "cancel", "set"));
  EXPECT_EQ(node_.settings.lanes, 0);
  EXPECT_EQ(node_.settings.limit_bits_per_s, 0U);
  EXPECT_FALSE(node_.settings.priority.has_value());
  EXPECT_EQ(run({"transfer", "show", id, "--json"}), 0);
  EXPECT_EQ(Json::parse(out_)["transfer_id"], id);
  EXPECT_EQ(run({"transfer", "show", id_of(2).str()}), 3);
  EXPECT_EQ(run({"transfers", "--json"}), 0);
  EXPECT_EQ(Json::parse(out_)["transfers"].size(), 1U);
  EXPECT_EQ(run({"transfers"}), 0);
  EXPECT_THAT(out_, HasSubstr("fetching"));
}

TEST_F(WithNode, OneStepTakesSeveralTransfers) {
  auto other = view(TransferState::kPaused);
  other.id = id_of(2);
  other.name = "run43";
  node_.script = {view(TransferState::kFetching), other};
  EXPECT_EQ(run({"transfer", "pause"}), 2);
  EXPECT_THAT(err_, HasSubstr("ID is missing; --all means every transfer"));
  EXPECT_EQ(run({"transfer", "pause", "run42", "--all"}), 2);
  EXPECT_EQ(run({"transfer", "pause", "run42", "nothing"}), 3);
  EXPECT_TRUE(node_.asked.empty()) << "all or none are named";
  EXPECT_EQ(run({"transfer", "pause", id_of(1).str(), "run42", id_of(2).str()}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("paused 2 transfers"));
  EXPECT_EQ(run({"transfer", "resume", "--all", "--json"}), 0) << err_;
  EXPECT_EQ(Json::parse(out_)["changed"], 1) << "the one that is paused";
  EXPECT_EQ(run({"transfer", "verify", "--all", "--json"}), 0) << err_;
  EXPECT_EQ(Json::parse(out_)["changed"], 0) << "none is complete";
  EXPECT_EQ(run({"transfer", "set", "run42", id_of(2).str(), "--limit", "8Mbit"}), 0) << err_;
  EXPECT_EQ(node_.settings.limit_bits_per_s, 8'000'000U);
  EXPECT_EQ(run({"transfer", "cancel", "run42", id_of(3).str()}), 3);
  EXPECT_THAT(err_, HasSubstr("1 of 2 transfers refused it: " + id_of(3).str()));
  EXPECT_THAT(node_.asked, ::testing::ElementsAre("pause", "pause", "resume", "set", "set", "cancel", "cancel"));
}

TEST_F(WithNode, TransfersAreTakenOffTheList) {
  node_.script = {view(TransferState::kSeeding, 1000)};
  EXPECT_EQ(run({"transfer", "clear"}), 0);
  EXPECT_THAT(err_, HasSubstr("nothing to clear"));
  EXPECT_TRUE(node_.asked.empty()) << "it seeds";
  EXPECT_EQ(run({"transfer", "stop-seeding", "run42"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("its files stay at /data/run42"));
  node_.script = {view(TransferState::kFailed)};
  EXPECT_EQ(run({"transfer", "forget", "run42"}), 0) << err_;
  EXPECT_EQ(run({"transfer", "clear", "--failed", "--json"}), 0) << err_;
  EXPECT_EQ(Json::parse(out_)["cleared"], 1);
  EXPECT_THAT(node_.asked, ::testing::ElementsAre("cancel", "cancel", "cancel"));
}

TEST_F(WithNode, ClearSaysWhatStaysOnTheListAndWhy) {
  node_.script = {view(TransferState::kFailed)};
  node_.step_error = Error{Code::kDisk, "node.db is full"};
  EXPECT_EQ(run({"transfer", "clear"}), 8);
  EXPECT_EQ(err_,
            "cleared 0 transfers\ngridtorrent: 1 of 1 transfer refused it: " + id_of(1).str() + ": node.db is full\n");
  EXPECT_EQ(run({"transfer", "clear", "--json"}), 8);
  EXPECT_EQ(Json::parse(out_)["failures"][0]["message"], "node.db is full");
}

TEST_F(WithNode, RemoveTellsWhatWentAndWhatStays) {
  node_.script = {view(TransferState::kSeeding, 1000)};
  EXPECT_EQ(run({"transfer", "remove", "run42", "--yes"}), 0) << err_;
  EXPECT_EQ(err_, "removed 12 files (240 MB); 1 file was changed since and stays: /data/run42/notes\n");
  EXPECT_THAT(node_.asked, ::testing::ElementsAre("remove"));
  EXPECT_EQ(run({"transfer", "remove", "run42", "--yes", "--json"}), 0) << err_;
  EXPECT_EQ(Json::parse(out_)["first_kept"], "/data/run42/notes");
}

TEST(Clearing, LeavesWhatSeedsOrWillAgain) {
  v1::Transfer t;
  const auto cleared = [&](const char* state, bool failed_only = false) {
    t.set_state(state);
    return may_be_cleared(t, failed_only);
  };
  for (const char* state : {"seeding", "fetching", "queued", "paused", "verifying", "hashing"})
    EXPECT_FALSE(cleared(state)) << state;
  EXPECT_TRUE(cleared("failed"));
  EXPECT_TRUE(cleared("failed", true));
  EXPECT_TRUE(cleared("complete"));
  EXPECT_FALSE(cleared("complete", true));
  t.set_seeds_later(true);
  EXPECT_FALSE(cleared("complete")) << "the server is not heard, say";
}

TEST_F(WithNode, GetAsksForTheNameThePlaceAndTheMode) {
  node_.script = {view(TransferState::kComplete, 1000)};
  EXPECT_EQ(run({"get", "run42", "--to", "/data", "--as", "mine", "--if-seeded"}), 0) << err_;
  EXPECT_EQ(node_.got.base_name, "mine");
  EXPECT_TRUE(node_.got.if_seeded);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(node_.got.folder_mode, 0777U & ~mask);
  node_.script.front().path = "/data/other";
  EXPECT_EQ(run({"get", "run42", "--to", "/data"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("run42 is called other on disk"));
  node_.script.front().unmatched = {"none*"};
  EXPECT_EQ(run({"get", "run42", "--as", "x", "--file", "none*", "--file", "a"}), 0) << err_;
  EXPECT_EQ(err_, "warning: no file matches 'none*'\n");
}

TEST_F(WithNode, GetAsksForAVersionAndForAnUpdateWhereverItLies) {
  node_.script = {view(TransferState::kComplete, 1000)};
  EXPECT_EQ(run({"get", "run42", "--version", "3"}), 0) << err_;
  EXPECT_EQ(node_.got.version, 3U);
  EXPECT_FALSE(node_.got.update);
  EXPECT_EQ(node_.got.target, std::filesystem::current_path().string());
  EXPECT_EQ(run({"get", "run42", "--update"}), 0) << err_;
  EXPECT_TRUE(node_.got.update);
  EXPECT_EQ(node_.got.version, 0U);
  EXPECT_EQ(node_.got.target, "");
  EXPECT_EQ(run({"get", "run42", "--update", "--to", "/data"}), 0) << err_;
  EXPECT_EQ(node_.got.target, "/data");
  EXPECT_EQ(run({"get", "run42", "--version", "0"}), 2);
}

TEST_F(WithNode, HabitsSayNothingOfWhereAnEarlierVersionLies) {
  habits("[get]\nto = \"/data\"\nfile = [\"*.nc\"]\n");
  node_.script = {view(TransferState::kSeeding, 1000)};
  ASSERT_EQ(run({"get", "run42", "--update"}), 0) << err_;
  EXPECT_EQ(node_.got.target, "");
  EXPECT_TRUE(node_.got.globs.empty());
  ASSERT_EQ(run({"get", "run42"}), 0) << err_;
  EXPECT_EQ(node_.got.target, "/data");
  EXPECT_THAT(node_.got.globs, ::testing::ElementsAre("*.nc"));
}

TEST_F(WithNode, WhatIsAskedForComesBeforeAHabitThatExcludesIt) {
  habits("[get]\nby = \"+2h\"\n");
  node_.script = {view(TransferState::kSeeding, 1000)};
  ASSERT_EQ(run({"get", "run42", "--target-rate", "20Mbit"}), 0) << err_;
  EXPECT_EQ(node_.got.wish.target_bits_per_s, 20'000'000U);
  EXPECT_FALSE(node_.got.wish.by);
  EXPECT_EQ(run({"get", "run42", "--target-rate", "20Mbit", "--by", "+2h"}), 2);
}

TEST_F(WithNode, GetGivesUpWaitingInTime) {
  node_.script = {view(TransferState::kFetching)};
  EXPECT_EQ(run({"get", "run42", "--timeout", "50ms"}), 9);
  EXPECT_THAT(err_, HasSubstr("did not end in time: it goes on"));
}

TEST_F(WithNode, ATimeLimitOfWhoDoesNotWaitIsWrongUsage) {
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"get", "run42"}, {"get", "run42", "--node", "hub"}, {"seed", "run42", "--from", "x"}}) {
    auto both = command;
    both.insert(both.end(), {"--timeout", "1h", "--detach"});
    EXPECT_EQ(run(both), 2);
    EXPECT_THAT(err_, HasSubstr("with --detach it does not wait: leave one of them out"));
  }
}
TEST_F(WithNode, WhatStandsStillIsLeftWithItsReason) {
  TransferView full = view(TransferState::kPaused);
  full.error = Error{Code::kDisk, "disk full at /data: 1 byte free; goes on by itself when there is room"};
  node_.script = {full};
  EXPECT_EQ(run({"get", "run42", "--timeout", "50ms"}), 9);
  EXPECT_THAT(err_, HasSubstr("did not end in time: it is paused: disk full at /data: 1 byte free; goes on by itself "
                              "when there is room; 'gridtorrent transfer cancel "));
  node_.script = {view(TransferState::kPaused)};
  EXPECT_EQ(run({"get", "run42", "--timeout", "50ms"}), 9);
  EXPECT_THAT(err_, HasSubstr("it is paused; 'gridtorrent transfer resume " + id_of(1).str() + "' lets it go on; '"));
  TransferView alone = view(TransferState::kFetching);
  alone.waiting_for = "no seeders online";
  node_.script = {alone};
  EXPECT_EQ(run({"get", "run42", "--timeout", "50ms"}), 9);
  EXPECT_THAT(err_, HasSubstr("did not end in time: it goes on, fetching: no seeders online; '"));
}

TEST_F(WithNode, WhatSeedsFromWhereItWasPublishedIsMendedByANewVersion) {
  node_.faults = {{"run42/a", "differs"}};
  node_.script = {view(TransferState::kSeeding, 1000)};
  node_.script.front().content = VerifyOutcome().content;
  EXPECT_EQ(run({"verify", "run42"}), 7);
  EXPECT_THAT(err_, Not(HasSubstr("--update")));
  node_.script.front().source = "published";
  EXPECT_EQ(run({"verify", "run42"}), 7);
  EXPECT_THAT(err_, HasSubstr("gridtorrent publish /data/run42 --update run42; or, where another node has it, "));
}

TEST_F(WithNode, WhatTheLineOfATerminalCutsIsToldOnceInFull) {
  const auto full = [](const char* free) {
    TransferView v = view(TransferState::kPaused);
    v.error = Error{Code::kDisk, "disk full at /data/somewhere/far/below: " + std::string(free) + " bytes free"};
    return v;
  };
  traits_.err_is_terminal = true;
  node_.script = {full("17"), full("18"), view(TransferState::kComplete, 1000)};
  EXPECT_EQ(run({"get", "run42"}), 0);
  EXPECT_THAT(err_, HasSubstr("disk full at /data/somewhere/far/below: 17 bytes free\n"));
  EXPECT_THAT(err_, Not(HasSubstr("18 bytes free"))) << "a figure that changed is no news";
}

TEST_F(WithNode, AnInterruptWithJsonEndsInDetached) {
  const std::vector<std::vector<std::string>> commands = {{"get", "run42", "--json"},
                                                          {"publish", "/x", "--name", "run42", "--json"},
                                                          {"seed", "run42", "--from", "/data", "--json"},
                                                          {"transfer", "wait", id_of(4).str(), "--json"}};
  std::uint8_t tag = 0;
  for (const auto& command : commands) {
    TransferView watched =
        view(TransferState::kFetching);  // another one each time: an earlier watcher may still be there
    watched.id = id_of(++tag);
    node_.play({watched});
    node_.signal_at_end = true;
    EXPECT_EQ(run(command), 10) << command.front() << err_;
    EXPECT_EQ(event_names().back(), "detached") << command.front();
    EXPECT_EQ(events().back()["transfer_id"], watched.id.str()) << command.front();
  }
}

TEST_F(WithNode, AnInterruptOfWhatFollowsATunerEndsInDetached) {
  node_.script = {view(TransferState::kFetching)};
  node_.tuned.transfer = id_of(1);
  node_.tuned.running = true;
  node_.signal_at_tuning = true;
  EXPECT_EQ(run({"tune", "explain", id_of(1).str(), "--follow", "--json"}), 10) << err_;
  EXPECT_EQ(event_names().back(), "detached");
  EXPECT_EQ(events().back()["transfer_id"], id_of(1).str());
}

TEST_F(WithNode, AnInterruptBeforeTheNodeAnswersSaysThatItMayGoOn) {
  const std::vector<std::vector<std::string>> commands = {{"get", "run42", "--json"},
                                                          {"seed", "run42", "--from", "/data", "--json"},
                                                          {"publish", "/x", "--name", "run42", "--json"}};
  for (const auto& command : commands) {
    node_.play({view(TransferState::kFetching)});
    node_.signal_at_begin = true;
    EXPECT_EQ(run(command), 10) << command.front() << err_;
    node_.answer();
    EXPECT_EQ(err_,
              "gridtorrent: the node has not answered yet and may go on with it: 'gridtorrent transfers' shows what "
              "it does\n");
    EXPECT_THAT(event_names(), ::testing::ElementsAre("detached")) << command.front();
    EXPECT_FALSE(events().back().contains("transfer_id"));
  }
}

TEST_F(WithNode, VerifyTakesAContentFirstAndThenAPath) {
  EXPECT_EQ(run({"verify", "run42"}), 0);
  EXPECT_EQ(run({"verify", "/data/run42"}), 0);
  EXPECT_EQ(node_.verified()[0], std::pair(std::string("run42"), std::string()));
  EXPECT_EQ(node_.verified()[1], std::pair(std::string(), std::string("/data/run42")));
  EXPECT_EQ(run({"verify", "only-a-path"}), 3) << "nothing there of that name either";
  std::ofstream("only-a-path") << "x";
  EXPECT_EQ(run({"verify", "only-a-path"}), 0);
  std::filesystem::remove("only-a-path");
  EXPECT_THAT(node_.verified().back().second, EndsWith("/only-a-path"));
}

TEST_F(WithNode, VerifyOfBytesThatAreNoPathHereSaysSo) {
  EXPECT_EQ(run({"verify", "b\xff"}), 3);
  EXPECT_EQ(err_, "gridtorrent: there is nothing called 'b\\xff' here\n");
}

TEST_F(WithNode, VerifyNamesWhatIsNotAsPublished) {
  node_.faults = {{"run42/a\n", "missing"}};
  EXPECT_EQ(run({"verify", "run42"}), 7);
  EXPECT_EQ(out_, "run42/a\\n: missing\n");
  EXPECT_THAT(err_, HasSubstr("1 file or folder of run42 is not as published"));
  EXPECT_EQ(run({"verify", "run42", "--json"}), 7);
  EXPECT_EQ(events().front()["event"], "verifying");
  EXPECT_EQ(events().back()["event"], "failed");
}

TEST_F(WithNode, VerifyPrintsSumsThatCoreutilsReads) {
  EXPECT_EQ(run({"verify", "run42", "--sha256"}), 0);
  EXPECT_EQ(out_, "\\" + std::string(64, '0') + "  run42/a\\nb\n");
}

TEST_F(WithNode, TheLimitsOfTheNodeAreSetAndShown) {
  EXPECT_EQ(run({"node", "limit"}), 0) << err_;
  EXPECT_EQ(out_, "upload unlimited, download unlimited\n");
  EXPECT_EQ(run({"node", "limit", "--upload", "200Mbit"}), 0) << err_;
  EXPECT_EQ(out_, "upload 200 Mbit/s, download unlimited\n");
  EXPECT_EQ(run({"--json", "node", "limit", "--download", "25MB"}), 0) << err_;
  EXPECT_EQ(Json::parse(out_), (Json{{"upload_bits_per_s", 200'000'000},
                                     {"download_bits_per_s", 200'000'000},
                                     {"upload_held_by", nullptr},
                                     {"download_held_by", nullptr},
                                     {"until", nullptr}}));
  EXPECT_EQ(run({"transfers"}), 0);
  EXPECT_THAT(out_, EndsWith("\nlimits of the node: upload 200 Mbit/s, download 200 Mbit/s\n"));
  EXPECT_EQ(run({"node", "limit", "--upload", "10kbit"}), 2);
  EXPECT_THAT(err_, HasSubstr("upload-limit 10.0 kbit/s is too low: give 1Mbit or more, or 0 for no limit"));
  EXPECT_EQ(node_.limits.send_bits_per_s, 200'000'000U);
}

TEST_F(WithNode, DoctorSeesTheNode) {
  EXPECT_EQ(run({"doctor"}), 0);
  EXPECT_THAT(out_, HasSubstr("alpha"));
  EXPECT_THAT(out_, HasSubstr("the node is connected to lab:7443"));
}

TEST_F(WithNode, DoctorNamesTheWayOutWhereTheServerRefusesTheNodesCredential) {
  node_.server_error = "no server there";
  EXPECT_EQ(run({"doctor"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("not connected to lab:7443: no server there"));
  EXPECT_THAT(out_, Not(HasSubstr("node reenroll")));
  credential_refused_ = true;
  EXPECT_EQ(run({"doctor"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("-> gridtorrent node reenroll"));
}

TEST_F(WithNode, WhoWaitsReadsOnceInFullThatNoNodeCanBeDialled) {
  TransferView stuck = view(TransferState::kFetching);
  stuck.waiting_for = "no path to beta: neither beta nor this node, alpha, can be dialled; open 'ufw allow 50000/tcp'";
  node_.play({stuck, stuck, view(TransferState::kSeeding, 1000)});
  EXPECT_EQ(run({"get", "run42", "--to", "/data"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr(stuck.waiting_for));
  EXPECT_EQ(err_.find(stuck.waiting_for), err_.rfind(stuck.waiting_for));
}

TEST_F(WithNode, ANodeThatComesBackIsFollowedOn) {
  node_.script = {view(TransferState::kFetching)};
  std::jthread restarter([this] {
    node_.wait_until_watched();
    server_.reset();
    node_.play({view(TransferState::kSeeding, 1000)});
    start();
  });
  EXPECT_EQ(run({"transfer", "wait", id_of(1).str()}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("the node went away; waiting for it to come back ('gridtorrent node start' starts it)"));
  EXPECT_THAT(out_, HasSubstr("verified"));
}

}  // namespace
}  // namespace gridtorrent::client::cli
