#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ccm/domain/content.h"
#include "ccm/domain/policy.h"
#include "ccm/domain/ports.h"
#include "common/result.h"

namespace gridtorrent::ccm {

/// What the policy has to know of the person's groups and of the owner's buddies.
Result<Grants> grants_of(Tx& tx, const UserId& person, const Content& content);
/// The same for one of many contents: `groups` are those that the person is a member of, sorted.
Result<Grants> grants_among(Tx& tx, const UserId& person, const Content& content, const std::vector<GroupId>& groups);
Result<std::vector<GroupId>> sorted_groups_of(Tx& tx, const UserId& person);

/// The content, if the policy allows the action; else the decision's error, where hidden and missing look alike.
Result<Content> open_content(Tx& tx, const Actor& actor, Action action, const ContentId& id);

/// By id, name or owner/name, if the actor may see it. kConflict names the choices where a bare name is not enough.
Result<Content> resolve_content(Tx& tx, const Actor& actor, std::string_view reference);

/// What the person may have: everybody's limits, but for those that an administrator has set for them.
Result<Quotas> quotas_of(Tx& tx, const Quotas& everybodys, const UserId& person);

/// By id or name; kNotFound.
Result<User> resolve_user(Tx& tx, std::string_view reference);

/// A group that the actor is a member of, by name or id. kNotFound for all others, whether they exist or not.
Result<GroupTarget> own_group(Tx& tx, const Actor& actor, std::string_view reference);

/// As it is kept: targets exist, sorted, each once. Groups are those of the actor, or `now` among the content's
/// targets. kNotFound; kInvalid.
Result<Access> checked_access(Tx& tx, const Actor& actor, Access access, const Access& now);

/// Whose inboxes show it: those it is shared with by name, group or buddy list; nobody where it is public.
Result<std::vector<UserId>> sharees(Tx& tx, const Content& content);

/// Nodes that have some of it, whether they may at the moment or not.
Result<std::vector<NodeId>> holders(Tx& tx, const Content& content);

/// kInvalid unless it is the content's version; 0 stands for the newest.
Status check_version(const Content& content, std::uint32_t version);

AuditRecord audit_record(const Actor& actor, WallTime now, std::string_view action, std::string object,
                         std::string request_id, std::string outcome = "ok");

}  // namespace gridtorrent::ccm
