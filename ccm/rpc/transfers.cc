#include "ccm/rpc/transfers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/rpc/document.h"
#include "base/rpc/server.h"
#include "ccm/rpc/convert.h"
#include "metainfo/metadata.h"

namespace gridtorrent::ccm::rpc {

namespace {

class MetadataSink final : public wire::UploadSink<v1::FinishPublishChunk, v1::FinishPublishReply> {
 public:
  MetadataSink(ContentService& contents, wire::UploadSpool& spool, Actor actor)
      : contents_(contents), actor_(std::move(actor)), document_(spool, actor_.user.str()) {}

  Status accept(const v1::FinishPublishChunk& chunk) override {
    if (!started_) GT_TRY(start(chunk));
    if (document_.size() + chunk.data().size() > total_bytes_) {
      return Error{Code::kInvalid,
                   "the upload brings more than the " + std::to_string(total_bytes_) + " bytes that it announced"};
    }
    return document_.append(chunk.data());
  }

  Status finish(v1::FinishPublishReply& reply) override {
    if (!started_) return Error{Code::kInvalid, "the upload is empty"};
    if (document_.size() != total_bytes_) {
      return Error{Code::kInvalid, "the upload was cut: " + std::to_string(document_.size()) + " of " +
                                       std::to_string(total_bytes_) + " bytes came"};
    }
    if (document_.sha256_hex() != request_.sha256_hex) {
      return Error{Code::kCorrupt, "the metadata does not have the SHA-256 that was announced: publish again"};
    }
    GT_ASSIGN(request_.metadata, document_.whole());
    GT_TRY(describe(request_.metadata));
    GT_ASSIGN(const ContentView view, contents_.finish_publish(actor_, request_));
    *reply.mutable_content() = to_wire(view);
    return {};
  }

 private:
  Status start(const v1::FinishPublishChunk& header) {
    started_ = true;
    total_bytes_ = header.total_bytes();
    if (total_bytes_ == 0 || total_bytes_ > metainfo::kMaxMetadataBytes) {
      return Error{Code::kInvalid, "metadata of " + std::to_string(total_bytes_) + " bytes: 1 to " +
                                       std::to_string(metainfo::kMaxMetadataBytes) +
                                       " are taken; publish fewer files, or larger ones"};
    }
    GT_ASSIGN(request_.content, ContentId::parse(header.content_id()));
    request_.request_id = header.request_id();
    request_.version = header.version();
    request_.sha256_hex = header.sha256();
    return contents_.check_finish(actor_, request_, total_bytes_);
  }

  Status describe(std::string_view bytes) {
    const Result<metainfo::VersionMetadata> metadata = metainfo::decode(bytes);
    if (!metadata) return metadata.error().with_context("the metadata is refused");
    request_.bytes = metadata->manifest.total_bytes();
    request_.files = metadata->manifest.file_count();
    request_.entries = metadata->manifest.entries.size();
    request_.base_name = metadata->manifest.base_name;
    request_.piece_bytes = metadata->segments.empty() ? 0 : metadata->segments.front().piece_bytes;
    return {};
  }

  ContentService& contents_;
  const Actor actor_;
  wire::ReceivedDocument document_;
  ccm::FinishPublish request_;
  std::uint64_t total_bytes_ = 0;
  bool started_ = false;
};

/// How many entries a version has whose row does not say.
Result<std::uint64_t> count_entries(MetadataFiles& files, const Content& content) {
  GT_ASSIGN(const std::string document, read_document(files, content.metadata_sha256));
  GT_ASSIGN(const metainfo::VersionMetadata metadata, metainfo::decode(document));
  return metadata.manifest.entries.size();
}

class ChecksumsSink final : public wire::UploadSink<v1::AddChecksumsChunk, v1::AddChecksumsReply> {
 public:
  ChecksumsSink(ContentService& contents, MetadataFiles& files, wire::UploadSpool& spool, Actor actor)
      : contents_(contents), files_(files), actor_(std::move(actor)), digests_(spool, actor_.user.str()) {}

  Status accept(const v1::AddChecksumsChunk& chunk) override {
    if (!started_) GT_TRY(start(chunk));
    if (digests_.size() + chunk.data().size() > due_bytes_) {
      return Error{Code::kInvalid, "more checksums than the " + std::to_string(due_bytes_ / kDigestBytes) +
                                       " entries that the version has"};
    }
    return digests_.append(chunk.data());
  }

  Status finish(v1::AddChecksumsReply&) override {
    if (!started_) return Error{Code::kInvalid, "the upload is empty"};
    GT_ASSIGN(request_.digests, digests_.whole());
    request_.sha256_hex = digests_.sha256_hex();
    return contents_.add_checksums(actor_, request_);
  }

 private:
  /// Rights first, before anything is held or decoded.
  Status start(const v1::AddChecksumsChunk& header) {
    GT_ASSIGN(request_.content, ContentId::parse(header.content_id()));
    request_.version = header.version();
    GT_ASSIGN(const Content content, contents_.check_checksums(actor_, request_.content, request_.version));
    std::uint64_t entries = content.entries;
    if (entries == 0) {
      GT_ASSIGN(entries, count_entries(files_, content));
      GT_TRY(contents_.learn_entries(content, entries));
    }
    due_bytes_ = entries * kDigestBytes;
    started_ = true;
    return {};
  }

  ContentService& contents_;
  MetadataFiles& files_;
  const Actor actor_;
  wire::ReceivedDocument digests_;
  ccm::AddChecksums request_;
  std::uint64_t due_bytes_ = 0;
  bool started_ = false;
};

/// A document of MetadataFiles in chunks; only one is in memory at a time.
class DocumentSource final : public ChunkSource {
 public:
  DocumentSource(MetadataFiles& files, std::string sha256_hex, std::uint64_t total_bytes)
      : files_(files), sha256_hex_(std::move(sha256_hex)), total_bytes_(total_bytes) {}

  Result<bool> next(v1::MetadataChunk& chunk) override {
    if (sent_ >= total_bytes_ && started_) return false;
    if (!std::exchange(started_, true)) {
      chunk.set_total_bytes(total_bytes_);
      chunk.set_sha256(sha256_hex_);
    }
    GT_ASSIGN(std::string data, files_.read(sha256_hex_, sent_, wire::kChunkBytes));
    if (data.empty() && sent_ < total_bytes_) {
      return Error{Code::kCorrupt, "the document " + sha256_hex_ + " is shorter at the server than it should be"};
    }
    sent_ += data.size();
    chunk.set_data(std::move(data));
    return true;
  }

 private:
  MetadataFiles& files_;
  const std::string sha256_hex_;
  const std::uint64_t total_bytes_;
  std::uint64_t sent_ = 0;
  bool started_ = false;
};

}  // namespace

Result<std::string> read_document(MetadataFiles& files, const std::string& sha256_hex) {
  std::string document;
  for (;;) {
    GT_ASSIGN(const std::string part, files.read(sha256_hex, document.size(), std::size_t{1} << 20));
    if (part.empty()) return document;
    document += part;
  }
}

Result<std::unique_ptr<wire::UploadSink<v1::FinishPublishChunk, v1::FinishPublishReply>>> receive_metadata(
    ContentService& contents, wire::UploadSpool& spool, const Actor& actor) {
  return std::unique_ptr<wire::UploadSink<v1::FinishPublishChunk, v1::FinishPublishReply>>(
      std::make_unique<MetadataSink>(contents, spool, actor));
}

Result<std::unique_ptr<wire::UploadSink<v1::AddChecksumsChunk, v1::AddChecksumsReply>>> receive_checksums(
    ContentService& contents, MetadataFiles& files, wire::UploadSpool& spool, const Actor& actor) {
  return std::unique_ptr<wire::UploadSink<v1::AddChecksumsChunk, v1::AddChecksumsReply>>(
      std::make_unique<ChecksumsSink>(contents, files, spool, actor));
}

Result<std::unique_ptr<ChunkSource>> send_metadata(ContentService& contents, MetadataFiles& files, const Actor& actor,
                                                   const v1::GetMetadataRequest& request) {
  GT_ASSIGN(const ContentId id, ContentId::parse(request.content_id()));
  GT_ASSIGN(const Content content, contents.open_metadata(actor, id, request.version()));
  return std::unique_ptr<ChunkSource>(
      std::make_unique<DocumentSource>(files, content.metadata_sha256, content.metadata_bytes));
}

Result<std::unique_ptr<ChunkSource>> send_checksums(ContentService& contents, MetadataFiles& files, const Actor& actor,
                                                    const v1::GetMetadataRequest& request) {
  GT_ASSIGN(const ContentId id, ContentId::parse(request.content_id()));
  GT_ASSIGN(const Content content, contents.open_metadata(actor, id, request.version()));
  if (content.checksums_sha256.empty()) {
    return Error{Code::kNotFound, "the publisher has not computed the SHA-256 of each file yet; try again later"};
  }
  return std::unique_ptr<ChunkSource>(
      std::make_unique<DocumentSource>(files, content.checksums_sha256, content.checksums_bytes));
}

}  // namespace gridtorrent::ccm::rpc
