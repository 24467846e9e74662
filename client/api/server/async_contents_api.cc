#include <memory>
#include <utility>

#include "client/api/server/async_server_api.h"
#include "client/api/server/server_calls.h"
#include "common/hex.h"
#include "common/text.h"
#include "metainfo/metadata.h"

namespace gridtorrent::client::api {
namespace {

using Stub = v1::Contents::Stub;
using MetadataMethod = StreamMethod<Stub, v1::GetMetadataRequest, v1::MetadataChunk>;

constexpr std::size_t kSha256Bytes = 32;
constexpr int kDownloadFactor = 10;  // of the deadline of a short call

Error unusable(const std::string& content_id, const std::string& reason) {
  return {Code::kCorrupt, "the metadata of " + content_id + " cannot be used (" + reason +
                              "): ask the server's operator to run `gridtorrent-server check`"};
}

/// One document as it comes, with the SHA-256 that the server announced.
struct Download {
  std::string content_id, document, sha256;
  std::uint64_t total = 0;
  bool too_long = false;

  /// False: no more of it is wanted.
  bool take(const v1::MetadataChunk& chunk) {
    if (document.empty()) {
      total = chunk.total_bytes();
      sha256 = chunk.sha256();
    }
    too_long = total > metainfo::kMaxMetadataBytes || document.size() + chunk.data().size() > total;
    if (!too_long) document += chunk.data();
    return !too_long;
  }
  Result<std::string> checked(const Status& ended) {
    if (too_long) return unusable(content_id, "the server sends more than it announced");
    if (!ended)
      return ended.error().code == Code::kCorrupt ? unusable(content_id, ended.error().message) : ended.error();
    if (document.size() != total || hex_encode(crypto::sha256(as_bytes(document))) != sha256)
      return unusable(content_id, "it does not arrive as the server announced it");
    return std::move(document);
  }
};

void download(const ServerCalls& calls, const std::shared_ptr<CallState>& state, MetadataMethod method,
              const std::string& content_id, std::uint32_t version, Answer<std::string> done) {
  v1::GetMetadataRequest request;
  request.set_content_id(content_id);
  request.set_version(version);
  ServerChannel& channel = calls.channel();
  auto loaded = std::make_shared<Download>();
  loaded->content_id = content_id;
  calls.loop().begin(
      state, channel.terms(channel.options().deadline * kDownloadFactor), channel.contents(), method, request,
      [loaded](v1::MetadataChunk& chunk) { return loaded->take(chunk); },
      [loaded, done = std::move(done)](const Status& ended) { done(loaded->checked(ended)); });
}

FileEntry to_entry(const metainfo::Manifest& manifest, std::size_t index) {
  const metainfo::ManifestEntry& entry = manifest.entries[index];
  FileEntry out;
  out.index = static_cast<std::uint32_t>(index);
  if (entry.kind == metainfo::EntryKind::kLink)
    out.link_target = manifest.targets.at(static_cast<std::uint32_t>(index));
  out.path = metainfo::full_path(manifest, entry);
  out.folder = entry.kind == metainfo::EntryKind::kFolder;
  out.bytes = entry.size;
  out.mode = entry.mode;
  out.mtime_ns = entry.mtime_ns;
  if (!out.folder && entry.size > 0) out.merkle_root = hex_encode(entry.root);
  return out;
}

FilePage::Line to_line(v1::FileLine& line) {
  FilePage::Line out;
  out.entry.index = line.index();
  out.entry.path = std::move(*line.mutable_path());
  out.entry.folder = line.folder();
  out.entry.bytes = line.bytes();
  out.entry.mode = line.mode();
  out.entry.mtime_ns = line.mtime_ns();
  out.entry.link_target = std::move(*line.mutable_link_target());
  if (!line.merkle_root().empty()) out.entry.merkle_root = hex_encode(as_bytes(line.merkle_root()));
  out.files = line.files();
  return out;
}

Result<std::vector<FileEntry>> entries_of(const std::string& document, const std::string& content_id) {
  const auto metadata = metainfo::decode(document);
  // What a person gives us wrongly is kInvalid; what a server gives us wrongly is not that person's to mend.
  if (!metadata && metadata.error().code == Code::kInvalid) return unusable(content_id, metadata.error().message);
  if (!metadata) return metadata.error();
  std::vector<FileEntry> entries;
  entries.reserve(metadata->manifest.entries.size());
  for (std::size_t i = 0; i < metadata->manifest.entries.size(); ++i)
    entries.push_back(to_entry(metadata->manifest, i));
  return entries;
}

Result<std::vector<FileEntry>> with_digests(std::vector<FileEntry> entries, std::string_view digests,
                                            const std::string& content_id) {
  if (digests.size() != entries.size() * kSha256Bytes)
    return unusable(content_id, "the checksums do not fit the manifest");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].folder || !entries[i].link_target.empty()) continue;
    entries[i].sha256 = hex_encode(as_bytes(digests.substr(i * kSha256Bytes, kSha256Bytes)));
  }
  return entries;
}

void load_entries(const ServerCalls& calls, const std::shared_ptr<CallState>& state, const std::string& content_id,
                  std::uint32_t version, Answer<std::vector<FileEntry>> done) {
  download(calls, state, &Stub::PrepareAsyncGetMetadata, content_id, version,
           [content_id, done = std::move(done)](const Result<std::string>& document) {
             if (!document) return done(document.error());
             done(entries_of(*document, content_id));
           });
}

}  // namespace

Call AsyncContentsApi::search(const v1::SearchRequest& request, Answer<v1::SearchReply> done) {
  return ServerCalls(channel_, loop_).one(channel_.contents(), &Stub::PrepareAsyncSearch, request, done);
}

Call AsyncContentsApi::get_version(const std::string& reference, std::uint32_t version, Answer<v1::Content> done) {
  v1::GetContentRequest request;
  request.set_reference(reference);
  request.set_version(version);
  const auto convert = [reference, version](v1::GetContentReply&& reply) -> Result<v1::Content> {
    // An older server does not know that another version was asked for.
    if (version == 0 || reply.content().version() == version) return std::move(*reply.mutable_content());
    return Error{Code::kUnsupported, "the server is older than this program and knows one version of " +
                                         escape_for_display(reference) + "; leave out --version"};
  };
  return ServerCalls(channel_, loop_).one(channel_.contents(), &Stub::PrepareAsyncGetContent, request, done, convert);
}

Call AsyncContentsApi::list_versions(const std::string& content_id, Answer<std::vector<v1::Version>> done) {
  v1::ListVersionsRequest request;
  request.set_content_id(content_id);
  const auto convert = [](v1::ListVersionsReply&& reply) {
    return std::vector<v1::Version>(reply.versions().begin(), reply.versions().end());
  };
  return ServerCalls(channel_, loop_).one(channel_.contents(), &Stub::PrepareAsyncListVersions, request, done, convert);
}

Call AsyncContentsApi::list_replicas_of(const std::string& content_id, std::uint32_t version, std::size_t limit,
                                        Answer<Listed<v1::Replica>> done) {
  v1::ListReplicasRequest request;
  request.set_content_id(content_id);
  request.set_version(version);
  return ServerCalls(channel_, loop_)
      .list(channel_.contents(), &Stub::PrepareAsyncListReplicas, std::move(request), limit, done,
            &v1::ListReplicasReply::mutable_replicas);
}

Call AsyncContentsApi::watch_replicas(const std::string& content_id, std::uint32_t version, ReplicasFn on_list,
                                      Ended on_end) {
  v1::ListReplicasRequest request;
  request.set_content_id(content_id);
  request.set_version(version);
  return ServerCalls(channel_, loop_)
      .watch(channel_.contents(), &Stub::PrepareAsyncWatchReplicas, request, "replicas",
             &v1::ListReplicasReply::replicas, std::move(on_list), on_end);
}

Call AsyncContentsApi::set_access(const std::string& content_id, const v1::Access& access,
                                  const std::optional<v1::Access>& expected, Answer<v1::Content> done) {
  auto request = channel_.with_id<v1::SetAccessRequest>();
  request.set_content_id(content_id);
  *request.mutable_access() = access;
  if (expected) *request.mutable_expected() = *expected;
  return ServerCalls(channel_, loop_)
      .one(channel_.contents(), &Stub::PrepareAsyncSetAccess, request, done,
           inner(&v1::SetAccessReply::mutable_content));
}

Call AsyncContentsApi::explain_access(const std::string& content_id, const std::string& user,
                                      Answer<v1::ExplainAccessReply> done) {
  v1::ExplainAccessRequest request;
  request.set_content_id(content_id);
  request.set_user(user);
  return ServerCalls(channel_, loop_).one(channel_.contents(), &Stub::PrepareAsyncExplainAccess, request, done);
}

Call AsyncContentsApi::preview_access(const v1::Access& access, Answer<v1::PreviewAccessReply> done) {
  v1::PreviewAccessRequest request;
  *request.mutable_access() = access;
  return ServerCalls(channel_, loop_).one(channel_.contents(), &Stub::PrepareAsyncPreviewAccess, request, done);
}

Call AsyncContentsApi::unpublish(const std::string& content_id, Answer<v1::Content> done) {
  auto request = channel_.with_id<v1::UnpublishRequest>();
  request.set_content_id(content_id);
  return ServerCalls(channel_, loop_)
      .one(channel_.contents(), &Stub::PrepareAsyncUnpublish, request, done,
           inner(&v1::UnpublishReply::mutable_content));
}

Call AsyncContentsApi::restore(const std::string& content_id, const std::string& name, Answer<v1::Content> done) {
  auto request = channel_.with_id<v1::RestoreContentRequest>();
  request.set_content_id(content_id);
  request.set_name(name);
  return ServerCalls(channel_, loop_)
      .one(channel_.contents(), &Stub::PrepareAsyncRestoreContent, request, done,
           inner(&v1::RestoreContentReply::mutable_content));
}

Call AsyncContentsApi::describe(v1::DescribeContentRequest request, Answer<v1::Content> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.contents(), &Stub::PrepareAsyncDescribeContent, channel_.with_id(std::move(request)), done,
           inner(&v1::DescribeContentReply::mutable_content));
}

Call AsyncContentsApi::list_files(v1::ListFilesRequest request, std::size_t first, std::size_t limit,
                                  Answer<FilePage> done) {
  request.set_page(std::to_string(first));
  request.set_limit(static_cast<std::uint32_t>(limit));
  const auto take = [limit, address = channel_.options().address](FilePage& all, v1::ListFilesReply& reply,
                                                                  v1::ListFilesRequest& next) -> Result<bool> {
    all.path = reply.path();
    all.all_lines = reply.total_lines();
    all.files = reply.total_files();
    all.bytes = reply.total_bytes();
    for (v1::FileLine& line : *reply.mutable_lines()) all.lines.push_back(to_line(line));
    if (all.lines.size() > limit) all.lines.resize(limit);
    if (reply.next_page().empty() || all.lines.size() == limit) return false;
    if (reply.next_page() == next.page() || reply.lines().empty())
      return Error{Code::kInternal, "the server " + address + " gave the same page of a list twice"};
    next.set_page(reply.next_page());
    next.set_limit(static_cast<std::uint32_t>(limit - all.lines.size()));
    return true;
  };
  return ServerCalls(channel_, loop_)
      .gather(channel_.contents(), &Stub::PrepareAsyncListFiles, std::move(request), done, take);
}

Call AsyncContentsApi::manifest(const std::string& content_id, std::uint32_t version,
                                Answer<std::vector<FileEntry>> done) {
  auto state = std::make_shared<CallState>();
  load_entries(ServerCalls(channel_, loop_), state, content_id, version, CallLoop::delivered(state, std::move(done)));
  return Call(std::move(state));
}

Call AsyncContentsApi::manifest_with_sha256(const std::string& content_id, std::uint32_t version,
                                            Answer<std::vector<FileEntry>> done) {
  auto state = std::make_shared<CallState>();
  const ServerCalls calls(channel_, loop_);
  load_entries(calls, state, content_id, version,
               [calls, state, content_id, version,
                done = CallLoop::delivered(state, std::move(done))](Result<std::vector<FileEntry>> loaded) {
                 if (!loaded) return done(loaded.error());
                 const auto entries = std::make_shared<std::vector<FileEntry>>(*std::move(loaded));
                 download(calls, state, &Stub::PrepareAsyncGetChecksums, content_id, version,
                          [content_id, entries, done](const Result<std::string>& digests) {
                            if (!digests) return done(digests.error());
                            done(with_digests(std::move(*entries), *digests, content_id));
                          });
               });
  return Call(std::move(state));
}

}  // namespace gridtorrent::client::api
