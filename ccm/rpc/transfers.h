#pragma once

#include <memory>

#include "base/rpc/document.h"
#include "base/rpc/door.h"
#include "ccm/domain/content_service.h"
#include "ccm/domain/ports.h"
#include "gridtorrent/v1/ccm.pb.h"

// The chunked halves of gridtorrent.v1.Contents. All that they are given must outlive the calls.
namespace gridtorrent::ccm::rpc {

/// A document of MetadataFiles, whole.
Result<std::string> read_document(MetadataFiles& files, const std::string& sha256_hex);

/// FinishPublish: collects the document in the spool, checks length, SHA-256 and form (metainfo::decode),
/// publishes.
Result<std::unique_ptr<gridtorrent::rpc::UploadSink<v1::FinishPublishChunk, v1::FinishPublishReply>>> receive_metadata(
    ContentService& contents, gridtorrent::rpc::UploadSpool& spool, const Actor& actor);

/// AddChecksums: 32 bytes an entry of the manifest.
Result<std::unique_ptr<gridtorrent::rpc::UploadSink<v1::AddChecksumsChunk, v1::AddChecksumsReply>>> receive_checksums(
    ContentService& contents, MetadataFiles& files, gridtorrent::rpc::UploadSpool& spool, const Actor& actor);

using ChunkSource = gridtorrent::rpc::DownloadSource<v1::MetadataChunk>;
Result<std::unique_ptr<ChunkSource>> send_metadata(ContentService& contents, MetadataFiles& files, const Actor& actor,
                                                   const v1::GetMetadataRequest& request);
/// kNotFound while the checksums are not known yet.
Result<std::unique_ptr<ChunkSource>> send_checksums(ContentService& contents, MetadataFiles& files, const Actor& actor,
                                                    const v1::GetMetadataRequest& request);

}  // namespace gridtorrent::ccm::rpc
