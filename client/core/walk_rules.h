#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace gridtorrent::client {

/// What becomes of symbolic links below a path that is published.
enum class LinkRule : std::uint8_t {
  kSkip,    ///< left out, counted and warned of
  kKeep,    ///< published as links; one that leads outside is refused
  kFollow,  ///< what they lead to is published in their place, wherever it lies; never below a named root
};
std::string_view link_rule_name(LinkRule rule);
/// "skip", "keep", "follow"; empty is skip. kInvalid.
Result<LinkRule> parse_link_rule(std::string_view text);

/// What of a folder is published. Patterns are those of metainfo::glob_matches, against paths below the folder.
struct WalkRules {
  LinkRule links = LinkRule::kSkip;
  std::vector<std::string> exclude = {};  ///< what any of them means is left out
  std::vector<std::string> include =
      {};  ///< where there are some: files and links that none of them means are left out
  friend bool operator==(const WalkRules&, const WalkRules&) = default;
};

/// As options of `publish`, to be shown: "--links keep --exclude '*.tmp'"; empty where all is published.
std::string rules_text(const WalkRules& rules);

}  // namespace gridtorrent::client
