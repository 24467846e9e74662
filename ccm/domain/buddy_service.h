#pragma once

#include <string>
#include <vector>

#include "ccm/domain/ports.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/page.h"
#include "common/result.h"

namespace gridtorrent::ccm {

/// A person's own list of buddies, which content can be shared with as a whole. One-sided: who is on it is not asked,
/// not told, and gets nothing but what is shared with `buddies`. One transaction each, with audit records that the
/// owner's id is on. Thread-safe; blocks on the store. Errors besides those of the store: kNotFound; kConflict oneself;
/// kExhausted quota.
class BuddyService {
 public:
  struct Deps {
    Store& store;
    NodeWaker& waker;
    InboxBell& inboxes;
    const Clock& clock;
    Quotas quotas;
  };
  explicit BuddyService(Deps deps) : d_(deps) {}

  /// `user`: name or id. No change where they are on it.
  Result<User> add(const Actor& actor, const std::string& request_id, const std::string& user);
  /// No change where they are not on it.
  Result<User> remove(const Actor& actor, const std::string& request_id, const std::string& user);
  /// By name.
  Result<Page<User>> list(const Actor& actor, const PageRequest& page = {});

 private:
  Result<User> change(const Actor& actor, const std::string& request_id, const std::string& user, bool add);

  Deps d_;
};

}  // namespace gridtorrent::ccm
