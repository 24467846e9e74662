#include "tracker/store/sqlite_store.h"

#include <utility>

#include "tracker/store/documents.h"
#include "tracker/store/schema.h"
#include "tracker/store/tables.h"

namespace gridtorrent::tracker::store {

sql::Options database_options(const std::string& data_dir) {
  sql::Options options;
  options.path = data_dir + "/gridtorrent.db";
  options.application_id = kApplicationId;
  options.migrations = migrations();
  options.readers += kScans;
  options.restore_hint = "restore a backup: gridtorrent-server --data-dir " + data_dir + " restore FILE";
  return options;
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const Options& options) {
  sql::Options database = database_options(options.data_dir);
  database.on_fatal = options.on_fatal;
  database.on_statement = options.on_statement;
  GT_ASSIGN(auto opened, sql::Database::open(std::move(database)));
  GT_TRY(unpack_documents(*opened, options.data_dir));
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(opened)));
}

Status SqliteStore::write(const std::function<Status(tracker::Tx&)>& work) {
  return database_->write([&](sql::Transaction& tx) {
    SqlTables tables(tx, rng_);
    return work(tables.tx());
  });
}

Status SqliteStore::read(const std::function<Status(tracker::Tx&)>& work) {
  return database_->read([&](sql::Transaction& tx) {
    SqlTables tables(tx, rng_);
    return work(tables.tx());
  });
}

Status SqliteStore::write(const std::function<Status(ccm::Tx&)>& work) {
  return write(std::function<Status(tracker::Tx&)>([&](tracker::Tx& tx) { return work(tx); }));
}

Status SqliteStore::read(const std::function<Status(ccm::Tx&)>& work) {
  return read(std::function<Status(tracker::Tx&)>([&](tracker::Tx& tx) { return work(tx); }));
}

}  // namespace gridtorrent::tracker::store
