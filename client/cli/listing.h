#pragma once

#include <cstddef>
#include <cstdint>

#include "base/options/options.h"
#include "client/cli/context.h"

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

}  // namespace gridtorrent::client::cli
