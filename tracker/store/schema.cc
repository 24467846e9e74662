#include "tracker/store/schema.h"

#include <array>

#include "tracker/store/audit_chain.h"

namespace gridtorrent::tracker::store {

namespace {

constexpr std::string_view kAccounts = R"sql(
CREATE TABLE user(
  user_id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  admin INTEGER NOT NULL,
  disabled INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  password_hash TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE token(
  token_id TEXT PRIMARY KEY,
  secret_hash BLOB NOT NULL,
  kind TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES user(user_id),
  node_id TEXT,
  scopes INTEGER NOT NULL,
  label TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  last_used_ms INTEGER NOT NULL,
  revoked_ms INTEGER NOT NULL,
  uses_left INTEGER NOT NULL CHECK (uses_left >= 0),
  node_name TEXT NOT NULL,
  ephemeral INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX token_of_user ON token(user_id, created_ms);
CREATE INDEX token_of_node ON token(node_id) WHERE node_id IS NOT NULL;

CREATE TABLE request_log(
  user_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  method TEXT NOT NULL,
  answer BLOB NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (user_id, request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_log_by_age ON request_log(at_ms);

CREATE TABLE audit(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  actor_id TEXT,
  actor_name TEXT NOT NULL,
  token_id TEXT NOT NULL,
  address TEXT NOT NULL,
  action TEXT NOT NULL,
  object TEXT NOT NULL,
  outcome TEXT NOT NULL,
  request_id TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_keeps BEFORE UPDATE ON audit BEGIN SELECT raise(ABORT, 'audit records never change'); END;
CREATE TRIGGER audit_stays BEFORE DELETE ON audit BEGIN SELECT raise(ABORT, 'audit records never go'); END;
)sql";

constexpr std::string_view kContents = R"sql(
CREATE TABLE content(
  content_id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL REFERENCES user(user_id),
  name TEXT NOT NULL,
  name_folded TEXT NOT NULL,
  access TEXT NOT NULL,
  access_users TEXT NOT NULL,
  access_groups TEXT NOT NULL,
  access_buddies INTEGER NOT NULL,
  state TEXT NOT NULL,
  version INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  files INTEGER NOT NULL,
  description TEXT NOT NULL,
  license TEXT NOT NULL,
  tags TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  published_ms INTEGER NOT NULL,
  touched_ms INTEGER NOT NULL,
  metadata_sha256 TEXT NOT NULL,
  metadata_bytes INTEGER NOT NULL,
  piece_bytes INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  checksums_sha256 TEXT NOT NULL,
  checksums_bytes INTEGER NOT NULL,
  publisher_node TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX content_name ON content(owner_id, name) WHERE state <> 'purged';
CREATE INDEX content_by_name ON content(name) WHERE state <> 'purged';
CREATE INDEX content_listing ON content(published_ms DESC, content_id DESC) WHERE state = 'published';
CREATE INDEX content_drafts ON content(touched_ms) WHERE state = 'draft';

-- The lists of the content's row again, one row each, to be filtered by.
CREATE TABLE content_tag(
  tag TEXT NOT NULL,
  content_id TEXT NOT NULL REFERENCES content(content_id) ON DELETE CASCADE,
  PRIMARY KEY (tag, content_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX content_tag_of_content ON content_tag(content_id);
CREATE TABLE content_user(
  content_id TEXT NOT NULL REFERENCES content(content_id) ON DELETE CASCADE,
  user_name TEXT NOT NULL,
  PRIMARY KEY (content_id, user_name)
) STRICT, WITHOUT ROWID;

-- Empty but in backup files, which carry the metadata documents here; unpacked into files when a restored one is opened.
CREATE TABLE backup_document(
  sha256 TEXT PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;
)sql";

constexpr std::string_view kNodes = R"sql(
CREATE TABLE node(
  node_id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL REFERENCES user(user_id),
  name TEXT NOT NULL,
  public_key BLOB NOT NULL UNIQUE,
  ephemeral INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  last_seen_ms INTEGER NOT NULL,
  program_version TEXT NOT NULL,
  last_sequence INTEGER NOT NULL,
  acked_sequence INTEGER NOT NULL,
  UNIQUE (owner_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_ephemeral ON node(last_seen_ms) WHERE ephemeral = 1;

CREATE TABLE node_endpoint(
  node_id TEXT NOT NULL REFERENCES node(node_id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  address TEXT NOT NULL,
  port INTEGER NOT NULL,
  tls INTEGER NOT NULL,
  path TEXT NOT NULL,
  reachability INTEGER NOT NULL,
  declared INTEGER NOT NULL,
  PRIMARY KEY (node_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE task(
  task_id TEXT PRIMARY KEY,
  node_id TEXT NOT NULL REFERENCES node(node_id) ON DELETE CASCADE,
  sequence INTEGER NOT NULL,
  work TEXT NOT NULL,
  state TEXT NOT NULL,
  ended INTEGER NOT NULL,
  cancel_requested INTEGER NOT NULL,
  created_by TEXT NOT NULL REFERENCES user(user_id),
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  done INTEGER NOT NULL,
  total INTEGER NOT NULL,
  result_json TEXT NOT NULL,
  error_code TEXT NOT NULL,
  error_message TEXT NOT NULL,
  UNIQUE (node_id, sequence)
) STRICT;
CREATE INDEX task_open ON task(node_id, sequence) WHERE ended = 0;
CREATE INDEX task_queued ON task(created_ms) WHERE state = 'queued';
CREATE INDEX task_ended ON task(updated_ms) WHERE ended = 1;

CREATE TABLE replica(
  content_id TEXT NOT NULL REFERENCES content(content_id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  node_id TEXT NOT NULL REFERENCES node(node_id) ON DELETE CASCADE,
  verified_bytes INTEGER NOT NULL,
  complete INTEGER NOT NULL,
  last_seen_ms INTEGER NOT NULL,
  PRIMARY KEY (content_id, version, node_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX replica_of_node ON replica(node_id);
)sql";

// The rows are copied over, hashed, by chain_unchained_records.
constexpr std::string_view kAuditChain = R"sql(
DROP TRIGGER audit_keeps;
DROP TRIGGER audit_stays;
ALTER TABLE audit RENAME TO audit_unchained;
CREATE TABLE audit(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  actor_id TEXT,
  actor_name TEXT NOT NULL,
  token_id TEXT NOT NULL,
  address TEXT NOT NULL,
  action TEXT NOT NULL,
  object TEXT NOT NULL,
  outcome TEXT NOT NULL,
  request_id TEXT NOT NULL,
  prev_hash BLOB NOT NULL CHECK (length(prev_hash) = 32),
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE TRIGGER audit_keeps BEFORE UPDATE ON audit BEGIN SELECT raise(ABORT, 'audit records never change'); END;
CREATE TRIGGER audit_stays BEFORE DELETE ON audit BEGIN SELECT raise(ABORT, 'audit records never go'); END;
)sql";

constexpr std::string_view kDataCas = R"sql(
CREATE TABLE data_ca(
  generation INTEGER PRIMARY KEY CHECK (generation > 0),
  certificate_pem TEXT NOT NULL,
  sealed_key BLOB NOT NULL,
  sealing_key_id TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  retired_ms INTEGER
) STRICT;
)sql";

constexpr std::string_view kPeople = R"sql(
CREATE TABLE user_group(
  group_id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  hidden INTEGER NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE membership(
  group_id TEXT NOT NULL REFERENCES user_group(group_id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES user(user_id),
  standing TEXT NOT NULL CHECK (standing IN ('requested', 'invited', 'member', 'manager')),
  asked_by TEXT NOT NULL REFERENCES user(user_id),
  since_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY (group_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX membership_of_user ON membership(user_id, standing);
CREATE INDEX membership_open ON membership(asked_by, expires_ms) WHERE expires_ms > 0;

-- Which contents are shared with a group: by id, since its name may be another group's one day.
CREATE TABLE content_group(
  content_id TEXT NOT NULL REFERENCES content(content_id) ON DELETE CASCADE,
  group_id TEXT NOT NULL REFERENCES user_group(group_id) ON DELETE CASCADE,
  PRIMARY KEY (content_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX content_group_of_group ON content_group(group_id);
CREATE INDEX content_user_of_user ON content_user(user_name);
ALTER TABLE content ADD COLUMN shared_ms INTEGER NOT NULL DEFAULT 0;
UPDATE content SET shared_ms = published_ms;
CREATE INDEX content_shared ON content(shared_ms DESC, content_id DESC) WHERE state = 'published' AND access = 'shared';
CREATE INDEX content_for_buddies ON content(owner_id) WHERE access_buddies = 1;

CREATE TABLE buddy(
  owner_id TEXT NOT NULL REFERENCES user(user_id),
  buddy_id TEXT NOT NULL REFERENCES user(user_id),
  since_ms INTEGER NOT NULL,
  PRIMARY KEY (owner_id, buddy_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX buddy_of ON buddy(buddy_id);

CREATE TABLE notice(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id TEXT NOT NULL REFERENCES user(user_id),
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  by_name TEXT NOT NULL,
  group_name TEXT NOT NULL,
  object TEXT NOT NULL
) STRICT;
CREATE INDEX notice_of_user ON notice(user_id, seq);
CREATE INDEX notice_by_age ON notice(at_ms);
CREATE TABLE inbox_mark(
  user_id TEXT PRIMARY KEY REFERENCES user(user_id),
  read_until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Scope "group" is new: logins that may do all that a person may (all but node:run and admin) get it, too.
UPDATE token SET scopes = scopes | 128 WHERE kind = 'personal' AND (scopes & 47) = 47;
)sql";

constexpr std::string_view kQuotas = R"sql(
ALTER TABLE user ADD COLUMN service INTEGER NOT NULL DEFAULT 0;

CREATE TABLE quota(
  user_id TEXT NOT NULL REFERENCES user(user_id),
  quota TEXT NOT NULL,
  most INTEGER NOT NULL,
  PRIMARY KEY (user_id, quota)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::string_view kOffers = R"sql(
CREATE TABLE offer(
  content_id TEXT PRIMARY KEY REFERENCES content(content_id) ON DELETE CASCADE,
  by_id TEXT NOT NULL REFERENCES user(user_id),
  to_id TEXT NOT NULL REFERENCES user(user_id),
  since_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  message TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX offer_to ON offer(to_id, since_ms DESC);
CREATE INDEX offer_by ON offer(by_id, since_ms DESC);
)sql";

// A rotation of the data CA looks for what is left of the generations before.
constexpr std::string_view kGenerations = R"sql(
CREATE INDEX content_by_generation ON content(generation) WHERE generation > 0 AND state <> 'purged';
)sql";

// How many digests are due as checksums, without decoding the metadata; 0 where it is not known yet.
constexpr std::string_view kEntries = R"sql(
ALTER TABLE content ADD COLUMN entries INTEGER NOT NULL DEFAULT 0;
UPDATE content SET entries = checksums_bytes / 32 WHERE checksums_bytes > 0;
)sql";

// How many tasks a person has given nodes is asked at each new one; what a change of a content made does not count.
constexpr std::string_view kTaskQuota = R"sql(
ALTER TABLE task ADD COLUMN by_server INTEGER NOT NULL DEFAULT 0;
CREATE INDEX task_of_person ON task(created_by, ended, updated_ms) WHERE by_server = 0;
)sql";

// 0: its node did not say.
constexpr std::string_view kVerified = R"sql(
ALTER TABLE replica ADD COLUMN verified_ms INTEGER NOT NULL DEFAULT 0;
)sql";

// Empty: published before it was kept.
constexpr std::string_view kBaseNames = R"sql(
ALTER TABLE content ADD COLUMN base_name BLOB NOT NULL DEFAULT x'';
)sql";

// Lists are walked by index, page by page, and carry no large results; nodes are counted without being visited.
constexpr std::string_view kLists = R"sql(
ALTER TABLE task ADD COLUMN owner_id TEXT NOT NULL DEFAULT '';  -- of its node
ALTER TABLE task ADD COLUMN result_bytes INTEGER NOT NULL DEFAULT 0;  -- of a result in task_result; 0: it is here
UPDATE task SET owner_id = (SELECT n.owner_id FROM node n WHERE n.node_id = task.node_id);
CREATE INDEX task_of_owner ON task(owner_id, created_ms, task_id);
CREATE INDEX task_open_of_owner ON task(owner_id, created_ms, task_id) WHERE ended = 0;
CREATE TABLE task_result(
  task_id TEXT PRIMARY KEY REFERENCES task(task_id) ON DELETE CASCADE,
  result_json TEXT NOT NULL
) STRICT;
INSERT INTO task_result SELECT task_id, result_json FROM task WHERE length(CAST(result_json AS BLOB)) > 1024;
UPDATE task SET result_bytes = length(CAST(result_json AS BLOB)), result_json = ''
  WHERE length(CAST(result_json AS BLOB)) > 1024;

CREATE TABLE node_count(
  owner_id TEXT PRIMARY KEY REFERENCES user(user_id),
  nodes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO node_count SELECT owner_id, count(*) FROM node GROUP BY owner_id;
CREATE TRIGGER node_counted AFTER INSERT ON node BEGIN
  INSERT INTO node_count(owner_id, nodes) VALUES (new.owner_id, 1) ON CONFLICT(owner_id) DO UPDATE SET nodes = nodes + 1;
END;
CREATE TRIGGER node_discounted AFTER DELETE ON node BEGIN
  UPDATE node_count SET nodes = nodes - 1 WHERE owner_id = old.owner_id;
END;
-- Used-up enrolment tokens stay until they expire, thousands of them where each node has one of its own.
CREATE INDEX token_good ON token(user_id, kind, expires_ms)
  WHERE revoked_ms = 0 AND (kind <> 'enroll' OR uses_left > 0);
)sql";

// An invitation is a token: node_name is the only account that it makes, group_id the group that one joins by it.
constexpr std::string_view kInvitations = R"sql(
ALTER TABLE token ADD COLUMN group_id TEXT;
DROP INDEX token_good;
CREATE INDEX token_good ON token(user_id, kind, expires_ms)
  WHERE revoked_ms = 0 AND (kind NOT IN ('enroll', 'invite') OR uses_left > 0);
)sql";

// The newest version of a content stands in its row; here are earlier ones, and the next one while it is published.
constexpr std::string_view kVersions = R"sql(
CREATE TABLE content_version(
  content_id TEXT NOT NULL REFERENCES content(content_id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  sealed INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  files INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  base_name BLOB NOT NULL,
  piece_bytes INTEGER NOT NULL,
  metadata_sha256 TEXT NOT NULL,
  metadata_bytes INTEGER NOT NULL,
  checksums_sha256 TEXT NOT NULL,
  checksums_bytes INTEGER NOT NULL,
  publisher_node TEXT,
  published_ms INTEGER NOT NULL,
  touched_ms INTEGER NOT NULL,
  PRIMARY KEY (content_id, version)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX content_version_draft ON content_version(content_id) WHERE sealed = 0;
CREATE INDEX content_version_by_age ON content_version(sealed, touched_ms);
)sql";

// How often what is said of a content was corrected: who edits an old text is refused.
constexpr std::string_view kRevisions = R"sql(
ALTER TABLE content ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
)sql";

// A withdrawn content has its name no more: its owner may publish another under it.
constexpr std::string_view kFreeNames = R"sql(
DROP INDEX content_name;
CREATE UNIQUE INDEX content_name ON content(owner_id, name) WHERE state IN ('draft', 'published');
)sql";

// What folders of a node tasks may name, as lists of names.
constexpr std::string_view kNodeRoots = R"sql(
ALTER TABLE node ADD COLUMN roots_told INTEGER NOT NULL DEFAULT 0;
ALTER TABLE node ADD COLUMN share_roots TEXT NOT NULL DEFAULT '[]';
ALTER TABLE node ADD COLUMN download_roots TEXT NOT NULL DEFAULT '[]';
)sql";

// Whom a manager removed from a group, for as long as invitations by code may be older than that.
constexpr std::string_view kRemovals = R"sql(
CREATE TABLE group_removal(
  group_id TEXT NOT NULL REFERENCES user_group(group_id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES user(user_id),
  removed_ms INTEGER NOT NULL,
  PRIMARY KEY (group_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_removal_by_age ON group_removal(removed_ms);
)sql";

// What somebody has published is counted whenever they publish.
constexpr std::string_view kOwned = R"sql(
CREATE INDEX content_owned ON content(owner_id, created_ms) WHERE state <> 'purged';
)sql";

// Who has some of a content is asked whenever it changes, however many versions of it they have.
constexpr std::string_view kHolders = R"sql(
CREATE INDEX replica_of_content ON replica(content_id, node_id);
)sql";

// A name is looked up by anybody; how many of that name somebody has withdrawn does not count.
constexpr std::string_view kNamesakes = R"sql(
DROP INDEX content_by_name;
CREATE INDEX content_named ON content(name) WHERE state IN ('draft', 'published');
CREATE INDEX content_withdrawn ON content(name, owner_id, content_id) WHERE state = 'withdrawn';
)sql";

constexpr std::array<sql::Migration, 23> kMigrations = {{{1, "accounts", kAccounts},
                                                         {2, "contents", kContents},
                                                         {3, "nodes and tasks", kNodes},
                                                         {4, "audit chain", kAuditChain, chain_unchained_records},
                                                         {5, "data CA", kDataCas},
                                                         {6, "groups and buddies", kPeople},
                                                         {7, "service accounts and quotas", kQuotas},
                                                         {8, "offers", kOffers},
                                                         {9, "contents by generation", kGenerations},
                                                         {10, "entries of contents", kEntries},
                                                         {11, "quota of tasks", kTaskQuota},
                                                         {12, "when replicas were verified", kVerified},
                                                         {13, "base names", kBaseNames},
                                                         {14, "lists by page", kLists},
                                                         {15, "invitations", kInvitations},
                                                         {16, "versions of contents", kVersions},
                                                         {17, "revisions of contents", kRevisions},
                                                         {18, "names of withdrawn contents", kFreeNames},
                                                         {19, "roots of nodes", kNodeRoots},
                                                         {20, "removals from groups", kRemovals},
                                                         {21, "contents by owner", kOwned},
                                                         {22, "holders of contents", kHolders},
                                                         {23, "withdrawn contents by name", kNamesakes}}};

}  // namespace

std::span<const sql::Migration> migrations() {
  return kMigrations;
}

}  // namespace gridtorrent::tracker::store
