// Who may call what, and what strangers can do to the server (docs/security: nothing).

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <map>
#include <set>
#include <string>

#include "tests/integration/server_http2_probe.h"
#include "tests/integration/server_lab.h"

namespace gridtorrent::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ServerAuth : public ::testing::Test {
 protected:
  /// One call of any method with an empty message and these headers, however its kind.
  grpc::Status poke(const std::string& method, const std::vector<std::pair<std::string, std::string>>& headers,
                    const std::string& message = "", std::chrono::seconds limit = std::chrono::seconds(10)) {
    grpc::GenericStub stub(lab_.channel());
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + limit);
    for (const auto& [name, value] : headers) context.AddMetadata(name, value);
    const grpc::Slice bytes(message);
    grpc::ByteBuffer request{&bytes, 1};
    grpc::ByteBuffer reply;
    std::promise<grpc::Status> done;
    stub.UnaryCall(&context, method, grpc::StubOptions(), &request, &reply,
                   [&](grpc::Status status) { done.set_value(std::move(status)); });
    return done.get_future().get();
  }
  /// What a login with the right password comes to after so many with a wrong one. The wait is a second at first: what
  /// a slow machine takes that long for is done again.
  Code of_a_stranger_after_guesses(v1::LoginRequest request, int guesses) {
    const auto login = [&] { return lab_.call<v1::Accounts>(&v1::Accounts::Stub::Login, request, ""); };
    Code last = Code::kInternal;
    for (int round = 0; round < 3 && last != Code::kBusy; ++round) {
      request.set_password("wrong horse battery");
      for (int guess = 0; guess < guesses; ++guess) EXPECT_FALSE(login().ok());
      request.set_password(ServerLab::password());
      const auto reply = login();
      last = reply.ok() ? Code::kInternal : reply.error().code;
    }
    return last;
  }
  /// A stream that the token `opens` lasts until the limit.
  grpc::Status poke_as(const std::string& method, const std::string& token, bool opens = false) {
    const bool stays_open = opens && method.find("/Watch") != std::string::npos;
    return poke(method, {{"authorization", "Bearer " + token}}, "", std::chrono::seconds(stays_open ? 1 : 10));
  }
  /// With a field that no method knows.
  grpc::Status poke_with(const std::string& method, std::size_t padding_bytes) {
    v1::WhoAmIRequest padded;
    padded.GetReflection()->MutableUnknownFields(&padded)->AddLengthDelimited(1000, std::string(padding_bytes, 'x'));
    return poke(method, {{"authorization", "Bearer " + lab_.admin_token()}}, padded.SerializeAsString());
  }

  Result<v1::WhoAmIReply> who(const std::string& token) {
    return lab_.call<v1::Accounts>(&v1::Accounts::Stub::WhoAmI, v1::WhoAmIRequest(), token);
  }

  std::string token_with(const std::string& scope, const std::string& user_token) {
    v1::CreateTokenRequest request;
    request.set_request_id(lab_.request_id());
    request.set_label("narrow");
    request.add_scopes(scope);
    const auto made = lab_.call<v1::Accounts>(&v1::Accounts::Stub::CreateToken, request, user_token);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made->token();
  }

  ServerLab lab_;
};

/// Each method of both services' files, as "/gridtorrent.v1.Contents/Search".
std::vector<std::string> all_methods() {
  std::vector<std::string> methods;
  // Linking alone does not load the descriptors.
  v1::LoginRequest::descriptor();
  v1::EnrollRequest::descriptor();
  for (const char* name : {"gridtorrent/v1/ccm.proto", "gridtorrent/v1/tracker.proto"}) {
    const auto* file = google::protobuf::DescriptorPool::generated_pool()->FindFileByName(name);
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        const auto* method = file->service(s)->method(m);
        methods.push_back("/" + std::string(method->service()->full_name()) + "/" + std::string(method->name()));
      }
    }
  }
  return methods;
}

const google::protobuf::MethodDescriptor& descriptor_of(const std::string& method) {
  std::string name = method.substr(1);
  std::replace(name.begin(), name.end(), '/', '.');
  return *google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
}

bool takes_stream(const std::string& method) {
  return descriptor_of(method).client_streaming();
}

/// A message of any type in which this field has this text.
std::string text_field(int number, const std::string& text) {
  v1::WhoAmIRequest message;
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(number, text);
  return message.SerializeAsString();
}

std::string short_name(const std::string& method) {
  return method.substr(sizeof("/gridtorrent.v1.") - 1);
}

const std::set<std::string> kOpenToAll = {"Accounts/Login", "Accounts/Join", "Nodes/Enroll"};

/// What each method needs; "node" is a node's own credential. A new method without a line here fails the test.
const std::map<std::string, std::string> kNeeds = {{"Accounts/Logout", "account"},
                                                   {"Accounts/WhoAmI", ""},
                                                   {"Accounts/CreateToken", "account"},
                                                   {"Accounts/ListTokens", "account"},
                                                   {"Accounts/RevokeToken", "account"},
                                                   {"Accounts/AddUser", "admin"},
                                                   {"Accounts/ListUsers", "admin"},
                                                   {"Accounts/DisableUser", "admin"},
                                                   {"Accounts/EnableUser", "admin"},
                                                   {"Accounts/CreateInvite", "account"},
                                                   {"Accounts/ChangePassword", "account"},
                                                   {"Accounts/GetQuotas", "account"},
                                                   {"Accounts/ChangeQuotas", "admin"},
                                                   {"Accounts/ListAuditRecords", "admin"},
                                                   {"Contents/BeginPublish", "content:publish"},
                                                   {"Contents/BeginUpdate", "content:publish"},
                                                   {"Contents/FinishPublish", "content:publish"},
                                                   {"Contents/GiveUpPublish", "content:publish"},
                                                   {"Contents/AddChecksums", "content:publish"},
                                                   {"Contents/Search", "content:read"},
                                                   {"Contents/GetContent", "content:read"},
                                                   {"Contents/ListVersions", "content:read"},
                                                   {"Contents/ListFiles", "content:read"},
                                                   {"Contents/GetMetadata", "content:read"},
                                                   {"Contents/GetChecksums", "content:read"},
                                                   {"Contents/ListReplicas", "content:read"},
                                                   {"Contents/WatchReplicas", "content:read"},
                                                   {"Contents/SetAccess", "content:publish"},
                                                   {"Contents/ExplainAccess", "content:read"},
                                                   {"Contents/Unpublish", "content:publish"},
                                                   {"Contents/RestoreContent", "content:publish"},
                                                   {"Contents/DescribeContent", "content:publish"},
                                                   {"Contents/PreviewAccess", "content:publish"},
                                                   {"Collaboration/CreateGroup", "group"},
                                                   {"Collaboration/DeleteGroup", "group"},
                                                   {"Collaboration/DescribeGroup", "group"},
                                                   {"Collaboration/ListGroups", "group"},
                                                   {"Collaboration/GetGroup", "group"},
                                                   {"Collaboration/ChangeMembership", "group"},
                                                   {"Collaboration/AddBuddy", "group"},
                                                   {"Collaboration/RemoveBuddy", "group"},
                                                   {"Collaboration/ListBuddies", "group"},
                                                   {"Collaboration/GetInbox", "group"},
                                                   {"Collaboration/WatchInbox", "group"},
                                                   {"Collaboration/MarkInboxRead", "group"},
                                                   {"Collaboration/OfferContent", "group and content:publish"},
                                                   {"Collaboration/AnswerOffer", "group and content:publish"},
                                                   {"Collaboration/ListOffers", "group"},
                                                   {"Nodes/CreateEnrollToken", "account"},
                                                   {"Nodes/ListNodes", "content:read"},
                                                   {"Nodes/WatchNodes", "content:read"},
                                                   {"Nodes/GetNode", "content:read"},
                                                   {"Nodes/RemoveNode", "account"},
                                                   {"Nodes/RenameNode", "account"},
                                                   {"Nodes/RenewNode", "node"},
                                                   {"Nodes/Certify", "node"},
                                                   {"Nodes/ListDataCa", "admin"},
                                                   {"Nodes/RotateDataCa", "admin"},
                                                   {"Swarms/UpdateEndpoints", "node"},
                                                   {"Swarms/Announce", "node"},
                                                   {"Tasks/CreateTask", "task:write"},
                                                   {"Tasks/CreateTasks", "task:write"},
                                                   {"Tasks/ListTasks", "task:read"},
                                                   {"Tasks/WatchTasks", "task:read"},
                                                   {"Tasks/GetTask", "task:read"},
                                                   {"Tasks/CancelTask", "task:write"},
                                                   {"Tasks/WatchTask", "task:read"},
                                                   {"Tasks/WatchNode", "node"},
                                                   {"Tasks/AckTask", "node"},
                                                   {"Tasks/ReportTask", "node"}};

TEST_F(ServerAuth, EveryMethodButTheOpenOnesWantsAToken) {
  for (const std::string& method : all_methods()) {
    if (kOpenToAll.contains(short_name(method))) continue;
    EXPECT_EQ(poke(method, {}).error_code(), grpc::StatusCode::UNAUTHENTICATED) << method;
  }
}

TEST_F(ServerAuth, NoMethodTakesAWrongToken) {
  std::string wrong_secret = lab_.admin_token();
  wrong_secret[20] = wrong_secret[20] == 'a' ? 'b' : 'a';
  for (const std::string& method : all_methods()) {
    if (short_name(method) == "Accounts/Login" || short_name(method) == "Accounts/Join") continue;
    for (const std::string& token : {std::string("nonsense"), wrong_secret}) {
      EXPECT_EQ(poke_as(method, token).error_code(), grpc::StatusCode::UNAUTHENTICATED) << method;
    }
  }
}

TEST_F(ServerAuth, ATokenIsTakenOnlyFromExactlyOneBearerHeader) {
  const std::string who = "/gridtorrent.v1.Accounts/WhoAmI";
  const std::string& good = lab_.admin_token();
  EXPECT_TRUE(poke(who, {{"authorization", "Bearer " + good}}).ok());
  const auto refused = [&](const std::vector<std::pair<std::string, std::string>>& headers) {
    EXPECT_EQ(poke(who, headers).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  };
  refused({{"authorization", "Bearer " + good}, {"authorization", "Bearer " + good}});
  refused({{"authorization", good}});
  refused({{"authorization", "Basic " + good}});
  refused({{"x-authorization", "Bearer " + good}});
  refused({{"authorization", "Bearer " + good + " "}});
}

TEST_F(ServerAuth, StrangersMayAskForTheHealthAndForNothingElse) {
  EXPECT_TRUE(poke("/grpc.health.v1.Health/Check", {}).ok());
  EXPECT_EQ(poke("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", {}).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(ServerAuth, AScopeOpensItsOwnMethodsAlone) {
  const std::string alice = lab_.add_user("alice");
  std::map<std::string, std::string> tokens;
  for (const char* scope : {"account", "content:read", "content:publish", "task:read", "task:write", "group"}) {
    tokens[scope] = token_with(scope, alice);
  }
  for (const std::string& method : all_methods()) {
    const std::string name = short_name(method);
    if (kOpenToAll.contains(name)) continue;
    ASSERT_TRUE(kNeeds.contains(name)) << "say in kNeeds who may call " << name;
    if (name == "Accounts/Logout") continue;  // would end its token
    for (const auto& [scope, token] : tokens) {
      const std::string& need = kNeeds.at(name);
      const bool may = need.empty() || need == scope;
      const bool refused = poke_as(method, token, may).error_code() == grpc::StatusCode::PERMISSION_DENIED;
      EXPECT_EQ(refused, !may) << name << " with " << scope;
    }
  }
}

TEST_F(ServerAuth, ANodesCredentialDoesNoPersonsWork) {
  const std::string alice = lab_.add_user("alice");
  const LabNode node = lab_.enroll(alice, "n1");
  const std::set<std::string> changes = {"Contents/SetAccess", "Contents/Unpublish", "Contents/RestoreContent",
                                         "Contents/DescribeContent"};
  for (const auto& [name, need] : kNeeds) {
    const bool of_nodes = need.starts_with("content:") || need.empty() || need == "node";
    if (of_nodes && !changes.contains(name)) continue;
    EXPECT_EQ(poke_as("/gridtorrent.v1." + name, node.token).error_code(), grpc::StatusCode::PERMISSION_DENIED) << name;
  }
}

TEST_F(ServerAuth, ATokenCannotMakeOneThatMayMore) {
  const std::string alice = lab_.add_user("alice");
  v1::CreateTokenRequest request;
  request.set_request_id(lab_.request_id());
  request.set_label("wider");
  request.add_scopes("admin");
  const auto made = lab_.call<v1::Accounts>(&v1::Accounts::Stub::CreateToken, request, alice);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Code::kDenied);
}

// CVE-2023-1428's family: with an AuthMetadataProcessor this one header aborts the process (security: F1).
TEST_F(ServerAuth, TheHeaderThatKillsMetadataProcessorsDoesNoHarm) {
  for (const char* header :
       {"grpclb_client_stats", "grpc-server-stats-bin", "lb-token", "x-endpoint-load-metrics-bin"}) {
    const std::string answer = http2_request_over_tls(lab_.server().port(), "/gridtorrent.v1.Accounts/WhoAmI",
                                                      {{header, "x"}, {"authorization", "Bearer nonsense"}});
    EXPECT_FALSE(answer.empty()) << header;
    EXPECT_TRUE(who(lab_.admin_token()).ok()) << "after " << header;
  }
}

TEST_F(ServerAuth, IdentityBelongsToTheCallNotToTheConnection) {
  const std::string alice = lab_.add_user("alice");
  const std::string bob = lab_.add_user("bob");
  for (int round = 0; round < 20; ++round) {
    const auto first = who(alice);
    const auto second = who(bob);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->user(), "alice");
    EXPECT_EQ(second->user(), "bob");
  }
  EXPECT_EQ(poke("/gridtorrent.v1.Accounts/WhoAmI", {}).error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(ServerAuth, ARevokedTokenIsRefusedAtOnce) {
  const std::string alice = lab_.add_user("alice");
  const std::string narrow = token_with("content:read", alice);
  const auto before = who(narrow);
  ASSERT_TRUE(before.ok());
  v1::RevokeTokenRequest revoke;
  revoke.set_request_id(lab_.request_id());
  revoke.set_token_id(before->token_id());
  ASSERT_TRUE(lab_.call<v1::Accounts>(&v1::Accounts::Stub::RevokeToken, revoke, alice).ok());
  const auto after = who(narrow);
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().code, Code::kUnauthenticated);
  EXPECT_TRUE(who(alice).ok());
}

TEST_F(ServerAuth, LoggingOutEndsThatLoginAlone) {
  const std::string alice = lab_.add_user("alice");
  const std::string other = lab_.login("alice");
  v1::LogoutRequest request;
  request.set_request_id(lab_.request_id());
  ASSERT_TRUE(lab_.call<v1::Accounts>(&v1::Accounts::Stub::Logout, request, alice).ok());
  EXPECT_FALSE(who(alice).ok());
  EXPECT_TRUE(who(other).ok());
}

TEST_F(ServerAuth, ADisabledUserIsOut) {
  const std::string alice = lab_.add_user("alice");
  ASSERT_TRUE(who(alice).ok());
  v1::DisableUserRequest request;
  request.set_request_id(lab_.request_id());
  request.set_user("alice");
  ASSERT_TRUE(lab_.call<v1::Accounts>(&v1::Accounts::Stub::DisableUser, request, lab_.admin_token()).ok());
  EXPECT_FALSE(who(alice).ok());
}

TEST_F(ServerAuth, AServiceAccountHasOnlyTheTokensThatItIsGiven) {
  v1::AddUserRequest add;
  add.set_request_id(lab_.request_id());
  add.set_name("robot");
  add.add_roles("service");
  add.add_roles("admin");
  EXPECT_FALSE(lab_.call<v1::Accounts>(&v1::Accounts::Stub::AddUser, add, lab_.admin_token()).ok());
  add.mutable_roles()->RemoveLast();
  ASSERT_TRUE(lab_.call<v1::Accounts>(&v1::Accounts::Stub::AddUser, add, lab_.admin_token()).ok());

  v1::CreateTokenRequest create;
  create.set_request_id(lab_.request_id());
  create.set_for_user("robot");
  create.set_ttl_ms(60'000);
  const auto unscoped = lab_.call<v1::Accounts>(&v1::Accounts::Stub::CreateToken, create, lab_.admin_token());
  ASSERT_FALSE(unscoped.ok());
  EXPECT_EQ(unscoped.error().code, Code::kInvalid);
  create.add_scopes("content:read");
  const std::string alice = lab_.add_user("alice");
  const auto by_alice = lab_.call<v1::Accounts>(&v1::Accounts::Stub::CreateToken, create, alice);
  ASSERT_FALSE(by_alice.ok());
  EXPECT_EQ(by_alice.error().code, Code::kDenied);
  const auto made = lab_.call<v1::Accounts>(&v1::Accounts::Stub::CreateToken, create, lab_.admin_token());
  ASSERT_TRUE(made.ok());
  const auto robot = who(made->token());
  ASSERT_TRUE(robot.ok());
  EXPECT_EQ(robot->user(), "robot");
  EXPECT_THAT(robot->roles(), testing::ElementsAre("service"));
  EXPECT_THAT(robot->scopes(), testing::ElementsAre("content:read"));

  v1::LoginRequest login;
  *login.mutable_hello() = lab_.hello();
  login.set_user("robot");
  const auto refused = lab_.call<v1::Accounts>(&v1::Accounts::Stub::Login, login, "");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUnauthenticated);
}

TEST_F(ServerAuth, APasswordIsChangedByWhoKnowsItOrAnAdministrator) {
  const std::string alice = lab_.add_user("alice");
  const std::string old_password = ServerLab::password();
  v1::ChangePasswordRequest change;
  change.set_request_id(lab_.request_id());
  change.set_old_password("no idea at all, sorry");
  change.set_new_password("short");
  const auto code = [&](const std::string& token) {
    const auto reply = lab_.call<v1::Accounts>(&v1::Accounts::Stub::ChangePassword, change, token);
    return reply.ok() ? std::optional<Code>() : std::optional<Code>(reply.error().code);
  };
  EXPECT_EQ(code(alice), Code::kInvalid) << "too short";
  change.set_new_password("quite another battery");
  EXPECT_EQ(code(alice), Code::kUnauthenticated) << "the old one is wrong";
  change.set_user("admin");
  change.set_old_password(old_password);
  EXPECT_EQ(code(alice), Code::kDenied);
  change.clear_user();
  EXPECT_EQ(code(alice), std::nullopt);
  EXPECT_EQ(code(alice), std::nullopt) << "once more, its answer was lost";
  EXPECT_TRUE(who(alice).ok());

  v1::LoginRequest login;
  *login.mutable_hello() = lab_.hello();
  login.set_user("alice");
  login.set_password(old_password);
  EXPECT_FALSE(lab_.call<v1::Accounts>(&v1::Accounts::Stub::Login, login, "").ok());
  login.set_password("quite another battery");
  EXPECT_TRUE(lab_.call<v1::Accounts>(&v1::Accounts::Stub::Login, login, "").ok());

  change.set_request_id(lab_.request_id());
  EXPECT_EQ(code(lab_.admin_token()), Code::kConflict) << "the first administrator has none to change";
  change.set_user("alice");
  change.clear_old_password();
  change.set_new_password("a third one from above");
  EXPECT_EQ(code(lab_.admin_token()), std::nullopt);
  EXPECT_FALSE(who(alice).ok()) << "whoever was logged in as her is out";
}

TEST_F(ServerAuth, AFailedLoginDoesNotTellWhy) {
  lab_.add_user("alice");
  v1::LoginRequest request;
  *request.mutable_hello() = lab_.hello();
  request.set_user("alice");
  request.set_password("wrong horse battery");
  const auto wrong = lab_.call<v1::Accounts>(&v1::Accounts::Stub::Login, request, "");
  request.set_user("nobody");
  const auto unknown = lab_.call<v1::Accounts>(&v1::Accounts::Stub::Login, request, "");
  ASSERT_FALSE(wrong.ok());
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(wrong.error(), unknown.error());
  EXPECT_EQ(wrong.error().code, Code::kUnauthenticated);
}

TEST_F(ServerAuth, GuessingPasswordsIsSlowedDown) {
  lab_.add_user("alice");
  v1::LoginRequest request;
  *request.mutable_hello() = lab_.hello();
  request.set_user("alice");
  request.set_password("wrong horse battery");
  Code last = Code::kInternal;
  // The first wait is a second, which a slow machine may take from one attempt to the next; each one is twice as long.
  for (int attempt = 0; attempt < 12 && last != Code::kBusy; ++attempt) {
    const auto reply = lab_.call<v1::Accounts>(&v1::Accounts::Stub::Login, request, "");
    ASSERT_FALSE(reply.ok());
    last = reply.error().code;
    if (attempt < 5) {
      EXPECT_EQ(last, Code::kUnauthenticated) << attempt;
    }
  }
  EXPECT_EQ(last, Code::kBusy);
}

TEST_F(ServerAuth, AKnownDeviceLogsInWhileOthersGuess) {
  lab_.add_user("alice");
  v1::LoginRequest request;
  *request.mutable_hello() = lab_.hello();
  request.set_user("alice");
  request.set_password(ServerLab::password());
  const auto login = [&] { return lab_.call<v1::Accounts>(&v1::Accounts::Stub::Login, request, ""); };
  const auto without = login();
  ASSERT_TRUE(without.ok()) << without.error().message;
  EXPECT_EQ(without->device_secret(), "") << "a client of before keeps none";
  request.set_device_secret("");
  const auto first = login();
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_TRUE(first->device_secret().starts_with("gtd_"));
  EXPECT_FALSE(who(first->device_secret()).ok()) << "it opens nothing by itself";

  EXPECT_EQ(of_a_stranger_after_guesses(request, 6), Code::kBusy) << "strangers wait";
  request.set_device_secret(first->device_secret());
  const auto known = login();
  ASSERT_TRUE(known.ok()) << known.error().message;
  EXPECT_EQ(known->device_secret(), "") << "the one that it has stays";
}

TEST_F(ServerAuth, ADevicesSecretIsForItsOwnAccountAndWorthNothingWithoutThePassword) {
  const std::string alice = lab_.add_user("alice");
  lab_.add_user("bob");
  v1::LoginRequest request;
  *request.mutable_hello() = lab_.hello();
  request.set_user("bob");
  request.set_password(ServerLab::password());
  request.set_device_secret("");
  const auto login = [&] { return lab_.call<v1::Accounts>(&v1::Accounts::Stub::Login, request, ""); };
  const auto bobs = login();
  ASSERT_TRUE(bobs.ok()) << bobs.error().message;
  request.set_device_secret(bobs->device_secret());
  request.set_password("wrong horse battery");
  EXPECT_EQ(login().error().code, Code::kUnauthenticated);
  request.set_user("alice");
  EXPECT_EQ(of_a_stranger_after_guesses(request, 5), Code::kBusy) << "bob's device is a stranger to alice";
  request.set_password(ServerLab::password());

  const auto listed = lab_.call<v1::Accounts>(&v1::Accounts::Stub::ListTokens, v1::ListTokensRequest(), bobs->token());
  ASSERT_TRUE(listed.ok());
  std::string device_id;
  for (const auto& token : listed->tokens()) {
    if (token.kind() == "device") device_id = token.token_id();
  }
  v1::RevokeTokenRequest revoke;
  revoke.set_request_id(lab_.request_id());
  revoke.set_token_id(device_id);
  ASSERT_TRUE(lab_.call<v1::Accounts>(&v1::Accounts::Stub::RevokeToken, revoke, bobs->token()).ok());
  request.set_user("bob");
  const auto again = login();
  // From the address that has just failed for alice, which is nothing to bob.
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_NE(again->device_secret(), "") << "it is unknown now, and gets another";
}

TEST_F(ServerAuth, OversizedHeadersAreRefusedAndTheServerLives) {
  EXPECT_FALSE(poke("/gridtorrent.v1.Accounts/WhoAmI",
                    {{"authorization", "Bearer " + lab_.admin_token()}, {"x-filler", std::string(20'000, 'x')}})
                   .ok());
  // The offender may lose its connection; everybody else goes on.
  const auto other = rpc::connect_tls(lab_.server().address(), lab_.server().ca_file());
  ASSERT_TRUE(other.ok());
  const auto stub = v1::Accounts::NewStub(*other);
  const auto after = rpc::call<v1::Accounts::Stub, v1::WhoAmIRequest, v1::WhoAmIReply>(
      *stub, &v1::Accounts::Stub::WhoAmI, v1::WhoAmIRequest(), lab_.admin_token());
  EXPECT_TRUE(after.ok()) << after.error().message;
}

TEST_F(ServerAuth, AMessageThatCannotBeReadIsCalledInvalid) {
  const std::string damaged = "\x0a\xff\xff\xff\xff\x0f short";
  for (const std::string& method : all_methods()) {
    if (takes_stream(method)) continue;
    const grpc::Status status = poke(method, {}, damaged);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << method << ": " << status.error_message();
    EXPECT_FALSE(rpc::request_id_of(status).empty()) << "it went through the door, which counts it";
  }
  EXPECT_EQ(poke("/gridtorrent.v1.Accounts/NoSuchMethod", {}, damaged).error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_TRUE(who(lab_.admin_token()).ok());
}

TEST_F(ServerAuth, NoMethodTakesARequestIdThatIsNone) {
  const LabNode node = lab_.enroll(lab_.add_user("alice"), "n1");
  int checked = 0;
  for (const std::string& method : all_methods()) {
    const auto& described = descriptor_of(method);
    const auto* field = described.input_type()->FindFieldByName("request_id");
    if (field == nullptr) continue;
    ++checked;
    // The door sees what a client streams, but not the request of a stream that it watches.
    EXPECT_TRUE(described.client_streaming() || !described.server_streaming()) << method;
    for (const std::string& bad : {std::string(65, 'x'), std::string("two\nlines")}) {
      const std::string message = text_field(field->number(), bad);
      grpc::Status status = poke(method, {{"authorization", "Bearer " + lab_.admin_token()}}, message);
      if (status.error_code() == grpc::StatusCode::PERMISSION_DENIED) {
        status = poke(method, {{"authorization", "Bearer " + node.token}}, message);
      }
      EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << method;
      EXPECT_THAT(status.error_message(), HasSubstr("request_id must be")) << method;
    }
  }
  EXPECT_GE(checked, 25);
}

TEST_F(ServerAuth, AMessageBeyondWhatItsMethodTakesIsRefusedBeforeItIsRead) {
  constexpr std::size_t kPadding = 300 * 1024;
  const grpc::Status search = poke_with("/gridtorrent.v1.Contents/Search", kPadding);
  EXPECT_EQ(search.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(search.error_message(), HasSubstr("256 KiB at most"));
  EXPECT_FALSE(rpc::request_id_of(search).empty()) << "it went through the door, which counts it";
  EXPECT_EQ(poke_with("/gridtorrent.v1.Collaboration/WatchInbox", kPadding).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  // 10,000 names of nodes are as long.
  EXPECT_THAT(poke_with("/gridtorrent.v1.Tasks/CreateTasks", kPadding).error_message(), Not(HasSubstr("KiB at most")));
}

TEST_F(ServerAuth, ACallWithoutAnyMessageIsAnswered) {
  for (const char* method : {"/gridtorrent.v1.Accounts/WhoAmI", "/gridtorrent.v1.Collaboration/WatchInbox"}) {
    EXPECT_FALSE(http2_request_over_tls(lab_.server().port(), method, {}, /*with_message=*/false).empty()) << method;
  }
  EXPECT_TRUE(who(lab_.admin_token()).ok());
}

TEST_F(ServerAuth, OversizedMessagesAreRefusedAndTheServerLives) {
  v1::SearchRequest request;
  request.set_query(std::string(std::size_t{2} << 20, 'x'));
  const auto reply = lab_.call<v1::Contents>(&v1::Contents::Stub::Search, request, lab_.admin_token());
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::kExhausted);
  EXPECT_TRUE(who(lab_.admin_token()).ok());
}

TEST_F(ServerAuth, AnErrorNamesItsRequestAndNeverTheToken) {
  grpc::ClientContext context;
  rpc::prepare(context, std::chrono::seconds(10), lab_.admin_token());
  context.AddMetadata("x-request-id", "my-request-7");
  v1::GetContentRequest request;
  request.set_reference("no-such-thing");
  v1::GetContentReply reply;
  const grpc::Status status = v1::Contents::NewStub(lab_.channel())->GetContent(&context, request, &reply);
  EXPECT_EQ(rpc::from_grpc(status).code, Code::kNotFound);
  EXPECT_EQ(rpc::request_id_of(status), "my-request-7");
  EXPECT_THAT(status.error_message(), Not(HasSubstr(lab_.admin_token())));
}

TEST_F(ServerAuth, ATokenSurvivesARestartAndTheServerKeepsItsCa) {
  const std::string alice = lab_.add_user("alice");
  lab_.restart();
  const auto me = who(alice);
  ASSERT_TRUE(me.ok()) << me.error().message;
  EXPECT_EQ(me->user(), "alice");
}

TEST_F(ServerAuth, AnotherCaIsRefusedInOneLine) {
  ServerLab stranger;
  const auto channel = rpc::connect_tls(lab_.server().address(), stranger.server().ca_file());
  ASSERT_TRUE(channel.ok());
  const auto stub = v1::Accounts::NewStub(*channel);
  const auto reply = rpc::call<v1::Accounts::Stub, v1::WhoAmIRequest, v1::WhoAmIReply>(
      *stub, &v1::Accounts::Stub::WhoAmI, v1::WhoAmIRequest(), lab_.admin_token());
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::kUnreachable);
  EXPECT_THAT(reply.error().message, HasSubstr("certificate is not signed by the CA"));
}

TEST_F(ServerAuth, TwoServersOnOneDataFolderAreRefused) {
  tracker::app::ServerConfig config;
  const std::string ca = lab_.server().ca_file();
  config.data_dir = ca.substr(0, ca.rfind('/'));
  const auto second = tracker::app::Server::start(config);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_THAT(second.error().message, HasSubstr("another gridtorrent-server"));
}

}  // namespace
}  // namespace gridtorrent::test
