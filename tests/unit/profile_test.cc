#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "client/profile/profile.h"

namespace gridtorrent::client {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Profiles : public ::testing::Test {
 protected:
  Profiles() {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    std::ofstream(folder_ + "/ca.pem") << "certificate\n";
  }
  ~Profiles() override { fs::remove_all(folder_); }

  Result<ProfileStore> open(const std::string& name = "default") const {
    return ProfileStore::open(name, [this](const std::string& variable) -> std::optional<std::string> {
      if (variable == "XDG_CONFIG_HOME") return folder_ + "/config";
      if (variable == "XDG_STATE_HOME") return folder_ + "/state";
      return std::nullopt;
    });
  }
  Profile sample() const { return {"h:1", folder_ + "/ca.pem", "mia", "u_1"}; }

  std::string folder_ = (fs::temp_directory_path() / "gt-profile-XXXXXX").string();
};

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

TEST_F(Profiles, RefuseNamesThatAreNoPlainWords) {
  for (const char* name : {"", ".", "..", "../x", "a/b", "a b", ".hidden"}) EXPECT_FALSE(open(name).ok()) << name;
}

TEST_F(Profiles, NeedAPlaceToBe) {
  const auto store = ProfileStore::open("default", [](const std::string&) { return std::nullopt; });
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().message, HasSubstr("XDG_CONFIG_HOME"));
}

TEST_F(Profiles, AreEmptyBeforeTheFirstLogin) {
  const ProfileStore store = open().value();
  EXPECT_FALSE(store.load().value().has_value());
  EXPECT_FALSE(store.load_token().value().has_value());
  EXPECT_TRUE(store.remove().ok());
}

TEST_F(Profiles, ComeBackAsTheyWereSaved) {
  const ProfileStore store = open().value();
  ASSERT_TRUE(store.save(sample(), "gtp_secret").ok());
  const auto profile = store.load().value();
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->server, "h:1");
  EXPECT_EQ(profile->user, "mia");
  EXPECT_EQ(profile->user_id, "u_1");
  EXPECT_EQ(store.load_token().value().value(), "gtp_secret");
  EXPECT_EQ(fs::file_size(profile->ca_file), fs::file_size(folder_ + "/ca.pem"));
  EXPECT_FALSE(open("other").value().load().value().has_value());
}

TEST_F(Profiles, KeepTheTokenFromOthers) {
  const mode_t before = ::umask(0);
  const ProfileStore store = open().value();
  ASSERT_TRUE(store.save(sample(), "gtp_secret").ok());
  ::umask(before);
  const std::string token = folder_ + "/state/gridtorrent/tokens/default";
  EXPECT_EQ(mode_of(token), 0600U);
  EXPECT_EQ(mode_of(folder_ + "/state/gridtorrent/tokens"), 0700U);
  std::ifstream profile(folder_ + "/config/gridtorrent/profiles/default.json");
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(profile), {}), ::testing::Not(HasSubstr("gtp_secret")));

  for (const mode_t mode : {0640U, 0604U}) {
    ::chmod(token.c_str(), mode);
    const auto refused = store.load_token();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Code::kDenied);
    EXPECT_THAT(refused.error().message, HasSubstr("chmod 600"));
    EXPECT_THAT(refused.error().message, ::testing::Not(HasSubstr("gtp_secret")));
  }
}

TEST_F(Profiles, ShowADevicesSecretToItsUsersServerAlone) {
  const ProfileStore store = open().value();
  EXPECT_EQ(store.load_device_secret("h:1", "mia").value(), "");
  ASSERT_TRUE(store.save_device({"h:1", "mia", "gtd_secret"}).ok());
  EXPECT_EQ(store.load_device_secret("h:1", "mia").value(), "gtd_secret");
  EXPECT_EQ(store.load_device_secret("h:2", "mia").value(), "");
  EXPECT_EQ(store.load_device_secret("h:1", "bob").value(), "");
  const std::string file = folder_ + "/state/gridtorrent/devices/default";
  EXPECT_EQ(mode_of(file), 0600U);
  ASSERT_TRUE(store.save(sample(), "one").ok());
  ASSERT_TRUE(store.remove().ok());
  EXPECT_EQ(store.load_device_secret("h:1", "mia").value(), "gtd_secret") << "who logs out has not lost the device";
  ::chmod(file.c_str(), 0644);
  const auto refused = store.load_device_secret("h:1", "mia");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("chmod 600"));
  ::chmod(file.c_str(), 0600);
  std::ofstream(file, std::ios::trunc) << "{";
  EXPECT_EQ(store.load_device_secret("h:1", "mia").value(), "") << "a damaged one is none";
}

TEST_F(Profiles, AreReplacedAndRemovedWhole) {
  const ProfileStore store = open().value();
  ASSERT_TRUE(store.save(sample(), "one").ok());
  ASSERT_TRUE(store.save(sample(), "two").ok());
  EXPECT_EQ(store.load_token().value().value(), "two");
  ASSERT_TRUE(store.remove().ok());
  EXPECT_FALSE(store.load().value().has_value());
  EXPECT_FALSE(store.load_token().value().has_value());
  EXPECT_TRUE(fs::is_empty(folder_ + "/state/gridtorrent/tokens"));
}

TEST_F(Profiles, KeepTheServerWithoutItsToken) {
  const ProfileStore store = open().value();
  ASSERT_TRUE(store.save(sample(), "one").ok());
  ASSERT_TRUE(store.remove_token().ok());
  EXPECT_FALSE(store.load_token().value().has_value());
  const auto profile = store.load().value();
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->server, "h:1");
  EXPECT_TRUE(fs::exists(profile->ca_file));
  EXPECT_TRUE(store.remove_token().ok()) << "there is none";
}

TEST_F(Profiles, ThatAreDamagedSayHowToMendThem) {
  const ProfileStore store = open().value();
  ASSERT_TRUE(store.save(sample(), "one").ok());
  for (const char* text : {"", "{", "[]", "{\"server\":1}"}) {
    std::ofstream(folder_ + "/config/gridtorrent/profiles/default.json", std::ios::trunc) << text;
    const auto refused = store.load();
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_THAT(refused.error().message, HasSubstr("log in again"));
  }
}

TEST_F(Profiles, AMissingCaFileIsNamed) {
  Profile profile = sample();
  profile.ca_file = folder_ + "/none.pem";
  const auto refused = open().value().save(profile, "x");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("none.pem"));
}

}  // namespace
}  // namespace gridtorrent::client
