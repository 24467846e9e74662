#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "client/core/engine_events.h"
#include "client/core/node_core.h"
#include "client/tuning/diagnosis.h"
#include "common/hex.h"
#include "tests/support/fake_engine.h"
#include "tests/support/fake_files.h"
#include "tests/support/fake_link.h"
#include "tests/support/memory_node_store.h"
#include "tests/support/recording_tuner.h"

namespace gridtorrent::testing {

/// Certificates without keys.
class FakePapers final : public client::LanePapers {
 public:
  explicit FakePapers(const Clock& clock) : clock_(clock) {}
  Result<std::string> request() const override { return std::string("request"); }
  Status keep(const std::vector<client::IssuedCertificate>& certificates) override {
    const std::lock_guard lock(mutex_);
    papers_.clear();
    for (const auto& one : certificates) {
      papers_.push_back(
          {one.generation, {one.certificate_pem, "key"}, clock_.wall(), clock_.wall() + std::chrono::hours(24 * 7)});
    }
    return {};
  }
  std::vector<Paper> papers() const override {
    const std::lock_guard lock(mutex_);
    return papers_;
  }

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<Paper> papers_;
};

/// A NodeCore over fakes, and a disk and a server that outlive it. Time stands still but where a test turns the hands;
/// waiting is for conditions, with a deadline of real time.
class NodeFixture : public ::testing::Test {
 protected:
  NodeFixture() { start(); }
  ~NodeFixture() override { end(); }

  void start() {
    events_ = std::make_unique<client::EngineEvents>();
    engine_ = std::make_unique<FakeEngine>(*events_);
    client::NodeOptions options;
    options.node = node_id_;
    options.owner = "ada";
    options.server = "server:1";
    options.data_dir = "/data";
    options.settings = {{{"raw", "/raw"}}, {{"in", "/in"}, {"other", "/other"}}, 2};
    options.most_idle_torrents = most_idle_torrents_;
    const client::NodePorts ports{*engine_,
                                  files_,
                                  link_,
                                  store_,
                                  files_,
                                  tuner_,
                                  diagnosis_,
                                  *papers_,
                                  clock_,
                                  rng_,
                                  [this](client::NodeLogLevel, const std::string& line) {
                                    const std::lock_guard lock(log_mutex_);
                                    log_.push_back(line);
                                  }};
    node_ = std::make_unique<client::NodeCore>(ports, options, *events_);
    ASSERT_TRUE(node_->start().ok());
  }
  void end() {
    if (node_) node_->stop();
    node_.reset();
    engine_.reset();
    events_.reset();
  }
  /// As after an orderly end.
  void restart() {
    end();
    start();
  }

  /// One folder "data" with a file of 3 bytes and one of 5, published as ada/`name`.
  client::ContentInfo published(const std::string& name, const std::string& access = "public") {
    metainfo::VersionMetadata metadata = metadata_of("data");
    metadata.segments.front().piece_hashes = std::string(20, static_cast<char>('a' + contents_++));
    return link_.with([&](FakeLink::State& state) {
      auto& content = state.contents[name];
      content.name = name;
      content.access_level = access;
      content.generation = access == "public" ? 0 : 1;
      content.ca_pem = access == "public" ? "" : "CA 1";
      FakeLink::describe(content, ContentId::make(clock_.wall(), rng_), metadata);
      state.metadata[content.id] = metadata;
      return content;
    });
  }
  static metainfo::VersionMetadata metadata_of(const std::string& base) {
    metainfo::VersionMetadata metadata;
    metadata.manifest.base_name = base;
    crypto::Sha256Digest root{};
    root.fill(7);
    metadata.manifest.entries = {{"", metainfo::EntryKind::kFolder, 0, 0755, 1, {}},
                                 {"a", metainfo::EntryKind::kFile, 3, 0644, 1, root},
                                 {"sub", metainfo::EntryKind::kFolder, 0, 0755, 1, {}},
                                 {"sub/b", metainfo::EntryKind::kFile, 5, 0644, 1, root}};
    metadata.segments = {{256 * 1024, std::string(20, 'x')}};
    return metadata;
  }

  client::GetJob job(const std::string& content, const std::string& target = "/home/in") {
    client::GetJob made;
    made.content = content;
    made.target = target;
    return made;
  }
  Result<client::TransferView> get(const client::GetJob& wish) {
    bool joined = false;
    return node_->get(wish, joined);
  }

  /// Waits, 10 s at most, until the transfer satisfies `condition`; fails with what it is like otherwise.
  client::TransferView wait_until(const TransferId& id,
                                  const std::function<bool(const client::TransferView&)>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    std::uint64_t seen = 0;
    client::TransferView last;
    while (std::chrono::steady_clock::now() < deadline) {
      const auto view = node_->wait_for_change(id, seen, std::chrono::milliseconds(200));
      if (!view) {
        ADD_FAILURE() << view.error().message;
        return last;
      }
      last = *view;
      if (condition(last)) return last;
      seen = last.revision;
    }
    ADD_FAILURE() << "still " << client::transfer_state_name(last.state) << ", "
                  << (last.error ? last.error->message : "no error") << ", " << last.waiting_for;
    return last;
  }
  client::TransferView wait_for(const TransferId& id, client::TransferState state) {
    return wait_until(id, [&](const auto& view) { return view.state == state; });
  }
  /// Waits until `condition` holds, turning the hands by `step` each time so that timers come due.
  ::testing::AssertionResult eventually(const std::function<bool()>& condition,
                                        std::chrono::milliseconds step = std::chrono::milliseconds(100)) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    std::mutex mutex;
    std::condition_variable never;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return ::testing::AssertionFailure() << "it never happened";
      clock_.advance(step);
      std::unique_lock lock(mutex);
      never.wait_for(lock, std::chrono::milliseconds(5));
      events_->torrent_changed({});  // rings the bell
    }
    return ::testing::AssertionSuccess();
  }
  /// The engine has it and everything came.
  void complete(const TransferId& id) {
    ASSERT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
    engine_->completes(id);
  }
  /// Every attempt of the engine ends with a disk that refuses, until the node gives up.
  void gives_up_on_its_disk(const TransferId& id) {
    ASSERT_TRUE(eventually([&] {
      if (engine_->torrent(id)) {
        engine_->happens(id, [](auto& snapshot) {
          snapshot.state = client::TorrentState::kError;
          snapshot.error = {Code::kDisk, "Read-only file system"};
        });
      }
      return node_->transfer(id)->state == client::TransferState::kFailed;
    }));
  }
  client::TransferView fetched(const client::GetJob& wish) {
    const auto view = get(wish);
    if (!view) {
      ADD_FAILURE() << view.error().message;
      return {};
    }
    complete(view->id);
    return wait_for(view->id, client::TransferState::kSeeding);
  }

  ManualClock clock_;
  SeededRng rng_{42};
  NodeId node_id_ = NodeId::make(clock_.wall(), rng_);
  FakeFiles files_;
  FakeLink link_;
  MemoryNodeStore store_;
  RecordingTuner tuner_;
  client::tuning::Diagnosis diagnosis_;
  std::unique_ptr<FakePapers> papers_ = std::make_unique<FakePapers>(clock_);
  std::mutex log_mutex_;
  std::vector<std::string> log_;
  int contents_ = 0;
  std::size_t most_idle_torrents_ = 100;  ///< for the next start
  std::unique_ptr<client::EngineEvents> events_;
  std::unique_ptr<FakeEngine> engine_;
  std::unique_ptr<client::NodeCore> node_;
};

}  // namespace gridtorrent::testing
