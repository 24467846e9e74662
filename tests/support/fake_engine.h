#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "client/core/engine.h"

namespace gridtorrent::testing {

/// An Engine that moves nothing: tests say what happened. Thread-safe.
class FakeEngine final : public client::Engine {
 public:
  explicit FakeEngine(client::EngineListener& listener) : listener_(listener) {}

  std::vector<client::LaneEndpoint> listening() const override {
    return {{"0.0.0.0", 50000, false, ""}, {"::", 50000, false, ""}};
  }
  void listen_on(const std::vector<std::string>&) override {}
  client::EngineLoad load() const override { return {}; }
  std::uint64_t refused_handshakes() const override { return refused_handshakes_; }
  void refuse_handshakes(std::uint64_t more) { refused_handshakes_ += more; }
  Status add(const client::TorrentSpec& spec) override {
    const std::lock_guard lock(mutex_);
    if (refuse_) return *refuse_;
    for (const auto& [id, torrent] : torrents_) {
      if (id == spec.id || torrent.spec.info_dict == spec.info_dict) {
        return Error{Code::kConflict, "the torrent is there already"};
      }
    }
    auto& torrent = torrents_[spec.id];
    torrent.spec = spec;
    added_.push_back(spec);
    torrent.snapshot.state =
        spec.trust == client::DiskTrust::kComplete ? client::TorrentState::kSeeding : client::TorrentState::kFetching;
    torrent.snapshot.wanted_bytes = 1;
    return {};
  }
  void remove(const TransferId& id) override {
    const std::lock_guard lock(mutex_);
    torrents_.erase(id);
  }
  Status set_save_path(const TransferId& id, const Place& path) override {
    const std::lock_guard lock(mutex_);
    if (!torrents_.contains(id)) return Error{Code::kNotFound, "no such torrent"};
    torrents_[id].spec.save_path = path;
    return {};
  }
  void set_plan(const TransferId& id, const client::LanePlan& plan) override {
    const std::lock_guard lock(mutex_);
    if (torrents_.contains(id)) torrents_[id].plan = plan;
  }
  void set_identity(std::uint32_t generation, const client::LaneIdentity& identity) override {
    const std::lock_guard lock(mutex_);
    identities_[generation] = identity.certificate_pem;
  }
  void set_audience(const TransferId& id, std::shared_ptr<const client::Audience> audience) override {
    const std::lock_guard lock(mutex_);
    if (torrents_.contains(id)) torrents_[id].spec.audience = std::move(audience);
  }
  void set_rate_limit(const TransferId& id, std::uint64_t receive, std::uint64_t send) override {
    const std::lock_guard lock(mutex_);
    if (!torrents_.contains(id)) return;
    torrents_[id].receive_limit = receive;
    torrents_[id].send_limit = send;
  }
  void set_node_limit(std::uint64_t receive, std::uint64_t send) override {
    const std::lock_guard lock(mutex_);
    node_limit_ = {receive, send};
  }
  std::pair<std::uint64_t, std::uint64_t> node_limit() const {
    const std::lock_guard lock(mutex_);
    return node_limit_;
  }
  void pause(const TransferId& id) override {
    const std::lock_guard lock(mutex_);
    if (torrents_.contains(id)) torrents_[id].paused = true;
  }
  void resume(const TransferId& id) override {
    const std::lock_guard lock(mutex_);
    if (!torrents_.contains(id)) return;
    auto& torrent = torrents_[id];
    torrent.paused = false;
    if (torrent.snapshot.state == client::TorrentState::kError)
      torrent.snapshot.state = client::TorrentState::kFetching;
  }
  std::optional<client::TorrentSnapshot> snapshot(const TransferId& id) const override {
    const std::lock_guard lock(mutex_);
    const auto found = torrents_.find(id);
    if (found == torrents_.end()) return std::nullopt;
    return found->second.snapshot;
  }
  Result<std::string> resume_data(const TransferId& id) override {
    const std::lock_guard lock(mutex_);
    if (!torrents_.contains(id)) return Error{Code::kNotFound, "no such torrent"};
    if (failing_syncs_ > 0) {
      --failing_syncs_;
      return Error{Code::kDisk, "cannot sync it: Input/output error"};
    }
    ++resumes_saved_;
    return "resume " + id.str();
  }
  Result<std::string> resume_data_for(const TransferId& id, const std::vector<bool>& wanted) override {
    GT_ASSIGN(std::string data, resume_data(id));
    data += " for ";
    for (const bool one : wanted) data += one ? '1' : '0';
    return data;
  }
  void stop() override {}

  // For tests.
  struct Torrent {
    client::TorrentSpec spec;
    client::TorrentSnapshot snapshot;
    client::LanePlan plan;
    bool paused = false;
    std::uint64_t receive_limit = 0, send_limit = 0;
  };
  std::optional<Torrent> torrent(const TransferId& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = torrents_.find(id);
    return found == torrents_.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<client::TorrentSpec> added() const {
    const std::lock_guard lock(mutex_);
    return added_;
  }
  /// The certificates shown, by generation.
  std::map<std::uint32_t, std::string> identities() const {
    const std::lock_guard lock(mutex_);
    return identities_;
  }
  int resumes_saved() const {
    const std::lock_guard lock(mutex_);
    return resumes_saved_;
  }
  /// Changes what the engine says of a torrent, and tells the listener.
  template <class F>
  void happens(const TransferId& id, F&& change) {
    {
      const std::lock_guard lock(mutex_);
      change(torrents_[id].snapshot);
    }
    listener_.torrent_changed(id);
  }
  void completes(const TransferId& id) {
    happens(id, [](auto& snapshot) {
      snapshot.state = client::TorrentState::kComplete;
      snapshot.verified_bytes = snapshot.wanted_bytes;
    });
  }
  /// So often what was written does not reach the disk.
  void fail_syncs(int times) {
    const std::lock_guard lock(mutex_);
    failing_syncs_ = times;
  }
  int failing_syncs() const {
    const std::lock_guard lock(mutex_);
    return failing_syncs_;
  }
  void refuse_adding(std::optional<Error> error) {
    const std::lock_guard lock(mutex_);
    refuse_ = std::move(error);
  }

 private:
  client::EngineListener& listener_;
  std::atomic<std::uint64_t> refused_handshakes_ = 0;
  mutable std::mutex mutex_;
  std::map<TransferId, Torrent> torrents_;
  std::vector<client::TorrentSpec> added_;
  std::optional<Error> refuse_;
  std::pair<std::uint64_t, std::uint64_t> node_limit_{};  ///< bits a second, received and sent
  std::map<std::uint32_t, std::string> identities_;
  int resumes_saved_ = 0, failing_syncs_ = 0;
};

}  // namespace gridtorrent::testing
