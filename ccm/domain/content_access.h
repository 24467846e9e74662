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

/// By id, name or owner/name, if the actor may see it; by name, what is published comes first. kConflict names the
/// choices where a bare name is not enough.
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

/// Whether `asked`, whose groups are named by name or id, is the access `kept`. Pure.
bool is_access(const Access& asked, const Access& kept);

/// Whose inboxes show it: those it is shared with by name, group or buddy list; nobody where it is public.
Result<std::vector<UserId>> sharees(Tx& tx, const Content& content);

/// Complete and partial replicas of a version that the actor may know of: whose nodes have it says whom it is shared
/// with, which is its owner's to know.
Result<std::vector<Replica>> known_replicas(Tx& tx, const Actor& actor, const Content& content, std::uint32_t version);

/// The content as that sealed version of it is; 0 stands for the newest. kInvalid where there has never been one of
/// that number, kNotFound where nobody held it any more.
Result<Content> at_version(Tx& tx, Content content, std::uint32_t version);
/// Before `next` takes the place of the newest version in the content's row: that one is kept among the earlier ones.
Status keep_replaced(Tx& tx, const Content& next);
/// A notice of the new version for each person but the owner whose nodes hold some of an earlier one, unless one of the
/// same content is unread. Returns them.
Result<std::vector<UserId>> tell_holders(Tx& tx, const Content& content);
/// Writes down what changed of a content as at_version gave it.
Status update_version(Tx& tx, const Content& content);

/// kConflict: the owner has this content under that name.
Error name_taken(const Content& by);
/// kConflict where another content of its owner has the name.
Status check_name_is_free(Tx& tx, const Content& content);
/// A new name for a content that is there, as it is kept. kInvalid.
Result<std::string> checked_new_name(const Content& content, std::string_view name);

AuditRecord audit_record(const Actor& actor, WallTime now, std::string_view action, std::string object,
                         std::string request_id, std::string outcome = "ok");

}  // namespace gridtorrent::ccm
