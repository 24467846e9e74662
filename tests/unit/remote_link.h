#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/remote/grpc_link.h"
#include "tests/unit/remote_support.h"

/// A node's link to a server that the test plays, for tests.
namespace gridtorrent::client::remote {

template <class IdType>
IdType id(std::uint8_t tag) {
  typename IdType::Bytes bytes{};
  bytes[0] = tag;
  return IdType(bytes);
}

/// Writes down what the link says; own mutex.
class Recorder final : public ServerListener {
 public:
  void connected() override { note("connected"); }
  void disconnected(const Error& reason) override { note("lost: " + reason.message); }
  Status task(const Task& task) override {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(task);
    }
    note("task " + std::to_string(task.sequence));
    const std::lock_guard lock(mutex_);
    return refusals_.empty() ? Status() : std::exchange(refusals_, {}).front();
  }
  void refuse_the_next(const Error& error) {
    const std::lock_guard lock(mutex_);
    refusals_ = {error};
  }
  void task_cancelled(const TaskId& task) override { note("cancelled " + task.str()); }
  void peer_changed(const ContentId& content, std::uint32_t, const PeerInfo&) override {
    note("peer " + content.str());
  }
  void audience(const AudienceList& list) override {
    note("audience " + list.ref.id + " " + std::to_string(list.ref.version) + " of " +
         std::to_string(list.members->size()));
  }
  void audiences_confirmed(const std::vector<AudienceRef>& refs) override {
    note("confirmed " + (refs.empty() ? "nothing" : refs.front().id));
  }
  void content_changed(const std::optional<ContentId>& content) override {
    note("changed " + (content ? content->str() : "everything"));
  }

  /// The next thing said; waits up to 20 s.
  std::string next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(20), [&] { return !said_.empty(); })) return "nothing";
    std::string first = said_.front();
    said_.pop_front();
    return first;
  }
  std::vector<Task> tasks() {
    const std::lock_guard lock(mutex_);
    return tasks_;
  }

 private:
  void note(const std::string& what) {
    {
      const std::lock_guard lock(mutex_);
      said_.push_back(what);
    }
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> said_;
  std::vector<Task> tasks_;
  std::vector<Error> refusals_;
};

/// With a wish, as a newer server may send it.
inline v1::NodeEvent get_task(std::uint64_t sequence) {
  v1::NodeEvent event;
  v1::Task& task = *event.mutable_task();
  task.set_task_id(id<TaskId>(1).str());
  task.set_sequence(sequence);
  task.mutable_work()->mutable_get()->set_content_id(id<ContentId>(2).str());
  task.mutable_work()->mutable_get()->set_lanes(7);
  v1::TuningWish& wish = *task.mutable_work()->mutable_get()->mutable_wish();
  wish.set_mode("of a newer server");
  wish.set_floor_bits_per_s(8);
  wish.set_by_ms(9);
  return event;
}

class Link : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "gtlink-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ca_file_ = write("ca.pem", ca_.pem());
    clock_.set_wall(SystemClock().wall());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  void serve() { serve(ca_.issue()); }
  void serve(const testing::TestCa::Leaf& leaf) { server_ = std::make_unique<testing::FakeServer>(leaf); }
  ServerLinkOptions options() {
    ServerLinkOptions options;
    options.server = {server_->address(), ca_file_};
    options.credential = {"gtn_old", clock_.wall(), clock_.wall() + std::chrono::hours(24 * 90)};
    options.clock = &clock_;
    options.rng = &rng_;
    options.backoff_min = std::chrono::milliseconds(20);
    options.backoff_max = std::chrono::milliseconds(100);
    return options;
  }
  std::unique_ptr<RemoteLink> link() { return link(options()); }
  std::unique_ptr<RemoteLink> link(ServerLinkOptions options) {
    auto made = make_server_link(std::move(options));
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }
  /// The first line that the listener hears of a loss.
  std::string loss() {
    Recorder recorder;
    const auto one = link();
    one->start(recorder, 0);
    return recorder.next();
  }

  testing::TestCa ca_;
  std::string folder_, ca_file_;
  ManualClock clock_;
  SeededRng rng_{20'261'120};
  std::unique_ptr<testing::FakeServer> server_;
};

}  // namespace gridtorrent::client::remote
