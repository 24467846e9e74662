#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <tuple>

#include "client/core/node_store.h"

namespace gridtorrent::testing {

/// A NodeStore without a disk; outlives a NodeCore to play a restart. Passes the same contract suite as the real one.
class MemoryNodeStore final : public client::NodeStore {
 public:
  Status put_transfers(std::span<const client::TransferRow> rows) override {
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    for (const auto& row : rows) transfers_[row.id] = row;
    return {};
  }
  Status erase_transfer(const TransferId& id) override {
    const std::lock_guard lock(mutex_);
    transfers_.erase(id);
    resume_.erase(id);
    std::erase_if(rates_, [&](const auto& one) { return one.second.transfer == id; });
    known_files_.erase(id);
    return {};
  }
  Result<std::vector<client::TransferRow>> transfers() override {
    const std::lock_guard lock(mutex_);
    std::vector<client::TransferRow> rows;
    for (const auto& [id, row] : transfers_) rows.push_back(row);
    return rows;
  }
  Status save_resume(const TransferId& id, const std::string& data) override {
    const std::lock_guard lock(mutex_);
    if (transfers_.contains(id)) resume_[id] = data;
    return {};
  }
  Result<std::optional<std::string>> load_resume(const TransferId& id) override {
    const std::lock_guard lock(mutex_);
    const auto found = resume_.find(id);
    return found == resume_.end() ? std::optional<std::string>() : std::optional(found->second);
  }
  Status save_known_files(const TransferId& id, const client::KnownFiles& files) override {
    const std::lock_guard lock(mutex_);
    if (transfers_.contains(id)) known_files_[id] = files;
    return {};
  }
  Result<client::KnownFiles> load_known_files(const TransferId& id) override {
    const std::lock_guard lock(mutex_);
    const auto found = known_files_.find(id);
    return found == known_files_.end() ? client::KnownFiles() : found->second;
  }
  Status put_publish(const client::PublishRow& row) override {
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    publishes_[row.request_id] = row;
    return {};
  }
  Status erase_publish(const std::string& request_id) override {
    const std::lock_guard lock(mutex_);
    publishes_.erase(request_id);
    return {};
  }
  Result<std::vector<client::PublishRow>> publishes() override {
    const std::lock_guard lock(mutex_);
    std::vector<client::PublishRow> rows;
    for (const auto& [id, row] : publishes_) rows.push_back(row);
    return rows;
  }
  Status save_metadata(const std::string& sha256, const std::string& document) override {
    const std::lock_guard lock(mutex_);
    metadata_[sha256] = document;
    return {};
  }
  Result<std::optional<std::string>> load_metadata(const std::string& sha256) override {
    const std::lock_guard lock(mutex_);
    const auto found = metadata_.find(sha256);
    return found == metadata_.end() ? std::optional<std::string>() : std::optional(found->second);
  }
  Status put_audience(const client::SavedAudience& audience) override {
    const std::lock_guard lock(mutex_);
    audiences_[audience.list.ref.id] = audience;
    return {};
  }
  Status erase_audience(const std::string& id) override {
    const std::lock_guard lock(mutex_);
    audiences_.erase(id);
    return {};
  }
  Result<std::vector<client::SavedAudience>> audiences() override {
    const std::lock_guard lock(mutex_);
    std::vector<client::SavedAudience> all;
    for (const auto& [id, audience] : audiences_) all.push_back(audience);
    return all;
  }
  Status set_audiences(const std::vector<std::pair<TransferId, std::string>>& audiences) override {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, audience] : audiences) {
      if (const auto found = transfers_.find(id); found != transfers_.end()) found->second.content.audience = audience;
    }
    return {};
  }
  Status note_confirmed(WallTime heard, const std::vector<client::SavedAudience>& confirmed) override {
    const std::lock_guard lock(mutex_);
    heard_ = heard;
    for (const auto& one : confirmed) {
      const auto known = audiences_.find(one.list.ref.id);
      if (known != audiences_.end() && known->second.list.ref == one.list.ref) known->second.confirmed = one.confirmed;
    }
    return {};
  }
  Result<std::optional<WallTime>> heard() override {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  Status put_tuning(const client::TuningRecord& record) override {
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    tunings_[record.transfer] = record;
    std::map<std::uint64_t, TransferId> ended;
    for (const auto& [id, one] : tunings_) {
      if (!one.running) ended[one.sequence] = id;
    }
    if (ended.size() > client::kEndedTunings) tunings_.erase(ended.begin()->second);
    return {};
  }
  Result<std::vector<client::TuningRecord>> tunings() override {
    const std::lock_guard lock(mutex_);
    std::vector<client::TuningRecord> records;
    for (const auto& [id, record] : tunings_) records.push_back(record);
    std::ranges::sort(records, {}, &client::TuningRecord::sequence);
    return records;
  }
  Status put_rates(std::span<const client::RateBlock> blocks, WallTime now) override {
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    for (const auto& block : blocks) {
      if (!transfers_.contains(block.transfer)) continue;
      rates_[{block.transfer, block.seconds, block.points.front().at}] = block;
    }
    std::erase_if(rates_, [&](const auto& one) {
      const auto& [name, block] = one;
      const auto kept = block.seconds ? std::chrono::milliseconds(client::kSecondsKept) : client::kRatesKept;
      return block.points.back().at <= now - kept;
    });
    return {};
  }
  Result<std::vector<client::RateBlock>> rates(const TransferId& id, WallTime from) override {
    const std::lock_guard lock(mutex_);
    std::vector<client::RateBlock> blocks;
    for (const auto& [name, block] : rates_) {
      if (block.transfer == id && block.points.back().at > from) blocks.push_back(block);
    }
    return blocks;
  }
  Status put_path(const client::PathRecord& record) override {
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    paths_[record.key] = record;
    return {};
  }
  Status erase_paths(const std::vector<client::PathKey>& keys) override {
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    for (const auto& key : keys) paths_.erase(key);
    return {};
  }
  Result<std::vector<client::PathRecord>> paths() override {
    const std::lock_guard lock(mutex_);
    std::vector<client::PathRecord> all;
    for (const auto& [key, record] : paths_) all.push_back(record);
    return all;
  }
  Status put_task(const client::TaskRow& row) override {
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    tasks_[row.task.id] = row;
    return {};
  }
  Result<std::optional<client::TaskRow>> find_task(const TaskId& id) override {
    const std::lock_guard lock(mutex_);
    const auto found = tasks_.find(id);
    return found == tasks_.end() ? std::optional<client::TaskRow>() : std::optional(found->second);
  }
  Result<std::vector<client::TaskRow>> open_tasks() override {
    const std::lock_guard lock(mutex_);
    std::map<std::uint64_t, client::TaskRow> open;
    for (const auto& [id, row] : tasks_) {
      const auto state = row.report.state;
      const bool ended = state == client::TaskState::kDone || state == client::TaskState::kFailed ||
                         state == client::TaskState::kCancelled || state == client::TaskState::kUnsupported;
      if (!ended || row.report_pending) open[row.task.sequence] = row;
    }
    std::vector<client::TaskRow> rows;
    for (const auto& [sequence, row] : open) rows.push_back(row);
    return rows;
  }
  Result<std::uint64_t> task_cursor() override {
    const std::lock_guard lock(mutex_);
    std::uint64_t highest = 0;
    for (const auto& [id, row] : tasks_) highest = std::max(highest, row.task.sequence);
    return highest;
  }

  /// The disk refuses from now on.
  void fail(std::optional<Error> failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
  }

 private:
  std::mutex mutex_;
  std::optional<Error> failure_;
  std::map<TransferId, client::TransferRow> transfers_;
  std::map<TransferId, std::string> resume_;
  std::map<TransferId, client::KnownFiles> known_files_;
  std::map<std::string, client::PublishRow> publishes_;
  std::map<std::string, client::SavedAudience> audiences_;
  std::optional<WallTime> heard_;
  std::map<TransferId, client::TuningRecord> tunings_;
  std::map<std::string, std::string> metadata_;
  std::map<client::PathKey, client::PathRecord> paths_;
  std::map<std::tuple<TransferId, bool, WallTime>, client::RateBlock> rates_;
  std::map<TaskId, client::TaskRow> tasks_;
};

}  // namespace gridtorrent::testing
