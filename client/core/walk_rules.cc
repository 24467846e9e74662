#include "client/core/walk_rules.h"

#include "common/text.h"

namespace gridtorrent::client {

std::string_view link_rule_name(LinkRule rule) {
  return rule == LinkRule::kKeep ? "keep" : "skip";
}

Result<LinkRule> parse_link_rule(std::string_view text) {
  if (text.empty() || text == "skip") return LinkRule::kSkip;
  if (text == "keep") return LinkRule::kKeep;
  return Error{Code::kInvalid, "links can be skipped or kept, not \"" + escape_for_display(text.substr(0, 50)) + "\""};
}

}  // namespace gridtorrent::client
