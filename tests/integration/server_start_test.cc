// What the server's program leans on when it starts: its folder, its certificates, its self-probe.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <future>

#include "base/crypto/certificates.h"
#include "base/crypto/keys.h"
#include "tests/integration/server_lab.h"
#include "tracker/app/data_folder.h"
#include "tracker/app/first_start.h"
#include "tracker/app/identity.h"
#include "tracker/app/notify.h"
#include "tracker/app/self_probe.h"
#include "tracker/authority/tokens.h"

namespace gridtorrent::tracker::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr WallTime kNow{1'763'666'150'000};

std::string leaf_key(const Identity& identity) {
  return crypto::read_certificate(crypto::read_secret_file(identity.pem_file)->data())->public_der;
}

TEST(ServerIdentity, IsMadeOnceAndRenewedInTime) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> names{"127.0.0.1", "localhost"};
  const auto first = ensure_identity(folder.path(), names, kNow);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_TRUE(first->reissued);
  const std::string key = leaf_key(*first);
  EXPECT_FALSE(ensure_identity(folder.path(), names, kNow + std::chrono::hours(24 * 200))->reissued);
  EXPECT_EQ(leaf_key(*first), key);

  EXPECT_TRUE(ensure_identity(folder.path(), names, kNow + std::chrono::hours(24 * 300))->reissued);
  EXPECT_NE(leaf_key(*first), key);
  EXPECT_TRUE(ensure_identity(folder.path(), {"127.0.0.1", "data.example.org"}, kNow)->reissued);
}

TEST(ServerIdentity, IsMadeAnewWhereKeyAndCertificateDoNotBelongTogether) {
  const test::TemporaryFolder folder;
  const auto identity = ensure_identity(folder.path(), {"localhost"}, kNow);
  ASSERT_TRUE(identity.ok()) << identity.error().message;
  const std::string pem = *crypto::read_secret_file(identity->pem_file);
  const auto other_key = crypto::EcKey::make();
  ASSERT_TRUE(crypto::write_secret_file(identity->pem_file,
                                        other_key->private_pem() + pem.substr(pem.find("-----BEGIN CERTIFICATE")))
                  .ok());
  EXPECT_TRUE(ensure_identity(folder.path(), {"localhost"}, kNow)->reissued);
  EXPECT_FALSE(ensure_identity(folder.path(), {"localhost"}, kNow)->reissued);
}

TEST(ServerIdentity, NeverReplacesACaThatClientsTrust) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(ensure_identity(folder.path(), {"localhost"}, kNow).ok());
  std::filesystem::remove(folder.path() + "/ca-key.pem");
  const auto without_key = ensure_identity(folder.path(), {"localhost"}, kNow);
  ASSERT_FALSE(without_key.ok());
  EXPECT_EQ(without_key.error().code, Code::kCorrupt);
  ASSERT_TRUE(crypto::write_secret_file(folder.path() + "/ca-key.pem", crypto::EcKey::make()->private_pem()).ok());
  const auto other_key = ensure_identity(folder.path(), {"localhost"}, kNow);
  ASSERT_FALSE(other_key.ok());
  EXPECT_THAT(other_key.error().message, HasSubstr("do not belong together"));
}

TEST(ServerIdentity, KeysThatOthersMayReadAreRefused) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(ensure_identity(folder.path(), {"localhost"}, kNow).ok());
  ASSERT_EQ(::chmod((folder.path() + "/tls.pem").c_str(), 0644), 0);
  EXPECT_EQ(ensure_identity(folder.path(), {"localhost"}, kNow).error().code, Code::kDenied);
}

TEST(ServerIdentity, IsGoodForTheAdvertisedNameAndThisHost) {
  const auto names = certificate_names("data.example.org", "0.0.0.0");
  for (const char* name : {"data.example.org", "localhost", "127.0.0.1", "::1"}) EXPECT_THAT(names, Contains(name));
  EXPECT_THAT(names, Not(Contains("0.0.0.0")));
  EXPECT_THAT(certificate_names("", "192.0.2.5"), Contains("192.0.2.5"));
}

TEST(ServerFolder, IsClosedToOthersAndHeldByOne) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/a/b";
  ASSERT_TRUE(prepare_data_folder(path).ok());
  ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  ASSERT_TRUE(prepare_data_folder(path).ok());
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0700u);
  {
    const auto held = DataFolderLock::take(path);
    ASSERT_TRUE(held.ok());
    const auto second = DataFolderLock::take(path);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, Code::kConflict);
    EXPECT_THAT(second.error().message, HasSubstr(std::to_string(::getpid())));
  }
  EXPECT_TRUE(DataFolderLock::take(path).ok());
}

TEST(ServerFolder, WithoutItsDatabaseBelongsToNoNewServer) {
  const std::string folder = "/srv/gt";
  EXPECT_TRUE(may_start({false, {}}, false, folder).ok()) << "a first start";
  EXPECT_TRUE(may_start({true, {}}, false, folder).ok()) << "a later one";
  const Status lost = may_start({false, {"ca.pem", "tls.pem", "2 metadata documents"}}, false, folder);
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().code, Code::kCorrupt);
  for (const char* part : {"/srv/gt/gridtorrent.db", "ca.pem, tls.pem and 2 metadata documents",
                           "gridtorrent-server --data-dir /srv/gt restore FILE", "--new"}) {
    EXPECT_THAT(lost.error().message, HasSubstr(part));
  }
}

TEST(ServerStart, TellsTheWayInForClientsThatFindTheServerAndForOthers) {
  EXPECT_EQ(first_invitation("h:7443", "/srv/gt/ca.pem", "/srv/gt/admin-token", false),
            "this server is new; next: gridtorrent invite NAME");
  EXPECT_EQ(first_invitation("h:7443", "/srv/my gt/ca.pem", "/srv/my gt/admin-token", true),
            "this server is new; next: gridtorrent login --server h:7443 --ca '/srv/my gt/ca.pem' --user admin "
            "--token-file '/srv/my gt/admin-token' && gridtorrent invite NAME");
  EXPECT_EQ(ready_files_that_clients_read("").size(), 1U);
  EXPECT_EQ(ready_files_that_clients_read("/run/user/1").back(), "/run/user/1/gridtorrent-server/ready.json");
}

TEST(ServerFolder, IsMadeAnewOnlyWhereThereIsNoDatabase) {
  EXPECT_TRUE(may_start({false, {"ca.pem"}}, true, "/srv/gt").ok());
  EXPECT_TRUE(may_start({false, {}}, true, "/srv/gt").ok());
  const Status twice = may_start({true, {}}, true, "/srv/gt");
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().code, Code::kConflict);
}

TEST(ServerProbe, SaysWhenNobodyAnswersAnyMore) {
  test::ServerLab lab;
  std::promise<void> dead;
  SelfProbe::Options options;
  options.address = lab.server().address();
  options.ca_file = lab.server().ca_file();
  options.period = std::chrono::milliseconds(1);
  options.patience = std::chrono::milliseconds(300);
  options.on_dead = [&] { dead.set_value(); };
  const SelfProbe probe(options);
  auto verdict = dead.get_future();
  EXPECT_EQ(verdict.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout) << "it answers";
  lab.stop();
  EXPECT_EQ(verdict.wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST(ServerProbe, TakesACrowdForNoFailure) {
  std::promise<void> asked;
  std::atomic<int> times = 0;
  SelfProbe::Options options;
  options.address = "127.0.0.1:1";  // nobody listens
  options.ca_file = "/nonexistent";
  options.period = std::chrono::milliseconds(1);
  options.crowded = [&] {
    if (++times == 10) asked.set_value();
    return true;
  };
  options.on_dead = [] { ADD_FAILURE() << "the server would have ended"; };
  const SelfProbe probe(options);
  EXPECT_EQ(asked.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST(ServerNotify, TellsTheSupervisor) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/notify";
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  notify_supervisor("READY=1");
  ::unsetenv("NOTIFY_SOCKET");
  std::array<char, 64> buffer{};
  const ssize_t size = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  ASSERT_GT(size, 0);
  EXPECT_EQ(std::string(buffer.data(), static_cast<std::size_t>(size)), "READY=1");
}

TEST(ServerStart, FailsInOneLineWhereThePortIsTaken) {
  test::ServerLab lab;
  const test::TemporaryFolder folder;
  ServerConfig config;
  config.data_dir = folder.path() + "/data";
  config.listen = lab.server().address();
  const auto second = Server::start(config);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_THAT(second.error().message, HasSubstr("the port is in use"));
}

TEST(ServerStart, ANewAdvertisedNameGoesIntoTheCertificate) {
  const test::TemporaryFolder folder;
  ServerConfig config;
  config.data_dir = folder.path() + "/data";
  config.password_cost = {.log_n = 4, .r = 8, .p = 1};
  std::string admin_token_file;
  {
    const auto first = Server::start(config);
    ASSERT_TRUE(first.ok()) << first.error().message;
    admin_token_file = (*first)->admin_token_file();
  }
  config.advertise = "data.example.org:7443";
  const auto second = Server::start(config);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ((*second)->address(), "data.example.org:7443");
  EXPECT_EQ((*second)->admin_token_file(), admin_token_file);
  const auto pem = crypto::read_secret_file(config.data_dir + "/tls.pem");
  EXPECT_THAT(crypto::read_certificate(*pem)->names, Contains("data.example.org"));
  EXPECT_THAT((*second)->ready_json(), HasSubstr("\"address\":\"data.example.org:7443\""));
}

TEST(ServerStart, AnAdminTokenThatTheDatabaseDoesNotKnowIsMadeAnew) {
  test::ServerLab lab;
  const std::string first = lab.admin_token();
  lab.restart();
  EXPECT_EQ(lab.admin_token(), first) << "a good one stays";
  lab.stop();
  const std::string foreign = authority::mint_token(ccm::TokenKind::kPersonal).text;
  ASSERT_TRUE(crypto::write_secret_file(lab.data_dir() + "/admin-token", foreign + "\n").ok());
  lab.restart();
  EXPECT_NE(lab.admin_token(), foreign);
  EXPECT_FALSE(lab.add_user("alice").empty());
}

}  // namespace
}  // namespace gridtorrent::tracker::app
