#include "ccm/rpc/contents_rpc.h"

#include <array>

#include "base/rpc/list_watch.h"
#include "base/rpc/page.h"
#include "ccm/rpc/convert.h"
#include "ccm/rpc/transfers.h"
#include "metainfo/metadata.h"

namespace gridtorrent::ccm::rpc {

namespace {

using wire::Call;
using wire::Need;

constexpr std::uint32_t kRead = bit(Scope::kContentRead);
constexpr std::uint32_t kPublish = bit(Scope::kContentPublish);
// An instrument publishes once a second all day; a script that publishes a folder of folders is not held up at all.
// An administrator gives an instrument that publishes more often a rate of its own.
constexpr std::string_view kRate = "publishes-per-hour";
// The largest row names 1,000 people, in its text and in rows of their own.
constexpr wire::Allowance kBegin{.burst = 600, .quota = "contents", .bytes = 256 * 1024, .own_rate = kRate};
// Documents are files beside the database. A version puts a line into the inbox of each who holds an earlier one; so
// much for a few hundred.
constexpr wire::Allowance kFinish{.burst = 600, .quota = "metadata-bytes", .bytes = 64 * 1024, .own_rate = kRate};
constexpr wire::Allowance kUpload{.burst = 600, .quota = "metadata-bytes", .own_rate = kRate};
// The record names the people before and after.
constexpr wire::Allowance kAccess{.burst = 1000, .bytes = 512 * 1024};
// A task for each node that has the content; so much for a hundred.
constexpr wire::Allowance kClose{.burst = 1000, .bytes = 64 * 1024};
// The row with its lists, and an audit record.
constexpr wire::Allowance kDescribe{.burst = 1000, .bytes = 256 * 1024};
constexpr wire::Method kBeginPublish{"Contents/BeginPublish", Need::scope(kPublish), wire::Lane::kNormal, kBegin};
// A row without people.
constexpr wire::Allowance kBeginVersion{.burst = 600, .quota = "contents", .own_rate = kRate};
constexpr wire::Method kBeginUpdate{"Contents/BeginUpdate", Need::scope(kPublish), wire::Lane::kNormal, kBeginVersion};
constexpr wire::Method kFinishPublish{"Contents/FinishPublish", Need::scope(kPublish), wire::Lane::kNormal, kFinish};
constexpr wire::Method kGiveUpPublish{"Contents/GiveUpPublish", Need::scope(kPublish), wire::Lane::kNormal, kClose};
constexpr wire::Method kAddChecksums{"Contents/AddChecksums", Need::scope(kPublish), wire::Lane::kNormal, kUpload};
constexpr wire::Method kSearch{"Contents/Search", Need::scope(kRead), wire::Lane::kReads, wire::reads(10, 50)};
constexpr wire::Method kGetContent{"Contents/GetContent", Need::scope(kRead), wire::Lane::kNormal, wire::reads()};
constexpr wire::Method kListVersions{"Contents/ListVersions", Need::scope(kRead), wire::Lane::kReads, wire::reads()};
constexpr wire::Method kListFiles{"Contents/ListFiles", Need::scope(kRead), wire::Lane::kReads, wire::reads(10, 50)};
constexpr wire::Method kGetMetadata{"Contents/GetMetadata", Need::scope(kRead), wire::Lane::kNormal, wire::reads()};
constexpr wire::Method kGetChecksums{"Contents/GetChecksums", Need::scope(kRead), wire::Lane::kNormal, wire::reads()};
constexpr wire::Method kListReplicas{"Contents/ListReplicas", Need::scope(kRead), wire::Lane::kReads, wire::reads()};
constexpr wire::Method kWatchReplicas{"Contents/WatchReplicas", Need::scope(kRead), wire::Lane::kNormal,
                                      wire::reads(5, 100)};
constexpr wire::Method kSetAccess{"Contents/SetAccess", Need::person_scope(kPublish), wire::Lane::kNormal, kAccess};
constexpr wire::Method kExplainAccess{"Contents/ExplainAccess", Need::scope(kRead), wire::Lane::kNormal, wire::reads()};
constexpr wire::Method kUnpublish{"Contents/Unpublish", Need::person_scope(kPublish), wire::Lane::kNormal, kClose};
constexpr wire::Method kRestoreContent{"Contents/RestoreContent", Need::person_scope(kPublish), wire::Lane::kNormal,
                                       kDescribe};
constexpr wire::Method kDescribeContent{"Contents/DescribeContent", Need::person_scope(kPublish), wire::Lane::kNormal,
                                        kDescribe};

// Who may publish may ask, and no faster than they could publish: it says which names there are, as publishing does.
constexpr wire::Method kPreviewAccess{"Contents/PreviewAccess", Need::scope(kPublish), wire::Lane::kReads,
                                      wire::reads(1, 600)};

constexpr std::array kMethods = {&kBeginPublish, &kBeginUpdate,    &kFinishPublish,   &kGiveUpPublish, &kAddChecksums,
                                 &kSearch,       &kGetContent,     &kListVersions,    &kListFiles,     &kGetMetadata,
                                 &kGetChecksums, &kListReplicas,   &kWatchReplicas,   &kSetAccess,     &kExplainAccess,
                                 &kUnpublish,    &kRestoreContent, &kDescribeContent, &kPreviewAccess};

using ReplicasWatch = wire::ListWatch<v1::ListReplicasReply>;

/// Nodes that are online give signs of life all the time.
void without_signs(v1::ListReplicasReply& reply) {
  for (v1::Replica& replica : *reply.mutable_replicas())
    if (replica.online()) replica.clear_last_seen_ms();
}

void answer(const PublishTicket& ticket, v1::BeginPublishReply& reply) {
  reply.set_content_id(ticket.content.str());
  reply.set_version(ticket.version);
  reply.set_generation(ticket.generation);
  reply.set_data_ca_pem(ticket.data_ca_pem);
  reply.add_torrent_names(metainfo::torrent_name({ticket.content, ticket.version, /*segment=*/0, ticket.generation}));
}

}  // namespace

// Here, as it takes seconds to compile the handlers of all methods.
ContentsRpc::ContentsRpc(Deps deps) : d_(deps), file_lists_(deps.files, deps.clock) {}

wire::Methods ContentsRpc::methods() {
  return kMethods;
}

ContentsRpc::Reactor* ContentsRpc::BeginPublish(Context* context, const v1::BeginPublishRequest* request,
                                                v1::BeginPublishReply* reply) {
  return d_.door.unary(context, kBeginPublish, request, reply,
                       [this](const Call& call, const auto& q, auto& p) { return begin(call, q, p); });
}

Status ContentsRpc::begin(const Call& call, const v1::BeginPublishRequest& request, v1::BeginPublishReply& reply) {
  ccm::BeginPublish begin;
  begin.request_id = request.request_id();
  begin.name = request.name();
  GT_ASSIGN(begin.access, from_wire(request.access()));
  begin.description = request.description();
  begin.license = request.license();
  begin.tags.assign(request.tags().begin(), request.tags().end());
  GT_ASSIGN(const PublishTicket ticket, d_.contents.begin_publish(actor_of(call), begin));
  answer(ticket, reply);
  return {};
}

ContentsRpc::Reactor* ContentsRpc::BeginUpdate(Context* context, const v1::BeginUpdateRequest* request,
                                               v1::BeginPublishReply* reply) {
  return d_.door.unary(
      context, kBeginUpdate, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
        GT_ASSIGN(const PublishTicket ticket, d_.contents.begin_update(actor_of(call), {q.request_id(), q.content()}));
        answer(ticket, p);
        return {};
      });
}

ContentsRpc::Reader<v1::FinishPublishChunk>* ContentsRpc::FinishPublish(Context* context,
                                                                        v1::FinishPublishReply* reply) {
  using Sink = std::unique_ptr<wire::UploadSink<v1::FinishPublishChunk, v1::FinishPublishReply>>;
  return d_.door.upload<v1::FinishPublishChunk>(
      context, kFinishPublish, reply,
      [this](const Call& call) -> Result<Sink> { return receive_metadata(d_.contents, d_.uploads, actor_of(call)); });
}

ContentsRpc::Reactor* ContentsRpc::GiveUpPublish(Context* context, const v1::GiveUpPublishRequest* request,
                                                 v1::GiveUpPublishReply* reply) {
  return d_.door.unary(context, kGiveUpPublish, request, reply, [this](const Call& call, const auto& q, auto&) {
    return d_.contents.give_up_publish(actor_of(call), q.request_id(), q.publish_request_id());
  });
}

ContentsRpc::Reader<v1::AddChecksumsChunk>* ContentsRpc::AddChecksums(Context* context, v1::AddChecksumsReply* reply) {
  using Sink = std::unique_ptr<wire::UploadSink<v1::AddChecksumsChunk, v1::AddChecksumsReply>>;
  return d_.door.upload<v1::AddChecksumsChunk>(context, kAddChecksums, reply, [this](const Call& call) -> Result<Sink> {
    return receive_checksums(d_.contents, d_.files, d_.uploads, actor_of(call));
  });
}

ContentsRpc::Reactor* ContentsRpc::Search(Context* context, const v1::SearchRequest* request, v1::SearchReply* reply) {
  return d_.door.unary(context, kSearch, request, reply,
                       [this](const Call& call, const auto& q, auto& p) { return search(call, q, p); });
}

Status ContentsRpc::search(const Call& call, const v1::SearchRequest& request, v1::SearchReply& reply) {
  SearchQuery query;
  query.text = request.query();
  query.owner = request.owner();
  query.tag = request.tag();
  query.group = request.group();
  query.access = request.access();
  query.min_bytes = request.min_bytes();
  query.since = WallTime{request.since_ms()};
  query.limit = request.limit();
  query.page = request.page();
  GT_ASSIGN(const SearchResult result, d_.contents.search(actor_of(call), query));
  for (const ContentView& content : result.contents) *reply.add_contents() = to_wire(content);
  reply.set_next_page(result.next_page);
  return {};
}

ContentsRpc::Reactor* ContentsRpc::GetContent(Context* context, const v1::GetContentRequest* request,
                                              v1::GetContentReply* reply) {
  return d_.door.unary(context, kGetContent, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         GT_ASSIGN(const ContentView view, d_.contents.get(actor_of(call), q.reference(), q.version()));
                         *p.mutable_content() = to_wire(view);
                         return {};
                       });
}

ContentsRpc::Reactor* ContentsRpc::ListVersions(Context* context, const v1::ListVersionsRequest* request,
                                                v1::ListVersionsReply* reply) {
  return d_.door.unary(context, kListVersions, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         GT_ASSIGN(const ContentId id, ContentId::parse(q.content_id()));
                         GT_ASSIGN(const auto versions, d_.contents.versions(actor_of(call), id));
                         for (const VersionView& version : versions) *p.add_versions() = to_wire(version);
                         return {};
                       });
}

ContentsRpc::Reactor* ContentsRpc::ListFiles(Context* context, const v1::ListFilesRequest* request,
                                             v1::ListFilesReply* reply) {
  return d_.door.unary(context, kListFiles, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
    GT_ASSIGN(const ContentId id, ContentId::parse(q.content_id()));
    GT_ASSIGN(const Content content, d_.contents.open_metadata(actor_of(call), id, q.version()));
    return file_lists_.list(actor_of(call).user, content, q, p);
  });
}

ContentsRpc::Chunks* ContentsRpc::GetMetadata(Context* context, const v1::GetMetadataRequest* request) {
  return d_.door.download<v1::MetadataChunk>(context, kGetMetadata, [this, request = *request](const Call& call) {
    return send_metadata(d_.contents, d_.files, actor_of(call), request);
  });
}

ContentsRpc::Chunks* ContentsRpc::GetChecksums(Context* context, const v1::GetMetadataRequest* request) {
  return d_.door.download<v1::MetadataChunk>(context, kGetChecksums, [this, request = *request](const Call& call) {
    return send_checksums(d_.contents, d_.files, actor_of(call), request);
  });
}

ContentsRpc::Reactor* ContentsRpc::ListReplicas(Context* context, const v1::ListReplicasRequest* request,
                                                v1::ListReplicasReply* reply) {
  return d_.door.unary(context, kListReplicas, request, reply,
                       [this](const Call& call, const auto& q, auto& p) { return replicas(actor_of(call), q, p); });
}

Status ContentsRpc::replicas(const Actor& actor, const v1::ListReplicasRequest& request, v1::ListReplicasReply& reply) {
  GT_ASSIGN(const ContentId id, ContentId::parse(request.content_id()));
  GT_ASSIGN(const auto page, d_.contents.replicas(actor, id, wire::page_request(request), request.version()));
  wire::answer_page(page, reply,
                    [&](const ReplicaView& one) -> const auto& { return *reply.add_replicas() = to_wire(one); });
  return {};
}

grpc::ServerWriteReactor<v1::ListReplicasReply>* ContentsRpc::WatchReplicas(Context* context,
                                                                            const v1::ListReplicasRequest* request) {
  return d_.door.events<v1::ListReplicasReply>(
      context, kWatchReplicas,
      [this, request = *request](const Call& call, const std::shared_ptr<ReplicasWatch::Stream>& stream) {
        const auto read = [this, actor = actor_of(call), request = wire::watched_page(request)](auto& reply) {
          return replicas(actor, request, reply);
        };
        return ReplicasWatch::open(d_.door, call.principal.user.str(), read, without_signs, stream);
      });
}

ContentsRpc::Reactor* ContentsRpc::SetAccess(Context* context, const v1::SetAccessRequest* request,
                                             v1::SetAccessReply* reply) {
  return d_.door.unary(context, kSetAccess, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
    GT_ASSIGN(const ContentId id, ContentId::parse(q.content_id()));
    GT_ASSIGN(const Access access, from_wire(q.access()));
    std::optional<Access> expected;
    if (q.has_expected()) {
      GT_ASSIGN(expected, from_wire(q.expected()));
    }
    GT_ASSIGN(const ContentView view, d_.contents.set_access(actor_of(call), q.request_id(), id, access, expected));
    *p.mutable_content() = to_wire(view);
    return {};
  });
}

ContentsRpc::Reactor* ContentsRpc::ExplainAccess(Context* context, const v1::ExplainAccessRequest* request,
                                                 v1::ExplainAccessReply* reply) {
  return d_.door.unary(context, kExplainAccess, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         GT_ASSIGN(const ContentId id, ContentId::parse(q.content_id()));
                         GT_ASSIGN(const Explanation told, d_.contents.explain(actor_of(call), id, q.user()));
                         p.set_allowed(told.allowed);
                         p.set_reason(told.reason);
                         return {};
                       });
}

ContentsRpc::Reactor* ContentsRpc::Unpublish(Context* context, const v1::UnpublishRequest* request,
                                             v1::UnpublishReply* reply) {
  return d_.door.unary(context, kUnpublish, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
    GT_ASSIGN(const ContentId id, ContentId::parse(q.content_id()));
    GT_ASSIGN(const ContentView view, d_.contents.unpublish(actor_of(call), q.request_id(), id));
    *p.mutable_content() = to_wire(view);
    return {};
  });
}

ContentsRpc::Reactor* ContentsRpc::RestoreContent(Context* context, const v1::RestoreContentRequest* request,
                                                  v1::RestoreContentReply* reply) {
  return d_.door.unary(
      context, kRestoreContent, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
        GT_ASSIGN(const ContentId id, ContentId::parse(q.content_id()));
        GT_ASSIGN(const ContentView view, d_.contents.restore(actor_of(call), q.request_id(), id, q.name()));
        *p.mutable_content() = to_wire(view);
        return {};
      });
}

ContentsRpc::Reactor* ContentsRpc::DescribeContent(Context* context, const v1::DescribeContentRequest* request,
                                                   v1::DescribeContentReply* reply) {
  return d_.door.unary(context, kDescribeContent, request, reply,
                       [this](const Call& call, const auto& q, auto& p) { return describe(call, q, p); });
}

Status ContentsRpc::describe(const Call& call, const v1::DescribeContentRequest& request,
                             v1::DescribeContentReply& reply) {
  ccm::DescribeContent wanted;
  wanted.request_id = request.request_id();
  GT_ASSIGN(wanted.content, ContentId::parse(request.content_id()));
  if (request.has_name()) wanted.name = request.name();
  if (request.has_description()) wanted.description = request.description();
  if (request.has_license()) wanted.license = request.license();
  wanted.tags.clear = request.tags().clear();
  wanted.tags.remove.assign(request.tags().remove().begin(), request.tags().remove().end());
  wanted.tags.add.assign(request.tags().add().begin(), request.tags().add().end());
  if (request.has_if_revision()) wanted.if_revision = request.if_revision();
  GT_ASSIGN(const ContentView view, d_.contents.describe(actor_of(call), wanted));
  *reply.mutable_content() = to_wire(view);
  return {};
}

ContentsRpc::Reactor* ContentsRpc::PreviewAccess(Context* context, const v1::PreviewAccessRequest* request,
                                                 v1::PreviewAccessReply* reply) {
  return d_.door.unary(context, kPreviewAccess, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         GT_ASSIGN(const Access access, from_wire(q.access()));
                         GT_ASSIGN(const AccessPreview preview, d_.contents.preview(actor_of(call), access));
                         p = to_wire(preview);
                         return {};
                       });
}

}  // namespace gridtorrent::ccm::rpc
