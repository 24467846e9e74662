#pragma once

#include "base/rpc/door.h"
#include "common/clock.h"
#include "gridtorrent/v1/tracker.grpc.pb.h"
#include "tracker/core/hub.h"
#include "tracker/core/node_service.h"
#include "tracker/core/task_service.h"

namespace gridtorrent::tracker::rpc {

/// gridtorrent.v1.Tasks over TaskService: validates, calls, maps; opens the streams. Thread-safe.
class TasksRpc final : public v1::Tasks::CallbackService {
 public:
  struct Deps {
    gridtorrent::rpc::Door& door;
    TaskService& tasks;
    NodeService& nodes;
    NodeHub& node_hub;
    TaskHub& task_hub;
    Audiences& audiences;
    const Clock& clock;
  };
  explicit TasksRpc(Deps deps);

  /// As they are declared, each with what a caller may do with it.
  static gridtorrent::rpc::Methods methods();

  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;
  Reactor* CreateTask(Context* context, const v1::CreateTaskRequest* request, v1::CreateTaskReply* reply) override;
  Reactor* CreateTasks(Context* context, const v1::CreateTasksRequest* request, v1::CreateTasksReply* reply) override;
  Reactor* ListTasks(Context* context, const v1::ListTasksRequest* request, v1::ListTasksReply* reply) override;
  grpc::ServerWriteReactor<v1::ListTasksReply>* WatchTasks(Context* context,
                                                           const v1::ListTasksRequest* request) override;
  Reactor* GetTask(Context* context, const v1::GetTaskRequest* request, v1::GetTaskReply* reply) override;
  Reactor* CancelTask(Context* context, const v1::CancelTaskRequest* request, v1::CancelTaskReply* reply) override;
  grpc::ServerWriteReactor<v1::GetTaskReply>* WatchTask(Context* context, const v1::GetTaskRequest* request) override;
  grpc::ServerWriteReactor<v1::NodeEvent>* WatchNode(Context* context, const v1::WatchNodeRequest* request) override;
  Reactor* AckTask(Context* context, const v1::AckTaskRequest* request, v1::AckTaskReply* reply) override;
  Reactor* ReportTask(Context* context, const v1::ReportTaskRequest* request, v1::ReportTaskReply* reply) override;

 private:
  Status list(const ccm::Actor& actor, const v1::ListTasksRequest& request, v1::ListTasksReply& reply);

  Deps d_;
};

}  // namespace gridtorrent::tracker::rpc
