#include "client/files/choice.h"

#include <algorithm>

#include "common/text.h"

namespace gridtorrent::client::files {

Choice::Choice(WalkRules rules, IgnoreFile ignored)
    : rules_(std::move(rules)),
      excluded_(rules_.exclude.begin(), rules_.exclude.end()),
      included_(rules_.include.begin(), rules_.include.end()),
      ignored_(std::move(ignored)) {}

std::string Choice::left_out(std::string_view path, bool is_folder) const {
  for (std::size_t i = 0; i < excluded_.size(); ++i) {
    if (excluded_[i].matches(path)) return "excluded by '" + escape_for_display(rules_.exclude[i]) + "'";
  }
  if (const auto line = ignored_.ignored_by(path, is_folder))
    return "ignored by line " + std::to_string(*line) + " of " + kIgnoreFile;
  if (!is_folder && not_asked_for(path)) return "not among what is to be included";
  return {};
}

bool Choice::not_asked_for(std::string_view path) const {
  return !included_.empty() && std::ranges::none_of(included_, [&](const auto& glob) { return glob.matches(path); });
}

}  // namespace gridtorrent::client::files
