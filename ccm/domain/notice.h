#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::ccm {

/// What happened to a person that they did not do themselves and that leaves nothing else behind to be seen.
enum class NoticeKind : std::uint8_t {
  kRequestAccepted,
  kRequestDeclined,
  kInvitationAccepted,  ///< told to who invited
  kInvitationDeclined,
  kRemoved,
  kLeft,  ///< told to managers
  kMadeManager,
  kManagerNoMore,
  kGroupDeleted,
  kOfferAccepted,  ///< told to who offered a content, and to its owner before
  kOfferDeclined,
  kNewVersion,  ///< told to whoever's nodes hold an earlier version of a content
};
std::string_view notice_kind_name(NoticeKind kind);
Result<NoticeKind> parse_notice_kind(std::string_view text);

/// A line in a person's inbox, kept for kNoticeLifetime. Names as they were then: what they named may be gone.
struct Notice {
  UserId to;
  WallTime at;
  NoticeKind kind = NoticeKind::kRequestAccepted;
  std::string by;      ///< user name of who did it
  std::string group;   ///< name, or empty
  std::string object;  ///< "owner/name" of a content, or empty
  friend bool operator==(const Notice&, const Notice&) = default;
};

}  // namespace gridtorrent::ccm
