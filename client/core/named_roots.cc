#include "client/core/named_roots.h"

#include <algorithm>

#include "common/text.h"
#include "metainfo/manifest.h"

namespace gridtorrent::client {
namespace {

std::string root_names(const std::vector<NamedRoot>& roots) {
  std::string names;
  for (const auto& root : roots) names += (names.empty() ? "" : ", ") + root.name;
  return names.empty() ? "none" : names;
}

Status check_relative(std::string_view text, std::string_view relative) {
  const auto refused = [&](std::string_view reason) {
    return Error{Code::kDenied, "'" + escape_for_display(text) + "' is refused: " + std::string(reason) +
                                    "; a task may only name what lies below a named root"};
  };
  if (relative.empty()) return {};
  if (relative.front() == '/') return refused("the path is absolute");
  if (relative.size() > metainfo::kMaxPathBytes) return refused("the path is too long");
  std::size_t start = 0;
  while (start <= relative.size()) {
    const auto end = std::min(relative.find('/', start), relative.size());
    const auto component = relative.substr(start, end - start);
    if (const auto valid = metainfo::validate_component(component); !valid) return refused(valid.error().message);
    start = end + 1;
  }
  return {};
}

}  // namespace

std::vector<std::string> names_to_tell(const std::vector<NamedRoot>& roots) {
  constexpr std::size_t kMost = 32, kMostBytes = 64;
  std::vector<std::string> names;
  for (const NamedRoot& root : roots) {
    const bool taken =
        !root.name.empty() && root.name.size() <= kMostBytes && root.name == escape_for_display(root.name);
    if (taken && names.size() < kMost) names.push_back(root.name);
  }
  return names;
}

Result<RootPath> parse_root_path(std::string_view text, const std::vector<NamedRoot>& roots, std::string_view kind,
                                 bool first_by_default) {
  if (roots.empty()) {
    return Error{Code::kDenied, "this node has no " + std::string(kind) +
                                    " root, so no task may touch its files; start it with --" + std::string(kind) +
                                    "-root NAME=DIR"};
  }
  if (text.empty() && first_by_default) return RootPath{roots.front().path, ""};
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  auto relative = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  while (relative.ends_with('/')) relative.remove_suffix(1);
  const auto root = std::find_if(roots.begin(), roots.end(), [&](const auto& one) { return one.name == name; });
  if (root == roots.end()) {
    return Error{Code::kDenied, "there is no " + std::string(kind) + " root '" + escape_for_display(name) +
                                    "' on this node; it has: " + root_names(roots)};
  }
  GT_TRY(check_relative(text, relative));
  return RootPath{root->path, std::string(relative)};
}

}  // namespace gridtorrent::client
