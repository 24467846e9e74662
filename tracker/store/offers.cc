#include <limits>

#include "tracker/store/columns.h"
#include "tracker/store/tables.h"

// Contents that are offered to a new owner.

namespace gridtorrent::tracker::store {

namespace {

constexpr std::string_view kSelect =
    "SELECT o.content_id, owner.name, c.name, c.bytes, o.by_id, giver.name, o.to_id, taker.name, o.since_ms, "
    "o.expires_ms, o.message FROM offer o JOIN content c ON c.content_id = o.content_id "
    "JOIN user owner ON owner.user_id = c.owner_id JOIN user giver ON giver.user_id = o.by_id "
    "JOIN user taker ON taker.user_id = o.to_id ";

Result<ccm::Offer> offer_from(const sql::Row& row) {
  ccm::Offer offer;
  GT_ASSIGN(offer.content, id_at<ContentId>(row, 0));
  offer.owner_name = row.text(1);
  offer.content_name = row.text(2);
  offer.bytes = row.u64(3);
  GT_ASSIGN(offer.by, id_at<UserId>(row, 4));
  offer.by_name = row.text(5);
  GT_ASSIGN(offer.to, id_at<UserId>(row, 6));
  offer.to_name = row.text(7);
  offer.since = time_at(row, 8);
  offer.expires = time_at(row, 9);
  offer.message = row.text(10);
  return offer;
}

}  // namespace

Status SqlOffers::put(const ccm::Offer& o) {
  return tx_.exec(
      "INSERT OR REPLACE INTO offer(content_id, by_id, to_id, since_ms, expires_ms, message) VALUES (?, ?, ?, ?, ?, ?)",
      {o.content.str(), o.by.str(), o.to.str(), o.since.ms, o.expires.ms, o.message});
}

Result<std::optional<ccm::Offer>> SqlOffers::of_content(const ContentId& content) {
  return tx_.one(std::string(kSelect) + "WHERE o.content_id = ?", {content.str()}, offer_from);
}

Result<std::vector<ccm::Offer>> SqlOffers::to(const UserId& user, WallTime now,
                                              const std::optional<ccm::OfferPlace>& after, std::size_t limit) {
  return open("o.to_id", user, now, after, limit);
}

Result<std::vector<ccm::Offer>> SqlOffers::by(const UserId& user, WallTime now,
                                              const std::optional<ccm::OfferPlace>& after, std::size_t limit) {
  return open("o.by_id", user, now, after, limit);
}

Result<std::vector<ccm::Offer>> SqlOffers::open(std::string_view whose, const UserId& user, WallTime now,
                                                const std::optional<ccm::OfferPlace>& after, std::size_t limit) {
  const std::int64_t since = after ? after->since.ms : std::numeric_limits<std::int64_t>::max();
  return tx_.all(std::string(kSelect) + "WHERE " + std::string(whose) +
                     " = ?1 AND o.expires_ms > ?2 AND c.state = 'published' "
                     "AND (o.since_ms < ?3 OR (o.since_ms = ?3 AND o.content_id > ?4)) "
                     "ORDER BY o.since_ms DESC, o.content_id LIMIT ?5",
                 {user.str(), now.ms, since, after ? after->content : std::string(), limit}, offer_from);
}

Result<std::uint64_t> SqlOffers::count_open(const UserId& by, WallTime now) {
  GT_ASSIGN(const auto count, tx_.one("SELECT count(*) FROM offer WHERE by_id = ? AND expires_ms > ?",
                                      {by.str(), now.ms}, [](const sql::Row& row) { return row.u64(0); }));
  return count.value_or(0);
}

Status SqlOffers::remove(const ContentId& content) {
  return tx_.exec("DELETE FROM offer WHERE content_id = ?", {content.str()});
}

Status SqlOffers::prune(WallTime before) {
  return tx_.exec("DELETE FROM offer WHERE expires_ms < ?", {before.ms});
}

}  // namespace gridtorrent::tracker::store
