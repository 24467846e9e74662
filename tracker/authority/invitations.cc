#include "tracker/authority/invitations.h"

#include "base/crypto/random.h"
#include "common/hex.h"
#include "tracker/authority/tokens.h"

namespace gridtorrent::tracker::authority {

Result<Logins::Issued> Invitations::create(const ccm::Actor& actor, const Wish& wish) {
  const MintedToken minted = mint_token(ccm::TokenKind::kInvite);
  ccm::NewInvite invite{wish.request_id, wish.user, wish.group, {}};
  invite.token.id = minted.id;
  invite.token.secret_hash = minted.secret_hash;
  invite.token.kind = ccm::TokenKind::kInvite;
  invite.token.uses_left = wish.uses == 0 ? 1 : wish.uses;
  invite.token.expires = clock_.wall() + (wish.ttl.count() == 0 ? ccm::InviteService::kDefaultLife : wish.ttl);
  Logins::Issued issued;
  GT_ASSIGN(issued.token, invites_.add(actor, invite));
  issued.text = minted.text;
  return issued;
}

Result<std::string> Invitations::check_code(const std::string& code) const {
  const Error refused{
      Code::kUnauthenticated,
      "this is no invitation of this server; ask who invited you for another, or, with an account here, "
      "for what 'gridtorrent invite --no-code' prints"};
  const auto parsed = parse_token(code);
  if (!parsed || parsed->kind != ccm::TokenKind::kInvite) return refused;
  GT_ASSIGN(const auto known, accounts_.find_token(parsed->id));
  if (!known || known->token.kind != ccm::TokenKind::kInvite ||
      !crypto::equal_in_constant_time(as_bytes(known->token.secret_hash), as_bytes(parsed->secret_hash))) {
    return refused;
  }
  return parsed->id;
}

Result<Logins::Issued> Invitations::join(const Logins::LoginWish& wish, const std::string& code,
                                         const ccm::LoginAttempt& attempt) {
  bool attempt_ended = false;
  Result<Logins::Issued> joined = [&]() -> Result<Logins::Issued> {
    GT_ASSIGN(const std::string token_id, check_code(code));
    return join_by(token_id, wish, attempt, attempt_ended);
  }();
  if (!attempt_ended) logins_.withdraw(attempt);
  return joined;
}

Result<Logins::Issued> Invitations::join_by(const std::string& token_id, const Logins::LoginWish& wish,
                                            const ccm::LoginAttempt& attempt, bool& attempt_ended) {
  ccm::Joining joining{token_id, wish.user, "", false, wish.address};
  GT_ASSIGN(const auto present, accounts_.find_user(wish.user));
  if (!present) {
    GT_ASSIGN(joining.password_hash, logins_.hash_new_password(wish.user, wish.password));
    GT_TRY(invites_.join(joining));
  }
  attempt_ended = true;
  GT_ASSIGN(Logins::Issued issued, logins_.login(wish, attempt));
  if (present) {
    joining.proven = true;
    GT_TRY(invites_.join(joining));
  }
  return issued;
}

}  // namespace gridtorrent::tracker::authority
