#include "client/files/ignore_file.h"

#include <algorithm>

namespace gridtorrent::client::files {

Result<IgnoreFile> IgnoreFile::parse(std::string_view text) {
  IgnoreFile made;
  std::size_t number = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    while (line.ends_with(' ') || line.ends_with('\t') || line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    for (const char c : {'[', '\\', '\0'}) {
      if (line.find(c) == std::string_view::npos) continue;
      return Error{Code::kInvalid, "line " + std::to_string(number) + " of " + kIgnoreFile + " holds " +
                                       (c == '\0' ? "a NUL byte" : std::string("'") + c + "'") +
                                       ", which is not understood there; '?' stands for any character"};
    }
    Rule rule;
    rule.line = number;
    rule.takes_back = line.starts_with('!');
    if (rule.takes_back) line.remove_prefix(1);
    rule.folders_only = line.ends_with('/');
    while (line.ends_with('/')) line.remove_suffix(1);
    if (line.empty()) continue;
    rule.pattern = metainfo::Glob(line);
    made.rules_.push_back(std::move(rule));
  }
  return made;
}

std::optional<std::size_t> IgnoreFile::ignored_by(std::string_view path, bool is_folder) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->folders_only && !is_folder) continue;
    if (!rule->pattern.matches_itself(path)) continue;
    if (rule->takes_back) return std::nullopt;
    return rule->line;
  }
  return std::nullopt;
}

}  // namespace gridtorrent::client::files
