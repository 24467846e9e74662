#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "client/cli/local_node.h"
#include "tests/unit/cli_fixture.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(NodeNames, AreOfTheHostTheFirstLabel) {
  EXPECT_EQ(node_name_of("Login1.cluster.example.org"), "login1");
  EXPECT_EQ(node_name_of("-mia's_laptop"), "miaslaptop");
  EXPECT_EQ(node_name_of(std::string(64, 'a')).size(), 32u);
}

TEST(NodeNames, AreLeftToTheServerWhereTheHostsFitsNone) {
  EXPECT_EQ(node_name_of("x"), "") << "a name has two characters";
  EXPECT_EQ(node_name_of("ü.example.org"), "");
  EXPECT_EQ(node_name_of(""), "");
}

/// A second passes with each look: what waits for half a minute ends soon.
class HastyClock final : public Clock {
 public:
  WallTime wall() const override { return {1'700'000'000'000}; }
  MonoTime mono() const override { return MonoTime(std::chrono::seconds(++looks_)); }

 private:
  mutable int looks_ = 0;
};

/// A person with an enrolled node, and a systemd that says that it has started it; it listens nowhere.
class UnderSystemd : public CommandLine {
 protected:
  UnderSystemd() {
    namespace fs = std::filesystem;
    const std::string data = folder_ + "/.local/share/gridtorrent/node", programs = folder_ + "/bin";
    fs::create_directories(data);
    fs::create_directories(programs);
    fs::permissions(data, fs::perms::owner_all);
    std::ofstream(data + "/credential.json") << R"({"node_name":"desk"})";
    std::ofstream(programs + "/systemctl") << "#!/bin/sh\necho \"$*\" >> " << folder_ << "/asked\n";
    fs::permissions(programs + "/systemctl", fs::perms::owner_all);
    ::setenv("PATH", (programs + ":" + path_).c_str(), 1);
  }
  ~UnderSystemd() override { ::setenv("PATH", path_.c_str(), 1); }
  /// What systemctl was asked for, line by line.
  std::string asked() const {
    std::ifstream file(folder_ + "/asked");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string path_ = std::getenv("PATH");
  const std::string own_ = folder_ + "/own.sock", other_ = folder_ + "/other.sock";
};

TEST_F(UnderSystemd, AStartAtAnotherSocketThanTheUnitsSaysSoAtOnce) {
  const options::Outcome outcome = world_.parse({"node", "start", "--socket", other_}, program());
  ASSERT_TRUE(std::holds_alternative<options::Parsed>(outcome));
  HastyClock clock;
  Terminal terminal({}, clock, stdout, stderr);
  Context context(std::get<options::Parsed>(outcome), terminal, clock);
  const Status started = ensure_node_runs(context, {});
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, Code::kConflict) << started.error().message;
  EXPECT_THAT(started.error().message, HasSubstr("does not listen at " + other_));
  EXPECT_THAT(started.error().message, HasSubstr("into gridtorrentd.toml"));
}

TEST_F(UnderSystemd, WorkStartsTheNodeWhereTheConfigurationNamesItsSocket) {
  habits("socket = \"" + own_ + "\"\n");
  EXPECT_EQ(run({"get", "mia/run42"}), 6) << err_;
  EXPECT_THAT(asked(), HasSubstr("enable --now gridtorrent-node.service"));
}

TEST_F(UnderSystemd, WorkStartsNoNodeWhereTheCommandLineOrAVariableNamesTheSocket) {
  habits("socket = \"" + own_ + "\"\n");
  EXPECT_EQ(run({"get", "mia/run42", "--socket", other_}), 5);
  EXPECT_THAT(err_, HasSubstr("no node answers at " + other_));
  world_.variables["GRIDTORRENT_SOCKET"] = other_;
  EXPECT_EQ(run({"get", "mia/run42"}), 5);
  EXPECT_THAT(err_, HasSubstr("no node answers at " + other_));
  EXPECT_THAT(asked(), Not(HasSubstr("enable")));
}

}  // namespace
}  // namespace gridtorrent::client::cli
