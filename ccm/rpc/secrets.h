#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ccm/domain/user.h"
#include "common/result.h"

namespace gridtorrent::ccm::rpc {

/// Port: what makes and checks passwords and tokens. The wiring of the server puts tracker/authority behind it.
/// Thread-safe; login, join, change_password and hash_new_password are slow on purpose.
class Secrets {
 public:
  virtual ~Secrets() = default;

  struct Issued {
    std::string text;  ///< to show once
    ccm::Token token;
    ccm::User user;
    std::string device_secret;  ///< likewise; empty where none is made
  };
  struct LoginWish {
    std::string user, password, device;
    std::optional<std::string> device_secret;  ///< empty: the device wants one; nothing: it keeps none
    std::string address;
  };
  /// Quick, before the login waits for its turn: kBusy after too many attempts. Ends with login() or withdraw().
  virtual Result<ccm::LoginAttempt> admit_login(const LoginWish& wish) = 0;
  /// kUnauthenticated with one text for whatever is wrong.
  virtual Result<Issued> login(const LoginWish& wish, const ccm::LoginAttempt& attempt) = 0;
  /// As login(), by whoever has the code of an invitation; an account may be made. Ends what admit_login() began.
  /// kUnauthenticated: code or password; kInvalid: a weak password; else as InviteService::join.
  virtual Result<Issued> join(const LoginWish& wish, const std::string& code, const ccm::LoginAttempt& attempt) = 0;
  struct InviteWish {
    std::string request_id, user, group;
    std::uint32_t uses = 0;            ///< 0: one
    std::chrono::milliseconds ttl{0};  ///< 0: 48 hours
  };
  virtual Result<Issued> create_invite(const ccm::Actor& actor, const InviteWish& wish) = 0;
  /// It got no turn.
  virtual void withdraw(const ccm::LoginAttempt& attempt) = 0;
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
  /// As admit_login(); ends with change_password() or withdraw().
  virtual Result<ccm::LoginAttempt> admit_password_change(const ccm::Actor& actor, const PasswordWish& wish) = 0;
  /// kUnauthenticated where the old one is wrong, kInvalid where the new one is weak.
  virtual Status change_password(const ccm::Actor& actor, const std::string& request_id, const PasswordWish& wish,
                                 const ccm::LoginAttempt& attempt) = 0;
  virtual Result<std::string> hash_new_password(std::string_view user, std::string_view password) = 0;
  /// Tokens were revoked or an account disabled: what is cached about them counts no more.
  virtual void forget_tokens() = 0;
};

}  // namespace gridtorrent::ccm::rpc
