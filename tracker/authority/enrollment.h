#pragma once

#include <chrono>
#include <string>

#include "ccm/domain/account_service.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/result.h"
#include "tracker/authority/tokens.h"
#include "tracker/core/node_service.h"

namespace gridtorrent::tracker::authority {

/// What the proof of an enrolment is made over: this and the text of the token.
inline constexpr char kEnrollProofLabel[] = "gridtorrent-enroll:";

/// Enrolment tokens and nodes' credentials. Thread-safe; blocks on the store.
class Enrollment {
 public:
  static constexpr std::chrono::minutes kDefaultTokenLife{15};
  static constexpr std::chrono::hours kLongestTokenLife{30 * 24};
  static constexpr std::uint32_t kMostUses = 100'000;
  static constexpr std::chrono::hours kNodeTokenLife{90 * 24};

  Enrollment(ccm::AccountService& accounts, NodeService& nodes, const Clock& clock)
      : accounts_(accounts), nodes_(nodes), clock_(clock) {}

  struct TokenWish {
    std::string request_id, node_name;
    std::uint32_t uses = 0;            ///< 0: one
    std::chrono::milliseconds ttl{0};  ///< 0: 15 minutes
    bool ephemeral = false;
  };
  struct IssuedToken {
    std::string text;
    WallTime expires;
  };
  Result<IssuedToken> create_token(const ccm::Actor& actor, const TokenWish& wish);

  /// kUnauthenticated unless this is an enrolment token that was issued here; dates and uses are enroll's to check.
  Status check_token(const std::string& token);

  struct Request {
    std::string token;  ///< as shown in the header
    std::string request_id, name, public_key, proof, program_version, address;
  };
  struct Enrolled {
    EnrolledNode node;
    std::string token_text;
  };
  /// Checks the token and the proof that the caller has the key, makes the node and a credential bound to it.
  /// kUnauthenticated: the token; kInvalid: key or proof. Writes audit records.
  Result<Enrolled> enroll(const Request& request);

  /// A fresh credential once two thirds of the one in use are over; else an empty text and the old expiry.
  Result<Enrolled> renew(const ccm::Actor& actor, WallTime expires);

 private:
  Result<ccm::Token> find_token(const std::string& text);
  ccm::Token node_token(const MintedToken& minted) const;

  ccm::AccountService& accounts_;
  NodeService& nodes_;
  const Clock& clock_;
};

}  // namespace gridtorrent::tracker::authority
