// `publish` against a node that is played by the test.
#include <gmock/gmock.h>

#include "tests/unit/cli_node_fixture.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::HasSubstr;

using Publishing = WithNode;

TEST_F(Publishing, PublishDetachesToo) {
  node_.script = {view(TransferState::kHashing)};
  EXPECT_EQ(run({"publish", "x", "--name", "run42", "--detach"}), 0) << err_;
  EXPECT_EQ(out_, id_of(1).str() + "\n");
  EXPECT_EQ(node_.started().size(), 1U);
  EXPECT_TRUE(node_.published().empty());
}

TEST_F(Publishing, PublishTellsHashingWarningsAndTheEnd) {
  node_.script = {view(TransferState::kHashing), view(TransferState::kHashing, 500),
                  view(TransferState::kSeeding, 1000)};
  EXPECT_EQ(run({"publish", "x\xff", "--name", "run42", "--access", "public", "--tag", "a", "--tag", "b", "--json"}), 0)
      << err_;
  EXPECT_EQ(event_names().front(), "hashing");
  EXPECT_EQ(event_names().back(), "published");
  EXPECT_EQ(events().back()["access"]["level"], "public");
  EXPECT_EQ(events().back()["skipped"], 1);
  EXPECT_EQ(node_.started()[0].path, std::filesystem::current_path().string() + "/x\xff");
  EXPECT_THAT(node_.started()[0].request.tags, ::testing::ElementsAre("a", "b"));
  EXPECT_EQ(node_.published()[0].request.request_id, "first") << "of the command that began it";
  EXPECT_THAT(err_, HasSubstr("warning: skipped the link x"));
}

TEST_F(Publishing, PublishIsPrivateUnlessSaidOtherwise) {
  node_.script = {view(TransferState::kSeeding, 1000)};
  EXPECT_EQ(run({"publish", "/x", "--name", "run42"}), 0);
  EXPECT_EQ(node_.started()[0].request.access, "private");
  EXPECT_THAT(err_, HasSubstr("gridtorrent access --set public mia/run42\n"))
      << "somebody else may have another one of that name";
}

TEST_F(Publishing, PublishSaysWhatItWaitsFor) {
  TransferView waits = view(TransferState::kQueued);
  waits.publishing = PublishState{"first", PublishPhase::kWait, 0, 0};
  waits.waiting_for = "server down, retrying: no server at lab:7443";
  node_.script = {waits, waits, view(TransferState::kSeeding, 1000)};
  EXPECT_EQ(run({"publish", "/x", "--name", "run42", "--json"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("server down, retrying: no server at lab:7443\n"));
}

TEST_F(Publishing, APublishThatFailedSaysWhyAndWhatCanBeDone) {
  TransferView failed = view(TransferState::kFailed);
  failed.error = Error{Code::kConflict, "'/x/a' changed while it was being hashed"};
  node_.script = {view(TransferState::kHashing), failed};
  EXPECT_EQ(run({"publish", "/x", "--name", "run42"}), 6);
  EXPECT_THAT(err_, HasSubstr("'/x/a' changed while it was being hashed (the same command tries again"));
  EXPECT_TRUE(node_.published().empty());
}

TEST_F(Publishing, AnOlderNodePublishesAsLongAsSomebodyWaits) {
  node_.start_error = Error{Code::kUnsupported, "unknown method"};
  EXPECT_EQ(run({"publish", "/x", "--name", "run42", "--detach"}), 1);
  EXPECT_THAT(err_, HasSubstr("this node is of an older version"));
  EXPECT_TRUE(node_.published().empty());
  EXPECT_EQ(run({"publish", "/x", "--name", "run42"}), 0) << err_;
  EXPECT_EQ(node_.published().size(), 1U);
}

TEST_F(Publishing, PublishWithAnOlderNodeWaitsForTheServerWithOneRequestId) {
  node_.start_error = Error{Code::kUnsupported, "unknown method"};
  node_.publish_failures = 1;
  EXPECT_EQ(run({"publish", "/x", "--name", "run42"}), 0);
  ASSERT_EQ(node_.published().size(), 2U);
  EXPECT_EQ(node_.published()[0].request.request_id, node_.published()[1].request.request_id);
  EXPECT_THAT(err_, HasSubstr("no server at lab:7443; trying again\n"));
}

TEST_F(Publishing, PublishThatIsRefusedIsNotTriedAgain) {
  node_.start_error = Error{Code::kConflict, "the name run42 is taken"};
  EXPECT_EQ(run({"publish", "/x", "--name", "run42"}), 6);
  EXPECT_EQ(err_, "gridtorrent: the name run42 is taken\n");
  EXPECT_TRUE(node_.published().empty());
}

TEST_F(Publishing, WhatWouldFailAgainIsToBeMendedFirst) {
  TransferView failed = view(TransferState::kFailed);
  failed.error = Error{Code::kInvalid, "'/x' is a FIFO and cannot be published"};
  node_.script = {view(TransferState::kHashing), failed};
  EXPECT_EQ(run({"publish", "/x", "--name", "run42"}), 2);
  EXPECT_EQ(err_,
            "gridtorrent: '/x' is a FIFO and cannot be published (once that is mended, the same command tries "
            "again; 'gridtorrent transfer cancel " +
                id_of(1).str() + "' gives it up)\n");
}

TEST_F(Publishing, AnInterruptLetsThePublishGoOn) {
  node_.script = {view(TransferState::kHashing)};
  node_.signal_at_end = true;
  EXPECT_EQ(run({"publish", "/x", "--name", "run42"}), 10);
  EXPECT_EQ(err_, "gridtorrent: the transfer " + id_of(1).str() +
                      " is no longer watched: it goes on; 'gridtorrent transfer cancel " + id_of(1).str() +
                      "' ends it\n");
  EXPECT_TRUE(node_.asked.empty());
}

TEST_F(Publishing, AnInterruptStopsThePublishOfAnOlderNode) {
  node_.start_error = Error{Code::kUnsupported, "unknown method"};
  node_.stop_publish_by_signal = true;
  EXPECT_EQ(run({"publish", "/x", "--name", "run42"}), 10);
  EXPECT_EQ(err_, "gridtorrent: publishing was stopped; the same command goes on where it was\n");
}

TEST_F(Publishing, PublishOfANewVersionKeepsWhatIsSaidOfTheContent) {
  node_.script = {view(TransferState::kSeeding, 1000)};
  EXPECT_EQ(run({"publish", "/x", "--update", "run42", "--links", "keep", "--exclude", "*.tmp"}), 0) << err_;
  const PublishJob job = node_.started().at(0);
  EXPECT_TRUE(job.request.update);
  EXPECT_EQ(job.request.name, "run42");
  EXPECT_EQ(job.request.access, "");
  EXPECT_EQ(job.rules.links, LinkRule::kKeep);
  EXPECT_THAT(job.rules.exclude, ::testing::ElementsAre("*.tmp"));
}

TEST_F(Publishing, PublishOfANewVersionSaysWhatItHadToRead) {
  node_.script = {view(TransferState::kSeeding, 1000)};
  EXPECT_EQ(run({"publish", "/x", "--update", "run42"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("published run42, version 2 ("));
  EXPECT_THAT(err_, HasSubstr("900 B in 9 files did not change; 100 B were read\n"));
  node_.update_reads = 350;
  EXPECT_EQ(run({"publish", "/x", "--update", "run42"}), 0) << err_;
  EXPECT_THAT(err_,
              HasSubstr("350 B were read, 250 B of them from files that did not change, since their pieces moved"));
}

TEST_F(Publishing, HabitsSayNothingOfANewVersion) {
  habits("[publish]\naccess = \"public\"\ndescription = \"d\"\nlicense = \"CC0-1.0\"\ntag = [\"raw\"]\n");
  world_.variables["GRIDTORRENT_NAME"] = "node7";
  node_.script = {view(TransferState::kSeeding, 1000)};
  ASSERT_EQ(run({"publish", "/x", "--update", "run42"}), 0) << err_;
  const PublishJob job = node_.started().at(0);
  EXPECT_EQ(job.request.name, "run42");
  EXPECT_EQ(job.request.access + job.request.description + job.request.license, "");
  EXPECT_TRUE(job.request.tags.empty());
  EXPECT_EQ(run({"publish", "/x", "--update", "run42", "--license", "CC0-1.0"}), 2) << "what is given is asked for";
  ASSERT_EQ(run({"publish", "/x", "--name", "new"}), 0) << err_;
  EXPECT_EQ(node_.started().back().request.license, "CC0-1.0");
}

TEST_F(Publishing, ANewVersionIsPublishedByTheRulesOfTheOneBeforeUnlessOthersAreGiven) {
  habits("[publish]\nexclude = [\"*.tmp\"]\n");
  node_.script = {view(TransferState::kSeeding, 1000)};
  node_.rules_as_before = "--links keep --exclude secrets";
  ASSERT_EQ(run({"publish", "/x", "--update", "run42"}), 0) << err_;
  EXPECT_TRUE(node_.started().back().as_before);
  EXPECT_THAT(node_.started().back().rules.exclude, ::testing::ElementsAre("*.tmp")) << "where nothing is remembered";
  EXPECT_THAT(err_, HasSubstr("by the rules of the version before: --links keep --exclude secrets; "));
  ASSERT_EQ(run({"publish", "/x", "--update", "run42", "--json"}), 0) << err_;
  EXPECT_EQ(events().back()["rules_as_before"], "--links keep --exclude secrets");
  for (const std::vector<std::string>& given :
       std::vector<std::vector<std::string>>{{"--links", "skip"}, {"--exclude", "out"}, {"--include", "*.nc"}}) {
    ASSERT_EQ(run({"publish", "/x", "--update", "run42", given[0], given[1]}), 0) << err_;
    EXPECT_FALSE(node_.started().back().as_before) << given[0];
  }
  ASSERT_EQ(run({"publish", "/x", "--update", "run42", "--dry-run"}), 0) << err_;
  EXPECT_EQ(node_.scanned.as_before, "run42");
  EXPECT_THAT(err_, HasSubstr("by the rules of the version before: --exclude secrets; "));
  ASSERT_EQ(run({"publish", "/x", "--update", "run42", "--dry-run", "--links", "skip"}), 0) << err_;
  EXPECT_EQ(node_.scanned.as_before, "");
}

TEST_F(Publishing, PublishNeedsANameOrAContentToUpdate) {
  EXPECT_EQ(run({"publish", "/x"}), 2);
  EXPECT_THAT(err_, HasSubstr("--name NAME is missing"));
  EXPECT_EQ(run({"publish", "/x", "--update", "run42", "--name", "other"}), 2);
  EXPECT_EQ(run({"publish", "/x", "--update", "run42", "--access", "public"}), 2);
  EXPECT_EQ(run({"publish", "/x", "--update", "run42", "--tag", "a"}), 2);
  EXPECT_EQ(run({"publish", "data:x", "--update", "run42", "--tag", "a", "--node", "alpha"}), 2);
  EXPECT_TRUE(node_.started().empty());
}

}  // namespace
}  // namespace gridtorrent::client::cli
