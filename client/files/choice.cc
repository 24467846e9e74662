#include "client/files/choice.h"

#include <algorithm>

#include "common/text.h"
#include "metainfo/manifest.h"

namespace gridtorrent::client::files {

std::string Choice::left_out(std::string_view path, bool is_folder) const {
  for (const std::string& pattern : rules_.exclude) {
    if (metainfo::glob_matches(pattern, path)) return "excluded by '" + escape_for_display(pattern) + "'";
  }
  if (const auto line = ignored_.ignored_by(path, is_folder))
    return "ignored by line " + std::to_string(*line) + " of " + kIgnoreFile;
  if (!is_folder && not_asked_for(path)) return "not among what is to be included";
  return {};
}

bool Choice::not_asked_for(std::string_view path) const {
  const auto means = [&](const std::string& pattern) { return metainfo::glob_matches(pattern, path); };
  return !rules_.include.empty() && std::none_of(rules_.include.begin(), rules_.include.end(), means);
}

}  // namespace gridtorrent::client::files
