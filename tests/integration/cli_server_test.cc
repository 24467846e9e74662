// The command line against a real server.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/server_lab.h"
#include "tests/unit/cli_fixture.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::HasSubstr;

class WithServer : public CommandLine {
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

  test::ServerLab lab_;
};

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
