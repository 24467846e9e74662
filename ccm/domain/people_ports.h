#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ccm/domain/group.h"
#include "ccm/domain/notice.h"
#include "ccm/domain/offer.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::ccm {

// Ports of what people have to do with each other. As in ports.h: inside one transaction.

class GroupStore {
 public:
  static constexpr std::chrono::milliseconds kRemovalsKept = std::chrono::hours(24 * 31);  ///< no code is older
  virtual ~GroupStore() = default;
  /// kConflict: the name is taken.
  virtual Status insert(const Group& group) = 0;
  /// Description and whether it is hidden.
  virtual Status update(const Group& group) = 0;
  /// With its memberships. No content is shared with it any more; one that was shared with nobody else is private.
  virtual Status remove(const GroupId& id) = 0;
  virtual Result<std::optional<Group>> by_id(const GroupId& id) = 0;
  virtual Result<std::optional<Group>> by_name(std::string_view name) = 0;
  /// By id or name, if it is not hidden or the viewer stands with it somehow at `now`: what is hidden costs the same
  /// query as what is missing.
  virtual Result<std::optional<Group>> visible_one(const UserId& viewer, WallTime now, std::string_view reference) = 0;
  /// By id or name, if this person is a member; likewise.
  virtual Result<std::optional<Group>> own_one(const UserId& member, std::string_view reference) = 0;
  /// Not hidden, or the viewer stands with it somehow at `now`; by name, after `after`.
  virtual Result<std::vector<Group>> visible(const UserId& viewer, WallTime now, std::string_view after,
                                             std::size_t limit) = 0;

  /// Written anew where there is one; kNone takes it away.
  virtual Status put(const Membership& membership) = 0;
  virtual Result<std::optional<Membership>> membership(const GroupId& group, const UserId& user) = 0;
  /// Managers first, then members, requests, invitations, by name; those that have ended by themselves included.
  virtual Result<std::vector<Membership>> of_group(const GroupId& group) = 0;
  /// By group name; those that have ended by themselves included.
  virtual Result<std::vector<Membership>> of_user(const UserId& user) = 0;
  /// Groups that this person is a member of.
  virtual Result<std::vector<GroupId>> active_of(const UserId& user) = 0;
  virtual Result<std::vector<UserId>> managers_of(const GroupId& group) = 0;
  /// To this person, and to groups that this person manages; open at `now`, oldest first.
  virtual Result<std::vector<Membership>> invitations_to(const UserId& user, WallTime now, std::size_t limit) = 0;
  virtual Result<std::vector<Membership>> requests_to(const UserId& manager, WallTime now, std::size_t limit) = 0;
  /// Members, requests and invitations.
  virtual Result<std::uint64_t> count_memberships(const GroupId& group) = 0;
  /// With an enabled account.
  virtual Result<std::uint64_t> count_managers(const GroupId& group) = 0;
  /// Requests and invitations that this person made and that are open at `now`.
  virtual Result<std::uint64_t> count_open(const UserId& asked_by, WallTime now) = 0;
  virtual Result<std::uint64_t> count_managed(const UserId& manager) = 0;
  /// A manager removed the person. Kept for kRemovalsKept.
  virtual Status note_removal(const GroupId& group, const UserId& user, WallTime now) = 0;
  /// When that was last; nothing: never, or long ago.
  virtual Result<std::optional<WallTime>> removed_at(const GroupId& group, const UserId& user) = 0;
  /// Forgets requests and invitations that ended before `before`.
  virtual Status prune(WallTime before) = 0;
};

/// Each person's own list; nobody else learns what is on it.
class BuddyStore {
 public:
  virtual ~BuddyStore() = default;
  /// False: nothing had to change.
  virtual Result<bool> add(const UserId& owner, const UserId& buddy, WallTime now) = 0;
  virtual Result<bool> remove(const UserId& owner, const UserId& buddy) = 0;
  /// Since when this person is on the list.
  virtual Result<std::optional<WallTime>> since(const UserId& owner, const UserId& buddy) = 0;
  /// By name.
  virtual Result<std::vector<User>> of(const UserId& owner) = 0;
};

/// Where an offer stands in a list.
struct OfferPlace {
  WallTime since;
  std::string content;
};

/// Contents that are offered to a new owner. What is listed is open and published.
class OfferStore {
 public:
  virtual ~OfferStore() = default;
  /// In the place of the one that there is for this content.
  virtual Status put(const Offer& offer) = 0;
  virtual Result<std::optional<Offer>> of_content(const ContentId& content) = 0;
  /// Those open at `now`, newest first; after `after`, at most `limit`.
  virtual Result<std::vector<Offer>> to(const UserId& user, WallTime now, const std::optional<OfferPlace>& after,
                                        std::size_t limit) = 0;
  virtual Result<std::vector<Offer>> by(const UserId& user, WallTime now, const std::optional<OfferPlace>& after,
                                        std::size_t limit) = 0;
  virtual Result<std::uint64_t> count_open(const UserId& by, WallTime now) = 0;
  virtual Status remove(const ContentId& content) = 0;
  /// Forgets those that ended before `before`.
  virtual Status prune(WallTime before) = 0;
};

class NoticeStore {
 public:
  virtual ~NoticeStore() = default;
  virtual Status append(const Notice& notice) = 0;
  /// Newest first.
  virtual Result<std::vector<Notice>> of_user(const UserId& user, std::size_t limit) = 0;
  virtual Result<std::uint64_t> count(const UserId& user) = 0;
  /// Until when this person has read their inbox.
  virtual Result<WallTime> read_until(const UserId& user) = 0;
  virtual Status set_read_until(const UserId& user, WallTime until) = 0;
  virtual Status prune(WallTime before) = 0;
};

}  // namespace gridtorrent::ccm
