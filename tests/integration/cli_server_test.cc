// The command line against a real server, with a node that is played by the test.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/server_lab.h"
#include "tests/unit/cli_node_fixture.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WithServer : public WithNode {
 protected:
  /// As the holder of a token.
  int run_as(const std::string& token, std::vector<std::string> arguments) {
    const std::string file = folder_ + "/token";
    std::ofstream(file) << token << '\n';
    std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const std::vector<std::string> login{
        "--server", lab_.server().address(), "--ca", lab_.server().ca_file(), "--token-file", file};
    arguments.insert(arguments.begin(), login.begin(), login.end());
    return run(arguments);
  }

  Result<v1::RenewNodeReply> node_renews(const test::LabNode& node) {
    v1::RenewNodeRequest request;
    *request.mutable_hello() = lab_.hello();
    return lab_.call<v1::Nodes>(&v1::Nodes::Stub::RenewNode, request, node.token);
  }

  void seeds(const test::LabNode& node, const std::string& content) {
    v1::AnnounceRequest request;
    request.set_content_id(content);
    request.set_version(1);
    request.set_role(v1::AnnounceRequest::SEEDING);
    request.set_verified_bytes(5);
    request.set_total_bytes(5);
    const auto told = lab_.call<v1::Swarms>(&v1::Swarms::Stub::Announce, request, node.token);
    ASSERT_TRUE(told.ok()) << told.error().message;
  }

  /// The played node is this user's, at the real server.
  void node_is_of(const std::string& token) {
    const auto who = lab_.call<v1::Accounts>(&v1::Accounts::Stub::WhoAmI, v1::WhoAmIRequest(), token);
    ASSERT_TRUE(who.ok()) << who.error().message;
    node_.owner_id = *UserId::parse(who->user_id());
    node_.server = lab_.server().address();
    server_.reset();  // it asks for the owner once
    start();
  }

  test::ServerLab lab_;
};

TEST_F(WithServer, TuneHistoryNamesSeedersAndForgetsThemByName) {
  const std::string alice = lab_.add_user("alice"), bob = lab_.add_user("bob");
  const test::LabNode own = lab_.enroll(alice, "desk"), other = lab_.enroll(bob, "beamline");
  TransferView fetched = view(TransferState::kSeeding, 1000);
  fetched.content = *ContentId::parse(lab_.publish(bob, "run42", v1::Access::PUBLIC));
  seeds(other, fetched.content.str());
  node_is_of(alice);
  node_.play({fetched});
  const NodeId gone(NodeId::Bytes{7});
  node_.remembered.resize(3);
  node_.remembered[0].facts.node = *NodeId::parse(own.id);
  node_.remembered[1].facts.node = *NodeId::parse(other.id);
  node_.remembered[2].facts.node = gone;

  ASSERT_EQ(run_as(alice, {"tune", "history"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("desk"));
  EXPECT_THAT(out_, HasSubstr("beamline"));
  EXPECT_THAT(out_, HasSubstr(gone.str())) << "of whom nothing is known";
  EXPECT_THAT(out_, Not(HasSubstr(other.id)));
  ASSERT_EQ(run_as(alice, {"tune", "history", "--ids"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr(other.id));
  EXPECT_THAT(out_, Not(HasSubstr("beamline")));
  ASSERT_EQ(run_as(alice, {"tune", "history", "--json"}), 0) << err_;
  EXPECT_EQ(Json::parse(out_)["paths"][1]["node_id"], other.id);

  ASSERT_EQ(run_as(alice, {"tune", "history", "--forget", "beamline"}), 0) << err_;
  EXPECT_EQ(node_.forgotten, NodeId::parse(other.id).value());
  EXPECT_THAT(out_, HasSubstr("beamline"));
  EXPECT_EQ(run_as(alice, {"tune", "history", "--forget", "nobody"}), 2);
  EXPECT_THAT(err_, HasSubstr("nobody"));
}

TEST_F(WithServer, AnAccessIsChangedByTargets) {
  const std::string alice = lab_.add_user("alice"), bob = lab_.add_user("bob");
  const std::string content = lab_.publish(alice, "run42", v1::Access::PRIVATE);
  ASSERT_EQ(run_as(alice, {"access", "run42", "--add", "user:bob"}), 0) << err_;
  EXPECT_EQ(out_, "user:bob\n");
  EXPECT_EQ(run_as(bob, {"access", content, "--add", "user:alice"}), 4);
  EXPECT_EQ(run_as(alice, {"access", "run42", "--remove", "user:carol"}), 3);
  EXPECT_THAT(err_, HasSubstr("alice/run42: user:carol is not among"));
  EXPECT_EQ(run_as(alice, {"access", "run42", "--add", "public"}), 2);
  EXPECT_EQ(run_as(alice, {"access", "run42", "--set", "private", "--add", "user:bob"}), 2);
  ASSERT_EQ(run_as(alice, {"access", "run42", "--remove", "user:bob"}), 0) << err_;
  EXPECT_EQ(out_, "private\n");
}

class GetThere : public WithServer {
 protected:
  /// `get` on the user's own node desk, which nobody runs.
  int get_there(std::vector<std::string> more) {
    more.insert(more.begin(), {"get", content_, "--node", "desk"});
    return run_as(alice_, std::move(more));
  }
  v1::Task task(const std::string& id) {
    v1::GetTaskRequest request;
    request.set_task_id(id);
    const auto reply = lab_.call<v1::Tasks>(&v1::Tasks::Stub::GetTask, request, alice_);
    EXPECT_TRUE(reply.ok()) << reply.error().message;
    return reply.ok() ? reply->task() : v1::Task();
  }
  std::string new_task_id() const { return out_.substr(0, out_.find('\n')); }

  const std::string alice_ = lab_.add_user("alice");
  const test::LabNode desk_ = lab_.enroll(alice_, "desk");
  const std::string content_ = lab_.publish(alice_, "run42", v1::Access::PUBLIC);
};

TEST_F(GetThere, TakesANameOnDiskAndAWishForASeeder) {
  ASSERT_EQ(get_there({"--as", "mine", "--if-seeded", "--lanes", "3", "--detach"}), 0) << err_;
  const v1::ChosenGetTask work = task(new_task_id()).work().chosen_get();
  EXPECT_EQ(work.get().content_id(), content_);
  EXPECT_EQ(work.get().lanes(), 3);
  EXPECT_EQ(work.base_name(), "mine");
  EXPECT_TRUE(work.if_seeded());
  ASSERT_EQ(get_there({"--detach"}), 0) << err_;
  EXPECT_TRUE(task(new_task_id()).work().has_get()) << "what older nodes know goes to them as before";
}

TEST_F(GetThere, TakesAVersionAndPutsItInThePlaceOfAnEarlierOne) {
  ASSERT_EQ(get_there({"--version", "1", "--update", "--as", "mine", "--detach"}), 0) << err_;
  const v1::VersionGetTask work = task(new_task_id()).work().version_get();
  EXPECT_EQ(work.get().get().content_id(), content_);
  EXPECT_EQ(work.get().base_name(), "mine");
  EXPECT_EQ(work.version(), 1u);
  EXPECT_TRUE(work.update());
  ASSERT_EQ(run_as(alice_, {"get", "run42@1", "--node", "desk", "--detach"}), 0) << err_;
  EXPECT_EQ(task(new_task_id()).work().version_get().version(), 1u);
}

TEST_F(GetThere, APublishThereMayBeOfANewVersion) {
  EXPECT_EQ(run_as(alice_, {"publish", "raw:a", "--update", "nothing", "--node", "desk", "--detach"}), 3);
  ASSERT_EQ(
      run_as(alice_, {"publish", "raw:a", "--update", "run42", "--exclude", "*.tmp", "--node", "desk", "--detach"}), 0)
      << err_;
  const v1::VersionPublishTask work = task(new_task_id()).work().version_publish();
  EXPECT_EQ(work.update(), "alice/run42");
  EXPECT_EQ(work.publish().publish().root_path(), "raw:a");
  EXPECT_EQ(work.publish().publish().name() + work.publish().publish().access(), "");
  EXPECT_THAT(work.publish().rules().exclude(), testing::ElementsAre("*.tmp"));
  habits("[publish]\nexclude = [\"*.bak\"]\nlicense = \"CC0-1.0\"\n");
  ASSERT_EQ(run_as(alice_, {"publish", "raw:a", "--update", "run42", "--node", "desk", "--detach"}), 0) << err_;
  const v1::ChosenPublishTask usual = task(new_task_id()).work().version_publish().publish();
  EXPECT_THAT(usual.rules().exclude(), testing::ElementsAre("*.bak")) << "the node there may remember none";
  EXPECT_EQ(usual.publish().license(), "");
  habits("");
  ASSERT_EQ(run_as(alice_, {"publish", "raw:a", "--update", "run42", "--node", "desk", "--detach"}), 0) << err_;
  EXPECT_FALSE(task(new_task_id()).work().version_publish().publish().has_rules()) << "those of the version before";
  ASSERT_EQ(run_as(alice_, {"publish", "raw:a", "--update", "run42", "--links", "skip", "--node", "desk", "--detach"}),
            0)
      << err_;
  EXPECT_TRUE(task(new_task_id()).work().version_publish().publish().has_rules());
}

TEST_F(GetThere, ANodeOfAnOlderVersionIsNamedWithWhatItDoesNotKnow) {
  ASSERT_EQ(get_there({"--as", "mine", "--detach"}), 0) << err_;
  const std::string id = new_task_id();
  v1::ReportTaskRequest report;
  report.set_task_id(id);
  report.set_state("unsupported");
  ASSERT_TRUE(lab_.call<v1::Tasks>(&v1::Tasks::Stub::ReportTask, report, desk_.token).ok());
  EXPECT_EQ(run_as(alice_, {"task", "wait", id}), 1);
  EXPECT_THAT(err_, HasSubstr("the node desk is of an older version and does not know --as and --if-seeded"));
}

TEST_F(GetThere, IsWaitedForNoLongerThanAsked) {
  EXPECT_EQ(get_there({"--timeout", "1ms"}), 9);
  EXPECT_THAT(err_, HasSubstr("node desk is offline, and was"));
  EXPECT_THAT(err_, HasSubstr("did not end in time: it goes on; 'gridtorrent task cancel t_"));
  EXPECT_EQ(run_as(alice_, {"get", content_, "--node", "@all", "--timeout", "1s"}), 2);
  EXPECT_THAT(err_, HasSubstr("--timeout"));
}

TEST_F(GetThere, HabitsOfThisMachineSayNothingToAnother) {
  habits("[get]\nto = \"/data\"\nallow-hidden = true\ntimeout = \"1h\"\n");
  ASSERT_EQ(get_there({"--detach"}), 0) << err_;
  EXPECT_EQ(task(new_task_id()).work().get().root_path(), "");
  EXPECT_EQ(run_as(alice_, {"get", content_, "--node", "@all"}), 0) << err_;
  EXPECT_EQ(get_there({"--to", "/data"}), 2) << "what is given is asked for";
  habits("[get]\nto = \"scratch:in\"\n");
  ASSERT_EQ(get_there({"--detach"}), 0) << err_;
  EXPECT_EQ(task(new_task_id()).work().get().root_path(), "scratch:in");
}

TEST_F(GetThere, RefusesANameThatIsNoUtf8) {
  EXPECT_EQ(get_there({"--as", "run\xff"}), 2);
  EXPECT_THAT(err_, HasSubstr("--as: 'run\\xff' is not UTF-8"));
  EXPECT_EQ(get_there({"--to", "in:\xff"}), 2);
  EXPECT_THAT(err_, HasSubstr("--to: 'in:\\xff' is not UTF-8"));
}

TEST_F(WithServer, AHabitMakesNoCommandUnusableAndChangesNothing) {
  const std::string alice = lab_.add_user("alice");
  lab_.publish(alice, "run42", v1::Access::PUBLIC);
  habits("[show]\nlimit = 200\ntree = true\nwatch = true\n");
  EXPECT_EQ(run_as(alice, {"show", "run42"}), 0) << err_;
  EXPECT_EQ(run_as(alice, {"show", "run42", "--limit", "5"}), 2);
  EXPECT_THAT(err_, HasSubstr("limit is of --files"));
  world_.variables["GRIDTORRENT_NAME"] = "node7";
  ASSERT_EQ(run_as(alice, {"unpublish", "run42"}), 0) << err_;
  ASSERT_EQ(run_as(alice, {"content", "restore", "run42"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("alice/run42 is published again"));
}

TEST_F(WithServer, WhatIsPublishedIsNotRestored) {
  const std::string alice = lab_.add_user("alice");
  const std::string id = lab_.publish(alice, "run42", v1::Access::PUBLIC);
  ASSERT_EQ(run_as(alice, {"content", "restore", "run42"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("alice/run42 is published already (" + id + ")"));
}

TEST_F(WithServer, ALicenseIsWrittenEitherWay) {
  const std::string alice = lab_.add_user("alice");
  lab_.publish(alice, "run42", v1::Access::PUBLIC);
  for (const char* word : {"licence", "license"})
    EXPECT_EQ(run_as(alice, {"content", word, "run42", "CC0-1.0"}), 0) << err_;
}

TEST_F(WithServer, WhatIsForAdministratorsSaysSo) {
  EXPECT_EQ(run_as(lab_.add_user("alice"), {"user", "list"}), 4);
  EXPECT_THAT(err_, HasSubstr("it takes an administrator"));
}

TEST_F(WithServer, AVersionThatNobodyServesIsToldAtOnce) {
  const std::string alice = lab_.add_user("alice");
  TransferView waits = view(TransferState::kFetching);
  waits.content = *ContentId::parse(lab_.publish(alice, "run42", v1::Access::PUBLIC));
  waits.version = 1;
  node_is_of(alice);
  node_.play({waits});
  EXPECT_EQ(run_as(alice, {"get", "run42@1", "--timeout", "50ms"}), 9) << err_;
  EXPECT_THAT(err_, HasSubstr("warning: nobody serves version 1 now; it is waited for\n"));
  seeds(lab_.enroll(alice, "desk"), waits.content.str());
  EXPECT_EQ(run_as(alice, {"get", "run42@1", "--timeout", "50ms"}), 9) << err_;
  EXPECT_THAT(err_, Not(HasSubstr("nobody serves")));
}

TEST_F(WithServer, ALogoutLeavesTheTokenOfTheServerHereAlone) {
  std::filesystem::create_directories(folder_ + "/gridtorrent-server");
  std::ofstream(folder_ + "/gridtorrent-server/ready.json") << lab_.server().ready_json();
  const auto is_good = [&] {
    return lab_.call<v1::Accounts>(&v1::Accounts::Stub::WhoAmI, v1::WhoAmIRequest(), lab_.admin_token()).ok();
  };
  EXPECT_EQ(run({"logout"}), 0) << err_;
  EXPECT_TRUE(is_good()) << "nobody was logged in";
  ASSERT_EQ(run({"whoami"}), 0) << err_;
  EXPECT_EQ(run({"logout"}), 0) << err_;
  EXPECT_TRUE(is_good()) << "others log in by it, too";
}

TEST_F(WithServer, ALogoutKeepsServerAndCaForTheNextLogin) {
  const std::string alice = lab_.add_user("alice"), bob = lab_.add_user("bob");
  ASSERT_EQ(run_as(alice, {"login"}), 0) << err_;
  ASSERT_EQ(run({"logout"}), 0) << err_;
  EXPECT_EQ(run({"whoami"}), 4);
  EXPECT_THAT(err_, HasSubstr("not logged in to " + lab_.server().address() + ": log in with 'gridtorrent login'"));
  std::ofstream(folder_ + "/token") << bob << '\n';
  ASSERT_EQ(run({"login", "--token-file", folder_ + "/token"}), 0) << err_;
  ASSERT_EQ(run({"whoami"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("bob ("));
}

TEST_F(WithServer, ALinkWithoutACodeIsForWhoHasAnAccount) {
  const std::string alice = lab_.add_user("alice");
  EXPECT_EQ(run_as(alice, {"invite", "--no-code"}), 2) << "of this host alone";
  EXPECT_THAT(err_, HasSubstr("--address"));
  EXPECT_EQ(run_as(alice, {"invite", "--no-code", "--address", "lab.example.org:0"}), 2);
  EXPECT_EQ(run_as(alice, {"invite", "mia", "--no-code", "--address", "lab:7443"}), 2);
  EXPECT_THAT(err_, HasSubstr("leave out USER"));
  ASSERT_EQ(run_as(alice, {"invite", "--no-code", "--address", "grid_lab:7443"}), 0) << err_;
  EXPECT_THAT(out_, testing::MatchesRegex("gridtorrent:grid_lab:7443\\?ca=[0-9a-f]+\n"));
  EXPECT_EQ(run_as(lab_.admin_token(), {"invite", "alice"}), 6);
  EXPECT_THAT(err_, HasSubstr("'gridtorrent invite --no-code'"));
}

TEST_F(WithServer, WhoDisablesOrEnablesAUserReadsWhatBecomesOfTheirNodes) {
  const std::string alice = lab_.add_user("alice");
  const test::LabNode node = lab_.enroll(alice, "n1");
  ASSERT_EQ(run_as(lab_.admin_token(), {"user", "disable", "alice"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("the credentials of nodes have ended for good"));
  EXPECT_THAT(err_, HasSubstr("'gridtorrent user enable alice' lets them in again"));
  EXPECT_THAT(err_, HasSubstr("'gridtorrent node reenroll'"));
  ASSERT_EQ(run_as(lab_.admin_token(), {"user", "enable", "alice"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("after a new login"));
  EXPECT_THAT(err_, HasSubstr("'gridtorrent node reenroll'"));
  const auto refused = node_renews(node);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUnauthenticated);
}

}  // namespace
}  // namespace gridtorrent::client::cli
