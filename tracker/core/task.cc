#include "tracker/core/task.h"

#include <algorithm>
#include <array>

#include "ccm/domain/names.h"
#include "common/ids.h"
#include "common/text.h"
#include "metainfo/manifest.h"

namespace gridtorrent::tracker {

namespace {

constexpr std::array<std::string_view, 7> kStateNames = {"queued", "delivered", "running",    "done",
                                                         "failed", "cancelled", "unsupported"};
constexpr std::size_t kMaxGlobs = 1000;
constexpr std::size_t kMaxAccessText = 100'000;
constexpr std::size_t kMaxReferenceBytes = 1000;
constexpr std::size_t kMaxRootBytes = 64;
constexpr std::size_t kMaxPathBytes = 4096;
constexpr std::int32_t kMaxLanes = 32;
constexpr std::int32_t kMaxSeeders = 1000;
constexpr std::int32_t kMaxPriority = 1000;
constexpr std::size_t kMaxTunerBytes = 64;
constexpr std::uint64_t kMaxRate = 1'000'000'000'000'000;
constexpr std::int64_t kLatestMs = 253'402'300'799'999;  // 9999-12-31T23:59:59.999Z

bool is_root_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/// "ROOT" or "ROOT:relative/path".
Status check_root_path(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return Error{Code::kInvalid, "place \"" + escape_for_display(text.substr(0, 200)) + "\" is refused: " +
                                     std::string(why) + "; write ROOT:relative/path with a root of the node"};
  };
  const std::size_t colon = text.find(':');
  const std::string_view root = text.substr(0, colon);
  if (root.empty() || root.size() > kMaxRootBytes || !std::all_of(root.begin(), root.end(), is_root_character)) {
    return wrong("it names no root");
  }
  if (colon == std::string_view::npos) return {};
  std::string_view path = text.substr(colon + 1);
  if (path.size() > kMaxPathBytes || path.find('\0') != std::string_view::npos) return wrong("the path is too long");
  if (path.starts_with('/')) return wrong("the path is absolute");
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") return wrong("the path leaves the root");
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return {};
}

Status check_content_id(const std::string& text) {
  if (auto id = ContentId::parse(text); !id) return id.error();
  return {};
}

Status check_range(std::string_view what, std::int32_t value, std::int32_t low, std::int32_t high) {
  if (value >= low && value <= high) return {};
  return Error{Code::kInvalid, std::string(what) + " " + std::to_string(value) + " is refused: " + std::to_string(low) +
                                   " to " + std::to_string(high)};
}

/// Which tuners and modes there are is the node's to say.
Status check_name(std::string_view what, const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  if (name.size() <= kMaxTunerBytes && std::ranges::all_of(name, is_letter)) return {};
  return Error{Code::kInvalid, std::string(what) + " \"" + escape_for_display(name.substr(0, 100)) +
                                   "\" is refused: a name of at most 64 small letters, digits and -"};
}

Status check_wish(const GetTask& task) {
  GT_TRY(check_name("tuner", task.tuner));
  GT_TRY(check_name("mode", task.mode));
  if (task.target_bits_per_s > kMaxRate || task.floor_bits_per_s > kMaxRate) {
    return Error{Code::kInvalid, "a rate above 1 Pbit/s is refused"};
  }
  if (task.by_ms < 0 || task.by_ms > kLatestMs) {
    return Error{Code::kInvalid, "the time to be done by is refused: it lies before 1970 or after 9999"};
  }
  return {};
}

Status check_base_name(const std::string& name) {
  if (name.empty()) return {};
  const Status valid = metainfo::validate_component(name);
  return valid ? valid : Status(valid.error().with_context("the name on disk"));
}

Status check_patterns(const std::vector<std::string>& patterns) {
  if (patterns.size() > kMaxGlobs) return Error{Code::kInvalid, "more than 1000 patterns of files"};
  for (const std::string& pattern : patterns) {
    if (pattern.empty() || pattern.size() > kMaxPathBytes)
      return Error{Code::kInvalid, "a pattern of files is empty or too long"};
  }
  return {};
}

Status check_new_content(const PublishTask& task) {
  GT_ASSIGN(const std::string name, ccm::normalize_content_name(task.name));
  GT_TRY(ccm::check_new_content_name(name));
  if (!task.access.empty() && task.access.size() <= kMaxAccessText) return {};
  return Error{Code::kInvalid, "the access \"" + escape_for_display(task.access.substr(0, 200)) +
                                   "\" is refused: public, private, or user:NAME,..."};
}

/// Whether there is such a content is looked at when the task begins.
Status check_new_version(const PublishTask& task) {
  if (!task.name.empty() || !task.access.empty()) {
    return Error{Code::kInvalid, "a new version keeps the content's name and access: leave both out"};
  }
  if (!task.description.empty() || !task.license.empty() || !task.tags.empty()) {
    return Error{Code::kInvalid,
                 "a new version keeps what is said of the content: leave out description, licence and tags"};
  }
  if (task.update.size() <= kMaxReferenceBytes) return {};
  return Error{Code::kInvalid, "the content that is to get a new version is named in more than " +
                                   std::to_string(kMaxReferenceBytes) + " bytes"};
}

struct Checker {
  Status operator()(const PublishTask& task) const {
    GT_TRY(check_root_path(task.root_path));
    GT_TRY(task.update.empty() ? check_new_content(task) : check_new_version(task));
    GT_TRY(check_patterns(task.exclude));
    GT_TRY(check_patterns(task.include));
    if (task.links == "follow") {
      return Error{Code::kDenied, escape_for_display(task.root_path) +
                                      " lies below a named root, where no symbolic link is followed; publish it with "
                                      "--links skip or keep, or on the node's own machine"};
    }
    if (!task.links.empty() && task.links != "skip" && task.links != "keep") {
      return Error{Code::kInvalid,
                   "links are skipped or kept; \"" + escape_for_display(task.links.substr(0, 100)) + "\" is refused"};
    }
    if (auto tags = ccm::normalize_tags(task.tags); !tags) return tags.error();
    if (auto text = ccm::normalize_text("description", task.description, ccm::kMaxDescriptionBytes, true); !text) {
      return text.error();
    }
    auto license = ccm::normalize_text("license", task.license, ccm::kMaxLicenseBytes, false);
    return license ? Status() : Status(license.error());
  }
  Status operator()(const GetTask& task) const {
    GT_TRY(check_content_id(task.content));
    if (!task.root_path.empty()) GT_TRY(check_root_path(task.root_path));
    GT_TRY(check_patterns(task.globs));
    GT_TRY(check_base_name(task.base_name));
    GT_TRY(check_range("lanes", task.lanes, 0, kMaxLanes));
    GT_TRY(check_range("seeders", task.seeders, 0, kMaxSeeders));
    GT_TRY(check_wish(task));
    return check_range("priority", task.priority, -kMaxPriority, kMaxPriority);
  }
  Status operator()(const SeedTask& task) const {
    GT_TRY(check_content_id(task.content));
    return check_root_path(task.root_path);
  }
  Status operator()(const StopSeedingTask& task) const { return check_content_id(task.content); }
  Status operator()(const ListFolderTask& task) const {
    if (task.root_path.empty()) return {};  // the list of roots
    return check_root_path(task.root_path);
  }
  Status operator()(const TransferTask& task) const {
    if (auto id = TransferId::parse(task.transfer_id); !id) return id.error();
    if (task.command == "pause" || task.command == "resume" || task.command == "cancel") return {};
    return Error{Code::kInvalid, "command \"" + escape_for_display(task.command.substr(0, 100)) +
                                     "\" is refused: there are pause, resume and cancel"};
  }
};

struct KindOf {
  std::string_view operator()(const PublishTask&) const { return "publish"; }
  std::string_view operator()(const GetTask&) const { return "get"; }
  std::string_view operator()(const SeedTask&) const { return "seed"; }
  std::string_view operator()(const StopSeedingTask&) const { return "stop_seeding"; }
  std::string_view operator()(const ListFolderTask&) const { return "list_folder"; }
  std::string_view operator()(const TransferTask&) const { return "transfer"; }
};

}  // namespace

std::string_view task_kind(const TaskWork& work) {
  return std::visit(KindOf{}, work);
}
Status check_task_work(const TaskWork& work) {
  return std::visit(Checker{}, work);
}

std::string_view task_state_name(TaskState state) {
  return kStateNames.at(static_cast<std::size_t>(state));
}

Result<TaskState> parse_task_state(std::string_view text) {
  for (std::size_t i = 0; i < kStateNames.size(); ++i) {
    if (kStateNames[i] == text) return static_cast<TaskState>(i);
  }
  return Error{Code::kInvalid, "no state \"" + escape_for_display(text.substr(0, 100)) + "\" of a task"};
}

Task apply_report(const Task& task, const TaskReport& report, WallTime now) {
  if (has_ended(task.state)) return task;
  Task next = task;
  // A report without an end says that the node is at it.
  next.state = has_ended(report.state) ? report.state : TaskState::kRunning;
  next.done = report.done;
  next.total = report.total;
  next.result_json = report.result_json;
  next.error_code = report.error_code;
  next.error_message = report.error_message;
  if (next != task) next.updated = now;
  return next;
}

Task apply_cancel(const Task& task, WallTime now) {
  if (has_ended(task.state) || task.cancel_requested) return task;
  Task next = task;
  next.cancel_requested = true;
  next.updated = now;
  if (task.state == TaskState::kQueued) next.state = TaskState::kCancelled;
  return next;
}

Task apply_ack(const Task& task, WallTime now) {
  if (task.state != TaskState::kQueued) return task;
  Task next = task;
  next.state = TaskState::kDelivered;
  next.updated = now;
  return next;
}

Task apply_expiry(const Task& task, WallTime now) {
  if (task.state != TaskState::kQueued || now - task.created < kTaskLifetime) return task;
  Task next = task;
  next.state = TaskState::kFailed;
  next.error_code = "timeout";
  next.error_message = "the node did not take it up within 30 days";
  next.updated = now;
  return next;
}

}  // namespace gridtorrent::tracker
