// This person's node as a service, where no systemd of theirs runs: with a played gridtorrentd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "client/profile/saved_login.h"
#include "client/service/node_service.h"
#include "client/service/run_program.h"

namespace gridtorrent::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

TEST(RunProgram, TellsOutputAndHowItEnded) {
  const auto ended = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->exit_code, 3);
  EXPECT_EQ(ended->output, "out\nerr\n");
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"})->exit_code, 128 + 9);
  EXPECT_EQ(run_program({"no-such-program-here"}).error().code, Code::kNotFound);
}

TEST(RunProgram, KeepsABoundedPartOfMuchOutput) {
  const auto ended = run_program({"sh", "-c", "head -c 1000000 /dev/zero"});
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->output.size(), 64u * 1024);
}

TEST(RunProgram, EndsWhatTakesTooLong) {
  const auto ended = run_program({"sleep", "1000"}, std::chrono::milliseconds(50));
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, Code::kTimeout);
}

TEST(RunProgram, TakesAVariableInPlaceOfItsOwn) {
  ::setenv("GT_TEST_PLACE", "old", 1);
  EXPECT_EQ(run_program({"sh", "-c", "echo $GT_TEST_PLACE"}, kShortRun, {"GT_TEST_PLACE=new"})->output, "new\n");
  ::unsetenv("GT_TEST_PLACE");
}

TEST(FirstStarts, AreQuotedAsSystemdReadsThem) {
  EXPECT_EQ(environment_text({"h:1", "/home/m x/ca\"$.pem", "gte_x", "desk"}, "/t"),
            "GRIDTORRENT_SERVER=\"h:1\"\nGRIDTORRENT_CA=\"/home/m x/ca\\\"\\$.pem\"\n"
            "GRIDTORRENT_ENROLL_TOKEN_FILE=\"/t\"\nGRIDTORRENT_NAME=\"desk\"\n");
}

TEST(FirstStarts, NameANodeOnlyWhereAPersonDid) {
  EXPECT_THAT(environment_text({"h:1", "/ca.pem", "gte_x", ""}, "/t"), Not(HasSubstr("GRIDTORRENT_NAME")));
}

class Service : public ::testing::Test {
 protected:
  Service() {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    script("systemctl", "exit 1");
    ::setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
  }
  ~Service() override {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }
  void script(const std::string& name, const std::string& body) {
    std::ofstream(folder_ + "/" + name) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(folder_ + "/" + name, fs::perms::owner_all);
  }
  NodeService service(const std::string& program) {
    return NodeService({folder_ + "/data", folder_ + "/state"}, folder_ + "/" + program);
  }
  std::string text(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }
  template <class F>
  static void wait_for(F&& holds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!holds() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(holds());
  }
  /// A systemd that has the unit, and in which each start of it fails.
  void script_failing_systemd(const std::string& last_words, const std::string& enabled = "1",
                              const std::string& how = "1") {
    script("systemctl", "echo \"$*\" >> " + folder_ +
                            "/asked\n"
                            "case \"$2\" in enable) echo 'Job for gridtorrent-node.service failed.'; exit 1;; "
                            "show) case \"$4\" in ExecMainCode) echo " +
                            how + ";; *) echo 4;; esac;; is-enabled) exit " + enabled + ";; esac");
    script("journalctl", "echo '" + last_words + "'");
  }
  const FirstStart first_{"h:1", "/ca.pem", "gte_secret", "desk"};

  std::string folder_ = (fs::temp_directory_path() / "gt-service-XXXXXX").string();
  const std::string path_ = std::getenv("PATH");
};

TEST_F(Service, AProgramThatIsNotThereIsNamed) {
  EXPECT_EQ(service("missing").start(first_).error().code, Code::kNotFound);
}

TEST_F(Service, WhatDoesNotRunCannotBeStopped) {
  EXPECT_EQ(service("node").stop().error().code, Code::kNotFound);
}

TEST_F(Service, TheLastLineOfANodeThatEndsAtOnceIsTheReason) {
  script("node", "echo first >&2; echo 'gridtorrentd: no such token' >&2; exit 4");
  NodeService node = service("node");
  ASSERT_TRUE(node.start(first_).ok());
  std::optional<NotStarted> failed;
  wait_for([&] { return failed || (failed = node.failure()); });
  EXPECT_THAT(failed->message, HasSubstr("gridtorrentd: no such token"));
  EXPECT_THAT(failed->message, HasSubstr(folder_ + "/state/log"));
}

TEST_F(Service, TheReasonIsTheNodesOwnAmongTheLinesOfOthers) {
  script("node", "echo 'gridtorrentd: no such token' >&2; echo 'info gridtorrentd serves' >&2; exit 4");
  NodeService node = service("node");
  ASSERT_TRUE(node.start(first_).ok());
  std::optional<NotStarted> failed;
  wait_for([&] { return failed || (failed = node.failure()); });
  EXPECT_THAT(failed->message, HasSubstr("gridtorrentd: no such token; its log"));
}

TEST_F(Service, TheCodeIsThatOfTheNodesOwnEnd) {
  using Ends = std::vector<std::pair<std::string, Code>>;
  for (const auto& [end, code] : Ends{{"exit 2", Code::kInvalid},
                                      {"exit 4", Code::kDenied},
                                      {"exit 6", Code::kConflict},
                                      {"exit 8", Code::kDisk},
                                      {"exit 1", Code::kUnreachable},
                                      {"kill -9 $$", Code::kUnreachable}}) {
    script("node", "echo 'gridtorrentd: so it is' >&2; " + end);
    NodeService node = service("node");
    ASSERT_TRUE(node.start(first_).ok());
    std::optional<NotStarted> failed;
    wait_for([&] { return failed || (failed = node.failure()); });
    EXPECT_EQ(failed->code, code) << end;
    EXPECT_FALSE(failed->folder_in_use);
  }
}

TEST_F(Service, ADataFolderThatAnotherNodeHasIsToldApart) {
  script("node", "echo 'gridtorrentd: the data folder /d is in use by gridtorrentd on h with pid 7' >&2; exit 6");
  NodeService node = service("node");
  ASSERT_TRUE(node.start(first_).ok());
  std::optional<NotStarted> failed;
  wait_for([&] { return failed || (failed = node.failure()); });
  EXPECT_TRUE(failed->folder_in_use);
}

TEST_F(Service, ALongLogGoesOnInANewFile) {
  script("node", "echo 'gridtorrentd: no such token' >&2; exit 4");
  fs::create_directories(folder_ + "/state");
  std::ofstream(folder_ + "/state/log") << "old";
  fs::resize_file(folder_ + "/state/log", 10'000'001);
  NodeService node = service("node");
  ASSERT_TRUE(node.start(first_).ok());
  std::optional<NotStarted> failed;
  wait_for([&] { return failed || (failed = node.failure()); });
  EXPECT_EQ(fs::file_size(folder_ + "/state/log.old"), 10'000'001u);
  EXPECT_EQ(text("state/log"), "gridtorrentd: no such token\n");
}

TEST_F(Service, VariablesOfTheShellAreNotTheNodes) {
  script("node", "env > " + folder_ + "/seen.new; mv " + folder_ + "/seen.new " + folder_ + "/seen");
  ::setenv("GRIDTORRENT_TUNER", "of-a-job", 1);
  ::setenv("GRIDTORRENT_NAME", "of-a-job", 1);
  NodeService node = service("node");
  ASSERT_TRUE(node.start(first_).ok());
  wait_for([&] { return fs::exists(folder_ + "/seen"); });
  EXPECT_THAT(text("seen"), Not(HasSubstr("of-a-job")));
  EXPECT_THAT(text("seen"), HasSubstr("GRIDTORRENT_NAME=desk\n"));
  EXPECT_THAT(text("seen"), Not(HasSubstr("XDG_RUNTIME_DIR=")));
  ::unsetenv("GRIDTORRENT_TUNER");
  ::unsetenv("GRIDTORRENT_NAME");
}

TEST_F(Service, WhatFailsUnderSystemdSaysWhyAndIsNotTriedForEver) {
  script_failing_systemd("gridtorrentd: no such token");
  NodeService node = service("node");
  ASSERT_EQ(node.keeper(), NodeKeeper::kSystemd);
  ASSERT_TRUE(node.start(first_).ok());
  const auto failed = node.failure();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, Code::kDenied);
  EXPECT_THAT(failed->message, HasSubstr("gridtorrentd: no such token"));
  EXPECT_THAT(text("asked"), HasSubstr("--user disable --now gridtorrent-node.service"));
}

TEST_F(Service, TheNumberOfASignalIsNoExitCode) {
  script_failing_systemd("gridtorrentd: out of luck", "1", "2");  // CLD_KILLED, by SIGILL
  NodeService node = service("node");
  ASSERT_TRUE(node.start(first_).ok());
  ASSERT_TRUE(node.failure());
  EXPECT_EQ(node.failure()->code, Code::kUnreachable);
}

TEST_F(Service, TheReasonIsNoLineOfTheNodeThatRanBefore) {
  script_failing_systemd("");
  script("journalctl", "echo x >> " + folder_ +
                           "/looks\n"
                           "echo 'info run42 is complete'\n"
                           "if [ $(wc -l < " +
                           folder_ + "/looks) -ge 3 ]; then echo 'gridtorrentd: no such token'; fi");
  NodeService node = service("node");
  ASSERT_TRUE(node.start(first_).ok());
  EXPECT_THAT(node.failure()->message, HasSubstr("did not start: gridtorrentd: no such token;"));
}

TEST_F(Service, WhatAPersonEnabledStaysEnabledWhereAStartFails) {
  script_failing_systemd("gridtorrentd: disk full", "0");
  NodeService node = service("node");
  ASSERT_TRUE(node.start(std::nullopt).ok());
  EXPECT_TRUE(node.failure());
  EXPECT_THAT(text("asked"), Not(HasSubstr("disable")));
}

TEST_F(Service, WhereTheJournalIsNotReadableSystemdsWordIsTheReason) {
  script_failing_systemd("");
  script("journalctl", "exit 1");
  NodeService node = service("node");
  ASSERT_TRUE(node.start(first_).ok());
  EXPECT_THAT(node.failure()->message, HasSubstr("Job for gridtorrent-node.service failed."));
}

TEST_F(Service, ASystemdThatDoesNotAnswerKeepsNothing) {
  script("systemctl", "exec sleep 1000");
  EXPECT_EQ(service("node").keeper(), NodeKeeper::kNobody);
}

TEST_F(Service, AChosenDataFolderIsKeptForTheNextStarts) {
  script("node", "exit 0");
  const auto home = [&] { return *node_home([this](const std::string&) { return std::optional(folder_); }, "login1"); };
  NodeHome chosen = home();
  EXPECT_EQ(chosen.data_folder, folder_ + "/.local/share/gridtorrent/node");
  chosen.data_folder = folder_ + "/on a disk";
  chosen.to_be_kept = true;
  NodeService node(chosen, folder_ + "/node");
  ASSERT_TRUE(node.check_place().ok());
  EXPECT_NE(home().data_folder, chosen.data_folder) << "nothing was started there";
  ASSERT_TRUE(node.start(first_).ok());
  EXPECT_EQ(home().data_folder, chosen.data_folder);
}

TEST_F(Service, ADataFolderThatOthersMayWriteInIsRefused) {
  fs::create_directories(folder_ + "/data");
  fs::permissions(folder_ + "/data", fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(service("node").check_place().error().code, Code::kDenied);
  fs::permissions(folder_ + "/data", fs::perms::owner_all);
  EXPECT_TRUE(service("node").check_place().ok());
}

TEST_F(Service, ItStartsWithWhatAFirstStartNeedsAndStopsInOrder) {
  script("node",
         "echo \"$GRIDTORRENT_SERVER $GRIDTORRENT_CA $GRIDTORRENT_NAME $(cat \"$GRIDTORRENT_ENROLL_TOKEN_FILE\")\" > " +
             folder_ + "/seen.new; mv " + folder_ + "/seen.new " + folder_ + "/seen\n" + "trap 'echo ended > " +
             folder_ + "/ended; exit 0' TERM\n" + "echo \"{\\\"pid\\\": $$}\" > \"$4.new\"; mv \"$4.new\" \"$4\"\n" +
             "while :; do sleep 0.05; done");
  NodeService node = service("node");
  EXPECT_FALSE(node.is_enrolled());
  ASSERT_TRUE(node.start(first_).ok());
  wait_for([&] { return fs::exists(folder_ + "/state/ready.json"); });
  EXPECT_EQ(node.failure(), std::nullopt);
  EXPECT_EQ(text("seen"), "h:1 /ca.pem desk gte_secret\n");
  struct stat status{};
  ASSERT_EQ(::stat((folder_ + "/state/enroll-token").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  node.forget_first_start();
  EXPECT_FALSE(fs::exists(folder_ + "/state/enroll-token"));
  const auto stopped = service("node").stop();
  EXPECT_TRUE(stopped.ok()) << stopped.error().message;
  EXPECT_EQ(text("ended"), "ended\n");
  EXPECT_EQ(service("node").stop().error().code, Code::kNotFound);
}

TEST_F(Service, ItListensAtTheSocketThatItIsToldOf) {
  script("node", "echo \"$@\" > " + folder_ + "/seen.new; mv " + folder_ + "/seen.new " + folder_ + "/seen");
  NodeService node = service("node");
  ASSERT_TRUE(node.start(first_, "/s/control.sock").ok());
  wait_for([&] { return fs::exists(folder_ + "/seen"); });
  EXPECT_THAT(text("seen"), HasSubstr(" --socket /s/control.sock\n"));
}

TEST_F(Service, WithoutAReadyFileTheLockOfThisHostNamesTheProcess) {
  script("node", "trap 'exit 0' TERM; echo $$ > " + folder_ + "/pid.new; mv " + folder_ + "/pid.new " + folder_ +
                     "/pid; while :; do sleep 0.05; done");
  NodeService node = service("node");
  ASSERT_TRUE(node.start(first_).ok());
  wait_for([&] { return fs::exists(folder_ + "/pid"); });
  const std::string pid = text("pid").substr(0, text("pid").find('\n'));
  std::ofstream(folder_ + "/data/lock") << pid << " of-another-host\n";
  EXPECT_EQ(node.stop().error().code, Code::kNotFound);
  std::ofstream(folder_ + "/data/lock") << pid << "\n";
  EXPECT_TRUE(node.stop().ok());
}

TEST_F(Service, ANodeThatIsToEnrolAgainIsKnownByItsName) {
  const NodeService node = service("gridtorrentd");
  EXPECT_EQ(node.enrolled_name(), "");
  EXPECT_TRUE(node.set_enrolment_aside().ok()) << "nothing is there: nothing to do";
  fs::create_directories(folder_ + "/data");
  std::ofstream(folder_ + "/data/credential.json") << R"({"node_name":"desk"})";
  EXPECT_TRUE(node.is_enrolled());
  EXPECT_EQ(node.enrolled_name(), "desk");
  ASSERT_TRUE(node.set_enrolment_aside().ok());
  EXPECT_FALSE(node.is_enrolled());
  EXPECT_EQ(node.enrolled_name(), "desk");
}

TEST_F(Service, AProcessNumberThatIsAnotherProgramsByNowIsLeftAlone) {
  fs::create_directories(folder_ + "/state");
  std::ofstream(folder_ + "/state/ready.json") << "{\"pid\": " << ::getpid() << "}";
  EXPECT_EQ(service("node").stop().error().code, Code::kNotFound);
}

TEST_F(Service, AServerOfThisMachineIsKnownToWhoMayReadItsToken) {
  const auto variable = [this](const std::string& name) -> std::optional<std::string> {
    if (name == "XDG_RUNTIME_DIR") return folder_;
    return std::nullopt;
  };
  fs::create_directories(folder_ + "/gridtorrent-server");
  const auto ready = [&](const std::string& json) {
    std::ofstream(folder_ + "/gridtorrent-server/ready.json") << json;
  };
  ready("no json");
  EXPECT_FALSE(server_here(variable));
  ready(R"({"address": "h:1", "ca_file": "/ca.pem", "admin_token_file": "/no/such/file"})");
  EXPECT_FALSE(server_here(variable));
  std::ofstream(folder_ + "/token") << "gtp_x\n";
  ready(R"({"address": "h:1", "ca_file": "/ca.pem", "admin_token_file": ")" + folder_ + "/token\"}");
  const auto here = server_here(variable);
  ASSERT_TRUE(here);
  EXPECT_EQ(here->address, "h:1");
  EXPECT_EQ(here->ca_file, "/ca.pem");
  EXPECT_EQ(here->token, "gtp_x");
}

}  // namespace
}  // namespace gridtorrent::client
