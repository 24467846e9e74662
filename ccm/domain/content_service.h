#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ccm/domain/content.h"
#include "ccm/domain/policy.h"
#include "ccm/domain/ports.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/page.h"
#include "common/result.h"
#include "common/rng.h"

namespace gridtorrent::ccm {

struct BeginPublish {
  std::string request_id;
  std::string name;
  Access access;
  std::string description, license;
  std::vector<std::string> tags;
};
/// A new version of a content; its access and name stay.
struct BeginUpdate {
  std::string request_id;
  std::string content;  ///< id, name or owner/name
};
struct PublishTicket {
  ContentId content;
  std::uint32_t version = 1;
  std::uint32_t generation = 0;
  std::string data_ca_pem;  ///< of that generation
};

/// The metadata as the rpc room has checked it: decoded by metainfo, hash recomputed.
struct FinishPublish {
  std::string request_id;
  ContentId content;
  std::uint32_t version = 1;
  std::string sha256_hex;     ///< of `metadata`
  std::string_view metadata;  ///< the document; must live until the call returns
  std::uint64_t bytes = 0, files = 0;
  std::uint64_t entries = 0;      ///< of the manifest, folders included
  std::uint32_t piece_bytes = 0;  ///< of the first segment; 0 where there is none
  std::string base_name = {};
};

inline constexpr std::size_t kDigestBytes = 32;  ///< SHA-256

struct AddChecksums {
  ContentId content;
  std::uint32_t version = 1;
  std::string sha256_hex;    ///< of `digests`
  std::string_view digests;  ///< kDigestBytes an entry of the manifest
};

struct TagChange {
  bool clear = false;  ///< first; then those to remove, then those to add
  std::vector<std::string> remove, add;
};

/// What is left out stays as it is.
struct DescribeContent {
  std::string request_id;
  ContentId content;
  std::optional<std::string> name, description, license;
  TagChange tags;
  std::optional<std::uint32_t> if_revision;  ///< refused unless the content has this one
};

struct SearchQuery {
  std::string text, owner, tag;
  std::string group;   ///< name or id of one of the caller's: shared with it
  std::string access;  ///< "public", "private", "shared" or empty
  std::uint64_t min_bytes = 0;
  WallTime since;
  std::uint32_t limit = 0;  ///< 1 to 200; 0: 50
  std::string page;
};
struct SearchResult {
  std::vector<ContentView> contents;
  std::string next_page;  ///< empty: that was all
};

struct Explanation {
  bool allowed = false;
  std::string reason;
};

struct AccessPreview {
  Audience audience;
  std::string text;  ///< all of it in a sentence
};

/// The use cases of content, one transaction each, with their audit records. Identity and scopes were checked by the
/// caller (base/rpc's wrapper); rights to the content are decided here, by policy.h. Thread-safe; blocks on the store.
/// Errors besides those of the store: kInvalid bad input; kNotFound missing or hidden, with the same text; kDenied;
/// kConflict name taken, ambiguous name, wrong state; kExhausted quota; kUnsupported what needs encrypted lanes
/// on a server that has none.
class ContentService {
 public:
  struct Deps {
    Store& store;
    MetadataFiles& files;
    const LiveView& live;
    NodeWaker& waker;
    InboxBell& inboxes;
    const Editions& editions;
    const Clock& clock;
    Rng& rng;
    Quotas quotas;
  };
  explicit ContentService(Deps deps) : d_(deps) {}

  /// Reserves the name. A draft that the same owner began on the same node is taken up again; one of another node that
  /// showed no sign of life for kDraftLifetime is given up.
  Result<PublishTicket> begin_publish(const Actor& actor, const BeginPublish& request);
  /// Repeated with the same metadata, it has been done once. A new version whose metadata is that of the newest is not
  /// made: its draft ends, and the newest is the answer.
  Result<ContentView> finish_publish(const Actor& actor, const FinishPublish& request);
  /// What finish_publish would refuse before a byte of the metadata, of so many, is uploaded: rights, state, quota.
  Status check_finish(const Actor& actor, const FinishPublish& request, std::uint64_t metadata_bytes);
  /// Ends what begin_publish began under `begun_as`: the draft's name is free again; one that was finished meanwhile is
  /// withdrawn. Of begin_update the draft of the version goes, and the content stays as it is; a version that was
  /// finished meanwhile stays, too. Its owner may, with a login, or by the node that publishes it: from another node it
  /// is kConflict. Nothing to end: success.
  Status give_up_publish(const Actor& actor, const std::string& request_id, const std::string& begun_as);
  /// What add_checksums would refuse before a byte is uploaded: rights and state. The content, whose `entries` say how
  /// many digests are due; where they are 0, somebody has to count them in the metadata and call learn_entries.
  Result<Content> check_checksums(const Actor& actor, const ContentId& content, std::uint32_t version);
  Status learn_entries(const Content& content, std::uint64_t entries);
  Status add_checksums(const Actor& actor, const AddChecksums& request);

  Result<SearchResult> search(const Actor& actor, const SearchQuery& query);
  /// Reserves the next version of a content; its newest stays what it is until that is finished, with finish_publish.
  /// One that was begun before is taken up again as a draft is. kNotFound; kDenied; kConflict; kExhausted.
  Result<PublishTicket> begin_update(const Actor& actor, const BeginUpdate& request);
  /// Newest first: all that are readable.
  Result<std::vector<VersionView>> versions(const Actor& actor, const ContentId& content);
  /// By id, name or owner/name; of that version, 0: the newest. "NAME@2" is version 2 where nothing has that very name
  /// and no version is given.
  Result<ContentView> get(const Actor& actor, std::string_view reference, std::uint32_t version = 0);
  /// The content, if the actor may read the metadata of this version (0: the newest); the document is then read from
  /// MetadataFiles as `metadata_sha256`, or `checksums_sha256` (which may be empty: not known yet).
  Result<Content> open_metadata(const Actor& actor, const ContentId& content, std::uint32_t version);
  Result<Page<ReplicaView>> replicas(const Actor& actor, const ContentId& content, const PageRequest& page = {},
                                     std::uint32_t version = 0);

  /// kConflict where the access is not `expected` any more.
  Result<ContentView> set_access(const Actor& actor, const std::string& request_id, const ContentId& content,
                                 const Access& access, const std::optional<Access>& expected = {});
  Result<ContentView> unpublish(const Actor& actor, const std::string& request_id, const ContentId& content);
  /// A withdrawn content is published again, as `name` or, where that is empty, as before. What is published stays so.
  Result<ContentView> restore(const Actor& actor, const std::string& request_id, const ContentId& content,
                              const std::string& name);
  /// Corrects what is said of a published content. Nodes and inboxes learn a new name; the old one is free.
  Result<ContentView> describe(const Actor& actor, const DescribeContent& request);
  /// Whether `user` (name or id) may fetch it, and why. The owner may ask for anyone, others for themselves.
  Result<Explanation> explain(const Actor& actor, const ContentId& content, const std::string& user);

  /// Who could find and fetch a content with that access, if the actor published it now. Refuses the targets that
  /// begin_publish refuses, in its words.
  Result<AccessPreview> preview(const Actor& actor, const Access& access);

  /// Gives up drafts that show no sign of life, forgets earlier versions that no node holds, and old request ids. Call
  /// every few minutes.
  Status sweep();

  static constexpr std::chrono::milliseconds kDraftLifetime = std::chrono::hours(48);
  /// A version that was replaced stays so long for those who are about to fetch it, though no node holds it.
  static constexpr std::chrono::milliseconds kUnheldLifetime = std::chrono::hours(1);

 private:
  struct Named {
    Content content;
    std::uint32_t version = 0;  ///< 0: not said
  };
  /// By its very name, or by "NAME@2". kConflict where a bare name is both, of different contents: nobody's content
  /// comes in the place of another's version.
  Result<Named> resolve_named(Tx& tx, const Actor& actor, std::string_view reference) const;
  /// As it stands in listings, and as it is shown alone.
  ContentView listed(Content content) const;
  ContentView view(Content content) const;
  /// The edition for that access; `now` is kept where it serves. `restricted`: as asked before the transaction, since
  /// who makes a generation waits for the store.
  Result<std::uint32_t> edition_for(const Access& access, std::uint32_t now,
                                    const Result<std::uint32_t>& restricted) const;
  Result<Content> begin_in(Tx& tx, const Actor& actor, const BeginPublish& request, const Content& wanted) const;
  Result<std::uint32_t> update_in(Tx& tx, const Actor& actor, const BeginUpdate& request, const Content& content,
                                  const std::string& answered) const;
  Status check_metadata_quota(Tx& tx, const Actor& actor, const Content& draft, std::uint64_t metadata_bytes) const;
  Status reserve_metadata(Tx& tx, const Actor& actor, const FinishPublish& request) const;
  /// Whom a change of a content concerns.
  struct Concerned {
    std::vector<NodeId> tasked;   ///< with a new task
    std::vector<NodeId> holders;  ///< that have some of it
    std::vector<UserId> people;   ///< whose inboxes changed
  };
  Result<Content> finish_in(Tx& tx, const Actor& actor, const FinishPublish& request, Concerned& concerned) const;
  /// Withdraws a published content, in the caller's transaction.
  static Result<Concerned> withdraw_in(Tx& tx, const Actor& actor, Content& content, WallTime now);
  /// What is left to end of a publish; nothing: it is gone or withdrawn, or was never begun.
  static Result<std::optional<Content>> begun_content(Tx& tx, const Actor& actor, const std::string& begun_as);
  /// The content of which `begun_as` began a version; its draft, if it is left, is gone then. Nothing: it began none.
  static Result<std::optional<ContentId>> give_up_version(Tx& tx, const Actor& actor, const std::string& begun_as);
  /// Tells them, and describes the content as it is now.
  ContentView after_change(Content content, const Concerned& concerned);

  Deps d_;
};

}  // namespace gridtorrent::ccm
