// Joining by a code, as somebody without an account meets the server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/crypto/certificates.h"
#include "client/api/server/authority.h"
#include "tests/integration/server_lab.h"

namespace gridtorrent::test {
namespace {

using ::testing::HasSubstr;

class ServerInvite : public ::testing::Test {
 protected:
  v1::CreateInviteReply invite(const std::string& token, const std::string& user = "", const std::string& group = "") {
    v1::CreateInviteRequest request;
    request.set_request_id(lab_.request_id());
    request.set_user(user);
    request.set_group(group);
    const auto made = lab_.call<v1::Accounts>(&v1::Accounts::Stub::CreateInvite, request, token);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? *made : v1::CreateInviteReply();
  }
  Result<v1::LoginReply> join(const std::string& code, const std::string& user,
                              const std::string& password = ServerLab::password()) {
    v1::JoinRequest request;
    *request.mutable_login()->mutable_hello() = lab_.hello();
    request.mutable_login()->set_user(user);
    request.mutable_login()->set_password(password);
    request.mutable_login()->set_device_secret("");
    request.set_code(code);
    return lab_.call<v1::Accounts>(&v1::Accounts::Stub::Join, request, "");
  }
  Result<v1::WhoAmIReply> who(const std::string& token) {
    return lab_.call<v1::Accounts>(&v1::Accounts::Stub::WhoAmI, v1::WhoAmIRequest(), token);
  }

  ServerLab lab_;
};

TEST_F(ServerInvite, ACodeThatIsNoneIsRefused) {
  const std::string good = invite(lab_.admin_token()).code();
  std::string wrong = good;
  wrong[20] = wrong[20] == 'a' ? 'b' : 'a';
  for (const std::string& code : {std::string(), std::string("nonsense"), wrong, lab_.admin_token()}) {
    const auto refused = join(code, "mia");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, code.empty() ? Code::kInvalid : Code::kUnauthenticated) << refused.error().message;
  }
  EXPECT_FALSE(who(good).ok()) << "a code opens nothing by itself";
}

TEST_F(ServerInvite, AWeakPasswordMakesNoAccountAndTakesNoUse) {
  const std::string code = invite(lab_.admin_token(), "mia").code();
  EXPECT_EQ(join(code, "mia", "short").error().code, Code::kInvalid);
  EXPECT_TRUE(join(code, "mia").ok());
}

TEST_F(ServerInvite, TheNewAccountIsLoggedInAndCanLogInAgain) {
  const v1::CreateInviteReply made = invite(lab_.admin_token());
  EXPECT_EQ(made.uses(), 1u);
  EXPECT_TRUE(made.code().starts_with("gti_"));
  const auto joined = join(made.code(), "mia");
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  EXPECT_EQ(joined->user(), "mia");
  EXPECT_FALSE(joined->device_secret().empty());
  const auto mia = who(joined->token());
  ASSERT_TRUE(mia.ok());
  EXPECT_EQ(mia->user(), "mia");
  EXPECT_EQ(mia->roles_size(), 1);
  EXPECT_FALSE(lab_.login("mia").empty());
  EXPECT_TRUE(join(made.code(), "mia").ok()) << "again, as after an answer that was lost";
  EXPECT_EQ(join(made.code(), "ben").error().code, Code::kUnauthenticated);
}

TEST_F(ServerInvite, AnAccountThatThereIsIsAskedForItsPasswordFirst) {
  const std::string alice = lab_.add_user("alice");
  lab_.add_user("ben");
  v1::CreateGroupRequest group;
  group.set_request_id(lab_.request_id());
  group.set_name("lab");
  ASSERT_TRUE(lab_.call<v1::Collaboration>(&v1::Collaboration::Stub::CreateGroup, group, alice).ok());
  const std::string code = invite(alice, "ben", "lab").code();
  const auto wrong = join(code, "ben", "another long password");
  EXPECT_EQ(wrong.error().code, Code::kUnauthenticated);
  EXPECT_THAT(wrong.error().message, HasSubstr("wrong user name or password"));
  const auto joined = join(code, "ben");
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  v1::GetGroupRequest get;
  get.set_group("lab");
  const auto seen = lab_.call<v1::Collaboration>(&v1::Collaboration::Stub::GetGroup, get, joined->token());
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->group().standing(), "member");
}

TEST_F(ServerInvite, GuessingPasswordsByACodeIsAsSlowAsByALogin) {
  const std::string alice = lab_.add_user("alice");
  v1::CreateGroupRequest group;
  group.set_request_id(lab_.request_id());
  group.set_name("lab");
  ASSERT_TRUE(lab_.call<v1::Collaboration>(&v1::Collaboration::Stub::CreateGroup, group, alice).ok());
  lab_.add_user("ben");
  const std::string code = invite(alice, "ben", "lab").code();
  Code last = Code::kInternal;
  // The first wait is a second, which a slow machine may take from one attempt to the next; each is twice as long.
  for (int attempt = 0; attempt < 12 && last != Code::kBusy; ++attempt) {
    last = join(code, "ben", "another long password").error().code;
  }
  EXPECT_EQ(last, Code::kBusy);
}

TEST_F(ServerInvite, TheServerShowsTheAuthorityThatInvitationsName) {
  const auto shown = client::api::probe_authority("127.0.0.1:" + std::to_string(lab_.server().port()));
  ASSERT_TRUE(shown.ok()) << shown.error().message;
  std::ifstream file(lab_.server().ca_file());
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(shown->pem, text.str());
  EXPECT_EQ(shown->sha256, *client::api::authority_sha256(lab_.server().ca_file()));
  EXPECT_EQ(shown->sha256.size(), 64u);
  EXPECT_EQ(client::api::authority_sha256("/no/such/file").error().code, Code::kInvalid);
  EXPECT_EQ(client::api::probe_authority("no port").error().code, Code::kInvalid);
}

}  // namespace
}  // namespace gridtorrent::test
