#include "tracker/core/task_service.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ccm/domain/content_access.h"
#include "ccm/domain/once.h"
#include "common/text.h"
#include "tracker/core/node_access.h"

namespace gridtorrent::tracker {

namespace {

constexpr std::size_t kSweepBatch = 200;

Error missing_task(const TaskId& id) {
  return {Code::kNotFound, "no task " + id.str() + " of yours; look with: gridtorrent task list"};
}

/// A task on one of the actor's own nodes.
Result<Task> own_task(Tx& tx, const ccm::Actor& actor, const TaskId& id) {
  GT_ASSIGN(auto task, tx.tasks.by_id(id));
  if (!task) return missing_task(id);
  GT_ASSIGN(const auto node, tx.nodes.by_id(task->node));
  if (!node || node->owner != actor.user) return missing_task(id);
  return std::move(*task);
}

/// What cannot be fetched or seeded by this user is refused at once, not by the node later.
Status check_content(Tx& tx, const ccm::Actor& actor, const TaskWork& work) {
  const auto* get = std::get_if<GetTask>(&work);
  const auto* seed = std::get_if<SeedTask>(&work);
  if (get == nullptr && seed == nullptr) return {};
  GT_ASSIGN(const ContentId id, ContentId::parse(get != nullptr ? get->content : seed->content));
  GT_TRY(ccm::open_content(tx, actor, ccm::Action::kTransfer, id));
  return {};
}

/// A task does nothing that its maker's token may not do.
Status check_scopes(const ccm::Actor& actor, const TaskWork& work) {
  const bool publishes = std::holds_alternative<PublishTask>(work);
  const bool reads = std::holds_alternative<GetTask>(work) || std::holds_alternative<SeedTask>(work);
  if (!publishes && !reads) return {};
  const ccm::Scope needed = publishes ? ccm::Scope::kContentPublish : ccm::Scope::kContentRead;
  if (actor.scopes.has(needed)) return {};
  return Error{Code::kDenied, "a " + std::string(task_kind(work)) + " task needs the scope " +
                                  std::string(ccm::scope_name(needed)) +
                                  ", which this token does not have: use another, or ask an administrator"};
}

/// Where the quota is used up, ended tasks make room for `wanted` new ones. After an error the caller writes nothing.
Status make_room(Tx& tx, const ccm::Actor& actor, const ccm::Quotas& everybodys, std::uint64_t wanted = 1) {
  GT_ASSIGN(const ccm::Quotas quotas, ccm::quotas_of(tx, everybodys, actor.user));
  const auto full = [&](const std::string& what) {
    return Error{Code::kExhausted,
                 "the quota of user " + actor.name + " allows " + std::to_string(quotas.tasks) + " tasks: " + what +
                     std::to_string(wanted) +
                     " asked for; cancel some (gridtorrent task list, then task cancel ID), name fewer nodes, or ask "
                     "the administrator for more"};
  };
  if (wanted > quotas.tasks) return full("");
  GT_ASSIGN(std::uint64_t count, tx.node_effects.count_tasks(actor.user));
  for (; count + wanted > quotas.tasks; --count) {
    GT_ASSIGN(const bool forgotten, tx.tasks.forget_first_ended(actor.user));
    if (!forgotten) return full(std::to_string(count) + " not ended, ");
  }
  return {};
}

Status check_report(const TaskReport& report) {
  if (report.state == TaskState::kQueued) {
    return Error{Code::kInvalid, "task " + report.task.str() + ": a node cannot report it as queued"};
  }
  if (report.result_json.size() > kMaxResultBytes || !is_valid_utf8(report.result_json)) {
    return Error{Code::kInvalid, "task " + report.task.str() + ": the result is longer than 1 MiB or no UTF-8"};
  }
  if (report.error_code.size() > 64 || report.error_message.size() > kMaxTaskTextBytes ||
      !is_valid_utf8(report.error_message) || !is_valid_utf8(report.error_code)) {
    return Error{Code::kInvalid, "task " + report.task.str() + ": the error is too long or no UTF-8"};
  }
  return {};
}

/// One "task node" a line.
std::string to_answer(const std::vector<TaskService::OfNode>& tasks) {
  std::string text;
  for (const auto& [task, node] : tasks) text += task.str() + " " + node.str() + "\n";
  return text;
}

Result<std::vector<TaskService::OfNode>> from_answer(std::string_view text) {
  std::vector<TaskService::OfNode> tasks;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t space = std::min(line.find(' '), line.size() - 1);
    GT_ASSIGN(const TaskId task, TaskId::parse(line.substr(0, space)));
    GT_ASSIGN(const NodeId node, NodeId::parse(line.substr(space + 1)));
    tasks.push_back({task, node});
    begin = end + 1;
  }
  return tasks;
}

}  // namespace

Result<Task> TaskService::append(Tx& tx, const ccm::Actor& actor, const NodeId& node, const TaskWork& work,
                                 WallTime now) {
  Task task;
  task.id = TaskId::make(now, d_.rng);
  task.node = node;
  task.work = work;
  task.created_by = actor.user;
  task.created_by_name = actor.name;
  task.created = now;
  task.updated = now;
  if (auto* publish = std::get_if<PublishTask>(&task.work); publish != nullptr && publish->request_id.empty()) {
    publish->request_id = task.id.str();  // delivered twice, it publishes once
  }
  GT_ASSIGN(task.sequence, tx.tasks.append(task));
  return task;
}

Result<std::vector<NodeId>> TaskService::own_nodes(Tx& tx, const ccm::Actor& actor,
                                                   const std::vector<std::string>& nodes, bool all) const {
  std::vector<NodeId> ids;
  if (all) {
    GT_ASSIGN(ids, tx.nodes.ids_of_owner(actor.user, kMaxNodesAtOnce + 1));
    if (ids.empty())
      return Error{Code::kNotFound, "you have no nodes; 'gridtorrent node start' makes one of a machine"};
  }
  for (const std::string& reference : nodes) {
    GT_ASSIGN(const NodeRecord node, own_node(tx, actor.user, reference));
    ids.push_back(node.id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (ids.size() > kMaxNodesAtOnce) {
    return Error{Code::kInvalid, "these are more than 10000 nodes, as many as get a task at once; name them in parts"};
  }
  return ids;
}

Result<std::vector<TaskService::OfNode>> TaskService::create_many(const ccm::Actor& actor,
                                                                  const std::string& request_id,
                                                                  const std::vector<std::string>& nodes, bool all,
                                                                  const TaskWork& work) {
  constexpr std::string_view kMethod = "task.create_many";
  GT_TRY(check_task_work(work));
  GT_TRY(check_scopes(actor, work));
  if (all != nodes.empty() || nodes.size() > kMaxNodesAtOnce) {
    return Error{Code::kInvalid, "name 1 to 10000 nodes, or ask for all of yours"};
  }
  std::vector<OfNode> made;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto answered, ccm::first_answer(tx, actor.user, request_id, kMethod));
    if (answered) {
      GT_ASSIGN(made, from_answer(*answered));
      return {};
    }
    GT_ASSIGN(const std::vector<NodeId> targets, own_nodes(tx, actor, nodes, all));
    if (targets.size() > 1 && std::holds_alternative<PublishTask>(work)) {
      return Error{Code::kInvalid, "one node publishes: the others would be refused the name; name that node"};
    }
    GT_TRY(check_content(tx, actor, work));
    GT_TRY(make_room(tx, actor, d_.quotas, targets.size()));
    const WallTime now = d_.clock.wall();
    made.clear();  // the store may run this again
    for (const NodeId& node : targets) {
      GT_ASSIGN(const Task task, append(tx, actor, node, work, now));
      made.push_back({task.id, node});
    }
    GT_TRY(ccm::keep_answer(tx, actor.user, request_id, kMethod, to_answer(made), now));
    return tx.audit.append(ccm::audit_record(actor, now, kMethod, made.front().task.str(), request_id,
                                             "ok: " + std::to_string(made.size()) + " tasks"));
  }));
  for (const OfNode& one : made) d_.hub.tasks_waiting(one.node);
  return made;
}

Result<Task> TaskService::create(const ccm::Actor& actor, const std::string& request_id, std::string_view node,
                                 const TaskWork& work) {
  constexpr std::string_view kMethod = "task.create";
  GT_TRY(check_task_work(work));
  GT_TRY(check_scopes(actor, work));
  Task task;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto answered, ccm::first_answer(tx, actor.user, request_id, kMethod));
    if (answered) {
      GT_ASSIGN(const TaskId id, TaskId::parse(*answered));
      GT_ASSIGN(task, own_task(tx, actor, id));
      return {};
    }
    GT_ASSIGN(const NodeRecord target, own_node(tx, actor.user, node));
    GT_TRY(check_content(tx, actor, work));
    GT_TRY(make_room(tx, actor, d_.quotas));
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(task, append(tx, actor, target.id, work, now));
    GT_TRY(ccm::keep_answer(tx, actor.user, request_id, kMethod, task.id.str(), now));
    return tx.audit.append(ccm::audit_record(actor, now, kMethod, task.id.str(), request_id));
  }));
  d_.hub.tasks_waiting(task.node);
  return task;
}

Result<Page<Task>> TaskService::list(const ccm::Actor& actor, std::string_view node, bool include_ended,
                                     const PageRequest& page) {
  const std::string which = include_ended ? "all tasks" : "open tasks";
  return node.empty() ? list_of_owner(actor, which, include_ended, page)
                      : list_of_node(actor, node, which, include_ended, page);
}

Result<Page<Task>> TaskService::list_of_owner(const ccm::Actor& actor, const std::string& list, bool include_ended,
                                              const PageRequest& page) {
  GT_ASSIGN(const PageKey key, parse_page_token(list, 2, page.token));
  std::optional<TaskPlace> after;
  if (!key.empty()) {
    GT_ASSIGN(const std::int64_t created, page_number(key[0]));
    GT_ASSIGN(const TaskId id, TaskId::parse(key[1]));
    after = TaskPlace{WallTime{created}, id};
  }
  std::vector<Task> tasks;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(tasks, tx.tasks.of_owner(actor.user, include_ended, after, page.items() + 1));
    return {};
  }));
  return make_page<Task>(std::move(tasks), page, [list](const Task& task) {
    return encode_page_token(list, {std::to_string(task.created.ms), task.id.str()});
  });
}

Result<Page<Task>> TaskService::list_of_node(const ccm::Actor& actor, std::string_view node, const std::string& which,
                                             bool include_ended, const PageRequest& page) {
  std::vector<Task> tasks;
  std::string list;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(const NodeRecord target, own_node(tx, actor.user, node));
    list = which + " of " + target.id.str();
    GT_ASSIGN(const PageKey key, parse_page_token(list, 1, page.token));
    std::int64_t below = 0;
    if (!key.empty()) {
      GT_ASSIGN(below, page_number(key[0]));
    }
    GT_ASSIGN(tasks, tx.tasks.of_node(target.id, include_ended, static_cast<std::uint64_t>(below), page.items() + 1));
    return {};
  }));
  return make_page<Task>(std::move(tasks), page,
                         [list](const Task& task) { return encode_page_token(list, {std::to_string(task.sequence)}); });
}

Result<Task> TaskService::get(const ccm::Actor& actor, const TaskId& id) {
  Task task;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(task, own_task(tx, actor, id));
    return {};
  }));
  return task;
}

Result<Task> TaskService::cancel(const ccm::Actor& actor, const std::string& request_id, const TaskId& id) {
  Task task;
  bool changed = false;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const Task before, own_task(tx, actor, id));
    const WallTime now = d_.clock.wall();
    task = apply_cancel(before, now);
    changed = task != before;
    if (!changed) return {};
    GT_TRY(tx.tasks.update(task));
    return tx.audit.append(ccm::audit_record(actor, now, "task.cancel", id.str(), request_id));
  }));
  if (changed) {
    // A stream may have sent it while it was still queued here: the node is told either way.
    d_.hub.push(task.node, TaskCancelled{id});
    d_.task_hub.changed(id);
  }
  return task;
}

Result<std::vector<Task>> TaskService::pending(const NodeId& node, std::uint64_t cursor, std::size_t limit) {
  std::vector<Task> tasks;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(tasks, tx.tasks.pending(node, cursor, limit));
    return {};
  }));
  return tasks;
}

Result<std::vector<TaskId>> TaskService::cancel_requested(const NodeId& node) {
  std::vector<TaskId> tasks;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(tasks, tx.tasks.cancel_requested(node));
    return {};
  }));
  return tasks;
}

Status TaskService::ack(const ccm::Actor& actor, std::uint64_t sequence) {
  std::vector<TaskId> changed;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const NodeRecord node, node_of(tx, actor));
    if (sequence > node.last_sequence) {
      return Error{Code::kInvalid, "node " + node.id.str() + " acknowledged task " + std::to_string(sequence) +
                                       ", but its list ends at " + std::to_string(node.last_sequence)};
    }
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(const auto queued, tx.tasks.queued_up_to(node.id, sequence));
    for (const Task& task : queued) {
      GT_TRY(tx.tasks.update(apply_ack(task, now)));
      changed.push_back(task.id);
    }
    if (sequence <= node.acked_sequence) return {};
    return tx.tasks.set_acked(node.id, sequence);
  }));
  for (const TaskId& id : changed) d_.task_hub.changed(id);
  return {};
}

Result<Task> TaskService::report(const ccm::Actor& actor, const TaskReport& report) {
  GT_TRY(check_report(report));
  Task task;
  bool changed = false;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const NodeRecord node, node_of(tx, actor));
    GT_ASSIGN(auto before, tx.tasks.by_id(report.task));
    if (!before || before->node != node.id) return missing_task(report.task);
    task = apply_report(*before, report, d_.clock.wall());
    changed = task != *before;
    if (!changed) return {};
    return tx.tasks.update(task);
  }));
  if (changed) d_.task_hub.changed(task.id);
  return task;
}

Status TaskService::sweep() {
  const WallTime now = d_.clock.wall();
  std::vector<TaskId> expired;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto old, tx.tasks.queued_since(now - kTaskLifetime, kSweepBatch));
    for (const Task& task : old) {
      GT_TRY(tx.tasks.update(apply_expiry(task, now)));
      expired.push_back(task.id);
    }
    return tx.tasks.prune(now - kEndedTaskLifetime);
  }));
  for (const TaskId& id : expired) d_.task_hub.changed(id);
  return {};
}

}  // namespace gridtorrent::tracker
