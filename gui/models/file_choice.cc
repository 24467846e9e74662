#include "gui/models/file_choice.h"

#include <algorithm>

#include "common/text.h"

namespace gridtorrent::gui {

namespace {

constexpr char kAnyByte = '?';

/// The patterns know no escapes: a byte that has a meaning in them, or cannot be sent as text, becomes "any byte".
/// Anchored by the '/' in front.
std::string pattern_of(std::string_view path) {
  const bool text = is_valid_utf8(path);
  std::string pattern = "/";
  for (const char c : path) pattern += c == '*' || (!text && static_cast<unsigned char>(c) >= 0x80) ? kAnyByte : c;
  return pattern;
}

/// As the node matches a pattern of '?' and plain bytes: the path itself, or something below it.
bool matches(std::string_view pattern, std::string_view path) {
  pattern.remove_prefix(1);
  if (path.size() < pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i] == kAnyByte ? path[i] == '/' : pattern[i] != path[i]) return false;
  return path.size() == pattern.size() || path[pattern.size()] == '/';
}

class Globs {
 public:
  Globs(const FileTree& tree, const std::vector<bool>& chosen) : tree_(tree), chosen_(chosen) {
    before_.reserve(chosen.size() + 1);
    before_.push_back(0);
    for (const bool one : chosen) before_.push_back(before_.back() + (one ? 1 : 0));
  }

  GlobChoice all() {
    if (before_.back() < chosen_.size()) add(tree_.entries());
    if (result_.too_many) result_.globs.clear();
    return std::move(result_);
  }

 private:
  void add(const std::vector<FileTree::Entry>& entries) {
    for (const FileTree::Entry& entry : entries) {
      const std::size_t some = before_[entry.end] - before_[entry.first];
      if (some == 0) continue;
      if (some < entry.end - entry.first) {
        add(tree_.entries(entry));
      } else {
        add(pattern_of(tree_.path(entry)));
      }
      if (result_.too_many) return;
    }
  }

  void add(std::string pattern) {
    result_.too_many = result_.globs.size() == kMostGlobs;
    if (result_.too_many) return;
    if (pattern.find(kAnyByte) != std::string::npos && !result_.unwanted) look_for_unwanted(pattern);
    result_.globs.push_back(std::move(pattern));
  }

  void look_for_unwanted(std::string_view pattern) {
    for (std::size_t i = 0; i < chosen_.size() && !result_.unwanted; ++i)
      if (!chosen_[i] && matches(pattern, tree_.file(i).path)) result_.unwanted = tree_.file(i).path;
  }

  const FileTree& tree_;
  const std::vector<bool>& chosen_;
  std::vector<std::size_t> before_;  // chosen ones, of the files before
  GlobChoice result_;
};

}  // namespace

GlobChoice globs_of(const FileTree& tree, const std::vector<bool>& chosen) {
  return Globs(tree, chosen).all();
}

}  // namespace gridtorrent::gui
