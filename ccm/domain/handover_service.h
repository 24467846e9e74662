#pragma once

#include <string>
#include <vector>

#include "ccm/domain/offer.h"
#include "ccm/domain/ports.h"
#include "ccm/domain/quotas.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/page.h"
#include "common/result.h"

namespace gridtorrent::ccm {

struct NewOffer {
  std::string request_id;
  std::string content;  ///< id, name or owner/name
  std::string to;       ///< user name or id
  std::string message;
};

/// What is open between a person and others: a page of both lists.
struct Offers {
  std::vector<Offer> to_me, by_me;  ///< newest first, at most kMaxListed each
  std::string next_page;            ///< empty: that was all
};

/// Content that gets another owner, who has agreed: an offer, and its answer. Nothing is copied or hashed; the data
/// stays where it is. Thread-safe; blocks on the store. Errors besides those of the store: kInvalid; kNotFound missing,
/// hidden or not offered; kDenied; kConflict offered to somebody else, or a name that the new owner uses; kExhausted
/// the new owner's quota.
class HandoverService {
 public:
  struct Deps {
    Store& store;
    NodeWaker& waker;
    InboxBell& inboxes;
    const Clock& clock;
    Quotas quotas;
  };
  explicit HandoverService(Deps deps) : d_(deps) {}

  /// By the owner, or by an administrator where the owner's account is disabled. Open for 14 days; offering it to the
  /// same person again begins them anew.
  Result<Offer> offer(const Actor& actor, const NewOffer& wanted);
  /// By whoever might offer it.
  Result<Offer> withdraw(const Actor& actor, const std::string& request_id, const std::string& content);
  /// By whom it was offered to. `new_name` empty: it keeps its name.
  Result<Offer> accept(const Actor& actor, const std::string& request_id, const std::string& content,
                       const std::string& new_name);
  Result<Offer> decline(const Actor& actor, const std::string& request_id, const std::string& content);
  /// Both lists go on at once: the page's limit counts for each of them.
  Result<Offers> list(const Actor& actor, const PageRequest& page = {});

  /// Of a kind in a page. With messages of 1,000 bytes a page stays below kMaxPageBytes.
  static constexpr std::size_t kMaxListed = 200;

 private:
  /// Takes the offer away; for what ends it without a new owner.
  Result<Offer> end(const Actor& actor, const std::string& request_id, const std::string& content, bool withdrawn);
  Status check_room(Tx& tx, const Actor& actor, const Content& content) const;

  Deps d_;
};

}  // namespace gridtorrent::ccm
