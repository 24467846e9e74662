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

TEST(FirstStarts, AreQuotedAsSystemdReadsThem) {
  EXPECT_EQ(environment_text({"h:1", "/home/m x/ca\"$.pem", "gte_x", "desk"}, "/t"),
            "GRIDTORRENT_SERVER=\"h:1\"\nGRIDTORRENT_CA=\"/home/m x/ca\\\"\\$.pem\"\n"
            "GRIDTORRENT_ENROLL_TOKEN_FILE=\"/t\"\nGRIDTORRENT_NAME=\"desk\"\n");
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
  std::optional<Error> failed;
  wait_for([&] { return failed || (failed = node.failure()); });
  EXPECT_THAT(failed->message, HasSubstr("gridtorrentd: no such token"));
  EXPECT_THAT(failed->message, HasSubstr(folder_ + "/state/log"));
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
