#include <algorithm>
#include <utility>

#include "ccm/domain/content_access.h"
#include "ccm/domain/content_service.h"
#include "ccm/domain/names.h"
#include "ccm/domain/once.h"
#include "common/text.h"

// Correcting what is said of a content. Publishing is in content_publish.cc.

namespace gridtorrent::ccm {

namespace {

constexpr std::string_view kMethod = "content.describe";

Result<std::vector<std::string>> tags_after(std::vector<std::string> tags, const TagChange& change) {
  if (change.clear) tags.clear();
  GT_ASSIGN(const auto removed, normalize_tags(change.remove));
  std::erase_if(tags, [&](const std::string& tag) { return std::ranges::find(removed, tag) != removed.end(); });
  tags.insert(tags.end(), change.add.begin(), change.add.end());
  return normalize_tags(tags);
}

Status check_revision(const Content& content, const DescribeContent& request) {
  if (!request.if_revision || *request.if_revision == content.revision) return {};
  return Error{Code::kConflict, content.owner_name + "/" + escape_for_display(content.name) +
                                    " was changed meanwhile: it has revision " + std::to_string(content.revision) +
                                    ", not " + std::to_string(*request.if_revision) +
                                    "; look at it again, then change it"};
}

/// The content as it is to be: everything checked but whether the name is free.
Result<Content> described(Content content, const DescribeContent& request) {
  GT_TRY(check_revision(content, request));
  if (request.name) {
    GT_ASSIGN(content.name, checked_new_name(content, *request.name));
  }
  if (request.description) {
    GT_ASSIGN(content.description, normalize_text("description", *request.description, kMaxDescriptionBytes, true));
  }
  if (request.license) {
    GT_ASSIGN(content.license, normalize_text("license", *request.license, kMaxLicenseBytes, false));
  }
  GT_ASSIGN(content.tags, tags_after(std::move(content.tags), request.tags));
  return content;
}

/// What is different, for the audit record; empty: nothing.
std::string difference(const Content& before, const Content& after) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (before.name != after.name) add("name \"" + before.name + "\" to \"" + after.name + "\"");
  if (before.description != after.description) add("description");
  if (before.license != after.license) add("license");
  if (before.tags != after.tags) add("tags");
  return text;
}

}  // namespace

Result<ContentView> ContentService::describe(const Actor& actor, const DescribeContent& request) {
  Content content;
  Concerned concerned;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(content, open_content(tx, actor, Action::kDescribe, request.content));
    GT_ASSIGN(const bool done, was_done(tx, actor.user, request.request_id, kMethod, content.id.str()));
    if (done) return {};
    GT_ASSIGN(Content wanted, described(content, request));
    const std::string change = difference(content, wanted);
    if (change.empty()) return {};
    if (wanted.name != content.name) {
      GT_TRY(check_name_is_free(tx, wanted));
      GT_TRY(tx.contents.set_owner_and_name(wanted.id, wanted.owner, wanted.name));
      GT_ASSIGN(concerned.holders, tx.replicas.holders(wanted.id));
    }
    ++wanted.revision;
    GT_TRY(tx.contents.update(wanted));
    GT_ASSIGN(concerned.people, sharees(tx, wanted));
    content = std::move(wanted);
    const WallTime now = d_.clock.wall();
    GT_TRY(keep_answer(tx, actor.user, request.request_id, kMethod, content.id.str(), now));
    return tx.audit.append(audit_record(actor, now, kMethod, content.id.str(), request.request_id, "ok: " + change));
  }));
  return after_change(std::move(content), concerned);
}

}  // namespace gridtorrent::ccm
