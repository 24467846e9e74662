#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

namespace gridtorrent {

// Pages of lists, by the key of the last item seen (keyset paging): what is inserted or removed meanwhile neither
// repeats nor skips an item that stays.

/// As many items as `task list` gave before there were pages, so that older programs, which ask for the first page
/// only, see no fewer.
inline constexpr std::size_t kMaxPageItems = 1000;
/// Bytes of a page's items, beyond which only the item that crosses the line is sent: a quarter of the 4 MiB that gRPC
/// clients take by default. The largest item of a list (a task's work) is some 100 kB.
inline constexpr std::size_t kMaxPageBytes = std::size_t{1} << 20;

/// Which part of a list is asked for.
struct PageRequest {
  std::uint32_t limit = 0;  ///< at most so many items; 0 and what is above kMaxPageItems: kMaxPageItems
  std::string token;        ///< `next_page` of the page before; empty: the first page

  std::size_t items() const { return limit == 0 || limit > kMaxPageItems ? kMaxPageItems : limit; }
};

/// Part of a list. Whoever sends it may cut it after any item: the token says where to go on.
template <class Item>
struct Page {
  std::vector<Item> items;
  bool more = false;  ///< there are others after the last
  std::function<std::string(const Item&)> token_after;
};

/// Of `rows`, read with one more than the request's items(), which says whether there are more.
template <class Item>
Page<Item> make_page(std::vector<Item> rows, const PageRequest& request,
                     std::function<std::string(const Item&)> token_after) {
  const bool more = rows.size() > request.items();
  if (more) rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(request.items()), rows.end());
  return {std::move(rows), more, std::move(token_after)};
}

/// Sort key of an item, most significant field first; no field holds a NUL.
using PageKey = std::vector<std::string>;

/// Opaque to callers. `list` names the list with everything that decides on its order and its members, so that a token
/// of another list is refused. It gives no rights: it only says where in the caller's own list to go on.
std::string encode_page_token(std::string_view list, const PageKey& key);

/// The key of `fields` fields; empty for the empty token (the first page). kInvalid: no token that this list gave.
Result<PageKey> parse_page_token(std::string_view list, std::size_t fields, std::string_view token);

/// Of a list that was read whole and is in the order of its keys: what comes after `after`, one more than asked for.
template <class Item, class KeyOf>
void keep_page(std::vector<Item>& list, const PageRequest& request, const PageKey& after, const KeyOf& key_of) {
  if (!after.empty()) std::erase_if(list, [&](const Item& item) { return key_of(item) <= after; });
  if (list.size() > request.items() + 1) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(request.items() + 1), list.end());
  }
}

/// A number in a key: milliseconds, a sequence, a rank. kInvalid: none.
Result<std::int64_t> page_number(const std::string& field);

}  // namespace gridtorrent
