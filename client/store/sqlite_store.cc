#include "client/store/sqlite_store.h"

#include <sys/stat.h>

#include <cerrno>

#include "client/store/codec.h"
#include "client/store/metadata_files.h"
#include "client/store/rate_rows.h"
#include "client/store/schema.h"
#include "client/store/tuning_codec.h"
#include "common/text.h"

namespace gridtorrent::client::store {
namespace {

constexpr std::string_view kTransferColumns =
    "transfer_id, kind, step, paused, content_id, version, name, owner, access_level, bytes, files, metadata_sha256, "
    "generation, ca_pem, withdrawn, base_name, target, globs, old_place, lanes_wish, seeders_wish, priority, "
    "limit_bits_per_s, source, wanted_bytes, received_bytes, sent_bytes, redundant_bytes, fetch_ms, lanes_peak, peers, "
    "error_code, error_message, stamp, checksums_due, clean, created_ms, verified_bytes, kept_globs, lost, kept_lost, "
    "audience, refused, verified_ms, root, tuner, mode, target_bits_per_s, floor_bits_per_s, by_ms, fetched_ms, "
    "unpublished, adopted, remove_files, replaces, follow_links, umask, unmarked";

std::string id_text(const TransferId& id) {
  return id.is_nil() ? std::string() : id.str();
}

Result<TransferId> parse_transfer(const std::string& text) {
  if (text.empty()) return TransferId();
  return TransferId::parse(text);
}

Status read_content(const sql::Row& row, ContentInfo& content) {
  GT_ASSIGN(content.id, ContentId::parse(row.text(4)));
  content.version = row.u32(5);
  content.name = row.text(6);
  content.owner = row.text(7);
  content.access_level = row.text(8);
  content.bytes = row.u64(9);
  content.files = row.u64(10);
  content.metadata_sha256 = row.text(11);
  content.generation = row.u32(12);
  content.ca_pem = row.text(13);
  content.withdrawn = row.boolean(14);
  return {};
}

/// A mode of a later version counts as none.
TuningWish read_wish(const sql::Row& row) {
  TuningWish wish{row.text(45), mode_of(row.text(46)), row.u64(47), row.u64(48), std::nullopt};
  if (!row.is_null(49)) wish.by = WallTime{row.i64(49)};
  return wish;
}

Result<TransferRow> read_transfer(const sql::Row& row) {
  TransferRow transfer;
  GT_ASSIGN(transfer.id, TransferId::parse(row.text(0)));
  GT_ASSIGN(transfer.kind, parse_kind(row.text(1)));
  GT_ASSIGN(transfer.step, parse_step(row.text(2)));
  transfer.paused = row.boolean(3);
  GT_TRY(read_content(row, transfer.content));
  transfer.base_name = row.text(15);
  transfer.target = row.text(16);
  GT_ASSIGN(transfer.globs, decode_globs(row.text(17)));
  GT_ASSIGN(transfer.old_place, parse_transfer(row.text(18)));
  transfer.lanes_wish = row.i32(19);
  transfer.seeders_wish = row.i32(20);
  transfer.priority = row.i32(21);
  transfer.limit_bits_per_s = row.u64(22);
  transfer.source = row.text(23);
  transfer.wanted_bytes = row.u64(24);
  transfer.received_bytes = row.u64(25);
  transfer.sent_bytes = row.u64(26);
  transfer.redundant_bytes = row.u64(27);
  transfer.fetch_time = std::chrono::milliseconds(row.i64(28));
  transfer.lanes_peak = row.i32(29);
  GT_ASSIGN(transfer.peers, decode_peers(row.text(30)));
  if (!row.is_null(31)) {
    GT_ASSIGN(const Code code, parse_code(row.text(31)));
    transfer.error = Error{code, row.text(32)};
  }
  transfer.stamp = row.text(33);
  transfer.checksums_due = row.boolean(34);
  transfer.clean = row.boolean(35);
  transfer.created = WallTime{row.i64(36)};
  transfer.verified_bytes = row.u64(37);
  GT_ASSIGN(transfer.kept_globs, decode_globs(row.text(38)));
  GT_ASSIGN(transfer.lost, decode_entries(row.text(39)));
  GT_ASSIGN(transfer.kept_lost, decode_entries(row.text(40)));
  transfer.content.audience = row.text(41);
  transfer.refused = row.boolean(42);
  transfer.verified = WallTime{row.i64(43)};
  transfer.root = row.text(44);
  transfer.wish = read_wish(row);
  transfer.fetched = WallTime{row.i64(50)};
  transfer.unpublished = row.boolean(51);
  GT_ASSIGN(transfer.adopted, decode_entries(row.text(52)));
  transfer.remove_files = row.boolean(53);
  GT_ASSIGN(transfer.replaces, parse_transfer(row.text(54)));
  transfer.follow_links = row.boolean(55);
  transfer.umask = row.u32(56);
  transfer.unmarked = row.boolean(57);
  return transfer;
}

constexpr std::string_view kTaskColumns =
    "task_id, sequence, work, state, done, total, result_json, error_code, error_message, report_pending, transfer_id";

Result<TaskRow> read_task(const sql::Row& row) {
  TaskRow task;
  GT_ASSIGN(task.task.id, TaskId::parse(row.text(0)));
  task.task.sequence = row.u64(1);
  GT_TRY(decode_work(row.text(2), task.task));
  task.report.id = task.task.id;
  GT_ASSIGN(task.report.state, parse_task_state(row.text(3)));
  task.report.done = row.u64(4);
  task.report.total = row.u64(5);
  task.report.result_json = row.text(6);
  if (!row.is_null(7)) {
    GT_ASSIGN(task.report.error.code, parse_code(row.text(7)));
    task.report.error.message = row.text(8);
  }
  task.report_pending = row.boolean(9);
  GT_ASSIGN(task.transfer, parse_transfer(row.text(10)));
  return task;
}

Result<PublishRow> read_publish(const sql::Row& row) {
  PublishRow publish;
  publish.request_id = row.text(0);
  publish.path = row.text(1);
  publish.name = row.text(2);
  publish.access = row.text(3);
  GT_ASSIGN(publish.transfer, TransferId::parse(row.text(4)));
  publish.created = WallTime{row.i64(5)};
  publish.done = row.boolean(6);
  GT_ASSIGN(publish.published, decode_content(row.text(7)));
  publish.skipped = row.u64(8);
  GT_ASSIGN(publish.lasting, decode_lasting(row.text(9)));
  if (const std::string rules = row.text(10); !rules.empty()) {
    GT_ASSIGN(publish.rules, decode_rules(rules));
  } else if (publish.lasting) {  // of an older version
    publish.rules = publish.lasting->rules;
  }
  return publish;
}

Result<std::string> text_of_first(const sql::Row& row) {
  return row.text(0);
}

Result<PathRecord> read_path(const sql::Row& row) {
  PathRecord record;
  PathFacts& facts = record.facts;
  GT_ASSIGN(facts.node, NodeId::parse(row.text(0)));
  facts.network = row.text(1);
  facts.congestion_control = row.text(2);
  facts.long_transfer = row.boolean(5);
  record.key = {facts.node, facts.network, facts.congestion_control, row.i32(3), row.i32(4), facts.long_transfer};
  facts.round_trip = std::chrono::microseconds(row.i64(6));
  facts.loss_events_per_segment = row.real(7);
  facts.lanes = row.i32(8);
  facts.sources = row.i32(9);
  facts.bits_per_s = row.u64(10);
  facts.best_bits_per_s = row.u64(11);
  facts.total_bits_per_s = row.u64(12);
  facts.lane_bits_per_s = row.u64(13);
  facts.limit = limit_of(row.text(14));
  record.transfers = row.i32(15);
  record.last = WallTime{row.i64(16)};
  facts.asked = row.boolean(17);
  return record;
}

/// "INSERT OR REPLACE" would end the row it replaces, and with it what refers to it.
std::string upsert(std::string_view table, std::string_view columns, std::string_view key, std::size_t count) {
  std::string marks, updates;
  for (std::size_t i = 0; i < count; ++i) marks += i == 0 ? "?" : ", ?";
  std::size_t start = 0;
  while (start < columns.size()) {
    const auto end = std::min(columns.find(", ", start), columns.size());
    const auto column = std::string(columns.substr(start, end - start));
    if (column != key) updates += (updates.empty() ? "" : ", ") + column + " = excluded." + column;
    start = end + 2;
  }
  return "INSERT INTO " + std::string(table) + " (" + std::string(columns) + ") VALUES (" + marks + ") ON CONFLICT (" +
         std::string(key) + ") DO UPDATE SET " + updates;
}

Status put(sql::Transaction& tx, const TransferRow& row) {
  static const std::string statement = upsert("transfer", kTransferColumns, "transfer_id", 58);
  const std::string id = row.id.str(), content = row.content.id.str(), globs = encode_globs(row.globs),
                    kept_globs = encode_globs(row.kept_globs), lost = encode_entries(row.lost),
                    kept_lost = encode_entries(row.kept_lost), peers = encode_peers(row.peers),
                    old_place = id_text(row.old_place), adopted = encode_entries(row.adopted),
                    replaces = id_text(row.replaces);
  std::optional<std::string_view> error_code, error_message;
  if (row.error) {
    error_code = code_name(row.error->code);
    error_message = row.error->message;
  }
  std::optional<std::int64_t> by_ms;
  if (row.wish.by) by_ms = row.wish.by->ms;
  return tx.exec(statement, {id,
                             kind_name(row.kind),
                             step_name(row.step),
                             row.paused,
                             content,
                             row.content.version,
                             row.content.name,
                             row.content.owner,
                             row.content.access_level,
                             row.content.bytes,
                             row.content.files,
                             row.content.metadata_sha256,
                             row.content.generation,
                             row.content.ca_pem,
                             row.content.withdrawn,
                             sql::Blob(row.base_name),
                             sql::Blob(row.target),
                             globs,
                             old_place,
                             row.lanes_wish,
                             row.seeders_wish,
                             row.priority,
                             row.limit_bits_per_s,
                             row.source,
                             row.wanted_bytes,
                             row.received_bytes,
                             row.sent_bytes,
                             row.redundant_bytes,
                             row.fetch_time.count(),
                             row.lanes_peak,
                             peers,
                             error_code,
                             error_message,
                             row.stamp,
                             row.checksums_due,
                             row.clean,
                             row.created.ms,
                             row.verified_bytes,
                             kept_globs,
                             lost,
                             kept_lost,
                             row.content.audience,
                             row.refused,
                             row.verified.ms,
                             sql::Blob(row.root),
                             row.wish.tuner,
                             row.wish.mode ? mode_name(*row.wish.mode) : std::string_view(),
                             row.wish.target_bits_per_s,
                             row.wish.floor_bits_per_s,
                             by_ms,
                             row.fetched.ms,
                             row.unpublished,
                             adopted,
                             row.remove_files,
                             replaces,
                             row.follow_links,
                             row.umask,
                             row.unmarked});
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const StoreOptions& options) {
  const std::string metadata = options.data_dir + "/metadata";
  if (::mkdir(metadata.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{Code::kDisk, "cannot make " + escape_for_display(metadata) + ": " + errno_text(errno)};
  }
  sql::Options sql_options;
  sql_options.path = options.data_dir + "/node.db";
  sql_options.application_id = kApplicationId;
  sql_options.migrations = kMigrations;
  sql_options.readers = 2;
  sql_options.group_window = std::chrono::microseconds(200);
  sql_options.restore_hint =
      "move node.db away: the node starts anew and `gridtorrent seed CONTENT --from PATH` attaches its files again";
  sql_options.on_fatal = options.on_fatal;
  GT_ASSIGN(std::unique_ptr<sql::Database> db, sql::Database::open(std::move(sql_options)));
  std::unique_ptr<SqliteStore> store(new SqliteStore(metadata, std::move(db)));
  GT_TRY(store->remove_unnamed_metadata());
  return store;
}

Status SqliteStore::put_transfers(std::span<const TransferRow> rows) {
  return db_->write([&](sql::Transaction& tx) -> Status {
    for (const TransferRow& row : rows) GT_TRY(put(tx, row));
    return {};
  });
}

/// What nobody named, what was too young when its transfer went, and what a crash left.
Status SqliteStore::remove_unnamed_metadata() {
  GT_ASSIGN(const std::vector<std::string> named, db_->read([](sql::Transaction& tx) {
    return tx.all("SELECT DISTINCT metadata_sha256 FROM transfer", {}, text_of_first);
  }));
  // Without transfers it may be somebody else's folder, or a database that was put away for a time.
  if (!named.empty()) remove_old_but({named.begin(), named.end()}, metadata_folder_);
  return {};
}

Status SqliteStore::erase_transfer(const TransferId& id) {
  std::vector<std::string> unnamed;
  GT_TRY(db_->write([&](sql::Transaction& tx) -> Status {
    GT_ASSIGN(unnamed, tx.all("SELECT metadata_sha256 FROM transfer AS this WHERE transfer_id = ? AND NOT EXISTS "
                              "(SELECT 1 FROM transfer WHERE metadata_sha256 = this.metadata_sha256 "
                              "AND transfer_id <> this.transfer_id)",
                              {id.str()}, text_of_first));
    return tx.exec("DELETE FROM transfer WHERE transfer_id = ?", {id.str()});
  }));
  for (const std::string& sha256 : unnamed) {
    if (const auto path = metadata_path(sha256)) remove_if_old(*path);
  }
  return {};
}

Result<std::vector<TransferRow>> SqliteStore::transfers() {
  return db_->read([&](sql::Transaction& tx) -> Result<std::vector<TransferRow>> {
    return tx.all("SELECT " + std::string(kTransferColumns) + " FROM transfer ORDER BY created_ms, transfer_id", {},
                  read_transfer);
  });
}

Status SqliteStore::save_resume(const TransferId& id, const std::string& data) {
  return db_->write([&](sql::Transaction& tx) -> Status {
    return tx.exec(
        "INSERT INTO resume (transfer_id, data) SELECT transfer_id, ? FROM transfer WHERE transfer_id = ? "
        "ON CONFLICT (transfer_id) DO UPDATE SET data = excluded.data",
        {sql::Blob(data), id.str()});
  });
}

Result<std::optional<std::string>> SqliteStore::load_resume(const TransferId& id) {
  return db_->read([&](sql::Transaction& tx) {
    return tx.one("SELECT data FROM resume WHERE transfer_id = ?", {id.str()},
                  [](const sql::Row& row) { return row.text(0); });
  });
}

Status SqliteStore::save_known_files(const TransferId& id, const KnownFiles& files) {
  const std::string inodes = encode_inodes(files.inodes);
  return db_->write([&](sql::Transaction& tx) -> Status {
    return tx.exec(
        "INSERT INTO published_files (transfer_id, inodes, sums) SELECT transfer_id, ?, ? FROM transfer "
        "WHERE transfer_id = ? ON CONFLICT (transfer_id) DO UPDATE SET inodes = excluded.inodes, sums = excluded.sums",
        {sql::Blob(inodes), sql::Blob(files.sums), id.str()});
  });
}

Result<KnownFiles> SqliteStore::load_known_files(const TransferId& id) {
  return db_->read([&](sql::Transaction& tx) -> Result<KnownFiles> {
    GT_ASSIGN(const auto found, tx.one("SELECT inodes, sums FROM published_files WHERE transfer_id = ?", {id.str()},
                                       [](const sql::Row& row) { return std::pair(row.text(0), row.text(1)); }));
    if (!found) return KnownFiles{};
    GT_ASSIGN(auto inodes, decode_inodes(found->first));
    return KnownFiles{std::move(inodes), found->second};
  });
}

Status SqliteStore::put_publish(const PublishRow& row) {
  constexpr std::string_view kColumns =
      "request_id, path, name, access, transfer_id, created_ms, done, published, skipped, lasting, rules";
  static const std::string statement = upsert("publish", kColumns, "request_id", 11);
  const std::string published = encode_content(row.published), lasting = encode_lasting(row.lasting),
                    rules = encode_rules(row.rules);
  return db_->write([&](sql::Transaction& tx) -> Status {
    GT_TRY(tx.exec(statement, {row.request_id, sql::Blob(row.path), row.name, row.access, row.transfer.str(),
                               row.created.ms, row.done, published, row.skipped, lasting, rules}));
    return tx.exec(
        "DELETE FROM publish WHERE done = 1 AND request_id NOT IN "
        "(SELECT request_id FROM publish WHERE done = 1 ORDER BY created_ms DESC LIMIT 1000)");
  });
}

Status SqliteStore::erase_publish(const std::string& request_id) {
  return db_->write([&](sql::Transaction& tx) -> Status {
    return tx.exec("DELETE FROM publish WHERE request_id = ?", {request_id});
  });
}

Result<std::vector<PublishRow>> SqliteStore::publishes() {
  return db_->read([&](sql::Transaction& tx) -> Result<std::vector<PublishRow>> {
    return tx.all(
        "SELECT request_id, path, name, access, transfer_id, created_ms, done, published, skipped, lasting, rules "
        "FROM publish "
        "ORDER BY created_ms",
        {}, read_publish);
  });
}

Status SqliteStore::put_audience(const SavedAudience& audience) {
  const std::string members = encode_members(*audience.list.members);
  return db_->write([&](sql::Transaction& tx) -> Status {
    return tx.exec("INSERT OR REPLACE INTO audience(audience_id, version, members, confirmed_ms) VALUES (?, ?, ?, ?)",
                   {audience.list.ref.id, audience.list.ref.version, sql::Blob(members), audience.confirmed.ms});
  });
}

Status SqliteStore::erase_audience(const std::string& id) {
  return db_->write([&](sql::Transaction& tx) { return tx.exec("DELETE FROM audience WHERE audience_id = ?", {id}); });
}

Result<std::vector<SavedAudience>> SqliteStore::audiences() {
  return db_->read([&](sql::Transaction& tx) {
    return tx.all("SELECT audience_id, version, members, confirmed_ms FROM audience", {},
                  [](const sql::Row& row) -> Result<SavedAudience> {
                    GT_ASSIGN(Audience members, decode_members(row.text(2)));
                    return SavedAudience{
                        {{row.text(0), row.u64(1)}, std::make_shared<const Audience>(std::move(members))},
                        WallTime{row.i64(3)}};
                  });
  });
}

Status SqliteStore::note_confirmed(WallTime heard, const std::vector<SavedAudience>& confirmed) {
  return db_->write([&](sql::Transaction& tx) -> Status {
    GT_TRY(tx.exec("INSERT OR REPLACE INTO server_heard(only_row, heard_ms) VALUES (1, ?)", {heard.ms}));
    for (const SavedAudience& one : confirmed) {
      GT_TRY(tx.exec("UPDATE audience SET confirmed_ms = ? WHERE audience_id = ? AND version = ?",
                     {one.confirmed.ms, one.list.ref.id, one.list.ref.version}));
    }
    return {};
  });
}

Status SqliteStore::set_audiences(const std::vector<std::pair<TransferId, std::string>>& audiences) {
  return db_->write([&](sql::Transaction& tx) -> Status {
    for (const auto& [id, audience] : audiences) {
      GT_TRY(tx.exec("UPDATE transfer SET audience = ? WHERE transfer_id = ?", {audience, id.str()}));
    }
    return {};
  });
}

Result<std::optional<WallTime>> SqliteStore::heard() {
  return db_->read([&](sql::Transaction& tx) {
    return tx.one("SELECT heard_ms FROM server_heard", {}, [](const sql::Row& row) { return WallTime{row.i64(0)}; });
  });
}

Status SqliteStore::put_tuning(const TuningRecord& record) {
  static const std::string statement = upsert("tuning", "transfer_id, sequence, running, record", "transfer_id", 4);
  const std::string bytes = encode_tuning(record);
  return db_->write([&](sql::Transaction& tx) -> Status {
    GT_TRY(tx.exec(statement, {record.transfer.str(), record.sequence, record.running, sql::Blob(bytes)}));
    return tx.exec(
        "DELETE FROM tuning WHERE running = 0 AND transfer_id NOT IN "
        "(SELECT transfer_id FROM tuning WHERE running = 0 ORDER BY sequence DESC LIMIT ?)",
        {kEndedTunings});
  });
}

Result<std::vector<TuningRecord>> SqliteStore::tunings() {
  return db_->read([&](sql::Transaction& tx) -> Result<std::vector<TuningRecord>> {
    return tx.all("SELECT transfer_id, sequence, running, record FROM tuning ORDER BY sequence", {},
                  [](const sql::Row& row) -> Result<TuningRecord> {
                    GT_ASSIGN(TuningRecord record, decode_tuning(row.text(3)));
                    GT_ASSIGN(record.transfer, TransferId::parse(row.text(0)));
                    record.sequence = row.u64(1);
                    record.running = row.boolean(2);
                    return record;
                  });
  });
}

Status SqliteStore::put_rates(std::span<const RateBlock> blocks, WallTime now) {
  return db_->write([&](sql::Transaction& tx) { return store::put_rates(tx, blocks, now); });
}

Result<std::vector<RateBlock>> SqliteStore::rates(const TransferId& id, WallTime from) {
  return db_->read([&](sql::Transaction& tx) { return rates_of(tx, id, from); });
}

Result<std::string> SqliteStore::metadata_path(const std::string& sha256) const {
  if (!sha256.empty() && sha256.find_first_not_of("0123456789abcdef") == std::string::npos) {
    return metadata_folder_ + "/" + sha256;
  }
  return Error{Code::kCorrupt, "'" + escape_for_display(sha256) + "' cannot name metadata; it is no SHA-256"};
}

Status SqliteStore::save_metadata(const std::string& sha256, const std::string& document) {
  GT_ASSIGN(const std::string path, metadata_path(sha256));
  return write_file_durably(path, document);
}

Result<std::optional<std::string>> SqliteStore::load_metadata(const std::string& sha256) {
  GT_ASSIGN(const std::string path, metadata_path(sha256));
  return read_whole_file(path);
}

Status SqliteStore::put_path(const PathRecord& record) {
  const PathFacts& facts = record.facts;
  const std::string node = record.key.node.str();
  return db_->write([&](sql::Transaction& tx) -> Status {
    return tx.exec(
        "INSERT OR REPLACE INTO path(node_id, network, congestion_control, round_trip_log2, loss_decade, "
        "long_transfer, round_trip_us, loss_events_per_segment, lanes, sources, bits_per_s, best_bits_per_s, "
        "total_bits_per_s, lane_bits_per_s, limit_word, transfers, last_ms, law, asked) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {node, record.key.network, record.key.congestion_control, record.key.round_trip_log2, record.key.loss_decade,
         record.key.long_transfer, facts.round_trip.count(), facts.loss_events_per_segment, facts.lanes, facts.sources,
         facts.bits_per_s, facts.best_bits_per_s, facts.total_bits_per_s, facts.lane_bits_per_s,
         limit_word(facts.limit), record.transfers, record.last.ms, kPathLaw, facts.asked});
  });
}

Status SqliteStore::erase_paths(const std::vector<PathKey>& keys) {
  return db_->write([&](sql::Transaction& tx) -> Status {
    for (const PathKey& key : keys) {
      GT_TRY(
          tx.exec("DELETE FROM path WHERE node_id = ? AND network = ? AND congestion_control = ? AND "
                  "round_trip_log2 = ? AND loss_decade = ? AND long_transfer = ?",
                  {key.node.str(), key.network, key.congestion_control, key.round_trip_log2, key.loss_decade,
                   key.long_transfer}));
    }
    return {};
  });
}

Result<std::vector<PathRecord>> SqliteStore::paths() {
  return db_->read([&](sql::Transaction& tx) {
    return tx.all(
        "SELECT node_id, network, congestion_control, round_trip_log2, loss_decade, long_transfer, "
        "round_trip_us, loss_events_per_segment, lanes, sources, bits_per_s, best_bits_per_s, "
        "total_bits_per_s, lane_bits_per_s, limit_word, transfers, last_ms, asked FROM path WHERE law = ?",
        {kPathLaw}, read_path);
  });
}

Status SqliteStore::put_task(const TaskRow& row) {
  static const std::string statement = upsert("task", kTaskColumns, "task_id", 11);
  const std::string work = encode_work(row.task), transfer = id_text(row.transfer);
  std::optional<std::string_view> error_code, error_message;
  if (!row.report.error.message.empty()) {
    error_code = code_name(row.report.error.code);
    error_message = row.report.error.message;
  }
  return db_->write([&](sql::Transaction& tx) -> Status {
    GT_TRY(tx.exec(statement, {row.task.id.str(), row.task.sequence, work, task_state_name(row.report.state),
                               row.report.done, row.report.total, row.report.result_json, error_code, error_message,
                               row.report_pending, transfer}));
    return tx.exec(
        "DELETE FROM task WHERE state IN ('done', 'failed', 'cancelled', 'unsupported') AND report_pending = 0 "
        "AND sequence < (SELECT max(sequence) FROM task) - 10000");
  });
}

Result<std::optional<TaskRow>> SqliteStore::find_task(const TaskId& id) {
  return db_->read([&](sql::Transaction& tx) -> Result<std::optional<TaskRow>> {
    return tx.one("SELECT " + std::string(kTaskColumns) + " FROM task WHERE task_id = ?", {id.str()}, read_task);
  });
}

Result<std::vector<TaskRow>> SqliteStore::open_tasks() {
  return db_->read([&](sql::Transaction& tx) -> Result<std::vector<TaskRow>> {
    return tx.all("SELECT " + std::string(kTaskColumns) +
                      " FROM task WHERE report_pending = 1 OR state NOT IN ('done', 'failed', 'cancelled', "
                      "'unsupported') ORDER BY sequence",
                  {}, read_task);
  });
}

Result<std::uint64_t> SqliteStore::task_cursor() {
  GT_ASSIGN(const auto highest, db_->read([&](sql::Transaction& tx) {
    return tx.one("SELECT coalesce(max(sequence), 0) FROM task", {}, [](const sql::Row& row) { return row.u64(0); });
  }));
  return highest.value_or(0);
}

}  // namespace gridtorrent::client::store
