#pragma once

#include "client/core/server_link.h"
#include "common/result.h"
#include "gridtorrent/v1/ccm.pb.h"
#include "gridtorrent/v1/tracker.pb.h"

namespace gridtorrent::client::remote {

// Between the node's values and the server's messages. Pure functions; those from messages refuse what a correct server
// never sends (kInternal, with the field's name) instead of guessing.

Result<PublishTicket> to_ticket(const v1::BeginPublishReply& message);
Result<ContentInfo> to_content(const v1::Content& message);
/// A task of a kind that this version does not know becomes UnknownTask with the server's name for it.
Result<Task> to_task(const v1::Task& message);
Result<PeerInfo> to_peer(const v1::Peer& message);
Result<AudienceList> to_audience(const v1::Audience& message);
Result<IssuedCertificate> to_certificate(const v1::NodeCertificate& message);
Reachability to_reachability(v1::Reachability message);

v1::AnnounceRequest to_message(const AnnounceRequest& request);
void fill(v1::Endpoint& out, const LaneEndpoint& endpoint);
v1::ReportTaskRequest to_message(const TaskReport& report);
std::string_view task_state_name(TaskState state);

}  // namespace gridtorrent::client::remote
