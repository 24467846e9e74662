#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "client/engine/libtorrent_engine.h"
#include "common/rng.h"

namespace gridtorrent::client::engine::test {

/// Content for a torrent: names and bytes, and the info dictionary over them, made by hand.
struct Sample {
  std::vector<std::string> names;
  std::vector<std::string> bytes;
  std::uint32_t piece_bytes = 64 * 1024;
  std::string ca_pem = {};  ///< makes it a TLS edition

  std::string info_dict() const;
  std::uint64_t total() const;
  /// Writes the files below a folder.
  void write(const std::string& folder) const;
  /// The names of files below `folder` that are not exactly as in the sample.
  std::vector<std::string> differing(const std::string& folder) const;
};
std::string random_bytes(std::size_t count, std::uint64_t seed);
Sample one_file(std::size_t bytes, std::uint64_t seed = 1);

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& bytes);

/// A folder that is gone at the end of the test.
class Folder {
 public:
  Folder();
  ~Folder();
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Remembers what the engine tells.
class Recorder final : public EngineListener {
 public:
  void torrent_changed(const TransferId& id) override;
  void piece_verified(const TransferId& id, std::uint32_t piece) override;
  void warning(const TransferId& id, const std::string& message) override;

  std::set<std::uint32_t> pieces() const;
  std::vector<std::string> warnings() const;
  std::function<void(std::uint32_t piece)> on_piece;  ///< set before the engine starts

 private:
  mutable std::mutex mutex_;
  std::set<std::uint32_t> pieces_;
  std::vector<std::string> warnings_;
};

NodeId new_node();

/// An engine on loopback with free ports. `proves`: it has its key; an older one has none. `id`: of another node for
/// who only calls itself that; keys are known by the first of an id. `grants`: congestion controls that others may ask
/// for.
class Node {
 public:
  explicit Node(const std::string& address = "127.0.0.1", std::function<void(std::uint32_t)> on_piece = {},
                bool tls_lanes = false, bool proves = true, const NodeId& id = new_node(),
                std::vector<std::string> grants = {});
  ~Node() { engine->stop(); }

  /// What others need in their plan to reach this node; at most `ports` endpoints. Plans name the keys of all nodes of
  /// the test program, as a server would.
  PeerPlan peer(int lanes, bool dial = true, std::size_t ports = 16) const;
  void seed(const Sample& sample, const std::string& folder, const TransferId& id,
            std::shared_ptr<const Audience> audience = nullptr);
  void fetch(const Sample& sample, const std::string& folder, const TransferId& id,
             std::shared_ptr<const Audience> audience = nullptr);
  void plan(const TransferId& id, std::vector<PeerPlan> peers);
  TorrentSnapshot snapshot(const TransferId& id) const;

  NodeId id;
  Recorder recorder;
  std::unique_ptr<Engine> engine;

 private:
  std::uint64_t revision_ = 0;
};

TorrentSpec spec_of(const Sample& sample, const std::string& folder, const TransferId& id, DiskTrust trust);
TransferId new_transfer();
int open_lanes(const TorrentSnapshot& snapshot, const NodeId& node);
bool is_whole(const TorrentSnapshot& snapshot);
/// It believes that `node` has all.
bool sees_complete(const TorrentSnapshot& snapshot, const NodeId& node);

/// Looks again every few milliseconds until true; false once the time is up.
bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = std::chrono::seconds(20));
/// True if the condition stays true all that time.
bool stays(const std::function<bool()>& condition, std::chrono::milliseconds time);

/// A transfer that is slow enough to watch, until its limit is taken away.
struct SlowPair {
  SlowPair() {
    sample.write(folder / "seed");
    seeder.seed(sample, folder / "seed", transfer);
    leecher.fetch(sample, folder / "get", transfer);
    leecher.engine->set_rate_limit(transfer, 8'000'000, 0);
  }
  /// Both ends see that many open lanes.
  bool stand(int lanes, std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    return eventually(
        [&] {
          return open_lanes(leecher.snapshot(transfer), seeder.id) == lanes &&
                 open_lanes(seeder.snapshot(transfer), leecher.id) == lanes;
        },
        limit);
  }
  const Folder folder;
  const Sample sample = one_file(60'000'000);
  const TransferId transfer = new_transfer();
  Node seeder, leecher;
};

}  // namespace gridtorrent::client::engine::test
