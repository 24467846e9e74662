// Where a person's own node has its data, and where commands find it.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "client/profile/node_home.h"
#include "client/profile/saved_login.h"
#include "common/unique_fd.h"
#include "tests/support/temp_folder.h"

namespace gridtorrent::client {
namespace {

namespace fs = std::filesystem;

class OwnNode : public ::testing::Test {
 protected:
  OwnNode() {
    fs::create_directories(session_ + "/gridtorrent");
    fs::create_directories(data_);
  }

  ProfileStore::Variable variable() const {
    return [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    };
  }
  /// As long as what it returns lives; the file stays.
  static UniqueFd listen_at(const std::string& path) {
    UniqueFd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << path;
    EXPECT_EQ(::listen(listening.get(), 8), 0);
    return listening;
  }

  const testing::TempFolder folder_;
  const std::string session_ = folder_ / "session", data_ = folder_ / ".local/share/gridtorrent/node";
  const std::string in_session_ = session_ + "/gridtorrent/control.sock", in_data_ = data_ + "/control.sock";
  std::map<std::string, std::string> variables_{{"HOME", folder_.path()}, {"XDG_RUNTIME_DIR", session_}};
};

TEST_F(OwnNode, NeedsAHome) {
  variables_.clear();
  EXPECT_EQ(node_home(variable()).error().code, Code::kInvalid);
}

TEST_F(OwnNode, HasADataFolderOfItsOwnOnEachHostThatSharesTheHome) {
  const NodeHome first = node_home(variable(), "login1").value();
  EXPECT_EQ(first.data_folder, data_);
  fs::create_directories(first.state_folder);
  std::ofstream(chosen_folder_file(first)) << chosen_folder_text("/scratch/mia x").value();
  EXPECT_EQ(node_home(variable(), "login1")->data_folder, "/scratch/mia x");
  const NodeHome second = node_home(variable(), "login2").value();
  EXPECT_EQ(second.data_folder, data_);
  EXPECT_NE(second.state_folder, first.state_folder);
}

TEST_F(OwnNode, HasNoDataFolderThatSystemdWouldReadOtherwise) {
  for (const char* path : {"/a\"b", "/a\\b", "/a$b", "/a`b", "/a\nb"}) {
    EXPECT_EQ(chosen_folder_text(path).error().code, Code::kInvalid) << path;
  }
}

TEST_F(OwnNode, HasASessionWhereItsVariableIsMissingOrAnothers) {
  const std::string all = folder_ / "run", own = all + "/" + std::to_string(::geteuid());
  EXPECT_EQ(own_runtime_folder(variable(), all), session_);
  variables_.erase("XDG_RUNTIME_DIR");
  EXPECT_EQ(own_runtime_folder(variable(), all), std::nullopt);
  fs::create_directories(own);
  EXPECT_EQ(own_runtime_folder(variable(), all), own) << "cron, sudo";
  std::string anothers = "/";
  if (::geteuid() == 0) {
    anothers = folder_ / "anothers";
    fs::create_directories(anothers);
    ASSERT_EQ(::chown(anothers.c_str(), 1, 1), 0);
  }
  variables_["XDG_RUNTIME_DIR"] = anothers;
  EXPECT_EQ(own_runtime_folder(variable(), all), own) << "su, runuser";
  variables_["XDG_RUNTIME_DIR"] = folder_ / "gone";
  EXPECT_EQ(own_runtime_folder(variable(), all), own) << "after a logout";
}

TEST_F(OwnNode, IsFoundWhereItListens) {
  EXPECT_EQ(default_control_socket(variable()).value(), in_session_) << "none answers: this is the first to say";
  const UniqueFd by_start = listen_at(in_data_);
  EXPECT_EQ(default_control_socket(variable()).value(), in_data_);
  {
    const UniqueFd by_systemd = listen_at(in_session_);
    EXPECT_EQ(default_control_socket(variable()).value(), in_session_);
  }
  EXPECT_EQ(default_control_socket(variable()).value(), in_data_) << "the other file is left behind";
}

TEST_F(OwnNode, IsFoundInAFolderThatIsNotOnesOwn) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::chown(session_.c_str(), 1, 1), 0);
  EXPECT_NE(default_control_socket(variable()).value(), in_session_) << "none answers";
  const UniqueFd by_hand = listen_at(in_session_);
  EXPECT_EQ(default_control_socket(variable()).value(), in_session_);
  ASSERT_EQ(::chown(in_session_.c_str(), 1, 1), 0);
  EXPECT_NE(default_control_socket(variable()).value(), in_session_) << "another's socket";
}

}  // namespace
}  // namespace gridtorrent::client
