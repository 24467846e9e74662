#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace gridtorrent::ccm {

/// What one person may have at most (docs/operating.md). Bytes of data are never limited.
enum class Quota : std::uint8_t {
  kContents,
  kMetadataBytes,
  kNodes,
  kTokens,
  kEnrollTokens,  ///< open ones
  kGroups,        ///< that one manages
  kOpenRequests,  ///< requests, invitations and offers that one has made and nobody has answered
  kBuddies,
  kTasks,             ///< that one has given nodes, until they are forgotten; ended ones make room
  kPublishesPerHour,  ///< a rate, which the door keeps
};
inline constexpr std::size_t kQuotaCount = 10;
/// "contents", "metadata-bytes", "nodes", "tokens", "enroll-tokens", "groups", "open-requests", "buddies", "tasks",
/// "publishes-per-hour".
std::string_view quota_name(Quota quota);
/// kInvalid names the choices.
Result<Quota> parse_quota(std::string_view text);

/// The limits of a person, or of everybody; 0: none allowed.
struct Quotas {
  std::uint64_t contents = 10'000;
  std::uint64_t metadata_bytes = std::uint64_t{8} << 30;
  std::uint64_t nodes = 10'000;
  std::uint64_t tokens = 100;
  std::uint64_t enroll_tokens = 100;
  std::uint64_t groups = 100;
  std::uint64_t open_requests_and_invitations = 500;
  std::uint64_t buddies = 1000;
  std::uint64_t tasks = 20'000;              ///< two for each node of a user who has all that are allowed
  std::uint64_t publishes_per_hour = 3'600;  ///< as the methods of publishing declare: one a second
  std::uint64_t group_members = 10'000;      ///< of one group, requests and invitations included; the same for all

  std::uint64_t& at(Quota quota);
  std::uint64_t at(Quota quota) const;
};

/// A limit that an administrator has set for one person, in the place of everybody's.
struct QuotaLimit {
  Quota quota = Quota::kContents;
  std::uint64_t limit = 0;
  friend bool operator==(const QuotaLimit&, const QuotaLimit&) = default;
};

Quotas with_limits(Quotas everybodys, const std::vector<QuotaLimit>& own);

/// A change of one limit; without a value everybody's holds again.
struct QuotaChange {
  Quota quota = Quota::kContents;
  std::optional<std::uint64_t> limit;
};

/// One line of what a person may have and has.
struct QuotaUse {
  Quota quota = Quota::kContents;
  std::uint64_t limit = 0;
  bool own_limit = false;  ///< set for this person
  std::uint64_t used = 0;
};

}  // namespace gridtorrent::ccm
