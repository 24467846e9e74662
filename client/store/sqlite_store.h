#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/sql/database.h"
#include "client/core/node_store.h"

namespace gridtorrent::client::store {

struct StoreOptions {
  std::string data_dir;  ///< holds node.db, and metadata/<sha256>
  /// Called once where the disk did not take a commit: the node should end.
  std::function<void(const Error&)> on_fatal;
};

/// The node's memory in SQLite (<data dir>/node.db) and metadata documents as files, written beside, synced and
/// renamed. Thread-safe; the locks are sql::Database's.
class SqliteStore final : public NodeStore {
 public:
  /// Makes or opens it. Errors as sql::Database::open.
  static Result<std::unique_ptr<SqliteStore>> open(const StoreOptions& options);

  Status put_transfers(std::span<const TransferRow> rows) override;
  Status erase_transfer(const TransferId& id) override;
  Result<std::vector<TransferRow>> transfers() override;
  Status save_resume(const TransferId& id, const std::string& data) override;
  Result<std::optional<std::string>> load_resume(const TransferId& id) override;
  Status save_known_files(const TransferId& id, const KnownFiles& files) override;
  Result<KnownFiles> load_known_files(const TransferId& id) override;
  Status put_publish(const PublishRow& row) override;
  Status erase_publish(const std::string& request_id) override;
  Result<std::vector<PublishRow>> publishes() override;
  Status put_audience(const SavedAudience& audience) override;
  Status erase_audience(const std::string& id) override;
  Result<std::vector<SavedAudience>> audiences() override;
  Status set_audiences(const std::vector<std::pair<TransferId, std::string>>& audiences) override;
  Status note_confirmed(WallTime heard, const std::vector<SavedAudience>& confirmed) override;
  Result<std::optional<WallTime>> heard() override;
  Status put_tuning(const TuningRecord& record) override;
  Result<std::vector<TuningRecord>> tunings() override;
  Status put_rates(std::span<const RateBlock> blocks, WallTime now) override;
  Result<std::vector<RateBlock>> rates(const TransferId& id, WallTime from) override;
  Status save_metadata(const std::string& sha256, const std::string& document) override;
  Result<std::optional<std::string>> load_metadata(const std::string& sha256) override;
  Status put_path(const PathRecord& record) override;
  Status erase_paths(const std::vector<PathKey>& keys) override;
  Result<std::vector<PathRecord>> paths() override;
  Status put_task(const TaskRow& row) override;
  Result<std::optional<TaskRow>> find_task(const TaskId& id) override;
  Result<std::vector<TaskRow>> open_tasks() override;
  Result<std::uint64_t> task_cursor() override;

 private:
  Result<std::string> metadata_path(const std::string& sha256) const;
  Status remove_unnamed_metadata();
  SqliteStore(std::string metadata_folder, std::unique_ptr<sql::Database> db)
      : metadata_folder_(std::move(metadata_folder)), db_(std::move(db)) {}

  const std::string metadata_folder_;
  const std::unique_ptr<sql::Database> db_;
};

}  // namespace gridtorrent::client::store
