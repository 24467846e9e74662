#include "tracker/app/adapters.h"

#include <utility>

#include "base/rpc/limits.h"

namespace gridtorrent::tracker::app {

namespace {

Result<ccm::rpc::Secrets::Issued> convert(Result<authority::Logins::Issued> issued) {
  if (!issued) return issued.error();
  return ccm::rpc::Secrets::Issued{std::move(issued->text), std::move(issued->token), std::move(issued->user),
                                   std::move(issued->device_secret)};
}

authority::Logins::LoginWish convert(const ccm::rpc::Secrets::LoginWish& wish) {
  return {wish.user,          wish.password, wish.device,
          wish.device_secret, wish.address,  gridtorrent::rpc::address_bucket(wish.address)};
}

}  // namespace

Result<gridtorrent::rpc::Principal> RpcAuthenticator::resolve(std::string_view token, std::string_view peer_address) {
  GT_ASSIGN(const authority::TokenAuthenticator::Shown shown, tokens_.resolve(token, peer_address));
  gridtorrent::rpc::Principal principal;
  principal.user = shown.actor.user;
  principal.user_name = shown.actor.name;
  principal.admin = shown.actor.admin;
  principal.node = shown.actor.node;
  principal.scopes = shown.actor.scopes.bits();
  principal.token_id = shown.actor.token_id;
  principal.token_expires = shown.expires;
  return principal;
}

Result<std::optional<std::uint64_t>> AccountRates::calls_per_hour(const UserId& user, std::string_view quota) {
  GT_ASSIGN(const ccm::Quota known, ccm::parse_quota(quota));
  return accounts_.own_limit(user, known);
}

Result<ccm::LoginAttempt> RpcSecrets::admit_login(const LoginWish& wish) {
  return logins_.admit_login(convert(wish));
}

Result<ccm::rpc::Secrets::Issued> RpcSecrets::login(const LoginWish& wish, const ccm::LoginAttempt& attempt) {
  return convert(logins_.login(convert(wish), attempt));
}

Result<ccm::rpc::Secrets::Issued> RpcSecrets::join(const LoginWish& wish, const std::string& code,
                                                   const ccm::LoginAttempt& attempt) {
  return convert(invitations_.join(convert(wish), code, attempt));
}

Result<ccm::rpc::Secrets::Issued> RpcSecrets::create_invite(const ccm::Actor& actor, const InviteWish& wish) {
  return convert(invitations_.create(actor, {wish.request_id, wish.user, wish.group, wish.uses, wish.ttl}));
}

Result<ccm::rpc::Secrets::Issued> RpcSecrets::create_token(const ccm::Actor& actor, const std::string& request_id,
                                                           const TokenWish& wish) {
  return convert(logins_.create_token(actor, request_id, {wish.for_user, wish.label, wish.scopes, wish.ttl}));
}

Result<ccm::LoginAttempt> RpcSecrets::admit_password_change(const ccm::Actor& actor, const PasswordWish& wish) {
  return logins_.admit_password_change(actor, {wish.user, wish.old_password, wish.new_password},
                                       gridtorrent::rpc::address_bucket(actor.address));
}

Status RpcSecrets::change_password(const ccm::Actor& actor, const std::string& request_id, const PasswordWish& wish,
                                   const ccm::LoginAttempt& attempt) {
  return logins_.change_password(actor, request_id, {wish.user, wish.old_password, wish.new_password}, attempt);
}

Result<std::string> RpcSecrets::hash_new_password(std::string_view user, std::string_view password) {
  return logins_.hash_new_password(user, password);
}

}  // namespace gridtorrent::tracker::app
