#include "tracker/authority/authenticator.h"

#include "base/crypto/random.h"
#include "base/logging/logging.h"
#include "common/hex.h"
#include "tracker/authority/tokens.h"

namespace gridtorrent::tracker::authority {

namespace {

Error refused() {
  return {Code::kUnauthenticated, "the token is not valid, or no longer: run 'gridtorrent login' for a new one"};
}

Error node_refused() {
  return {Code::kUnauthenticated,
          "this node's credential is revoked or past its time: for another one run 'gridtorrent node reenroll' on its "
          "machine"};
}

Error removed(const ccm::Token& token) {
  return {Code::kDenied,
          "this node, " + token.node.str() + ", was removed by its owner or by an administrator of the server"};
}

}  // namespace

Result<TokenAuthenticator::Shown> TokenAuthenticator::resolve(std::string_view text, std::string_view address) {
  const auto parsed = parse_token(text);
  const bool opens = parsed && (parsed->kind == ccm::TokenKind::kPersonal || parsed->kind == ccm::TokenKind::kNode);
  if (!opens) return refused();
  GT_ASSIGN(const ccm::AccountService::TokenAndUser known, look_up(parsed->id));
  const bool same_secret =
      crypto::equal_in_constant_time(as_bytes(known.token.secret_hash), as_bytes(parsed->secret_hash));
  if (!same_secret || known.token.kind != parsed->kind) return refused();
  if (known.node_removed) return removed(known.token);
  if (!known.token.is_good(clock_.wall()) || known.user.disabled) {
    return parsed->kind == ccm::TokenKind::kNode ? node_refused() : refused();
  }
  note_used(known.token);
  Shown shown;
  shown.expires = known.token.expires;
  shown.actor.user = known.user.id;
  shown.actor.name = known.user.name;
  shown.actor.admin = known.user.admin;
  shown.actor.node = known.token.node;
  shown.actor.scopes = known.token.scopes;
  shown.actor.token_id = known.token.id;
  shown.actor.address = address;
  return shown;
}

Result<ccm::AccountService::TokenAndUser> TokenAuthenticator::look_up(const std::string& id) {
  const MonoTime now = clock_.mono();
  std::uint64_t generation = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto it = cache_.find(id);
    if (it != cache_.end() && now - it->second.read < kCacheTime) return it->second.known;
    generation = generation_;
  }
  GT_ASSIGN(const auto found, accounts_.find_token(id));
  if (!found) return refused();
  const std::lock_guard lock(mutex_);
  if (generation == generation_) {
    if (cache_.size() >= kMaxCached) cache_.clear();
    cache_.insert_or_assign(id, Cached{*found, now});
  }
  return *found;
}

void TokenAuthenticator::note_used(const ccm::Token& token) {
  const MonoTime now = clock_.mono();
  {
    const std::lock_guard lock(mutex_);
    const auto it = noted_.find(token.id);
    if (it != noted_.end() && now - it->second < std::chrono::minutes(1)) return;
    if (noted_.size() >= kMaxCached) noted_.clear();
    noted_[token.id] = now;
  }
  if (const Status noted = accounts_.note_token_used(token); !noted) {
    logging::warning("cannot note the use of a token", {{"token_id", token.id}, {"reason", noted.error().message}});
  }
}

void TokenAuthenticator::forget(const std::string& token_id) {
  const std::lock_guard lock(mutex_);
  ++generation_;
  cache_.erase(token_id);
}

void TokenAuthenticator::forget_all() {
  const std::lock_guard lock(mutex_);
  ++generation_;
  cache_.clear();
}

}  // namespace gridtorrent::tracker::authority
