#include "client/store/rate_rows.h"

#include <optional>

namespace gridtorrent::client::store {
namespace {

using std::chrono::milliseconds;

Error corrupt() {
  return {Code::kCorrupt, "the node's database holds damaged rates of a transfer; restore a backup"};
}

/// Seven bits a byte, lowest first; the high bit says that others follow.
void put_number(std::string& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
}

std::optional<std::uint64_t> take_number(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

/// Small for small negative numbers, too: a clock may have been set back.
std::uint64_t folded(std::int64_t number) {
  return (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
}
std::int64_t unfolded(std::uint64_t number) {
  return static_cast<std::int64_t>(number >> 1) ^ -static_cast<std::int64_t>(number & 1);
}

Status drop_old(sql::Transaction& tx, bool seconds, WallTime now) {
  const WallTime oldest = now - (seconds ? milliseconds(kSecondsKept) : milliseconds(kRatesKept));
  GT_TRY(tx.exec("DELETE FROM rate WHERE seconds = ? AND last_ms <= ?", {seconds, oldest.ms}));
  return tx.exec(
      "DELETE FROM rate WHERE rowid IN (SELECT rowid FROM rate WHERE seconds = ? ORDER BY last_ms DESC LIMIT -1 OFFSET "
      "?)",
      {seconds, kRateBlocks});
}

}  // namespace

std::string encode_points(std::span<const RatePoint> points) {
  std::string bytes;
  std::int64_t before = 0;
  for (const RatePoint& point : points) {
    put_number(bytes, folded(point.at.ms - before));
    put_number(bytes, static_cast<std::uint64_t>(point.span.count()));
    put_number(bytes, point.down_bits_per_s);
    put_number(bytes, point.up_bits_per_s);
    put_number(bytes, static_cast<std::uint64_t>(point.lanes));
    put_number(bytes, static_cast<std::uint64_t>(point.sources));
    before = point.at.ms;
  }
  return bytes;
}

Result<std::vector<RatePoint>> decode_points(std::string_view bytes) {
  std::vector<RatePoint> points;
  std::int64_t before = 0;
  while (!bytes.empty()) {
    std::uint64_t numbers[6];
    for (std::uint64_t& number : numbers) {
      const auto taken = take_number(bytes);
      if (!taken) return corrupt();
      number = *taken;
    }
    before += unfolded(numbers[0]);
    points.push_back({WallTime{before}, milliseconds(static_cast<std::int64_t>(numbers[1])), numbers[2], numbers[3],
                      static_cast<int>(numbers[4]), static_cast<int>(numbers[5])});
  }
  if (points.empty()) return corrupt();
  return points;
}

Status put_rates(sql::Transaction& tx, std::span<const RateBlock> blocks, WallTime now) {
  for (const RateBlock& block : blocks) {
    const std::string bytes = encode_points(block.points), id = block.transfer.str();
    GT_TRY(tx.exec(
        "INSERT INTO rate(transfer_id, seconds, first_ms, last_ms, points) SELECT transfer_id, ?, ?, ?, ? FROM "
        "transfer "
        "WHERE transfer_id = ? ON CONFLICT (transfer_id, seconds, first_ms) DO UPDATE SET last_ms = excluded.last_ms, "
        "points = excluded.points",
        {block.seconds, block.points.front().at.ms, block.points.back().at.ms, sql::Blob(bytes), id}));
  }
  GT_TRY(drop_old(tx, true, now));
  return drop_old(tx, false, now);
}

Result<std::vector<RateBlock>> rates_of(sql::Transaction& tx, const TransferId& id, WallTime from) {
  return tx.all("SELECT seconds, points FROM rate WHERE transfer_id = ? AND last_ms > ? ORDER BY seconds, first_ms",
                {id.str(), from.ms}, [&](const sql::Row& row) -> Result<RateBlock> {
                  RateBlock block{id, row.boolean(0), {}};
                  GT_ASSIGN(block.points, decode_points(row.text(1)));
                  return block;
                });
}

}  // namespace gridtorrent::client::store
