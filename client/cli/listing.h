#pragma once

#include <cstddef>
#include <cstdint>

#include "base/options/options.h"
#include "client/cli/context.h"
#include "client/cli/interrupt.h"
#include "client/cli/text_view.h"

namespace gridtorrent::client::cli {

// Lists come whole, page by page; --limit cuts them, which is said.

inline options::Option limit_option() {
  return {.name = "limit",
          .value = "N",
          .help = "at most so many; without it, all",
          .check = options::integer_between(1, std::int64_t{1} << 31)};
}

/// What --limit asks for; 0: all.
inline std::size_t limit_of(const Context& c) {
  return c.options.has("limit") ? static_cast<std::size_t>(c.options.integer("limit")) : 0;
}

/// Prints a list as JSON, with whether it was cut, or as text with a line where it was.
inline void print_list(Context& c, const char* name, Json items, const std::string& text, bool cut) {
  if (c.json) return c.print({{name, std::move(items)}, {"more", cut}});
  c.terminal.result(text);
  if (cut) c.terminal.message("there are more: raise --limit, or leave it out for all");
}

inline options::Option watch_option() {
  return {.name = "watch", .help = "as it changes, until Ctrl-C; at most 200"};
}

/// Shows a list at each change, until Ctrl-C: as an event with --json, else anew on the screen. `watch(on_list, stop)`
/// watches; `items_of` and `text_of` make JSON and text of the list.
template <class Item, class Watch, class ToJson, class ToText>
Status watch_list(Context& c, const char* name, const Watch& watch, const ToJson& items_of, const ToText& text_of) {
  Interrupt interrupt;
  const auto show = [&](const api::Listed<Item>& list) {
    if (c.json) {
      Json line = event(name, c.clock.wall());
      line[name] = items_of(list);
      line["more"] = list.cut;
      c.emit(line);
    } else {
      c.terminal.clear_screen();
      c.terminal.result(cut_lines(text_of(list), c.terminal.out_width()));
    }
    return c.terminal.finish().ok();
  };
  const Status ended = watch(show, interrupt.token());
  return interrupt.stopped() ? Status() : ended;
}

}  // namespace gridtorrent::client::cli
