#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ccm/domain/group.h"
#include "ccm/domain/ports.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/page.h"
#include "common/result.h"
#include "common/rng.h"

namespace gridtorrent::ccm {

/// A group as one person may know it.
struct GroupView {
  Group group;
  Standing own = Standing::kNone;
  WallTime own_expires;  ///< of an own request or invitation
  /// Managers to everybody who sees the group, members to members, requests and invitations to managers.
  std::vector<Membership> members;
  std::string next_page;  ///< of members; empty: these are all
};

struct NewGroup {
  std::string request_id;
  std::string name;
  std::string description;
  bool hidden = false;
};

struct MembershipChange {
  std::string request_id;
  std::string group;  ///< name or id
  std::string user;   ///< name or id; empty or oneself for one's own steps
  MembershipStep step = MembershipStep::kRequest;
  std::string message;  ///< for who has to answer
};

/// The use cases of groups, one transaction each, with audit records, notices to whom it concerns and news to nodes
/// after the commit. What is possible and who may are decided by group.h. Thread-safe; blocks on the store. Errors
/// besides those of the store: kInvalid; kNotFound missing or hidden, with the same text; kDenied; kConflict name taken
/// or impossible step; kExhausted quota.
class GroupService {
 public:
  struct Deps {
    Store& store;
    NodeWaker& waker;
    InboxBell& inboxes;
    const Clock& clock;
    Rng& rng;
    Quotas quotas;
  };
  explicit GroupService(Deps deps) : d_(deps) {}

  /// The creator is its first manager. Repeated with its request id, it has been done once.
  Result<GroupView> create(const Actor& actor, const NewGroup& request);
  /// By a manager, or an administrator where no manager is left. Contents that were shared with it are so no more; one
  /// that was shared with nobody else becomes private. Its tasks and transfers stop where they are no longer entitled.
  Status remove(const Actor& actor, const std::string& request_id, const std::string& group);
  /// By a manager.
  Result<GroupView> describe(const Actor& actor, const std::string& request_id, const std::string& group,
                             const std::optional<std::string>& description, std::optional<bool> hidden);
  /// One's own, those that one is invited to or has asked to join included; with `all`, every group that may be asked.
  /// Without members. By name, after `after` (where the request has no token), at most kMaxPage.
  Result<Page<GroupView>> list(const Actor& actor, bool all, const std::string& after, const PageRequest& page = {});
  /// `page`: of its members.
  Result<GroupView> get(const Actor& actor, const std::string& group, const PageRequest& page = {});
  /// Any step of a membership.
  Result<GroupView> change(const Actor& actor, const MembershipChange& change);
  /// Forgets requests and invitations that have ended. Call every few minutes.
  Status sweep();

  /// A step that was taken, and whom it concerns.
  struct Changed {
    Membership before, after;
    std::vector<UserId> people;  ///< whose inboxes changed
  };
  /// In the caller's transaction: the person becomes a member, by an invitation of this manager that they accept at
  /// once. Nothing where they are one. kDenied: removed since that was made (`invited`). After the commit, announce()
  /// it.
  Result<std::optional<Changed>> admit(Tx& tx, const Actor& manager, const Actor& person, const GroupId& group,
                                       WallTime invited) const;
  void announce(const Changed& changed) { after(changed.after.group, changed); }

  static constexpr std::size_t kMaxPage = 200;
  static constexpr std::chrono::milliseconds kPendingLifetime = std::chrono::hours(24 * 14);
  static constexpr std::chrono::milliseconds kNoticeLifetime = std::chrono::hours(24 * 30);

 private:
  struct Opened {
    Group group;
    Standing own = Standing::kNone;
  };
  /// The group, if the actor may know of it. `rescuing`: an administrator of the server may, to step in.
  Result<Opened> open(Tx& tx, const Actor& actor, std::string_view reference, bool rescuing = false) const;
  Result<GroupView> view(Tx& tx, const Actor& actor, const Group& group, const PageRequest& page = {}) const;
  /// With oneself and the person alone, as the answer to a step: groups are large.
  Result<GroupView> brief(Tx& tx, const Actor& actor, const Group& group, const UserId& person) const;
  Result<Changed> change_in(Tx& tx, const Actor& actor, const MembershipChange& change, const Opened& opened) const;
  /// Within the quotas: what the actor has asked for, how large the group is, what a manager-to-be manages.
  Status check_room(Tx& tx, const Actor& actor, const Changed& changed) const;
  /// Whether an administrator has to step in: no manager is able to act.
  Result<bool> needs_rescue(Tx& tx, const Actor& actor, const GroupId& group) const;
  Result<std::vector<UserId>> tell(Tx& tx, const Actor& actor, const Group& group, const Membership& before,
                                   const Membership& after, MembershipStep step) const;
  void after(const GroupId& group, const Changed& changed);

  Deps d_;
};

}  // namespace gridtorrent::ccm
