#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace gridtorrent::gui {

/// What is searched for. Empty, 0 and nothing: it does not matter.
struct SearchQuery {
  std::string text;   ///< part of the name, case ignored
  std::string owner;  ///< user name
  std::string tag;
  std::string access;  ///< "public", "private" or "shared"
  std::string group;   ///< one of the person's own groups: shared with it
  std::uint64_t min_bytes = 0;
  std::optional<std::chrono::days> within;  ///< published in the last so many days
  friend bool operator==(const SearchQuery&, const SearchQuery&) = default;
};

}  // namespace gridtorrent::gui
