#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::tracker {

struct PublishTask {
  std::string root_path;  ///< "ROOT:relative/path" below a share root of the node
  std::string name, access, description, license;
  std::vector<std::string> tags;
  bool strict = false;
  std::string request_id;
  std::string links = {};                               ///< "skip", "keep"; empty: skip
  std::vector<std::string> exclude = {}, include = {};  ///< patterns
  std::string update = {};  ///< the content that gets a new version, in place of name and access; empty: none
  bool has_rules() const { return !links.empty() || !exclude.empty() || !include.empty(); }
  friend bool operator==(const PublishTask&, const PublishTask&) = default;
};
struct GetTask {
  std::string content;    ///< id
  std::string root_path;  ///< below a download root; empty: the node's first
  std::vector<std::string> globs;
  std::int32_t lanes = 0, seeders = 0;  ///< 0: auto
  std::uint64_t limit_bits_per_s = 0;
  std::int32_t priority = 0;
  bool refetch = false;
  std::string tuner{}, mode{};                                ///< by name; empty: the node's
  std::uint64_t target_bits_per_s = 0, floor_bits_per_s = 0;  ///< 0: none
  std::int64_t by_ms = 0;                                     ///< when it is to be done; 0: whenever
  std::string base_name = {};                                 ///< what BASE is called there; empty: as published
  bool if_seeded = false;                                     ///< refuse where nobody serves what is to be fetched
  std::uint32_t version = 0;                                  ///< 0: the newest
  bool update = false;  ///< in the place of an earlier version that the node holds in the folder
  bool is_chosen() const { return !base_name.empty() || if_seeded; }
  bool is_of_version() const { return version != 0 || update; }
  friend bool operator==(const GetTask&, const GetTask&) = default;
};
struct SeedTask {
  std::string content, root_path;
  friend bool operator==(const SeedTask&, const SeedTask&) = default;
};
struct StopSeedingTask {
  std::string content;
  friend bool operator==(const StopSeedingTask&, const StopSeedingTask&) = default;
};
struct ListFolderTask {
  std::string root_path;
  friend bool operator==(const ListFolderTask&, const ListFolderTask&) = default;
};
struct TransferTask {
  std::string transfer_id;
  std::string command;  ///< "pause", "resume", "cancel"
  friend bool operator==(const TransferTask&, const TransferTask&) = default;
};
using TaskWork = std::variant<PublishTask, GetTask, SeedTask, StopSeedingTask, ListFolderTask, TransferTask>;

/// "publish", "get", "seed", "stop_seeding", "list_folder", "transfer".
std::string_view task_kind(const TaskWork& work);

/// Form only (a root name before the colon, no "..", an id where one is due): kInvalid. Whether the place is one of the
/// node's roots is the node's to say.
Status check_task_work(const TaskWork& work);

enum class TaskState : std::uint8_t { kQueued, kDelivered, kRunning, kDone, kFailed, kCancelled, kUnsupported };
std::string_view task_state_name(TaskState state);
Result<TaskState> parse_task_state(std::string_view text);
inline bool has_ended(TaskState state) {
  return state >= TaskState::kDone;
}

struct Task {
  TaskId id;
  NodeId node;
  std::uint64_t sequence = 0;  ///< per node, from 1, gapless but for a jump at a restore
  TaskWork work;
  TaskState state = TaskState::kQueued;
  bool cancel_requested = false;
  UserId created_by;
  std::string created_by_name;  ///< filled on reading
  WallTime created, updated;
  std::uint64_t done = 0, total = 0;
  std::string result_json, error_code, error_message;
  bool by_server = false;          ///< a change of a content made it: it counts in nobody's quota
  std::uint64_t result_bytes = 0;  ///< of a result that is left out here: in rows of lists
  friend bool operator==(const Task&, const Task&) = default;
};

struct TaskReport {
  TaskId task;
  TaskState state = TaskState::kRunning;  ///< kRunning or an end
  std::uint64_t done = 0, total = 0;
  std::string result_json, error_code, error_message;
};

inline constexpr std::size_t kMaxTaskTextBytes = 8192;
/// Of the work of one task as it is kept: a thousand patterns of files, or an access list of a thousand names.
inline constexpr std::size_t kMaxWorkBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxResultBytes = std::size_t{1} << 20;
/// Larger results are kept apart, and shown with their task alone: a page of a thousand tasks stays within
/// kMaxPageBytes, or near it.
inline constexpr std::size_t kMaxListedResultBytes = 1024;
inline constexpr std::chrono::milliseconds kTaskLifetime = std::chrono::hours(24 * 30);
inline constexpr std::chrono::milliseconds kEndedTaskLifetime = std::chrono::hours(24 * 30);

// The state machine, pure. Each returns the task as it should be kept; a repeated step returns it unchanged.

/// What a node's report makes of the task. The first end wins: any later report changes nothing, so that doing a task
/// twice is harmless.
Task apply_report(const Task& task, const TaskReport& report, WallTime now);
/// A task that no node has seen ends at once; otherwise the node is asked to. One that ended stays as it is.
Task apply_cancel(const Task& task, WallTime now);
/// The node has it: queued → delivered.
Task apply_ack(const Task& task, WallTime now);
/// Waiting for longer than kTaskLifetime without having been taken up: failed, "timeout".
Task apply_expiry(const Task& task, WallTime now);

}  // namespace gridtorrent::tracker
