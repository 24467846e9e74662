#include "ccm/domain/content_access.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ccm/domain/names.h"
#include "common/text.h"

namespace gridtorrent::ccm {

namespace {
constexpr std::size_t kMaxNamesakes = 20;

Result<Content> one_of(std::vector<Content> candidates, std::string_view reference) {
  const auto published = [](const Content& c) { return c.state == ContentState::kPublished; };
  if (std::any_of(candidates.begin(), candidates.end(), published)) {
    std::erase_if(candidates, [&](const Content& c) { return !published(c); });
  }
  if (candidates.empty()) return missing_content(reference);
  if (candidates.size() == 1) return std::move(candidates.front());
  std::string choices;
  for (const Content& candidate : candidates) {
    choices += (choices.empty() ? "" : ", ") + candidate.owner_name + "/" + escape_for_display(candidate.name);
  }
  return Error{Code::kConflict,
               "several contents are named \"" + escape_for_display(reference) + "\": say which: " + choices};
}
}  // namespace

Result<Content> open_content(Tx& tx, const Actor& actor, Action action, const ContentId& id) {
  const Error missing = missing_content(id.str());
  GT_ASSIGN(auto content, tx.contents.by_id(id));
  if (!content) return missing;
  const AccessDecision decision = decide(subject_of(actor), action, *content);
  if (!decision.allowed) return denial_error(decision, *content, missing);
  return std::move(*content);
}

Result<Content> resolve_content(Tx& tx, const Actor& actor, std::string_view reference) {
  GT_ASSIGN(const ContentReference parts, parse_content_reference(reference));
  std::vector<Content> candidates;
  if (!parts.id.empty()) {
    GT_ASSIGN(const ContentId id, ContentId::parse(parts.id));
    GT_ASSIGN(auto found, tx.contents.by_id(id));
    if (found) candidates.push_back(std::move(*found));
  } else if (!parts.owner.empty()) {
    GT_ASSIGN(const auto owner, tx.users.by_name(parts.owner));
    if (owner) {
      GT_ASSIGN(auto found, tx.contents.by_owner_and_name(owner->id, parts.name));
      if (found) candidates.push_back(std::move(*found));
    }
  } else {
    GT_ASSIGN(candidates, tx.contents.visible_by_name(actor.user, actor.name, parts.name, kMaxNamesakes));
  }
  std::erase_if(candidates, [&](const Content& c) { return !decide(subject_of(actor), Action::kShow, c).allowed; });
  return one_of(std::move(candidates), reference);
}

Result<User> resolve_user(Tx& tx, std::string_view reference) {
  const auto id = UserId::parse(reference);
  GT_ASSIGN(auto user, id ? tx.users.by_id(*id) : tx.users.by_name(reference));
  if (!user) return Error{Code::kNotFound, "no user \"" + escape_for_display(reference.substr(0, 200)) + "\""};
  return std::move(*user);
}

Result<Access> checked_access(Tx& tx, Access access) {
  GT_TRY(check_access_supported(access));
  std::sort(access.users.begin(), access.users.end());
  access.users.erase(std::unique(access.users.begin(), access.users.end()), access.users.end());
  for (const std::string& name : access.users) {
    GT_ASSIGN(const auto user, tx.users.by_name(name));
    if (user) continue;
    return Error{Code::kNotFound,
                 "no user \"" + escape_for_display(name.substr(0, 200)) + "\" to share with; look at the name"};
  }
  return access;
}

Status check_version(const Content& content, std::uint32_t version) {
  if (version == 0 || version == content.version) return {};
  return Error{Code::kInvalid, "content " + content.id.str() + " has version " + std::to_string(content.version) +
                                   ", not " + std::to_string(version)};
}

AuditRecord audit_record(const Actor& actor, WallTime now, std::string_view action, std::string object,
                         std::string request_id, std::string outcome) {
  return {now,
          actor.user,
          actor.name,
          actor.token_id,
          actor.address,
          std::string(action),
          std::move(object),
          std::move(outcome),
          std::move(request_id)};
}

}  // namespace gridtorrent::ccm
