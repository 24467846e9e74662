#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ccm/domain/content.h"
#include "ccm/domain/ports.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::ccm {

/// What waits for a person's answer, and what others did that concerns them. Derived from what is kept: an invitation
/// that was withdrawn, or a content that is shared no more, is gone from here, too. At most kMaxOfAKind each.
struct Inbox {
  std::vector<Membership> invitations;  ///< to groups, for oneself to answer
  std::vector<Membership> requests;     ///< by others, to groups that one manages
  std::vector<Offer> offers;            ///< of contents, for oneself to answer
  std::vector<Content> shares;          ///< newest first, with the access as one may know it
  std::vector<Notice> notices;          ///< newest first
  WallTime read_until;                  ///< shares and notices that are older were read
  std::vector<std::string> more;        ///< kinds of which there are others: "invitations", "requests", …
  std::uint64_t older_notices = 0;      ///< how many were left out
  friend bool operator==(const Inbox&, const Inbox&) = default;
};

/// Thread-safe; blocks on the store.
class InboxService {
 public:
  struct Deps {
    Store& store;
    InboxBell& inboxes;
    const Clock& clock;
  };
  explicit InboxService(Deps deps) : d_(deps) {}

  Result<Inbox> read(const Actor& actor);
  /// All that came until then was read; never moves back, nor into the future. Repeated, it is done once.
  Status mark_read(const Actor& actor, WallTime until);

  static constexpr std::size_t kMaxOfAKind = 200;

 private:
  Deps d_;
};

}  // namespace gridtorrent::ccm
