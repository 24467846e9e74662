#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/sql/database.h"
#include "ccm/domain/ports.h"
#include "common/rng.h"
#include "tracker/core/ports.h"

namespace gridtorrent::tracker::store {

/// So many reads that take seconds run at once at most; connections beyond these are left to all others.
inline constexpr std::size_t kScans = 4;

/// The server's database, "<data dir>/gridtorrent.db", behind the store ports of ccm and tracker. Thread-safe.
class SqliteStore final : public ccm::Store, public tracker::Store {
 public:
  struct Options {
    std::string data_dir;                                      ///< must exist
    std::function<void(const Error&)> on_fatal;                ///< see sql::Options
    std::function<void(std::string_view sql)> on_statement{};  ///< see sql::Options
  };
  /// Errors: see sql::Database::open.
  static Result<std::unique_ptr<SqliteStore>> open(const Options& options);

  Status write(const std::function<Status(ccm::Tx&)>& work) override;
  Status read(const std::function<Status(ccm::Tx&)>& work) override;
  Status write(const std::function<Status(tracker::Tx&)>& work) override;
  Status read(const std::function<Status(tracker::Tx&)>& work) override;

  sql::Database& database() { return *database_; }

 private:
  explicit SqliteStore(std::unique_ptr<sql::Database> database) : database_(std::move(database)) {}
  SystemRng rng_;  // for ids of tasks that a change of content makes
  std::unique_ptr<sql::Database> database_;
};

/// The options to open the server's database with (for the subcommands, which need no store).
sql::Options database_options(const std::string& data_dir);

// The subcommands of gridtorrent-server. A backup is one file: the database and the metadata documents.
/// Database, metadata documents and the chain of audit records (whose end it returns): kCorrupt with the first finding.
Result<ccm::AuditHead> check(const std::string& data_dir);
/// Works beside a running server; refused where `file` exists.
Status backup(const std::string& data_dir, const std::string& file);
/// Refused (kConflict) while a server has the data dir open. What was there is kept under another name. Task lists go
/// on above any sequence that nodes may have seen, with what has not ended.
Status restore(const std::string& data_dir, const std::string& file, WallTime now);

}  // namespace gridtorrent::tracker::store
