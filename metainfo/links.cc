#include "metainfo/links.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/text.h"

namespace gridtorrent::metainfo {

namespace {

constexpr int kMaxFollowed = 40;  // as Linux has it

using Components = std::vector<std::string_view>;

void push_reversed(Components& pending, std::string_view path) {
  const std::size_t before = pending.size();
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t slash = std::min(path.find('/', start), path.size());
    const std::string_view component = path.substr(start, slash - start);
    if (!component.empty() && component != ".") pending.push_back(component);
    start = slash + 1;
  }
  std::reverse(pending.begin() + static_cast<std::ptrdiff_t>(before), pending.end());
}

/// Follows links as the kernel would below BASE, with the manifest as the disk.
class Follower {
 public:
  explicit Follower(const Manifest& manifest) : manifest_(manifest) {
    for (std::size_t i = 0; i < manifest.entries.size(); ++i)
      places_.emplace(manifest.entries[i].path, static_cast<std::uint32_t>(i));
  }

  /// What is wrong with the link; empty: nothing.
  std::string_view fault(std::uint32_t link) const {
    Components pending;
    push_reversed(pending, manifest_.entries[link].path);
    std::string at;
    bool on_folder = true;  // `at` is a folder of the manifest
    int followed = 0;
    while (!pending.empty()) {
      const std::string_view component = pending.back();
      pending.pop_back();
      if (component == "..") {
        if (!on_folder) return "goes up from a name that is no folder of the content";
        if (at.empty()) return "leads outside of the content";
        const std::size_t slash = at.rfind('/');
        at.resize(slash == std::string::npos ? 0 : slash);
        continue;
      }
      const std::size_t length = at.size();
      at += (at.empty() ? "" : "/") + std::string(component);
      const auto place = on_folder ? places_.find(at) : places_.end();
      const bool known = place != places_.end();
      if (known && manifest_.entries[place->second].kind == EntryKind::kLink) {
        if (++followed > kMaxFollowed) return "is part of a loop of links";
        at.resize(length);
        push_reversed(pending, manifest_.targets.at(place->second));
        continue;
      }
      on_folder = known && manifest_.entries[place->second].kind == EntryKind::kFolder;
    }
    return {};
  }

 private:
  const Manifest& manifest_;
  std::unordered_map<std::string_view, std::uint32_t> places_;
};

Error refused(const Manifest& manifest, std::uint32_t link, std::string_view target, std::string_view reason) {
  const std::string path = full_path(manifest, manifest.entries[link]);
  return {Code::kInvalid, "symbolic link '" + escape_for_display(path) + "' to '" +
                              escape_for_display(target.substr(0, 300)) + "' " + std::string(reason)};
}

}  // namespace

Status check_links(const Manifest& manifest) {
  std::size_t links = 0;
  for (const ManifestEntry& entry : manifest.entries) links += entry.kind == EntryKind::kLink ? 1 : 0;
  if (links != manifest.targets.size())
    return Error{Code::kInvalid, std::to_string(links) + " symbolic links with " +
                                     std::to_string(manifest.targets.size()) + " targets"};
  if (links == 0) return {};
  const Follower follower(manifest);
  for (const auto& [link, target] : manifest.targets) {
    if (link >= manifest.entries.size() || manifest.entries[link].kind != EntryKind::kLink)
      return Error{Code::kInvalid, "a target of what is no symbolic link"};
    if (target.empty()) return refused(manifest, link, target, "names nothing");
    if (target.size() > kMaxTargetBytes)
      return refused(manifest, link, target, "is longer than " + std::to_string(kMaxTargetBytes) + " bytes");
    if (target.find('\0') != std::string::npos) return refused(manifest, link, target, "holds a NUL byte");
    if (target.front() == '/') return refused(manifest, link, target, "leads outside of the content: it is absolute");
    if (const std::string_view fault = follower.fault(link); !fault.empty())
      return refused(manifest, link, target, fault);
  }
  return {};
}

}  // namespace gridtorrent::metainfo
