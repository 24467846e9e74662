#include "tracker/rpc/tasks_rpc.h"

#include <array>

#include "base/rpc/hello.h"
#include "base/rpc/list_watch.h"
#include "base/rpc/page.h"
#include "tracker/rpc/convert.h"
#include "tracker/rpc/node_watch.h"
#include "tracker/rpc/task_watch.h"

namespace gridtorrent::tracker::rpc {

namespace {

using wire::Call;
using wire::Need;

constexpr Need kNode = Need::node_scope(bit(ccm::Scope::kNodeRun));
constexpr Need kRead = Need::scope(bit(ccm::Scope::kTaskRead));
constexpr Need kWrite = Need::scope(bit(ccm::Scope::kTaskWrite));
constexpr wire::Method kCreateTask{"Tasks/CreateTask",
                                   kWrite,
                                   wire::Lane::kNormal,
                                   {.rate_per_s = 2, .burst = 2000, .quota = "tasks", .bytes = 72 * 1024}};
// Of 10,000 nodes with work of kMaxWorkForMany.
constexpr wire::Method kCreateTasks{"Tasks/CreateTasks",
                                    kWrite,
                                    wire::Lane::kNormal,
                                    {.rate_per_s = 1.0 / 60, .burst = 20, .quota = "tasks", .bytes = 16 << 20},
                                    wire::kMostRequestBytes};
/// Bytes; of the work that each of many nodes gets a copy of.
constexpr std::size_t kMaxWorkForMany = 1024;
constexpr wire::Method kListTasks{"Tasks/ListTasks", kRead, wire::Lane::kReads, wire::reads()};
constexpr wire::Method kWatchTasks{"Tasks/WatchTasks", kRead, wire::Lane::kNormal, wire::reads(5, 100)};
constexpr wire::Method kGetTask{"Tasks/GetTask", kRead, wire::Lane::kNormal, wire::reads()};
constexpr wire::Method kCancelTask{"Tasks/CancelTask", kWrite, wire::Lane::kNormal, {.rate_per_s = 2, .burst = 2000}};
constexpr wire::Method kWatchTask{"Tasks/WatchTask", kRead, wire::Lane::kNormal, wire::reads()};
constexpr wire::Method kWatchNode{"Tasks/WatchNode", kNode, wire::Lane::kNormal, {.bytes = 256}};
constexpr wire::Method kAckTask{
    "Tasks/AckTask", kNode, wire::Lane::kNormal, {.rate_per_s = 20, .burst = 2000, .bytes = 0}};
constexpr wire::Method kReportTask{"Tasks/ReportTask",
                                   kNode,
                                   wire::Lane::kNormal,
                                   {.rate_per_s = 20, .burst = 2000, .quota = "tasks", .bytes = (1 << 20) + 16 * 1024},
                                   wire::kMostRequestBytes};
constexpr std::array kMethods = {&kCreateTask, &kCreateTasks, &kListTasks, &kWatchTasks, &kGetTask,
                                 &kCancelTask, &kWatchTask,   &kWatchNode, &kAckTask,    &kReportTask};

using TasksWatch = wire::ListWatch<v1::ListTasksReply>;

}  // namespace

// Here, as it takes seconds to compile the handlers of all methods.
TasksRpc::TasksRpc(Deps deps) : d_(deps) {}

wire::Methods TasksRpc::methods() {
  return kMethods;
}

TasksRpc::Reactor* TasksRpc::CreateTask(Context* context, const v1::CreateTaskRequest* request,
                                        v1::CreateTaskReply* reply) {
  return d_.door.unary(context, kCreateTask, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         GT_ASSIGN(const TaskWork work, from_wire(q.work()));
                         GT_ASSIGN(const Task task, d_.tasks.create(actor_of(call), q.request_id(), q.node(), work));
                         *p.mutable_task() = to_wire(task);
                         return {};
                       });
}

TasksRpc::Reactor* TasksRpc::CreateTasks(Context* context, const v1::CreateTasksRequest* request,
                                         v1::CreateTasksReply* reply) {
  return d_.door.unary(
      context, kCreateTasks, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
        if (q.work().ByteSizeLong() > kMaxWorkForMany) {
          return Error{Code::kInvalid, "work for many nodes takes at most " + std::to_string(kMaxWorkForMany) +
                                           " bytes: name fewer files"};
        }
        GT_ASSIGN(const TaskWork work, from_wire(q.work()));
        const std::vector<std::string> nodes(q.nodes().begin(), q.nodes().end());
        GT_ASSIGN(const auto made, d_.tasks.create_many(actor_of(call), q.request_id(), nodes, q.all_nodes(), work));
        for (const auto& [task, node] : made) {
          v1::TaskOfNode& one = *p.add_tasks();
          one.set_task_id(task.str());
          one.set_node_id(node.str());
        }
        return {};
      });
}

TasksRpc::Reactor* TasksRpc::ListTasks(Context* context, const v1::ListTasksRequest* request,
                                       v1::ListTasksReply* reply) {
  return d_.door.unary(context, kListTasks, request, reply,
                       [this](const Call& call, const auto& q, auto& p) { return list(actor_of(call), q, p); });
}

Status TasksRpc::list(const ccm::Actor& actor, const v1::ListTasksRequest& request, v1::ListTasksReply& reply) {
  GT_ASSIGN(const auto page,
            d_.tasks.list(actor, request.node(), request.include_ended(), wire::page_request(request)));
  wire::answer_page(page, reply, [&](const Task& task) -> const auto& { return *reply.add_tasks() = to_wire(task); });
  return {};
}

grpc::ServerWriteReactor<v1::ListTasksReply>* TasksRpc::WatchTasks(Context* context,
                                                                   const v1::ListTasksRequest* request) {
  return d_.door.events<v1::ListTasksReply>(
      context, kWatchTasks,
      [this, request = *request](const Call& call, const std::shared_ptr<TasksWatch::Stream>& stream) {
        const auto read = [this, actor = actor_of(call), request = wire::watched_page(request)](auto& reply) {
          return list(actor, request, reply);
        };
        return TasksWatch::open(d_.door, call.principal.user.str(), read, nullptr, stream);
      });
}

TasksRpc::Reactor* TasksRpc::GetTask(Context* context, const v1::GetTaskRequest* request, v1::GetTaskReply* reply) {
  return d_.door.unary(context, kGetTask, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
    GT_ASSIGN(const TaskId id, TaskId::parse(q.task_id()));
    GT_ASSIGN(const Task task, d_.tasks.get(actor_of(call), id));
    *p.mutable_task() = to_wire(task);
    return {};
  });
}

TasksRpc::Reactor* TasksRpc::CancelTask(Context* context, const v1::CancelTaskRequest* request,
                                        v1::CancelTaskReply* reply) {
  return d_.door.unary(context, kCancelTask, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         GT_ASSIGN(const TaskId id, TaskId::parse(q.task_id()));
                         GT_ASSIGN(const Task task, d_.tasks.cancel(actor_of(call), q.request_id(), id));
                         *p.mutable_task() = to_wire(task);
                         return {};
                       });
}

grpc::ServerWriteReactor<v1::GetTaskReply>* TasksRpc::WatchTask(Context* context, const v1::GetTaskRequest* request) {
  return d_.door.events<v1::GetTaskReply>(
      context, kWatchTask,
      [this, task_id = request->task_id()](const Call& call,
                                           const std::shared_ptr<TaskWatch::Stream>& stream) -> Status {
        GT_ASSIGN(const TaskId id, TaskId::parse(task_id));
        return TaskWatch::open({d_.task_hub, d_.tasks, d_.door.executor()}, actor_of(call), id, stream);
      });
}

grpc::ServerWriteReactor<v1::NodeEvent>* TasksRpc::WatchNode(Context* context, const v1::WatchNodeRequest* request) {
  return d_.door.events<v1::NodeEvent>(
      context, kWatchNode,
      [this, request = *request](const Call& call, const std::shared_ptr<NodeWatch::Stream>& stream) -> Status {
        GT_TRY(wire::check_hello(request.hello(), d_.clock.wall(), "the node", "the server's"));
        const NodeWatch::Deps deps{d_.node_hub, d_.nodes, d_.tasks, d_.audiences, d_.clock, d_.door.executor()};
        return NodeWatch::open(deps, actor_of(call), request, stream);
      });
}

TasksRpc::Reactor* TasksRpc::AckTask(Context* context, const v1::AckTaskRequest* request, v1::AckTaskReply* reply) {
  return d_.door.unary(context, kAckTask, request, reply, [this](const Call& call, const auto& q, auto&) -> Status {
    return d_.tasks.ack(actor_of(call), q.sequence());
  });
}

TasksRpc::Reactor* TasksRpc::ReportTask(Context* context, const v1::ReportTaskRequest* request,
                                        v1::ReportTaskReply* reply) {
  return d_.door.unary(context, kReportTask, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         GT_ASSIGN(const TaskReport report, from_wire(q));
                         GT_ASSIGN(const Task task, d_.tasks.report(actor_of(call), report));
                         p.set_cancel_requested(task.cancel_requested);
                         return {};
                       });
}

}  // namespace gridtorrent::tracker::rpc
