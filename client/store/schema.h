#pragma once

#include <array>

#include "base/sql/database.h"

namespace gridtorrent::client::store {

/// "GTnd": whose database it is.
inline constexpr std::uint32_t kApplicationId = 0x47546e64;

/// The node's schema, step by step; a released step never changes.
inline constexpr std::array<sql::Migration, 18> kMigrations{
    {{1, "transfers, publishes, tasks", R"sql(
CREATE TABLE transfer (
  transfer_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  step TEXT NOT NULL,
  paused INTEGER NOT NULL,
  content_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  owner TEXT NOT NULL,
  access_level TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  files INTEGER NOT NULL,
  metadata_sha256 TEXT NOT NULL,
  generation INTEGER NOT NULL,
  ca_pem TEXT NOT NULL,
  withdrawn INTEGER NOT NULL,
  base_name BLOB NOT NULL,
  target BLOB NOT NULL,
  globs TEXT NOT NULL,
  old_place TEXT NOT NULL,
  lanes_wish INTEGER NOT NULL,
  seeders_wish INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  limit_bits_per_s INTEGER NOT NULL,
  source TEXT NOT NULL,
  wanted_bytes INTEGER NOT NULL,
  verified_bytes INTEGER NOT NULL,
  received_bytes INTEGER NOT NULL,
  sent_bytes INTEGER NOT NULL,
  redundant_bytes INTEGER NOT NULL,
  fetch_ms INTEGER NOT NULL,
  lanes_peak INTEGER NOT NULL,
  peers TEXT NOT NULL,
  error_code TEXT,
  error_message TEXT,
  stamp TEXT NOT NULL,
  checksums_due INTEGER NOT NULL,
  clean INTEGER NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE resume (
  transfer_id TEXT PRIMARY KEY REFERENCES transfer(transfer_id) ON DELETE CASCADE,
  data BLOB NOT NULL
) STRICT;
CREATE TABLE publish (
  request_id TEXT PRIMARY KEY,
  path BLOB NOT NULL,
  name TEXT NOT NULL,
  access TEXT NOT NULL,
  transfer_id TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  done INTEGER NOT NULL,
  published TEXT NOT NULL,
  skipped INTEGER NOT NULL
) STRICT;
CREATE TABLE task (
  task_id TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL UNIQUE,
  work TEXT NOT NULL,
  state TEXT NOT NULL,
  done INTEGER NOT NULL,
  total INTEGER NOT NULL,
  result_json TEXT NOT NULL,
  error_code TEXT,
  error_message TEXT,
  report_pending INTEGER NOT NULL,
  transfer_id TEXT NOT NULL
) STRICT;
)sql"},
     {2, "gets that add to what is there", R"sql(
ALTER TABLE transfer ADD COLUMN kept_globs TEXT NOT NULL DEFAULT '[]';
)sql"},
     {3, "files that got lost", R"sql(
ALTER TABLE transfer ADD COLUMN lost TEXT NOT NULL DEFAULT '';
ALTER TABLE transfer ADD COLUMN kept_lost TEXT NOT NULL DEFAULT '';
)sql"},
     {4, "who may have restricted content", R"sql(
ALTER TABLE transfer ADD COLUMN audience TEXT NOT NULL DEFAULT '';
ALTER TABLE transfer ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
CREATE TABLE audience (
  audience_id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  members BLOB NOT NULL,
  confirmed_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE server_heard (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  heard_ms INTEGER NOT NULL
) STRICT;
)sql"},
     {5, "when files were verified", R"sql(
ALTER TABLE transfer ADD COLUMN verified_ms INTEGER NOT NULL DEFAULT 0;
)sql"},
     {6, "places below a named root", R"sql(
ALTER TABLE transfer ADD COLUMN root BLOB NOT NULL DEFAULT x'';
)sql"},
     {7, "how transfers were tuned", R"sql(
CREATE TABLE tuning (
  transfer_id TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL,
  running INTEGER NOT NULL,
  record BLOB NOT NULL
) STRICT;
)sql"},
     {8, "what people ask of a tuner, and arrivals", R"sql(
ALTER TABLE transfer ADD COLUMN tuner TEXT NOT NULL DEFAULT '';
ALTER TABLE transfer ADD COLUMN mode TEXT NOT NULL DEFAULT '';
ALTER TABLE transfer ADD COLUMN target_bits_per_s INTEGER NOT NULL DEFAULT 0;
ALTER TABLE transfer ADD COLUMN floor_bits_per_s INTEGER NOT NULL DEFAULT 0;
ALTER TABLE transfer ADD COLUMN by_ms INTEGER;
ALTER TABLE transfer ADD COLUMN fetched_ms INTEGER NOT NULL DEFAULT 0;
)sql"},
     {9, "what paths have carried", R"sql(
CREATE TABLE path (
  node_id TEXT NOT NULL,
  network TEXT NOT NULL,
  congestion_control TEXT NOT NULL,
  round_trip_log2 INTEGER NOT NULL,
  loss_decade INTEGER NOT NULL,
  long_transfer INTEGER NOT NULL,
  round_trip_us INTEGER NOT NULL,
  loss_events_per_segment REAL NOT NULL,
  lanes INTEGER NOT NULL,
  sources INTEGER NOT NULL,
  bits_per_s INTEGER NOT NULL,
  best_bits_per_s INTEGER NOT NULL,
  total_bits_per_s INTEGER NOT NULL,
  lane_bits_per_s INTEGER NOT NULL,
  limit_word TEXT NOT NULL,
  transfers INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  law INTEGER NOT NULL,
  PRIMARY KEY (node_id, network, congestion_control, round_trip_log2, loss_decade, long_transfer)
) STRICT;
)sql"},
     {10, "what transfers received and sent over time", R"sql(
CREATE TABLE rate (
  transfer_id TEXT NOT NULL REFERENCES transfer(transfer_id) ON DELETE CASCADE,
  seconds INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  points BLOB NOT NULL,
  PRIMARY KEY (transfer_id, seconds, first_ms)
) STRICT;
CREATE INDEX rate_by_age ON rate(seconds, last_ms);
)sql"},
     {11, "publishes that go on by themselves", R"sql(
ALTER TABLE transfer ADD COLUMN unpublished INTEGER NOT NULL DEFAULT 0;
ALTER TABLE publish ADD COLUMN lasting TEXT NOT NULL DEFAULT '';
)sql"},
     {12, "files that were here before, and that are to go", R"sql(
ALTER TABLE transfer ADD COLUMN adopted TEXT NOT NULL DEFAULT '';
ALTER TABLE transfer ADD COLUMN remove_files INTEGER NOT NULL DEFAULT 0;
)sql"},
     {13, "versions of contents", R"sql(
ALTER TABLE transfer ADD COLUMN replaces TEXT NOT NULL DEFAULT '';
UPDATE publish SET access = 'private' WHERE access = '';
CREATE TABLE published_files (
  transfer_id TEXT PRIMARY KEY REFERENCES transfer(transfer_id) ON DELETE CASCADE,
  inodes BLOB NOT NULL,
  sums BLOB NOT NULL
) STRICT;
)sql"},
     {14, "data that is published through symbolic links", R"sql(
ALTER TABLE transfer ADD COLUMN follow_links INTEGER NOT NULL DEFAULT 0;
)sql"},
     {15, "rules by which was published", R"sql(
ALTER TABLE publish ADD COLUMN rules TEXT NOT NULL DEFAULT '';
)sql"},
     {16, "what a umask takes from the modes of what is fetched", R"sql(
ALTER TABLE transfer ADD COLUMN umask INTEGER NOT NULL DEFAULT 0;
ALTER TABLE transfer ADD COLUMN unmarked INTEGER NOT NULL DEFAULT 0;
UPDATE transfer SET unmarked = 1
  WHERE step IN ('prepare', 'fetch', 'verify', 'commit') OR (step = 'failed' AND stamp = '');
)sql"},
     {17, "which metadata is in use", R"sql(
CREATE INDEX transfer_by_metadata ON transfer(metadata_sha256);
)sql"},
     {18, "what was asked of the sender of a path", R"sql(
ALTER TABLE path ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;
)sql"}}};

}  // namespace gridtorrent::client::store
