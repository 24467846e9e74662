#pragma once

#include <string>

#include "base/sql/database.h"
#include "common/result.h"

namespace gridtorrent::tracker::store {

/// Puts the documents that a restored backup carries into the metadata folder, and takes them out of the database.
/// Nothing to do in any other database; may be repeated after an interruption.
Status unpack_documents(sql::Database& database, const std::string& data_dir);

}  // namespace gridtorrent::tracker::store
