#include "client/core/walk_rules.h"

#include "common/shell_words.h"
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

std::string rules_text(const WalkRules& rules) {
  std::string text;
  const auto add = [&](const std::string& option) { text += (text.empty() ? "" : " ") + option; };
  if (rules.links != LinkRule::kSkip) add("--links " + std::string(link_rule_name(rules.links)));
  for (const std::string& pattern : rules.exclude) add("--exclude " + shell_word(pattern));
  for (const std::string& pattern : rules.include) add("--include " + shell_word(pattern));
  return text;
}

}  // namespace gridtorrent::client
