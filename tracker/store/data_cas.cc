#include "tracker/store/columns.h"
#include "tracker/store/tables.h"

// Generations of the data CA.

namespace gridtorrent::tracker::store {
namespace {

Result<DataCaRecord> data_ca_from(const sql::Row& row) {
  DataCaRecord ca;
  ca.generation = static_cast<std::uint32_t>(row.u64(0));
  ca.certificate_pem = row.text(1);
  ca.sealed_key = row.text(2);
  ca.sealing_key_id = row.text(3);
  ca.created = time_at(row, 4);
  if (!row.is_null(5)) ca.retired = time_at(row, 5);
  return ca;
}

}  // namespace

Status SqlDataCas::insert(const DataCaRecord& ca) {
  std::optional<std::int64_t> retired;
  if (ca.retired) retired = ca.retired->ms;
  const Status done = tx_.exec(
      "INSERT INTO data_ca(generation, certificate_pem, sealed_key, sealing_key_id, created_ms, retired_ms) "
      "VALUES (?, ?, ?, ?, ?, ?)",
      {ca.generation, ca.certificate_pem, sql::Blob(ca.sealed_key), ca.sealing_key_id, ca.created.ms, retired});
  if (!done)
    return conflict_or(done.error(), "the data CA has a generation " + std::to_string(ca.generation) + " already");
  return {};
}

Result<std::vector<DataCaRecord>> SqlDataCas::all() {
  return tx_.all(
      "SELECT generation, certificate_pem, sealed_key, sealing_key_id, created_ms, retired_ms FROM data_ca "
      "ORDER BY generation",
      {}, data_ca_from);
}

Status SqlDataCas::retire(std::uint32_t generation, WallTime now) {
  return tx_.exec("UPDATE data_ca SET retired_ms = ? WHERE generation = ? AND retired_ms IS NULL",
                  {now.ms, generation});
}

}  // namespace gridtorrent::tracker::store
