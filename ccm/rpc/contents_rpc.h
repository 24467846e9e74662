#pragma once

#include "base/rpc/document.h"
#include "base/rpc/door.h"
#include "base/rpc/limits.h"
#include "ccm/domain/content_service.h"
#include "ccm/domain/ports.h"
#include "ccm/rpc/file_lists.h"
#include "common/clock.h"
#include "gridtorrent/v1/ccm.grpc.pb.h"

namespace gridtorrent::ccm::rpc {

/// gridtorrent.v1.Contents over ContentService: validates, calls, maps; checks metadata with metainfo/. Thread-safe.
class ContentsRpc final : public v1::Contents::CallbackService {
 public:
  struct Deps {
    gridtorrent::rpc::Door& door;
    ContentService& contents;
    MetadataFiles& files;
    gridtorrent::rpc::UploadSpool& uploads;  ///< where uploads under way keep what has come
    const Clock& clock;
  };
  explicit ContentsRpc(Deps deps);

  /// As they are declared, each with what a caller may do with it.
  static gridtorrent::rpc::Methods methods();

  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;
  template <class Chunk>
  using Reader = grpc::ServerReadReactor<Chunk>;
  using Chunks = grpc::ServerWriteReactor<v1::MetadataChunk>;
  Reactor* BeginPublish(Context* context, const v1::BeginPublishRequest* request,
                        v1::BeginPublishReply* reply) override;
  Reactor* BeginUpdate(Context* context, const v1::BeginUpdateRequest* request, v1::BeginPublishReply* reply) override;
  Reader<v1::FinishPublishChunk>* FinishPublish(Context* context, v1::FinishPublishReply* reply) override;
  Reader<v1::AddChecksumsChunk>* AddChecksums(Context* context, v1::AddChecksumsReply* reply) override;
  Reactor* Search(Context* context, const v1::SearchRequest* request, v1::SearchReply* reply) override;
  Reactor* GetContent(Context* context, const v1::GetContentRequest* request, v1::GetContentReply* reply) override;
  Reactor* ListVersions(Context* context, const v1::ListVersionsRequest* request,
                        v1::ListVersionsReply* reply) override;
  Reactor* ListFiles(Context* context, const v1::ListFilesRequest* request, v1::ListFilesReply* reply) override;
  Chunks* GetMetadata(Context* context, const v1::GetMetadataRequest* request) override;
  Chunks* GetChecksums(Context* context, const v1::GetMetadataRequest* request) override;
  Reactor* ListReplicas(Context* context, const v1::ListReplicasRequest* request,
                        v1::ListReplicasReply* reply) override;
  grpc::ServerWriteReactor<v1::ListReplicasReply>* WatchReplicas(Context* context,
                                                                 const v1::ListReplicasRequest* request) override;
  Reactor* SetAccess(Context* context, const v1::SetAccessRequest* request, v1::SetAccessReply* reply) override;
  Reactor* ExplainAccess(Context* context, const v1::ExplainAccessRequest* request,
                         v1::ExplainAccessReply* reply) override;
  Reactor* GiveUpPublish(Context* context, const v1::GiveUpPublishRequest* request,
                         v1::GiveUpPublishReply* reply) override;
  Reactor* Unpublish(Context* context, const v1::UnpublishRequest* request, v1::UnpublishReply* reply) override;
  Reactor* RestoreContent(Context* context, const v1::RestoreContentRequest* request,
                          v1::RestoreContentReply* reply) override;
  Reactor* DescribeContent(Context* context, const v1::DescribeContentRequest* request,
                           v1::DescribeContentReply* reply) override;
  Reactor* PreviewAccess(Context* context, const v1::PreviewAccessRequest* request,
                         v1::PreviewAccessReply* reply) override;

 private:
  Status begin(const gridtorrent::rpc::Call& call, const v1::BeginPublishRequest& request,
               v1::BeginPublishReply& reply);
  Status replicas(const Actor& actor, const v1::ListReplicasRequest& request, v1::ListReplicasReply& reply);
  Status describe(const gridtorrent::rpc::Call& call, const v1::DescribeContentRequest& request,
                  v1::DescribeContentReply& reply);
  Status search(const gridtorrent::rpc::Call& call, const v1::SearchRequest& request, v1::SearchReply& reply);

  Deps d_;
  FileLists file_lists_;
};

}  // namespace gridtorrent::ccm::rpc
