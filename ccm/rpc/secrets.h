#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "ccm/domain/user.h"
#include "common/result.h"

namespace gridtorrent::ccm::rpc {

/// Port: what makes and checks passwords and tokens. The wiring of the server puts tracker/authority behind it.
/// Thread-safe; login and hash_new_password are slow on purpose.
class Secrets {
 public:
  virtual ~Secrets() = default;

  struct Issued {
    std::string text;  ///< to show once
    ccm::Token token;
    ccm::User user;
  };
  /// kUnauthenticated with one text for whatever is wrong; kBusy after too many attempts.
  virtual Result<Issued> login(const std::string& user, const std::string& password, const std::string& device,
                               const std::string& address) = 0;
  struct TokenWish {
    std::string for_user;  ///< id or name of a service account; empty: the actor's own
    std::string label;
    std::vector<std::string> scopes;  ///< empty: all but admin; a service account's are to be named
    std::chrono::milliseconds ttl{0};
  };
  virtual Result<Issued> create_token(const ccm::Actor& actor, const std::string& request_id,
                                      const TokenWish& wish) = 0;
  struct PasswordWish {
    std::string user;  ///< id or name; empty: the actor's own
    std::string old_password, new_password;
  };
  /// kUnauthenticated where the old one is wrong, kBusy after too many attempts, kInvalid where the new one is weak.
  virtual Status change_password(const ccm::Actor& actor, const std::string& request_id, const PasswordWish& wish) = 0;
  virtual Result<std::string> hash_new_password(std::string_view user, std::string_view password) = 0;
  /// Tokens were revoked or an account disabled: what is cached about them counts no more.
  virtual void forget_tokens() = 0;
};

}  // namespace gridtorrent::ccm::rpc
