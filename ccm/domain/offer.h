#pragma once

#include <string>

#include "ccm/domain/content.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::ccm {

/// A content that somebody is asked to take over: theirs once they accept. One for a content at a time.
struct Offer {
  ContentId content;
  std::string owner_name, content_name;  ///< filled on reading
  std::uint64_t bytes = 0;               ///< filled on reading
  UserId by;                             ///< the owner, or an administrator for a disabled account
  std::string by_name;                   ///< filled on reading
  UserId to;
  std::string to_name;  ///< filled on reading
  WallTime since, expires;
  std::string message;

  bool is_open(WallTime now) const { return now < expires; }
  friend bool operator==(const Offer&, const Offer&) = default;
};

/// Who may have the content once it is the new owner's. The owner before is a target then (unless it is public, or
/// their account is disabled), so that their nodes serve it until the new owner's have it; the new owner is no target
/// of their own; and the list of buddies is no target any more, since it would be another list.
Access access_after_handover(const Access& before, const std::string& old_owner, bool old_owner_stays,
                             const std::string& new_owner);

}  // namespace gridtorrent::ccm
