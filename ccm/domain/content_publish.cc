#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "ccm/domain/content_access.h"
#include "ccm/domain/content_service.h"
#include "ccm/domain/names.h"
#include "ccm/domain/once.h"
#include "common/request_id.h"
#include "common/shell_words.h"
#include "common/text.h"

// Publishing: begin, upload, checksums. The other use cases are in content_service.cc.

namespace gridtorrent::ccm {

namespace {

constexpr std::string_view kBeginMethod = "content.begin";
constexpr std::string_view kFinishMethod = "content.publish";
constexpr std::string_view kGiveUpMethod = "content.give_up";

Result<Content> wanted_content(const Actor& actor, const BeginPublish& request, WallTime now) {
  GT_TRY(check_request_id(request.request_id));
  Content content;
  content.owner = actor.user;
  content.owner_name = actor.name;
  GT_ASSIGN(content.name, normalize_content_name(request.name));
  GT_ASSIGN(content.description, normalize_text("description", request.description, kMaxDescriptionBytes, true));
  GT_ASSIGN(content.license, normalize_text("license", request.license, kMaxLicenseBytes, false));
  GT_ASSIGN(content.tags, normalize_tags(request.tags));
  content.access = request.access;
  content.publisher_node = actor.node;
  content.created = now;
  content.touched = now;
  return content;
}

/// What a request asked for, to tell it from another under the same id: 16 hex digits of FNV-1a over all fields. It
/// finds mistakes; who makes two requests collide deceives nobody but themselves.
std::string arguments_of(const Content& wanted) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](std::string_view field) {
    for (const char c : std::to_string(field.size()) + ":")
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    for (const char c : field) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  add(wanted.name);
  add(to_text(wanted.access));
  add(wanted.description);
  add(wanted.license);
  for (const std::string& tag : wanted.tags) add(tag);
  std::string hex(16, '0');
  for (auto digit = hex.rbegin(); digit != hex.rend(); ++digit, hash >>= 4) *digit = "0123456789abcdef"[hash & 15];
  return hex;
}

/// The kept answer: "c_… 0123456789abcdef". Answers of earlier versions are the id alone.
struct BeginAnswer {
  ContentId content;
  std::string_view arguments;

  static Result<BeginAnswer> parse(std::string_view text) {
    const std::size_t blank = text.find(' ');
    GT_ASSIGN(const ContentId id, ContentId::parse(text.substr(0, blank)));
    return BeginAnswer{id, blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1)};
  }
};

/// The content as the version that is being finished: the newest, the next one (then it is a draft), or an earlier one
/// whose finish is repeated.
Result<Content> open_for_finish(Tx& tx, const Actor& actor, const FinishPublish& request) {
  GT_ASSIGN(Content content, open_content(tx, actor, Action::kFinish, request.content));
  GT_ASSIGN(const auto draft, tx.versions.draft_of(content.id));
  const std::string name = content.owner_name + "/" + escape_for_display(content.name);
  if (!draft && content.state == ContentState::kPublished && request.version == content.version + 1) {
    if (content.metadata_sha256 == request.sha256_hex) return content;  // repeated: nothing had changed
    return Error{Code::kNotFound,
                 "version " + std::to_string(request.version) + " of " + name + " was given up; begin anew"};
  }
  if (!draft || draft->number != request.version) return at_version(tx, std::move(content), request.version);
  if (content.state != ContentState::kPublished) {
    return Error{Code::kConflict, "content " + name + " is " + std::string(content_state_name(content.state)) +
                                      "; it gets no new version"};
  }
  if (draft->publisher_node != actor.node) {
    return Error{Code::kConflict, "version " + std::to_string(draft->number) + " of " + name +
                                      " is being published from elsewhere by now; begin anew"};
  }
  return with_version(std::move(content), *draft);
}

/// The newest version, where the draft of the next one would say the very same.
Result<std::optional<Content>> unchanged_version(Tx& tx, const Content& draft, const FinishPublish& request) {
  if (draft.state != ContentState::kDraft || draft.version == 1) return std::optional<Content>();
  GT_ASSIGN(auto newest, tx.contents.by_id(draft.id));
  if (!newest || newest->metadata_sha256 != request.sha256_hex) return std::optional<Content>();
  return newest;
}

/// Whether a content that was published before is what this request brings again.
Status check_repeated(const Content& content, const FinishPublish& request) {
  if (content.metadata_sha256 == request.sha256_hex) return {};
  return Error{Code::kConflict, "content " + content.owner_name + "/" + escape_for_display(content.name) +
                                    " is published with other data; publish this under another name"};
}

/// What finishing makes of it; the same state where it was finished before, with the same data.
Result<ContentState> state_after(const Content& content, const FinishPublish& request) {
  if (content.state == ContentState::kPublished) {
    GT_TRY(check_repeated(content, request));
    return content.state;
  }
  const auto next = next_state(content.state, ContentEvent::kFinish);
  if (!next) return next.error().with_context("content " + content.id.str() + " cannot be finished");
  return *next;
}

Status check_sizes(const FinishPublish& request) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (request.bytes > kMax || request.files > kMax || request.entries > kMax) {
    return Error{Code::kInvalid, "content " + request.content.str() + " claims an impossible size"};
  }
  return {};
}

}  // namespace

Result<PublishTicket> ContentService::begin_publish(const Actor& actor, const BeginPublish& request) {
  GT_ASSIGN(Content wanted, wanted_content(actor, request, d_.clock.wall()));
  GT_ASSIGN(wanted.generation, edition_for(wanted.access, 0, d_.editions.restricted()));
  PublishTicket ticket;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const Content content, begin_in(tx, actor, request, wanted));
    ticket = {content.id, content.version, content.generation, d_.editions.ca_pem(content.generation)};
    return {};
  }));
  return ticket;
}

Result<Content> ContentService::begin_in(Tx& tx, const Actor& actor, const BeginPublish& request,
                                         const Content& wanted) const {
  GT_ASSIGN(const auto answered, first_answer(tx, actor.user, request.request_id, kBeginMethod));
  if (answered) {
    GT_ASSIGN(const BeginAnswer first, BeginAnswer::parse(*answered));
    if (!first.arguments.empty() && first.arguments != arguments_of(wanted)) {
      return Error{Code::kConflict, "request_id " + request.request_id +
                                        " was used to publish something else; make a new one for " +
                                        escape_for_display(wanted.name)};
    }
    GT_ASSIGN(auto before, tx.contents.by_id(first.content));
    // A draft that was given up meanwhile is begun anew.
    if (before && before->state != ContentState::kPurged) return std::move(*before);
  }
  Content content = wanted;
  GT_ASSIGN(auto holder, tx.contents.by_owner_and_name(actor.user, wanted.name));
  GT_ASSIGN(content.access, checked_access(tx, actor, wanted.access, {}));
  bool taken_up = false;
  if (holder) {
    if (holder->state != ContentState::kDraft) return name_taken(*holder);
    if (holder->publisher_node == actor.node) {
      taken_up = true;
      content.id = holder->id;
      content.created = holder->created;
    } else if (wanted.touched - holder->touched < kDraftLifetime) {
      return name_taken(*holder);
    } else {
      holder->state = ContentState::kPurged;
      GT_TRY(tx.contents.update(*holder));
    }
  }
  if (taken_up) {
    GT_TRY(tx.contents.update(content));
  } else {
    GT_TRY(check_new_content_name(content.name));
    GT_ASSIGN(const auto usage, tx.contents.usage(actor.user));
    GT_ASSIGN(const Quotas quotas, quotas_of(tx, d_.quotas, actor.user));
    if (usage.contents >= quotas.contents) {
      return Error{Code::kExhausted, "user " + actor.name + " has " + std::to_string(usage.contents) +
                                         " contents, as many as the quota allows; ask the administrator for more"};
    }
    content.id = ContentId::make(wanted.created, d_.rng);
    GT_TRY(tx.contents.insert(content));
  }
  GT_TRY(keep_answer(tx, actor.user, request.request_id, kBeginMethod, content.id.str() + " " + arguments_of(wanted),
                     wanted.touched));
  GT_TRY(tx.audit.append(audit_record(actor, wanted.touched, kBeginMethod, content.id.str(), request.request_id)));
  return content;
}

/// Whether the owner's quota has room for a draft's metadata of that size; what the draft holds so far is left out.
Status ContentService::check_metadata_quota(Tx& tx, const Actor& actor, const Content& draft,
                                            std::uint64_t metadata_bytes) const {
  GT_ASSIGN(const auto usage, tx.contents.usage(actor.user));
  GT_ASSIGN(const Quotas quotas, quotas_of(tx, d_.quotas, actor.user));
  const std::uint64_t others = usage.metadata_bytes - draft.metadata_bytes;
  if (metadata_bytes <= quotas.metadata_bytes && others <= quotas.metadata_bytes - metadata_bytes) return {};
  return Error{Code::kExhausted, "the metadata of content " + draft.id.str() + " goes beyond the quota of user " +
                                     actor.name + "; ask the administrator for more"};
}

Status ContentService::check_finish(const Actor& actor, const FinishPublish& request, std::uint64_t metadata_bytes) {
  return d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(const Content found, open_for_finish(tx, actor, request));
    GT_ASSIGN(const auto unchanged, unchanged_version(tx, found, request));
    if (found.state != ContentState::kDraft || unchanged) return {};
    return check_metadata_quota(tx, actor, found, metadata_bytes);
  });
}

/// The draft counts with its metadata from here on, so that uploads side by side cannot overrun the quota together.
Status ContentService::reserve_metadata(Tx& tx, const Actor& actor, const FinishPublish& request) const {
  GT_ASSIGN(Content content, open_for_finish(tx, actor, request));
  GT_TRY(state_after(content, request));
  if (content.state != ContentState::kDraft || content.metadata_bytes == request.metadata.size()) return {};
  GT_ASSIGN(const auto unchanged, unchanged_version(tx, content, request));
  if (unchanged) return {};
  GT_TRY(check_metadata_quota(tx, actor, content, request.metadata.size()));
  content.metadata_bytes = request.metadata.size();
  return update_version(tx, content);
}

Result<ContentView> ContentService::finish_publish(const Actor& actor, const FinishPublish& request) {
  GT_TRY(check_sizes(request));
  // Decided before anything is kept: nobody would remove a document that no row names.
  GT_TRY(d_.store.write([&](Tx& tx) { return reserve_metadata(tx, actor, request); }));
  // Durable before the row that names it.
  GT_TRY(d_.files.put(request.sha256_hex, request.metadata));
  Content content;
  Concerned concerned;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(content, finish_in(tx, actor, request, concerned));
    GT_ASSIGN(const auto people, sharees(tx, content));
    concerned.people.insert(concerned.people.end(), people.begin(), people.end());
    return {};
  }));
  return after_change(std::move(content), concerned);
}

Result<Content> ContentService::finish_in(Tx& tx, const Actor& actor, const FinishPublish& request,
                                          Concerned& concerned) const {
  GT_ASSIGN(Content content, open_for_finish(tx, actor, request));
  GT_ASSIGN(const ContentState next, state_after(content, request));
  if (next == content.state) return content;
  GT_ASSIGN(auto unchanged, unchanged_version(tx, content, request));
  if (unchanged) {
    GT_TRY(tx.versions.remove(content.id, content.version));
    GT_TRY(tx.audit.append(audit_record(actor, d_.clock.wall(), kFinishMethod, content.id.str(), request.request_id,
                                        "ok: unchanged since version " + std::to_string(unchanged->version))));
    return *std::move(unchanged);
  }
  // Again: the draft may have been begun anew meanwhile, and the quota changed.
  GT_TRY(check_metadata_quota(tx, actor, content, request.metadata.size()));
  content.state = next;
  content.bytes = request.bytes;
  content.files = request.files;
  content.entries = request.entries;
  content.base_name = request.base_name;
  content.piece_bytes = request.piece_bytes;
  content.metadata_sha256 = request.sha256_hex;
  content.metadata_bytes = request.metadata.size();
  content.published = d_.clock.wall();
  if (content.version == 1) content.shared = content.published;
  content.touched = content.published;
  if (content.version > 1) {
    GT_TRY(keep_replaced(tx, content));
    GT_ASSIGN(concerned.holders, tx.replicas.holders(content.id));
    GT_ASSIGN(concerned.people, tell_holders(tx, content));
  }
  GT_TRY(tx.contents.update(content));
  GT_TRY(tx.audit.append(audit_record(actor, content.published, kFinishMethod, content.id.str(), request.request_id)));
  return content;
}

Result<std::optional<Content>> ContentService::begun_content(Tx& tx, const Actor& actor, const std::string& begun_as) {
  GT_ASSIGN(const auto answered, first_answer(tx, actor.user, begun_as, kBeginMethod));
  if (!answered) return std::optional<Content>();
  GT_ASSIGN(const BeginAnswer begun, BeginAnswer::parse(*answered));
  GT_ASSIGN(const auto known, tx.contents.by_id(begun.content));
  if (!known || known->state == ContentState::kPurged) return std::optional<Content>();
  GT_ASSIGN(Content content, open_content(tx, actor, Action::kFinish, begun.content));
  // A version after it has been published since: this publish has long ended.
  if (content.state == ContentState::kWithdrawn || content.version > 1) return std::optional<Content>();
  if (!actor.node.is_nil() && content.publisher_node != actor.node) {
    return Error{Code::kConflict, "content " + content.owner_name + "/" + escape_for_display(content.name) +
                                      " is published by another node now; withdraw it with: gridtorrent unpublish " +
                                      shell_arguments({content.owner_name + "/" + content.name})};
  }
  return std::optional(std::move(content));
}

Status ContentService::give_up_publish(const Actor& actor, const std::string& request_id, const std::string& begun_as) {
  std::optional<Content> content;
  Concerned concerned;
  bool withdrawn = false;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const bool done, was_done(tx, actor.user, request_id, kGiveUpMethod, begun_as));
    if (done) return {};
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(const auto updated, give_up_version(tx, actor, begun_as));
    if (updated) {
      GT_TRY(keep_answer(tx, actor.user, request_id, kGiveUpMethod, begun_as, now));
      return tx.audit.append(audit_record(actor, now, kGiveUpMethod, updated->str(), request_id));
    }
    GT_ASSIGN(content, begun_content(tx, actor, begun_as));
    if (!content) return {};
    withdrawn = content->state == ContentState::kPublished;
    if (withdrawn) {
      GT_ASSIGN(concerned, withdraw_in(tx, actor, *content, now));
    } else {
      GT_ASSIGN(content->state, next_state(content->state, ContentEvent::kPurge));
      GT_TRY(tx.contents.update(*content));
    }
    GT_TRY(keep_answer(tx, actor.user, request_id, kGiveUpMethod, begun_as, now));
    return tx.audit.append(audit_record(actor, now, kGiveUpMethod, content->id.str(), request_id));
  }));
  if (withdrawn) after_change(std::move(*content), concerned);
  return {};
}

namespace {

/// The content, if the actor may give it checksums now.
Result<Content> open_for_checksums(Tx& tx, const Actor& actor, const ContentId& id, std::uint32_t version) {
  GT_ASSIGN(Content content, open_content(tx, actor, Action::kAddChecksums, id));
  GT_ASSIGN(content, at_version(tx, std::move(content), version));
  if (content.metadata_sha256.empty()) {
    return Error{Code::kConflict, "content " + id.str() + " is still being published; it has no metadata yet"};
  }
  return content;
}

Status check_digests(const Content& content, const AddChecksums& request) {
  if (request.digests.size() != content.entries * kDigestBytes) {
    return Error{Code::kInvalid, "checksums of content " + request.content.str() + ": " +
                                     std::to_string(request.digests.size()) + " bytes came, " +
                                     std::to_string(content.entries * kDigestBytes) + " were due"};
  }
  if (!content.checksums_sha256.empty() && content.checksums_sha256 != request.sha256_hex) {
    return Error{Code::kConflict,
                 "content " + request.content.str() + " has other checksums already; they never change"};
  }
  return {};
}

}  // namespace

Result<Content> ContentService::check_checksums(const Actor& actor, const ContentId& id, std::uint32_t version) {
  Content content;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(content, open_for_checksums(tx, actor, id, version));
    return {};
  }));
  return content;
}

Status ContentService::learn_entries(const Content& content, std::uint64_t entries) {
  return d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(auto newest, tx.contents.by_id(content.id));
    if (!newest) return {};
    GT_ASSIGN(Content now, at_version(tx, std::move(*newest), content.version));
    if (now.entries != 0) return {};
    now.entries = entries;
    return update_version(tx, now);
  });
}

Status ContentService::add_checksums(const Actor& actor, const AddChecksums& request) {
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(const Content content, open_for_checksums(tx, actor, request.content, request.version));
    return check_digests(content, request);
  }));
  GT_TRY(d_.files.put(request.sha256_hex, request.digests));
  return d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(Content content, open_for_checksums(tx, actor, request.content, request.version));
    GT_TRY(check_digests(content, request));
    if (!content.checksums_sha256.empty()) return {};
    content.checksums_sha256 = request.sha256_hex;
    content.checksums_bytes = request.digests.size();
    GT_TRY(update_version(tx, content));
    return tx.audit.append(audit_record(actor, d_.clock.wall(), "content.add_checksums", content.id.str(), ""));
  });
}

}  // namespace gridtorrent::ccm
