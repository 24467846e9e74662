#include "client/core/walk_rules.h"

#include "common/text.h"

namespace gridtorrent::client {

std::string_view link_rule_name(LinkRule rule) {
  switch (rule) {
    case LinkRule::kSkip:
      return "skip";
    case LinkRule::kKeep:
      return "keep";
    case LinkRule::kFollow:
      return "follow";
  }
  return "skip";
}

Result<LinkRule> parse_link_rule(std::string_view text) {
  if (text.empty() || text == "skip") return LinkRule::kSkip;
  if (text == "keep") return LinkRule::kKeep;
  if (text == "follow") return LinkRule::kFollow;
  return Error{Code::kInvalid,
               "links can be skipped, kept or followed, not \"" + escape_for_display(text.substr(0, 50)) + "\""};
}

}  // namespace gridtorrent::client
