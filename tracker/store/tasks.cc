#include <limits>

#include "tracker/store/columns.h"
#include "tracker/store/tables.h"
#include "tracker/store/task_json.h"

// Task lists, and what a change of content means for them.

namespace gridtorrent::tracker::store {

namespace {

const std::string kRow =
    "SELECT t.task_id, t.node_id, t.sequence, t.work, t.state, t.cancel_requested, t.created_by, u.name, t.created_ms, "
    "t.updated_ms, t.done, t.total, t.error_code, t.error_message, t.by_server, ";
const std::string kFrom = " FROM task t JOIN user u ON u.user_id = t.created_by ";
// A result is in the task's row, or, where it is large, in task_result.
const std::string kSelect = kRow +
                            "coalesce((SELECT r.result_json FROM task_result r WHERE r.task_id = t.task_id AND "
                            "t.result_bytes > 0), t.result_json), 0" +
                            kFrom;
const std::string kSelectListed = kRow + "t.result_json, t.result_bytes" + kFrom;

Result<Task> task_from(const sql::Row& row) {
  Task task;
  GT_ASSIGN(task.id, id_at<TaskId>(row, 0));
  GT_ASSIGN(task.node, id_at<NodeId>(row, 1));
  task.sequence = row.u64(2);
  GT_ASSIGN(task.work, work_from_json(row.text(3)));
  const auto state = parse_task_state(row.text(4));
  if (!state) return damaged("a task");
  task.state = *state;
  task.cancel_requested = row.boolean(5);
  GT_ASSIGN(task.created_by, id_at<UserId>(row, 6));
  task.created_by_name = row.text(7);
  task.created = time_at(row, 8);
  task.updated = time_at(row, 9);
  task.done = row.u64(10);
  task.total = row.u64(11);
  task.error_code = row.text(12);
  task.error_message = row.text(13);
  task.by_server = row.boolean(14);
  task.result_json = row.text(15);
  task.result_bytes = row.u64(16);
  return task;
}

bool is_large(const Task& t) {
  return t.result_json.size() > kMaxListedResultBytes;
}

}  // namespace

Result<std::uint64_t> SqlTasks::append(const Task& t) {
  GT_CHECK(t.result_json.empty());
  const std::string work = work_to_json(t.work);
  if (work.size() > kMaxWorkBytes) {
    return Error{Code::kInvalid, "the task takes " + std::to_string(work.size()) + " bytes, more than the " +
                                     std::to_string(kMaxWorkBytes) + " allowed: name fewer files or people"};
  }
  GT_ASSIGN(const auto sequence,
            tx_.one("UPDATE node SET last_sequence = last_sequence + 1 WHERE node_id = ? RETURNING last_sequence",
                    {t.node.str()}, [](const sql::Row& row) { return row.u64(0); }));
  if (!sequence) return Error{Code::kNotFound, "no node " + t.node.str()};
  GT_TRY(tx_.exec(
      "INSERT INTO task(task_id, node_id, owner_id, sequence, work, state, ended, cancel_requested, created_by, "
      "created_ms, updated_ms, done, total, result_json, result_bytes, error_code, error_message, by_server) "
      "SELECT ?, node_id, owner_id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, ?, ?, ? FROM node WHERE node_id = ?",
      {t.id.str(), *sequence, work, task_state_name(t.state), has_ended(t.state), t.cancel_requested,
       t.created_by.str(), t.created.ms, t.updated.ms, t.done, t.total, t.error_code, t.error_message, t.by_server,
       t.node.str()}));
  return *sequence;
}

Status SqlTasks::update(const Task& t) {
  GT_CHECK(t.result_bytes == 0);  // a row of a list would lose its result
  const bool large = is_large(t);
  if (large) {
    GT_TRY(tx_.exec("INSERT OR REPLACE INTO task_result(task_id, result_json) VALUES (?, ?)",
                    {t.id.str(), t.result_json}));
  }
  return tx_.exec(
      "UPDATE task SET state = ?, ended = ?, cancel_requested = ?, updated_ms = ?, done = ?, total = ?, "
      "result_json = ?, result_bytes = ?, error_code = ?, error_message = ? WHERE task_id = ?",
      {task_state_name(t.state), has_ended(t.state), t.cancel_requested, t.updated.ms, t.done, t.total,
       large ? std::string() : t.result_json, large ? t.result_json.size() : std::size_t{0}, t.error_code,
       t.error_message, t.id.str()});
}

Result<std::optional<Task>> SqlTasks::by_id(const TaskId& id) {
  return tx_.one(kSelect + "WHERE t.task_id = ?", {id.str()}, task_from);
}

Result<std::vector<Task>> SqlTasks::pending(const NodeId& node, std::uint64_t cursor, std::size_t limit) {
  return tx_.all(kSelect + "WHERE t.node_id = ? AND t.ended = 0 AND t.sequence > ? ORDER BY t.sequence LIMIT ?",
                 {node.str(), cursor, limit}, task_from);
}

Result<std::vector<Task>> SqlTasks::queued_up_to(const NodeId& node, std::uint64_t sequence) {
  return tx_.all(kSelect +
                     "WHERE t.node_id = ? AND t.ended = 0 AND t.state = 'queued' AND t.sequence <= ? "
                     "ORDER BY t.sequence",
                 {node.str(), sequence}, task_from);
}

Result<std::vector<TaskId>> SqlTasks::cancel_requested(const NodeId& node) {
  return tx_.all("SELECT task_id FROM task WHERE node_id = ? AND ended = 0 AND cancel_requested = 1 ORDER BY sequence",
                 {node.str()}, [](const sql::Row& row) { return id_at<TaskId>(row, 0); });
}

Result<std::vector<Task>> SqlTasks::of_node(const NodeId& node, bool include_ended, std::uint64_t below,
                                            std::size_t limit) {
  // Two statements, since the index of open tasks serves one that names its condition.
  const std::string open = include_ended ? "" : "AND t.ended = 0 ";
  return tx_.all(kSelectListed + "WHERE t.node_id = ?1 " + open +
                     "AND (?2 = 0 OR t.sequence < ?2) ORDER BY t.sequence DESC LIMIT ?3",
                 {node.str(), below, limit}, task_from);
}

Result<std::vector<Task>> SqlTasks::of_owner(const UserId& owner, bool include_ended,
                                             const std::optional<TaskPlace>& after, std::size_t limit) {
  const std::string open = include_ended ? "" : "AND t.ended = 0 ";
  const std::int64_t created = after ? after->created.ms : std::numeric_limits<std::int64_t>::max();
  return tx_.all(kSelectListed + "WHERE t.owner_id = ?1 " + open +
                     "AND (t.created_ms, t.task_id) < (?2, ?3) ORDER BY t.created_ms DESC, t.task_id DESC LIMIT ?4",
                 {owner.str(), created, after ? after->id.str() : std::string(), limit}, task_from);
}

Status SqlTasks::set_acked(const NodeId& node, std::uint64_t sequence) {
  return tx_.exec("UPDATE node SET acked_sequence = max(acked_sequence, ?) WHERE node_id = ?", {sequence, node.str()});
}

Result<std::vector<Task>> SqlTasks::queued_since(WallTime before, std::size_t limit) {
  return tx_.all(kSelect + "WHERE t.state = 'queued' AND t.created_ms < ? ORDER BY t.created_ms LIMIT ?",
                 {before.ms, limit}, task_from);
}

Status SqlTasks::prune(WallTime before) {
  return tx_.exec("DELETE FROM task WHERE ended = 1 AND updated_ms < ?", {before.ms});
}

Result<bool> SqlTasks::forget_first_ended(const UserId& created_by) {
  GT_ASSIGN(const std::int64_t forgotten,
            tx_.change("DELETE FROM task WHERE task_id = (SELECT task_id FROM task WHERE created_by = ? AND "
                       "by_server = 0 AND ended = 1 ORDER BY updated_ms LIMIT 1)",
                       {created_by.str()}));
  return forgotten > 0;
}

Result<std::vector<NodeId>> SqlNodeEffects::content_closed(const ContentId& content, const UserId& by, WallTime now) {
  // One that a node still has to do is enough, however often the content comes back and goes again.
  const std::string work = work_to_json(StopSeedingTask{content.str()});
  GT_ASSIGN(auto nodes,
            tx_.all("SELECT DISTINCT node_id FROM replica r WHERE content_id = ?1 AND NOT EXISTS (SELECT 1 FROM task t "
                    "WHERE t.node_id = r.node_id AND t.ended = 0 AND t.by_server = 1 AND t.work = ?2) ORDER BY node_id",
                    {content.str(), work}, [](const sql::Row& row) { return id_at<NodeId>(row, 0); }));
  for (const NodeId& node : nodes) {
    Task task;
    task.id = TaskId::make(now, rng_);
    task.node = node;
    task.work = StopSeedingTask{content.str()};
    task.created_by = by;
    task.by_server = true;
    task.created = now;
    task.updated = now;
    GT_ASSIGN(const std::uint64_t sequence, tasks_.append(task));
    GT_CHECK(sequence > 0);
  }
  return nodes;
}

Result<std::uint64_t> SqlNodeEffects::count_nodes(const UserId& owner) {
  GT_ASSIGN(const auto count, tx_.one("SELECT nodes FROM node_count WHERE owner_id = ?", {owner.str()},
                                      [](const sql::Row& row) { return row.u64(0); }));
  return count.value_or(0);
}

Result<bool> SqlNodeEffects::has_node(const NodeId& node) {
  GT_ASSIGN(const auto found, tx_.one("SELECT 1 FROM node WHERE node_id = ?", {node.str()},
                                      [](const sql::Row& row) { return row.i64(0); }));
  return found.has_value();
}

Result<std::uint64_t> SqlNodeEffects::count_tasks(const UserId& by) {
  GT_ASSIGN(const auto count, tx_.one("SELECT count(*) FROM task WHERE created_by = ? AND by_server = 0", {by.str()},
                                      [](const sql::Row& row) { return row.u64(0); }));
  return count.value_or(0);
}

}  // namespace gridtorrent::tracker::store
