#include "metainfo/links.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/text.h"

namespace gridtorrent::metainfo {

namespace {

constexpr int kMaxFollowed = 40;  // as Linux has it

/// An entry by the folder that it lies in and its name there.
struct Place {
  std::uint32_t folder = 0;
  std::string_view name;
  friend auto operator<=>(const Place&, const Place&) = default;
};

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// Follows links as the kernel would below BASE, with the manifest as the disk. Each target is read once, whatever
/// leads to it, so that the time is that of reading the manifest: who makes one cannot make it take longer.
class Follower {
 public:
  explicit Follower(const Manifest& manifest) : manifest_(manifest), parents_(manifest.entries.size(), kNoFolder) {
    std::map<std::string_view, std::uint32_t> folders{{std::string_view(), kTop}};
    for (std::uint32_t i = 1; i < manifest.entries.size(); ++i) {
      const ManifestEntry& entry = manifest.entries[i];
      const auto parent = folders.find(parent_of(entry.path));
      if (parent == folders.end()) continue;
      parents_[i] = parent->second;
      places_.emplace(Place{parent->second, name_of(entry.path)}, i);
      if (entry.kind == EntryKind::kFolder) folders.emplace(entry.path, i);
    }
  }

  /// What is wrong with the link; empty: nothing.
  std::string_view fault(std::uint32_t link) {
    followed(link, 1);
    return fault_;
  }

 private:
  static constexpr std::uint32_t kTop = 0, kNoFolder = 0xFFFF'FFFF;
  struct End {
    std::uint32_t folder = kNoFolder;  ///< kNoFolder: a file, or what the manifest does not have
    int links = 0;                     ///< that were followed
  };

  /// Where a link leads; of no meaning where fault_ is set. `depth`: links that lead to this one, and this one.
  End followed(std::uint32_t link, int depth) {
    if (const auto known = ends_.find(link); known != ends_.end()) return known->second;
    End end{parents_[link], 1};
    if (depth > kMaxFollowed) fault_ = kLoop;
    const std::string_view target = manifest_.targets.at(link);
    for (std::size_t start = 0; start <= target.size() && fault_.empty();) {
      const std::size_t slash = std::min(target.find('/', start), target.size());
      go(end, target.substr(start, slash - start), depth);
      start = slash + 1;
    }
    if (fault_.empty()) ends_.emplace(link, end);
    return end;
  }

  void go(End& at, std::string_view component, int depth) {
    if (component.empty() || component == ".") return;
    if (component == "..") {
      if (at.folder == kNoFolder) {
        fault_ = "goes up from a name that is no folder of the content";
      } else if (at.folder == kTop) {
        fault_ = "leads outside of the content";
      } else {
        at.folder = parents_[at.folder];
      }
      return;
    }
    if (at.folder == kNoFolder) return;
    const auto place = places_.find({at.folder, component});
    if (place == places_.end()) {
      at.folder = kNoFolder;
    } else if (manifest_.entries[place->second].kind == EntryKind::kLink) {
      const End end = followed(place->second, depth + 1);
      at = {end.folder, at.links + end.links};
      if (at.links > kMaxFollowed) fault_ = kLoop;
    } else {
      at.folder = manifest_.entries[place->second].kind == EntryKind::kFolder ? place->second : kNoFolder;
    }
  }

  static constexpr std::string_view kLoop = "is part of a loop of links";
  const Manifest& manifest_;
  std::vector<std::uint32_t> parents_;     ///< of each entry
  std::map<Place, std::uint32_t> places_;  // no hashes of names that somebody may have chosen for them
  std::unordered_map<std::uint32_t, End> ends_;
  std::string_view fault_;
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
  Follower follower(manifest);
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
