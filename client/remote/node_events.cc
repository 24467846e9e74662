#include "client/remote/node_events.h"

#include <optional>
#include <vector>

#include "client/remote/convert.h"

namespace gridtorrent::client::remote {

Status tell(const v1::NodeEvent& event, ServerListener& listener) {
  switch (event.event_case()) {
    case v1::NodeEvent::kTask: {
      GT_ASSIGN(const Task task, to_task(event.task()));
      return listener.task(task);
    }
    case v1::NodeEvent::kTaskCancelled: {
      GT_ASSIGN(const TaskId id, TaskId::parse(event.task_cancelled()));
      listener.task_cancelled(id);
      return {};
    }
    case v1::NodeEvent::kPeerChanged: {
      const v1::PeerChanged& change = event.peer_changed();
      GT_ASSIGN(const ContentId content, ContentId::parse(change.content_id()));
      GT_ASSIGN(const PeerInfo peer, to_peer(change.peer()));
      listener.peer_changed(content, change.version(), peer);
      return {};
    }
    case v1::NodeEvent::kAudience: {
      GT_ASSIGN(const AudienceList list, to_audience(event.audience()));
      listener.audience(list);
      return {};
    }
    case v1::NodeEvent::kAudiencesConfirmed: {
      std::vector<AudienceRef> refs;
      for (const v1::AudienceRef& ref : event.audiences_confirmed().audiences()) {
        refs.push_back({ref.audience_id(), ref.version()});
      }
      listener.audiences_confirmed(refs);
      return {};
    }
    case v1::NodeEvent::kContentChanged: {
      if (event.content_changed().content_id().empty()) {
        listener.content_changed(std::nullopt);
        return {};
      }
      GT_ASSIGN(const ContentId content, ContentId::parse(event.content_changed().content_id()));
      listener.content_changed(content);
      return {};
    }
    case v1::NodeEvent::kHello:
    case v1::NodeEvent::kNodeName:  // the link's own
    case v1::NodeEvent::EVENT_NOT_SET:
      return {};
  }
  return {};
}

}  // namespace gridtorrent::client::remote
