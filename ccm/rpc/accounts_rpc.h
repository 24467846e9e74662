#pragma once

#include <string>

#include "base/rpc/door.h"
#include "ccm/domain/account_service.h"
#include "ccm/rpc/secrets.h"
#include "common/clock.h"
#include "gridtorrent/v1/ccm.grpc.pb.h"

namespace gridtorrent::ccm::rpc {

/// gridtorrent.v1.Accounts over AccountService and Secrets: validates, calls, maps. Thread-safe.
class AccountsRpc final : public v1::Accounts::CallbackService {
 public:
  /// `address`: HOST:PORT that people connect to, for invitations; or empty.
  AccountsRpc(gridtorrent::rpc::Door& door, AccountService& accounts, Secrets& secrets, const Clock& clock,
              std::string address = "");

  /// As they are declared, each with what a caller may do with it.
  static gridtorrent::rpc::Methods methods();

  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;
  Reactor* Login(Context* context, const v1::LoginRequest* request, v1::LoginReply* reply) override;
  Reactor* Join(Context* context, const v1::JoinRequest* request, v1::LoginReply* reply) override;
  Reactor* Logout(Context* context, const v1::LogoutRequest* request, v1::LogoutReply* reply) override;
  Reactor* WhoAmI(Context* context, const v1::WhoAmIRequest* request, v1::WhoAmIReply* reply) override;
  Reactor* CreateToken(Context* context, const v1::CreateTokenRequest* request, v1::CreateTokenReply* reply) override;
  Reactor* ListTokens(Context* context, const v1::ListTokensRequest* request, v1::ListTokensReply* reply) override;
  Reactor* RevokeToken(Context* context, const v1::RevokeTokenRequest* request, v1::RevokeTokenReply* reply) override;
  Reactor* AddUser(Context* context, const v1::AddUserRequest* request, v1::AddUserReply* reply) override;
  Reactor* ListUsers(Context* context, const v1::ListUsersRequest* request, v1::ListUsersReply* reply) override;
  Reactor* DisableUser(Context* context, const v1::DisableUserRequest* request, v1::DisableUserReply* reply) override;
  Reactor* EnableUser(Context* context, const v1::EnableUserRequest* request, v1::EnableUserReply* reply) override;
  Reactor* CreateInvite(Context* context, const v1::CreateInviteRequest* request,
                        v1::CreateInviteReply* reply) override;
  Reactor* ChangePassword(Context* context, const v1::ChangePasswordRequest* request,
                          v1::ChangePasswordReply* reply) override;
  Reactor* GetQuotas(Context* context, const v1::GetQuotasRequest* request, v1::QuotasReply* reply) override;
  Reactor* ChangeQuotas(Context* context, const v1::ChangeQuotasRequest* request, v1::QuotasReply* reply) override;
  Reactor* ListAuditRecords(Context* context, const v1::ListAuditRecordsRequest* request,
                            v1::ListAuditRecordsReply* reply) override;

 private:
  /// `code` of an invitation; empty: a login.
  Result<gridtorrent::rpc::SlowWork> plan_login(const gridtorrent::rpc::Call& call, const v1::LoginRequest& request,
                                                const std::string& code, v1::LoginReply& reply);
  Status log_in(const Secrets::LoginWish& wish, const std::string& code, const LoginAttempt& attempt,
                v1::LoginReply& reply);
  Status answer_quotas(const Actor& actor, const std::string& user, v1::QuotasReply& reply);
  Status add_user(const gridtorrent::rpc::Call& call, const v1::AddUserRequest& request, v1::AddUserReply& reply);

  gridtorrent::rpc::Door& door_;
  AccountService& accounts_;
  Secrets& secrets_;
  const Clock& clock_;
  const std::string address_;
};

}  // namespace gridtorrent::ccm::rpc
