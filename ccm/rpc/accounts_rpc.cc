#include "ccm/rpc/accounts_rpc.h"

#include <array>

#include "base/rpc/hello.h"
#include "base/rpc/page.h"
#include "ccm/rpc/convert.h"

namespace gridtorrent::ccm::rpc {

namespace {

using wire::Call;
using wire::Need;

// A class is added, or disabled, by a script.
constexpr wire::Allowance kByAdmin{.burst = 1000};
// These write an audit record.
constexpr wire::Allowance kAudited{.rate_per_s = 5, .burst = 300};
// Who may call what. A person's own token does these; scope "account" keeps narrower ones (job scripts) from making
// more.
constexpr wire::Method kLogin{
    "Accounts/Login", Need::nobody(), wire::Lane::kPasswords, {.rate_per_s = 5, .burst = 300, .quota = "tokens"}};
constexpr wire::Method kJoin{
    "Accounts/Join", Need::nobody(), wire::Lane::kPasswords, {.rate_per_s = 5, .burst = 300, .quota = "tokens"}};
constexpr wire::Method kLogout{"Accounts/Logout", Need::scope(bit(Scope::kAccount))};
constexpr wire::Method kWhoAmI{"Accounts/WhoAmI", Need::scope(0), wire::Lane::kNormal, wire::reads()};
constexpr wire::Method kCreateToken{"Accounts/CreateToken",
                                    Need::scope(bit(Scope::kAccount)),
                                    wire::Lane::kNormal,
                                    {.rate_per_s = 0.2, .burst = 100, .quota = "tokens"}};
constexpr wire::Method kListTokens{"Accounts/ListTokens", Need::scope(bit(Scope::kAccount)), wire::Lane::kReads,
                                   wire::reads()};
constexpr wire::Method kRevokeToken{
    "Accounts/RevokeToken", Need::scope(bit(Scope::kAccount)), wire::Lane::kNormal, {.burst = 200}};
constexpr wire::Method kAddUser{"Accounts/AddUser", Need::scope(bit(Scope::kAdmin)), wire::Lane::kPasswords, kByAdmin};
constexpr wire::Method kListUsers{"Accounts/ListUsers", Need::scope(bit(Scope::kAdmin)), wire::Lane::kReads, kAudited};
constexpr wire::Method kDisableUser{"Accounts/DisableUser", Need::scope(bit(Scope::kAdmin)), wire::Lane::kNormal,
                                    kByAdmin};
constexpr wire::Method kEnableUser{"Accounts/EnableUser", Need::scope(bit(Scope::kAdmin)), wire::Lane::kNormal,
                                   kByAdmin};
constexpr wire::Method kCreateInvite{"Accounts/CreateInvite", Need::scope(bit(Scope::kAccount)), wire::Lane::kNormal,
                                     kByAdmin};
constexpr wire::Method kChangePassword{
    "Accounts/ChangePassword", Need::scope(bit(Scope::kAccount)), wire::Lane::kPasswords, {.rate_per_s = 0.1}};
constexpr wire::Method kGetQuotas{"Accounts/GetQuotas", Need::scope(bit(Scope::kAccount)), wire::Lane::kReads,
                                  wire::reads()};
constexpr wire::Method kChangeQuotas{"Accounts/ChangeQuotas", Need::scope(bit(Scope::kAdmin)), wire::Lane::kNormal,
                                     kByAdmin};
constexpr wire::Method kListAuditRecords{"Accounts/ListAuditRecords", Need::scope(bit(Scope::kAdmin)),
                                         wire::Lane::kReads, kAudited};
constexpr std::array kMethods = {&kLogin,          &kJoin,        &kLogout,       &kWhoAmI,
                                 &kCreateToken,    &kListTokens,  &kRevokeToken,  &kAddUser,
                                 &kListUsers,      &kDisableUser, &kEnableUser,   &kCreateInvite,
                                 &kChangePassword, &kGetQuotas,   &kChangeQuotas, &kListAuditRecords};
constexpr std::uint32_t kAuditPage = 100;

/// Of somebody who has shown a token: with the known ones, each user in turn.
wire::SlowWork of_user(const Call& call, std::function<Status()> work) {
  return {wire::Rank::kKnown, call.principal.user_name, std::move(work)};
}

/// One role says it all: admin and service have user in them, or in its place.
Result<Role> role_of(const google::protobuf::RepeatedPtrField<std::string>& names) {
  Role role = Role::kUser;
  for (const std::string& name : names) {
    GT_ASSIGN(const Role parsed, parse_role(name));
    if (parsed == Role::kUser) continue;
    if (role != Role::kUser && role != parsed) {
      return Error{Code::kInvalid, "a service account cannot be an administrator; give one of the two roles"};
    }
    role = parsed;
  }
  return role;
}

}  // namespace

// Here, as it takes seconds to compile the handlers of all methods.
AccountsRpc::AccountsRpc(wire::Door& door, AccountService& accounts, Secrets& secrets, const Clock& clock,
                         std::string address)
    : door_(door), accounts_(accounts), secrets_(secrets), clock_(clock), address_(std::move(address)) {}

wire::Methods AccountsRpc::methods() {
  return kMethods;
}

AccountsRpc::Reactor* AccountsRpc::Login(Context* context, const v1::LoginRequest* request, v1::LoginReply* reply) {
  return door_.unary_in_turn(context, kLogin, request, reply,
                             [this](const Call& call, const auto& q, auto& p) { return plan_login(call, q, "", p); });
}

AccountsRpc::Reactor* AccountsRpc::Join(Context* context, const v1::JoinRequest* request, v1::LoginReply* reply) {
  return door_.unary_in_turn(context, kJoin, request, reply,
                             [this](const Call& call, const auto& q, auto& p) -> Result<wire::SlowWork> {
                               if (q.code().empty())
                                 return Error{Code::kInvalid, "the code of the invitation is missing"};
                               return plan_login(call, q.login(), q.code(), p);
                             });
}

Result<wire::SlowWork> AccountsRpc::plan_login(const Call& call, const v1::LoginRequest& request,
                                               const std::string& code, v1::LoginReply& reply) {
  GT_TRY(wire::check_hello(request.hello(), clock_.wall(), "the client", "the server's"));
  Secrets::LoginWish wish{request.user(), request.password(), request.device(), {}, call.address};
  if (request.has_device_secret()) wish.device_secret = request.device_secret();
  GT_ASSIGN(const LoginAttempt attempt, secrets_.admit_login(wish));
  wire::SlowWork slow;
  slow.rank = attempt.is_known() ? wire::Rank::kKnown : wire::Rank::kStranger;
  slow.key = attempt.is_known() ? attempt.account : attempt.address;
  slow.work = [this, wish = std::move(wish), code, attempt, &reply] { return log_in(wish, code, attempt, reply); };
  slow.no_turn = [this, attempt] { secrets_.withdraw(attempt); };
  return slow;
}

Status AccountsRpc::log_in(const Secrets::LoginWish& wish, const std::string& code, const LoginAttempt& attempt,
                           v1::LoginReply& reply) {
  GT_ASSIGN(const Secrets::Issued issued,
            code.empty() ? secrets_.login(wish, attempt) : secrets_.join(wish, code, attempt));
  secrets_.forget_tokens();  // it may have taken another one's place
  *reply.mutable_hello() = wire::make_hello(clock_.wall());
  reply.set_token(issued.text);
  reply.set_user_id(issued.user.id.str());
  reply.set_user(issued.user.name);
  reply.set_expires_ms(issued.token.expires.ms);
  reply.set_device_secret(issued.device_secret);
  return {};
}

AccountsRpc::Reactor* AccountsRpc::Logout(Context* context, const v1::LogoutRequest* request, v1::LogoutReply* reply) {
  return door_.unary(context, kLogout, request, reply, [this](const Call& call, const auto& q, auto&) -> Status {
    const Actor actor = actor_of(call);
    GT_TRY(accounts_.revoke_token(actor, q.request_id(), actor.token_id));
    secrets_.forget_tokens();
    return {};
  });
}

AccountsRpc::Reactor* AccountsRpc::WhoAmI(Context* context, const v1::WhoAmIRequest* request, v1::WhoAmIReply* reply) {
  return door_.unary(context, kWhoAmI, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
    if (q.has_hello()) GT_TRY(wire::check_hello(q.hello(), clock_.wall(), "the client", "the server's"));
    *p.mutable_hello() = wire::make_hello(clock_.wall());
    p.set_user_id(call.principal.user.str());
    p.set_user(call.principal.user_name);
    GT_ASSIGN(const auto user, accounts_.find_user(call.principal.user));
    if (!user) return Error{Code::kNotFound, "the account is gone"};
    for (const Role role : user->roles()) p.add_roles(std::string(role_name(role)));
    for (const std::string& scope : scope_names(Scopes(call.principal.scopes))) p.add_scopes(scope);
    p.set_token_id(call.principal.token_id);
    p.set_token_expires_ms(call.principal.token_expires.ms);
    p.set_address(address_);
    return {};
  });
}

AccountsRpc::Reactor* AccountsRpc::CreateToken(Context* context, const v1::CreateTokenRequest* request,
                                               v1::CreateTokenReply* reply) {
  return door_.unary(context, kCreateToken, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
    const std::vector<std::string> scopes(q.scopes().begin(), q.scopes().end());
    GT_ASSIGN(const Secrets::Issued issued,
              secrets_.create_token(actor_of(call), q.request_id(),
                                    {q.for_user(), q.label(), scopes, std::chrono::milliseconds(q.ttl_ms())}));
    p.set_token(issued.text);
    *p.mutable_info() = to_wire(issued.token);
    return {};
  });
}

AccountsRpc::Reactor* AccountsRpc::CreateInvite(Context* context, const v1::CreateInviteRequest* request,
                                                v1::CreateInviteReply* reply) {
  return door_.unary(context, kCreateInvite, request, reply,
                     [this](const Call& call, const auto& q, auto& p) -> Status {
                       GT_ASSIGN(const Secrets::Issued issued,
                                 secrets_.create_invite(actor_of(call), {q.request_id(), q.user(), q.group(), q.uses(),
                                                                         std::chrono::milliseconds(q.ttl_ms())}));
                       p.set_code(issued.text);
                       p.set_token_id(issued.token.id);
                       p.set_expires_ms(issued.token.expires.ms);
                       p.set_uses(issued.token.uses_left);
                       p.set_address(address_);
                       return {};
                     });
}

AccountsRpc::Reactor* AccountsRpc::ListTokens(Context* context, const v1::ListTokensRequest* request,
                                              v1::ListTokensReply* reply) {
  return door_.unary(context, kListTokens, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
    GT_ASSIGN(const auto page, accounts_.list_tokens(actor_of(call), q.user(), wire::page_request(q)));
    wire::answer_page(page, p, [&p](const Token& token) -> const auto& { return *p.add_tokens() = to_wire(token); });
    return {};
  });
}

AccountsRpc::Reactor* AccountsRpc::RevokeToken(Context* context, const v1::RevokeTokenRequest* request,
                                               v1::RevokeTokenReply* reply) {
  return door_.unary(context, kRevokeToken, request, reply, [this](const Call& call, const auto& q, auto&) -> Status {
    GT_TRY(accounts_.revoke_token(actor_of(call), q.request_id(), q.token_id()));
    secrets_.forget_tokens();
    return {};
  });
}

AccountsRpc::Reactor* AccountsRpc::AddUser(Context* context, const v1::AddUserRequest* request,
                                           v1::AddUserReply* reply) {
  return door_.unary_in_turn(context, kAddUser, request, reply,
                             [this](const Call& call, const auto& q, auto& p) -> Result<wire::SlowWork> {
                               return of_user(call, [this, &call, &q, &p] { return add_user(call, q, p); });
                             });
}

Status AccountsRpc::add_user(const Call& call, const v1::AddUserRequest& request, v1::AddUserReply& reply) {
  GT_ASSIGN(const Role role, role_of(request.roles()));
  std::string hash;
  if (!request.password().empty()) {
    GT_ASSIGN(hash, secrets_.hash_new_password(request.name(), request.password()));
  }
  GT_ASSIGN(const User user, accounts_.add_user(actor_of(call), request.request_id(), request.name(), hash, role));
  *reply.mutable_user() = to_wire(user);
  return {};
}

AccountsRpc::Reactor* AccountsRpc::ListUsers(Context* context, const v1::ListUsersRequest* request,
                                             v1::ListUsersReply* reply) {
  return door_.unary(context, kListUsers, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
    GT_ASSIGN(const auto page, accounts_.list_users(actor_of(call), wire::page_request(q)));
    wire::answer_page(page, p, [&p](const User& user) -> const auto& { return *p.add_users() = to_wire(user); });
    return {};
  });
}

AccountsRpc::Reactor* AccountsRpc::DisableUser(Context* context, const v1::DisableUserRequest* request,
                                               v1::DisableUserReply* reply) {
  return door_.unary(context, kDisableUser, request, reply, [this](const Call& call, const auto& q, auto&) -> Status {
    GT_TRY(accounts_.disable_user(actor_of(call), q.request_id(), q.user()));
    secrets_.forget_tokens();
    return {};
  });
}

AccountsRpc::Reactor* AccountsRpc::EnableUser(Context* context, const v1::EnableUserRequest* request,
                                              v1::EnableUserReply* reply) {
  return door_.unary(context, kEnableUser, request, reply, [this](const Call& call, const auto& q, auto&) -> Status {
    GT_TRY(accounts_.enable_user(actor_of(call), q.request_id(), q.user()));
    secrets_.forget_tokens();
    return {};
  });
}

AccountsRpc::Reactor* AccountsRpc::ChangePassword(Context* context, const v1::ChangePasswordRequest* request,
                                                  v1::ChangePasswordReply* reply) {
  return door_.unary_in_turn(context, kChangePassword, request, reply,
                             [this](const Call& call, const auto& q, auto&) -> Result<wire::SlowWork> {
                               const Secrets::PasswordWish wish{q.user(), q.old_password(), q.new_password()};
                               GT_ASSIGN(const LoginAttempt attempt,
                                         secrets_.admit_password_change(actor_of(call), wish));
                               wire::SlowWork slow = of_user(call, [this, &call, &q, wish, attempt]() -> Status {
                                 GT_TRY(secrets_.change_password(actor_of(call), q.request_id(), wish, attempt));
                                 secrets_.forget_tokens();
                                 return {};
                               });
                               slow.no_turn = [this, attempt] { secrets_.withdraw(attempt); };
                               return slow;
                             });
}

Status AccountsRpc::answer_quotas(const Actor& actor, const std::string& user, v1::QuotasReply& reply) {
  GT_ASSIGN(const std::vector<QuotaUse> uses, accounts_.quotas(actor, user));
  for (const QuotaUse& use : uses) {
    v1::QuotaUse& line = *reply.add_quotas();
    line.set_quota(std::string(quota_name(use.quota)));
    line.set_limit(use.limit);
    line.set_own_limit(use.own_limit);
    line.set_used(use.used);
  }
  return {};
}

AccountsRpc::Reactor* AccountsRpc::GetQuotas(Context* context, const v1::GetQuotasRequest* request,
                                             v1::QuotasReply* reply) {
  return door_.unary(context, kGetQuotas, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
    return answer_quotas(actor_of(call), q.user(), p);
  });
}

AccountsRpc::Reactor* AccountsRpc::ChangeQuotas(Context* context, const v1::ChangeQuotasRequest* request,
                                                v1::QuotasReply* reply) {
  return door_.unary(
      context, kChangeQuotas, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
        std::vector<QuotaChange> changes;
        for (const v1::QuotaChange& change : q.changes()) {
          GT_ASSIGN(const Quota quota, parse_quota(change.quota()));
          changes.push_back({quota, change.has_limit() ? std::optional<std::uint64_t>(change.limit()) : std::nullopt});
        }
        GT_TRY(accounts_.change_quotas(actor_of(call), q.request_id(), q.user(), changes));
        return answer_quotas(actor_of(call), q.user(), p);
      });
}

AccountsRpc::Reactor* AccountsRpc::ListAuditRecords(Context* context, const v1::ListAuditRecordsRequest* request,
                                                    v1::ListAuditRecordsReply* reply) {
  return door_.unary(
      context, kListAuditRecords, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
        AuditFilter filter{q.actor(), q.action(), {q.since_ms()}, q.below(), q.limit() == 0 ? kAuditPage : q.limit()};
        GT_ASSIGN(const auto records, accounts_.audit_records(actor_of(call), std::move(filter)));
        for (const NumberedAuditRecord& one : records) {
          v1::AuditRecord& line = *p.add_records();
          line.set_number(one.number);
          line.set_at_ms(one.record.at.ms);
          if (!one.record.actor.is_nil()) line.set_actor_id(one.record.actor.str());
          line.set_actor(one.record.actor_name);
          line.set_token_id(one.record.token_id);
          line.set_address(one.record.address);
          line.set_action(one.record.action);
          line.set_object(one.record.object);
          line.set_outcome(one.record.outcome);
          line.set_request_id(one.record.request_id);
        }
        return {};
      });
}

}  // namespace gridtorrent::ccm::rpc
