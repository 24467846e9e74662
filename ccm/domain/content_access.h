#pragma once

#include <string>
#include <string_view>

#include "ccm/domain/content.h"
#include "ccm/domain/policy.h"
#include "ccm/domain/ports.h"
#include "common/result.h"

namespace gridtorrent::ccm {

/// The content, if the policy allows the action; else the decision's error, where hidden and missing look alike.
Result<Content> open_content(Tx& tx, const Actor& actor, Action action, const ContentId& id);

/// By id, name or owner/name, if the actor may see it. kConflict names the choices where a bare name is not enough.
Result<Content> resolve_content(Tx& tx, const Actor& actor, std::string_view reference);

/// By id or name; kNotFound.
Result<User> resolve_user(Tx& tx, std::string_view reference);

/// As it is kept: targets exist (else kNotFound), sorted, each once. kUnsupported, kInvalid: `check_access_supported`.
Result<Access> checked_access(Tx& tx, Access access);

/// kInvalid unless it is the content's version; 0 stands for the newest.
Status check_version(const Content& content, std::uint32_t version);

AuditRecord audit_record(const Actor& actor, WallTime now, std::string_view action, std::string object,
                         std::string request_id, std::string outcome = "ok");

}  // namespace gridtorrent::ccm
