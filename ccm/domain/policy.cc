#include "ccm/domain/policy.h"

#include <algorithm>
#include <array>

#include "common/text.h"

namespace gridtorrent::ccm {

namespace {

AccessDecision allow(std::string reason) {
  return {true, Denial::kNone, std::move(reason)};
}
AccessDecision deny(Denial denial, std::string reason) {
  return {false, denial, std::move(reason)};
}

bool is_granted(const GroupTarget& target, const Grants& grants) {
  return !target.id.is_nil() && std::find(grants.groups.begin(), grants.groups.end(), target.id) != grants.groups.end();
}

AccessDecision may_see_shared(const Subject& subject, const Access& access, const Grants& grants) {
  if (std::find(access.users.begin(), access.users.end(), subject.name) != access.users.end()) {
    return allow("shared: user " + subject.name + " is listed");
  }
  for (const GroupTarget& target : access.groups) {
    if (is_granted(target, grants)) {
      return allow("shared with group " + target.name + ": user " + subject.name + " is a member");
    }
  }
  if (access.buddies && grants.buddy) return allow("shared with the owner's buddies: user " + subject.name + " is one");
  return deny(Denial::kHidden, "shared, but not with user " + subject.name + ": not listed" +
                                   (access.groups.empty() ? "" : ", no member of a group that is") +
                                   (access.buddies ? ", no buddy of the owner" : ""));
}

/// Whether the subject may know of the content at all, whatever its state. The core of everything below.
AccessDecision may_see(const Subject& subject, const Content& content, const Grants& grants) {
  if (subject.disabled) return deny(Denial::kHidden, "the account is disabled");
  if (subject.user == content.owner) return allow("it is the owner's own");
  switch (content.access.level) {
    case AccessLevel::kPublic:
      return allow("public: every logged-in user may");
    case AccessLevel::kPrivate:
      return deny(Denial::kHidden, "private: only its owner may see it");
    case AccessLevel::kShared:
      return may_see_shared(subject, content.access, grants);
  }
  return deny(Denial::kHidden, "unknown access");
}

AccessDecision decide_transfer(const AccessDecision& seen, const Content& content) {
  if (content.state == ContentState::kDraft) return deny(Denial::kState, "it is still being published");
  if (content.state == ContentState::kWithdrawn) return deny(Denial::kState, "its owner has withdrawn it");
  // Of a database from before there were encrypted lanes.
  if (content.access.level != AccessLevel::kPublic && content.generation == 0) {
    return deny(Denial::kState, "it is restricted and has no encrypted edition; its owner has to set its access again");
  }
  return seen;
}

AccessDecision decide_of_owner(Action action, const Content& content) {
  const auto only_in = [&](ContentState state) {
    if (content.state == state) return allow("it is the owner's own");
    return deny(Denial::kState, "it is " + std::string(content_state_name(content.state)) + ", not " +
                                    std::string(content_state_name(state)));
  };
  switch (action) {
    case Action::kFinish:
    case Action::kExplain:
      // A finished publish may be repeated: the use case finds out whether it is the same.
      return allow("it is the owner's own");
    case Action::kAddChecksums:
    case Action::kSetAccess:
    case Action::kUpdate:
    case Action::kDescribe:
      return only_in(ContentState::kPublished);
    case Action::kUnpublish:
      if (content.state == ContentState::kWithdrawn) return allow("it is withdrawn already");
      return only_in(ContentState::kPublished);
    case Action::kRestore:
      if (content.state == ContentState::kPublished) return allow("it is published already");
      return only_in(ContentState::kWithdrawn);
    default:
      return deny(Denial::kForbidden, "no such action");
  }
}

}  // namespace

std::string_view action_name(Action action) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "search",     "show",      "transfer", "list replicas", "finish publishing", "add checksums",
      "set access", "unpublish", "restore",  "describe",      "explain access",    "update"};
  return kNames.at(static_cast<std::size_t>(action));
}

AccessDecision decide(const Subject& subject, Action action, const Content& content, const Grants& grants) {
  if (content.state == ContentState::kPurged) return deny(Denial::kHidden, "it is gone");
  AccessDecision seen = may_see(subject, content, grants);
  if (!seen.allowed) return seen;
  const bool is_owner = subject.user == content.owner;
  if (content.state == ContentState::kDraft && !is_owner) return deny(Denial::kHidden, "it is still being published");

  switch (action) {
    case Action::kSearch:
      if (content.state == ContentState::kPublished) return seen;
      return deny(Denial::kState, "it is " + std::string(content_state_name(content.state)) + ": not listed");
    case Action::kShow:
      return seen;
    case Action::kTransfer:
      return decide_transfer(seen, content);
    case Action::kListReplicas:
    case Action::kFinish:
    case Action::kAddChecksums:
    case Action::kSetAccess:
    case Action::kUnpublish:
    case Action::kRestore:
    case Action::kDescribe:
    case Action::kExplain:
    case Action::kUpdate:
      break;
  }
  if (action == Action::kListReplicas) return seen;
  if (!is_owner) return deny(Denial::kForbidden, "only its owner may do that");
  return decide_of_owner(action, content);
}

Error denial_error(const AccessDecision& decision, const Content& content, const Error& missing) {
  const std::string head = "content " + content.owner_name + "/" + escape_for_display(content.name) + ": ";
  switch (decision.denial) {
    case Denial::kHidden:
      return missing;
    case Denial::kForbidden:
      return {Code::kDenied, head + decision.reason};
    case Denial::kState:
      return {Code::kConflict, head + decision.reason};
    case Denial::kNone:
      break;
  }
  return {Code::kInternal, head + "a denial without a reason"};
}

Status check_access_form(const Access& access) {
  const std::size_t targets = access.groups.size() + access.users.size() + (access.buddies ? 1 : 0);
  if (access.level != AccessLevel::kShared) {
    if (targets == 0) return {};
    return Error{Code::kInvalid,
                 "access " + std::string(access_level_name(access.level)) + " takes no users, groups or buddies"};
  }
  if (targets == 0) {
    return Error{Code::kInvalid, "shared access needs somebody to share with: group:NAME, user:NAME or buddies"};
  }
  if (targets > kMaxAccessTargets) {
    return Error{Code::kInvalid, std::to_string(targets) + " users and groups are too many for one content: " +
                                     std::to_string(kMaxAccessTargets) + " are allowed; make a group of them"};
  }
  return {};
}

Access access_as_seen(const Subject& subject, const Content& content, const Grants& grants) {
  Access seen = content.access;
  if (subject.user == content.owner) return seen;
  std::erase_if(seen.groups, [&](const GroupTarget& target) { return !is_granted(target, grants); });
  std::erase_if(seen.users, [&](const std::string& name) { return name != subject.name; });
  seen.buddies = false;
  return seen;
}

Error missing_content(std::string_view reference) {
  return {Code::kNotFound, "no content \"" + escape_for_display(reference.substr(0, 300)) +
                               "\", or not yours to see; look with: gridtorrent search"};
}

Subject subject_of(const Actor& actor) {
  return {actor.user, actor.name, false};
}

}  // namespace gridtorrent::ccm
