#pragma once

#include <cstddef>
#include <cstdint>

#include "common/page.h"

namespace gridtorrent::rpc {

/// What a list's request asks for: `limit` and `page`.
template <class Request>
PageRequest page_request(const Request& request) {
  return {request.limit(), request.page()};
}

/// Items that a watched list has at most.
inline constexpr std::uint32_t kMostWatched = 200;

/// The request of a list that is watched, with its limit.
template <class Request>
Request watched_page(Request request) {
  if (request.limit() == 0 || request.limit() > kMostWatched) request.set_limit(kMostWatched);
  return request;
}

/// Puts a page into a list's reply, as far as kMaxPageBytes go, and `next_page` where something is left. `add` appends
/// one item to the reply and returns the message that it made of it.
template <class Item, class Reply, class Add>
void answer_page(const Page<Item>& page, Reply& reply, const Add& add) {
  std::size_t bytes = 0;
  for (const Item& item : page.items) {
    bytes += add(item).ByteSizeLong();
    const bool last = &item == &page.items.back();
    if (last ? !page.more : bytes < kMaxPageBytes) continue;
    reply.set_next_page(page.token_after(item));
    return;
  }
}

}  // namespace gridtorrent::rpc
