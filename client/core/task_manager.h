#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "client/core/node_context.h"

namespace gridtorrent::client {

/// Does what the server's task list asks, each task once: a task is written down before it is acknowledged, begun again
/// after a restart where it had not ended, and every kind of work is idempotent by itself (a publish by its request id,
/// a get by joining). Reports go out with each change of state and about once a second of progress; the last one until
/// the server has it. Paths are "ROOT:relative/path" below the node's named roots and never anything else.
///
/// Thread-safe. One private mutex, never held together with the book's or while calling out.
class TaskManager {
 public:
  /// `node` does the work; both outlive the manager.
  TaskManager(NodeContext& context, Node& node) : c_(context), node_(node) {}

  /// Takes up what had not ended. Before the stream starts.
  Status restore();
  /// From the server's stream: stores, then acknowledges and begins. An error: it could not be stored, and is to come
  /// again.
  Status accept(const Task& task);
  /// One that is not known here, or whose end the server did not take, is reported as cancelled: it would never end
  /// there.
  void cancel(const TaskId& id);
  /// Looks at the transfers that tasks wait for, and sends what is to be reported. Transfers' thread, about once a
  /// second.
  void step(MonoTime now);
  /// The stream is up: what the server did not get is due now.
  void connected();
  /// Ends running work.
  void stop();

 private:
  struct Running {
    TaskRow row;
    std::stop_source stop;
    bool begun = false, ended = false;
    int failures = 0;  ///< to begin, for want of the server
    MonoTime begin_due{};
    bool report_in_flight = false;
    int report_failures = 0;
    MonoTime report_due{};
    std::uint64_t reported_done = 0;
  };
  void begin(const TaskId& id);
  void run(const TaskId& id, const Task& task, std::stop_token stop);
  Result<std::string> work(const TaskId& id, const PublishTask& task, std::stop_token stop);
  Result<std::string> work(const TaskId& id, const GetTask& task, std::stop_token stop);
  Result<std::string> work(const TaskId& id, const SeedTask& task, std::stop_token stop);
  Result<std::string> work(const TaskId& id, const StopSeedingTask& task, std::stop_token stop);
  Result<std::string> work(const TaskId& id, const ListFolderTask& task, std::stop_token stop);
  Result<std::string> work(const TaskId& id, const TransferCommandTask& task, std::stop_token stop);
  Result<std::string> work(const TaskId& id, const UnknownTask& task, std::stop_token stop);
  Result<Place> resolve(const std::string& text, const std::vector<NamedRoot>& roots, std::string_view kind,
                        bool must_exist);
  void wait_for(const TaskId& id, const TransferId& transfer);
  void end_with(const TaskId& id, TransferView view);
  void watch_transfer(const TaskId& id, const TransferId& transfer);
  void progress(const TaskId& id, std::uint64_t done, std::uint64_t total);
  bool begin_again(const TaskId& id, const Error& error);
  void end(const TaskId& id, const Result<std::string>& result);
  void send_report(const TaskId& id, const TaskReport& report);
  void report_unknown(const TaskId& id);
  void acknowledge(std::uint64_t sequence);
  std::uint64_t due_acknowledgement(MonoTime now);

  NodeContext& c_;
  Node& node_;
  WorkerPool workers_{"gt-tasks", 2};
  std::mutex mutex_;
  std::map<TaskId, Running> tasks_;
  std::uint64_t unacknowledged_ = 0;
  int ack_failures_ = 0;
  MonoTime ack_due_{};
  bool stopping_ = false;
};

}  // namespace gridtorrent::client
