#pragma once

#include "base/rpc/method.h"
#include "base/rpc/principal.h"
#include "ccm/domain/account_service.h"
#include "ccm/rpc/secrets.h"
#include "tracker/authority/authenticator.h"
#include "tracker/authority/invitations.h"
#include "tracker/authority/logins.h"

// What lets rooms that do not know each other speak.
namespace gridtorrent::tracker::app {

/// base/rpc's port over tracker/authority. Thread-safe.
class RpcAuthenticator final : public gridtorrent::rpc::Authenticator {
 public:
  explicit RpcAuthenticator(authority::TokenAuthenticator& tokens) : tokens_(tokens) {}
  Result<gridtorrent::rpc::Principal> resolve(std::string_view token, std::string_view peer_address) override;

 private:
  authority::TokenAuthenticator& tokens_;
};

/// base/rpc's port over the quotas that are rates. Thread-safe; blocks on the store.
class AccountRates final : public gridtorrent::rpc::OwnRates {
 public:
  explicit AccountRates(ccm::AccountService& accounts) : accounts_(accounts) {}
  Result<std::optional<std::uint64_t>> calls_per_hour(const UserId& user, std::string_view quota) override;

 private:
  ccm::AccountService& accounts_;
};

/// ccm/rpc's port over tracker/authority. Thread-safe.
class RpcSecrets final : public ccm::rpc::Secrets {
 public:
  RpcSecrets(authority::Logins& logins, authority::Invitations& invitations, authority::TokenAuthenticator& tokens)
      : logins_(logins), invitations_(invitations), tokens_(tokens) {}
  Result<ccm::LoginAttempt> admit_login(const LoginWish& wish) override;
  Result<Issued> login(const LoginWish& wish, const ccm::LoginAttempt& attempt) override;
  Result<Issued> join(const LoginWish& wish, const std::string& code, const ccm::LoginAttempt& attempt) override;
  Result<Issued> create_invite(const ccm::Actor& actor, const InviteWish& wish) override;
  void withdraw(const ccm::LoginAttempt& attempt) override { logins_.withdraw(attempt); }
  Result<Issued> create_token(const ccm::Actor& actor, const std::string& request_id, const TokenWish& wish) override;
  Result<ccm::LoginAttempt> admit_password_change(const ccm::Actor& actor, const PasswordWish& wish) override;
  Status change_password(const ccm::Actor& actor, const std::string& request_id, const PasswordWish& wish,
                         const ccm::LoginAttempt& attempt) override;
  Result<std::string> hash_new_password(std::string_view user, std::string_view password) override;
  void forget_tokens() override { tokens_.forget_all(); }

 private:
  authority::Logins& logins_;
  authority::Invitations& invitations_;
  authority::TokenAuthenticator& tokens_;
};

}  // namespace gridtorrent::tracker::app
