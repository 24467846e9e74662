#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "ccm/domain/content_access.h"
#include "ccm/domain/content_service.h"
#include "ccm/domain/names.h"
#include "ccm/domain/once.h"
#include "common/request_id.h"
#include "common/text.h"

// Versions of a content: the next one is begun, all are listed. Finishing is in content_publish.cc.

namespace gridtorrent::ccm {

namespace {

constexpr std::string_view kMethod = "content.update";
constexpr std::size_t kMaxListed = 1000;

std::string name_of(const Content& content) {
  return content.owner_name + "/" + escape_for_display(content.name);
}

/// The kept answer: "c_… 2".
struct UpdateAnswer {
  ContentId content;
  std::uint32_t version = 0;

  std::string text() const { return content.str() + " " + std::to_string(version); }
  static Result<UpdateAnswer> parse(std::string_view text) {
    const std::size_t blank = text.find(' ');
    UpdateAnswer answer;
    GT_ASSIGN(answer.content, ContentId::parse(text.substr(0, blank)));
    if (blank == std::string_view::npos) return Error{Code::kCorrupt, "a kept answer without a version"};
    std::from_chars(text.data() + blank + 1, text.data() + text.size(), answer.version);
    return answer;
  }
};

/// Whether this actor may take up a draft that was begun before.
Status check_takes_up(const Content& content, const VersionRecord& draft, const Actor& actor, WallTime now) {
  if (draft.publisher_node == actor.node || now - draft.touched >= ContentService::kDraftLifetime) return {};
  return Error{
      Code::kConflict,
      "version " + std::to_string(draft.number) + " of " + name_of(content) + " is being published " +
          (draft.publisher_node.is_nil() ? std::string("elsewhere") : "by node " + draft.publisher_node.str()) +
          " right now; wait for it"};
}

}  // namespace

Result<PublishTicket> ContentService::begin_update(const Actor& actor, const BeginUpdate& request) {
  PublishTicket ticket;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto answered, first_answer(tx, actor.user, request.request_id, kMethod));
    GT_ASSIGN(Content content, resolve_content(tx, actor, request.content));
    GT_ASSIGN(content, open_content(tx, actor, Action::kUpdate, content.id));
    GT_ASSIGN(const std::uint32_t number, update_in(tx, actor, request, content, answered.value_or("")));
    ticket = {content.id, number, content.generation, d_.editions.ca_pem(content.generation)};
    return {};
  }));
  return ticket;
}

Result<std::uint32_t> ContentService::update_in(Tx& tx, const Actor& actor, const BeginUpdate& request,
                                                const Content& content, const std::string& answered) const {
  GT_ASSIGN(const auto draft, tx.versions.draft_of(content.id));
  if (!answered.empty()) {
    GT_ASSIGN(const UpdateAnswer first, UpdateAnswer::parse(answered));
    if (first.content != content.id) {
      return Error{Code::kConflict, "request_id " + request.request_id + " was used for a version of " +
                                        first.content.str() + "; make a new one for " + name_of(content)};
    }
    const bool sealed = first.version <= content.version;
    if (sealed || (draft && draft->number == first.version && draft->publisher_node == actor.node)) {
      return first.version;
    }
  }
  const WallTime now = d_.clock.wall();
  VersionRecord next;
  if (draft) {
    GT_TRY(check_takes_up(content, *draft, actor, now));
    next = *draft;
  } else {
    GT_ASSIGN(const auto usage, tx.contents.usage(actor.user));
    GT_ASSIGN(const Quotas quotas, quotas_of(tx, d_.quotas, actor.user));
    if (usage.contents >= quotas.contents) {
      return Error{Code::kExhausted, "user " + actor.name + " has " + std::to_string(usage.contents) +
                                         " contents, earlier versions that somebody holds included, as many as the "
                                         "quota allows; ask the administrator for more"};
    }
    next.content = content.id;
    next.number = content.version + 1;
  }
  next.publisher_node = actor.node;
  next.touched = now;
  GT_TRY(tx.versions.put(next));
  GT_TRY(keep_answer(tx, actor.user, request.request_id, kMethod, UpdateAnswer{content.id, next.number}.text(), now));
  GT_TRY(tx.audit.append(audit_record(actor, now, kMethod, content.id.str(), request.request_id,
                                      "ok: version " + std::to_string(next.number))));
  return next.number;
}

Result<std::optional<ContentId>> ContentService::give_up_version(Tx& tx, const Actor& actor,
                                                                 const std::string& begun_as) {
  GT_TRY(check_request_id(begun_as));
  GT_ASSIGN(const auto begun, tx.requests.find(actor.user, begun_as));
  if (!begun || begun->method != kMethod) return std::optional<ContentId>();
  GT_ASSIGN(const UpdateAnswer answer, UpdateAnswer::parse(begun->answer));
  GT_ASSIGN(const auto draft, tx.versions.draft_of(answer.content));
  if (!draft || draft->number != answer.version) return std::optional(answer.content);
  if (!actor.node.is_nil() && draft->publisher_node != actor.node) {
    return Error{Code::kConflict, "version " + std::to_string(draft->number) + " of " + answer.content.str() +
                                      " is published by another node now"};
  }
  GT_TRY(tx.versions.remove(draft->content, draft->number));
  return std::optional(answer.content);
}

Result<std::vector<VersionView>> ContentService::versions(const Actor& actor, const ContentId& id) {
  std::vector<VersionView> views;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(const Content content, open_content(tx, actor, Action::kShow, id));
    if (content.state == ContentState::kDraft) return {};
    views.push_back({version_of(content), true, 0, 0});
    GT_ASSIGN(auto earlier, tx.versions.sealed_of(id, kMaxListed));
    for (VersionRecord& version : earlier) views.push_back({std::move(version), false, 0, 0});
    for (VersionView& view : views) {
      GT_ASSIGN(const auto replicas, known_replicas(tx, actor, content, view.version.number));
      view.replicas = static_cast<std::uint32_t>(
          std::ranges::count_if(replicas, [](const Replica& replica) { return replica.complete; }));
    }
    return {};
  }));
  for (VersionView& view : views) view.seeders = d_.live.counts(id, view.version.number).seeders;
  return views;
}

}  // namespace gridtorrent::ccm
