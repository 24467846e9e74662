#include "ccm/rpc/file_lists.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/rpc/page.h"
#include "ccm/rpc/convert.h"
#include "ccm/rpc/transfers.h"
#include "common/text.h"
#include "metainfo/metadata.h"

namespace gridtorrent::ccm::rpc {
namespace {

using metainfo::FileTree;

Result<FileTree::Form> form_of(v1::ListFilesRequest::Form form) {
  switch (form) {
    case v1::ListFilesRequest::FILES:
      return FileTree::Form::kFiles;
    case v1::ListFilesRequest::TREE:
      return FileTree::Form::kTree;
    case v1::ListFilesRequest::FOLDER:
      return FileTree::Form::kFolder;
    default:
      return Error{Code::kInvalid, "the form of the list of files is none that this server knows"};
  }
}

Result<std::size_t> first_line(const std::string& page) {
  std::size_t first = 0;
  if (page.empty()) return first;
  const char* const end = page.data() + page.size();
  const auto [at, error] = std::from_chars(page.data(), end, first);
  if (error == std::errc{} && at == end && first <= metainfo::kMaxEntries) return first;
  return Error{Code::kInvalid, "'" + escape_for_display(page) + "' is no page of a list of files"};
}

v1::FileLine to_wire(const metainfo::Manifest& manifest, const FileTree::Line& line) {
  const metainfo::ManifestEntry& entry = manifest.entries[line.index];
  v1::FileLine out;
  out.set_index(line.index);
  out.set_path(metainfo::full_path(manifest, entry));
  out.set_folder(entry.kind == metainfo::EntryKind::kFolder);
  out.set_bytes(line.bytes);
  out.set_files(line.files);
  out.set_mode(entry.mode);
  out.set_mtime_ns(entry.mtime_ns);
  if (entry.kind == metainfo::EntryKind::kLink) out.set_link_target(manifest.targets.at(line.index));
  if (entry.kind == metainfo::EntryKind::kFile && entry.size > 0)
    out.set_merkle_root(entry.root.data(), entry.root.size());
  return out;
}

}  // namespace

Status FileLists::list(const UserId& caller, const Content& content, const v1::ListFilesRequest& request,
                       v1::ListFilesReply& reply) {
  GT_ASSIGN(const FileTree::Form form, form_of(request.form()));
  GT_ASSIGN(const std::size_t first, first_line(request.page()));
  GT_ASSIGN(const Tree tree, tree_of(caller, content.metadata_sha256));
  const std::size_t most = wire::page_request(request).items();
  GT_ASSIGN(const FileTree::Listing listing, tree->list(request.path(), form, first, most));
  reply.set_total_lines(listing.all_lines);
  reply.set_total_files(listing.files);
  reply.set_total_bytes(listing.bytes);
  reply.set_path(metainfo::full_path(tree->manifest(), tree->manifest().entries[listing.top]));
  std::size_t at = first;
  const bool more = first + listing.lines.size() < listing.all_lines;
  const Page<FileTree::Line> page{listing.lines, more, [&](const FileTree::Line&) { return std::to_string(at); }};
  wire::answer_page(page, reply, [&](const FileTree::Line& line) -> const auto& {
    ++at;
    return *reply.add_lines() = to_wire(tree->manifest(), line);
  });
  return {};
}

Result<FileLists::Tree> FileLists::tree_of(const UserId& caller, const std::string& sha256_hex) {
  if (Tree tree = kept(sha256_hex)) return tree;
  GT_ASSIGN(const std::uint64_t bytes, files_.size(sha256_hex));
  if (bytes <= limits_.small_bytes) {
    const std::lock_guard lock(mutex_);
    last_large_.erase(caller);  // it may push out a large one
  }
  if (bytes <= limits_.small_bytes) return read(sha256_hex);
  const std::unique_lock lock(reading_, kPatience);
  if (!lock.owns_lock()) {
    return Error{Code::kBusy, "the server is reading another large list of files: try again in a few seconds"};
  }
  if (Tree tree = kept(sha256_hex)) return tree;  // somebody else has read it meanwhile
  GT_TRY(take_turn(caller, sha256_hex));
  return read(sha256_hex);
}

/// Who goes on with a list that others' lists have pushed out pays nothing: it was not their doing.
Status FileLists::take_turn(const UserId& caller, const std::string& sha256_hex) {
  const std::lock_guard lock(mutex_);
  std::string& last = last_large_[caller];
  if (last == sha256_hex) return {};
  GT_TRY(turns_.take("other large lists of files", caller.str(), clock_.mono()));
  last = sha256_hex;
  return {};
}

Result<FileLists::Tree> FileLists::read(const std::string& sha256_hex) {
  GT_ASSIGN(std::string document, read_document(files_, sha256_hex));
  GT_ASSIGN(metainfo::VersionMetadata metadata, metainfo::decode(document));
  document = std::string();
  metadata.segments.clear();
  Tree tree = std::make_shared<const FileTree>(std::move(metadata.manifest));
  keep(sha256_hex, tree);
  return tree;
}

FileLists::Tree FileLists::kept(const std::string& sha256_hex) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(kept_, sha256_hex, &Kept::sha256_hex);
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return found->tree;
}

void FileLists::keep(const std::string& sha256_hex, const Tree& tree) {
  std::list<Kept> gone;  // freed without the lock
  const std::lock_guard lock(mutex_);
  // Two may have read the same small one.
  if (std::ranges::find(kept_, sha256_hex, &Kept::sha256_hex) != kept_.end()) return;
  kept_.push_front({sha256_hex, tree});
  bytes_ += tree->memory_bytes();
  while (bytes_ > limits_.most_bytes && kept_.size() > 1) {
    bytes_ -= kept_.back().tree->memory_bytes();
    gone.splice(gone.begin(), kept_, std::prev(kept_.end()));
  }
}

}  // namespace gridtorrent::ccm::rpc
