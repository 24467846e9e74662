#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/rpc/principal.h"
#include "ccm/domain/user.h"

namespace gridtorrent::testing_support {

/// Knows tokens by heart; they can be taken away.
class FakeAuthenticator final : public rpc::Authenticator {
 public:
  Result<rpc::Principal> resolve(std::string_view token, std::string_view) override {
    const std::lock_guard lock(mutex_);
    const auto it = known_.find(std::string(token));
    if (it == known_.end()) return Error{Code::kUnauthenticated, "the token is not valid"};
    return it->second;
  }
  void add(const std::string& token, const ccm::Actor& actor) {
    rpc::Principal principal;
    principal.user = actor.user;
    principal.user_name = actor.name;
    principal.node = actor.node;
    principal.scopes = actor.scopes.bits();
    const std::lock_guard lock(mutex_);
    known_[token] = principal;
  }
  void remove(const std::string& token) {
    const std::lock_guard lock(mutex_);
    known_.erase(token);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, rpc::Principal> known_;
};

}  // namespace gridtorrent::testing_support
