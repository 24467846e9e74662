#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::ccm {

enum class AccessLevel : std::uint8_t { kPublic, kPrivate, kShared };
std::string_view access_level_name(AccessLevel level);
Result<AccessLevel> parse_access_level(std::string_view text);

/// A group as a target: the id counts, since another group may get the name of a deleted one.
struct GroupTarget {
  GroupId id;        ///< nil: as asked for, not looked up yet
  std::string name;  ///< now
  friend bool operator==(const GroupTarget&, const GroupTarget&) = default;
};

/// Who may have a content. Users by name: they are never renamed nor removed.
struct Access {
  AccessLevel level = AccessLevel::kPrivate;
  std::vector<GroupTarget> groups;  ///< of kShared, sorted by name
  std::vector<std::string> users;   ///< of kShared, sorted
  bool buddies = false;             ///< of kShared: whoever is on the owner's list
  friend bool operator==(const Access&, const Access&) = default;
};
/// "public", "private", "group:g,user:u,buddies": for audit records and messages.
std::string to_text(const Access& access);

enum class ContentState : std::uint8_t { kDraft, kPublished, kWithdrawn, kPurged };
std::string_view content_state_name(ContentState state);
Result<ContentState> parse_content_state(std::string_view text);

enum class ContentEvent : std::uint8_t { kFinish, kWithdraw, kRestore, kPurge };
/// The state machine of a content: draft → published ↔ withdrawn; anything but purged → purged. kConflict, with the
/// reason, for every other step.
Result<ContentState> next_state(ContentState state, ContentEvent event);

/// A content with its current version. Rights, progress and replicas hang on id and version.
struct Content {
  ContentId id;
  UserId owner;
  std::string owner_name;
  std::string name;  ///< NFC, without owner
  Access access;
  ContentState state = ContentState::kDraft;
  std::uint32_t version = 1;  ///< the newest sealed one, or of a draft the one being made
  std::uint64_t bytes = 0, files = 0;
  std::string base_name = {};  ///< bytes: what was published was called so
  std::string description, license;
  std::vector<std::string> tags;
  WallTime created, published;  ///< published: 0 until it is
  WallTime shared;              ///< when its access was set
  std::string metadata_sha256;  ///< hex; empty until published
  std::uint64_t metadata_bytes = 0;
  std::uint64_t entries = 0;  ///< of the manifest, folders included; 0: published before rows kept it (learn_entries)
  std::uint32_t piece_bytes = 0;
  std::uint32_t generation = 0;  ///< edition: 0 is plain
  std::string checksums_sha256;  ///< hex name of the document of flat file digests; empty: none yet
  std::uint64_t checksums_bytes = 0;
  NodeId publisher_node;       ///< that began it; nil: begun with a user's token
  WallTime touched;            ///< of a draft: last sign of life
  std::uint32_t revision = 0;  ///< grows whenever name, description, tags or license change

  friend bool operator==(const Content&, const Content&) = default;
};

/// A content as others see it: with what is known of its swarm right now.
struct ContentView {
  Content content;
  std::uint32_t seeders = 0;   ///< complete nodes alive now
  std::uint32_t leechers = 0;  ///< fetching nodes alive now
  std::string data_ca_pem;     ///< of its edition, where it is one that is asked for and not a listing; plain: empty
  std::uint32_t newest_version = 1;  ///< `content` is of an earlier one where that was asked for
};

/// What a node holds of a version.
struct Replica {
  ContentId content;
  std::uint32_t version = 1;
  NodeId node;
  std::string node_name, owner_name;  ///< filled on reading
  std::uint64_t verified_bytes = 0;
  bool complete = false;
  WallTime last_seen;      ///< the node's last sign of life, of this content or at all
  WallTime verified = {};  ///< when its node last hashed what it holds; {}: it did not say
  friend bool operator==(const Replica&, const Replica&) = default;
};
struct ReplicaView {
  Replica replica;
  bool online = false;
  bool served = false;  ///< its node is one of LiveView::seeders
};

struct PageCursor {
  WallTime published;
  ContentId id;
  friend bool operator==(const PageCursor&, const PageCursor&) = default;
};
/// Opaque to callers; parse gives kInvalid for what encode did not make.
std::string encode_page(const PageCursor& cursor);
Result<PageCursor> parse_page(std::string_view text);

}  // namespace gridtorrent::ccm
