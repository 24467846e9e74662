// moving_node DATA_DIR SOCKET COUNT --ready-file FILE: a node for bench/gui.py with very many transfers, COUNT of which
// move.
//
// Database, transfers, tuner, rate history and control API are those of gridtorrentd. Played are its engine and its
// server: four times a second each of the COUNT transfers has another rate, and one more is fetched, slowly, so that a
// window has a plot to show.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "client/control/control_server.h"
#include "client/core/engine_events.h"
#include "client/core/node_core.h"
#include "client/files/file_work.h"
#include "client/security/lane_certificates.h"
#include "client/security/node_identity.h"
#include "client/security/rooted_disk.h"
#include "client/store/sqlite_store.h"
#include "client/tuning/chosen.h"
#include "client/tuning/diagnosis.h"
#include "common/clock.h"
#include "common/rng.h"
#include "metainfo/metadata.h"
#include "tests/support/fake_engine.h"
#include "tests/support/fake_link.h"

namespace gridtorrent::bench {
namespace {

using namespace std::chrono_literals;
using testing::FakeEngine;
using testing::FakeLink;

constexpr timespec kTick{0, 250'000'000};
constexpr double kTicksPerSecond = 4;
constexpr int kLanes = 4;
constexpr std::uint64_t kFetchedBitsPerS = 4'000'000;

/// Rates that look random, and are the same in each run.
std::uint64_t played_rate(std::uint64_t transfer, std::uint64_t tick) {
  const std::uint64_t mixed = (transfer * 1'000'003 + tick) * 0x9e3779b97f4a7c15;
  return 1'000'000 + (mixed >> 32) % 90'000'000;
}

client::LaneSnapshot open_lane(int number, MonoTime now) {
  client::LaneSnapshot lane;
  lane.state = client::LaneState::kOpen;
  lane.number = number;
  lane.outgoing = lane.proven = lane.carries = true;
  lane.local = "198.18.0.7:50000";
  lane.remote = "198.18.0.8:50000";
  lane.sampled = now;
  return lane;
}

/// All of a node but libtorrent and the server. One thread calls it.
class MovingNode {
 public:
  Status start(const std::string& data_dir, const std::string& socket);
  ~MovingNode();

  /// Every transfer of the database is being seeded.
  bool is_up();
  std::size_t size() { return node_->transfers().size(); }
  /// From now on `count` of them move, and one more is fetched to `folder`.
  Status begin(std::size_t count, const std::string& folder);
  void tick();

 private:
  void move_fetched(MonoTime now);

  SystemClock clock_;
  SystemRng rng_;
  client::EngineEvents events_;
  FakeEngine engine_{events_};
  FakeLink link_;
  client::security::RootedDisk disk_;
  client::tuning::ChosenController tuner_{"auto", 1};
  client::tuning::Diagnosis diagnosis_;
  std::unique_ptr<client::LanePapers> papers_;
  std::unique_ptr<client::FileWork> files_;
  std::unique_ptr<client::store::SqliteStore> store_;
  std::unique_ptr<client::NodeCore> node_;
  std::unique_ptr<client::control::ControlServer> control_;

  std::vector<TransferId> moving_;
  TransferId fetched_;
  NodeId peer_ = NodeId::make(clock_.wall(), rng_);
  std::uint64_t tick_ = 0, fetched_bytes_ = 0;
};

Status MovingNode::start(const std::string& data_dir, const std::string& socket) {
  GT_ASSIGN(const auto identity, client::security::load_identity(data_dir));
  if (!identity) return Error{Code::kNotFound, data_dir + " is not the data folder of a node that is enrolled"};
  GT_ASSIGN(store_, client::store::SqliteStore::open({data_dir, {}}));
  GT_ASSIGN(papers_, client::security::open_lane_certificates(data_dir));
  files_ = client::files::make_file_work();
  link_.with([](FakeLink::State& state) { state.next_announce = 1h; });

  client::NodeOptions options;
  options.node = identity->node;
  options.owner_id = identity->owner_id;
  options.node_name = identity->node_name;
  options.owner = identity->owner;
  options.server = identity->server;
  options.data_dir = data_dir;
  const client::NodePorts ports{engine_,
                                *files_,
                                link_,
                                *store_,
                                disk_,
                                tuner_,
                                diagnosis_,
                                *papers_,
                                clock_,
                                rng_,
                                [](client::NodeLogLevel, const std::string&) {}};
  node_ = std::make_unique<client::NodeCore>(ports, options, events_);
  GT_TRY(node_->start());

  client::control::ControlOptions control;
  control.socket_path = socket;
  control.clock = &clock_;
  GT_ASSIGN(control_, client::control::ControlServer::start(std::move(control), *node_));
  return {};
}

MovingNode::~MovingNode() {
  control_.reset();
  if (node_) node_->stop();
}

bool MovingNode::is_up() {
  const auto all = node_->transfers();
  return std::ranges::all_of(all, [](const auto& view) { return view.state == client::TransferState::kSeeding; });
}

Status MovingNode::begin(std::size_t count, const std::string& folder) {
  for (const auto& spec : engine_.added()) {
    if (moving_.size() < count) moving_.push_back(spec.id);
  }
  if (moving_.size() < count) return Error{Code::kInvalid, "the engine holds fewer transfers than are to move"};

  GT_ASSIGN(const auto rows, store_->transfers());
  GT_ASSIGN(const auto document, store_->load_metadata(rows.front().content.metadata_sha256));
  if (!document) return Error{Code::kNotFound, "the metadata of the first transfer is not there"};
  GT_ASSIGN(const auto metadata, metainfo::decode(*document));
  const ContentId content = ContentId::make(clock_.wall(), rng_);
  link_.with([&](FakeLink::State& state) {
    auto& known = state.contents["the one that is fetched"];
    known.name = "the one that is fetched";
    known.access_level = "public";
    FakeLink::describe(known, content, metadata);
    state.metadata[content] = metadata;
  });
  client::GetJob job;
  job.content = content.str();
  job.target = folder;
  bool joined = false;
  GT_ASSIGN(const auto view, node_->get(job, joined));
  fetched_ = view.id;
  return {};
}

void MovingNode::tick() {
  ++tick_;
  const MonoTime now = clock_.mono();
  for (std::size_t i = 0; i < moving_.size(); ++i) {
    engine_.happens(moving_[i], [&](client::TorrentSnapshot& snapshot) {
      snapshot.send_bits_per_s = played_rate(i, tick_);
      client::PeerSnapshot peer;
      peer.node = peer_;
      peer.send_bits_per_s = snapshot.send_bits_per_s;
      peer.lanes = {open_lane(0, now)};
      snapshot.peers = {std::move(peer)};
    });
  }
  if (engine_.torrent(fetched_)) move_fetched(now);
}

void MovingNode::move_fetched(MonoTime now) {
  if (fetched_bytes_ == 0) {
    client::PeerInfo seeder;
    seeder.node = peer_;
    seeder.complete = true;
    for (const auto& view : node_->transfers()) {
      if (view.id == fetched_) link_.listener().peer_changed(view.content, view.version, seeder);
    }
  }
  const std::uint64_t rate = kFetchedBitsPerS + played_rate(0, tick_) / 30;
  fetched_bytes_ += static_cast<std::uint64_t>(static_cast<double>(rate) / 8 / kTicksPerSecond);
  engine_.happens(fetched_, [&](client::TorrentSnapshot& snapshot) {
    client::PeerSnapshot peer;
    peer.node = peer_;
    peer.complete = true;
    peer.receive_bits_per_s = snapshot.receive_bits_per_s = rate;
    peer.received_bytes = snapshot.received_payload_bytes = fetched_bytes_;
    for (int number = 0; number < kLanes; ++number) {
      client::LaneSnapshot lane = open_lane(number, now);
      lane.received_bytes = lane.sampled_bytes = fetched_bytes_ / kLanes;
      lane.receive_bits_per_s = lane.sampled_bits_per_s = rate / kLanes;
      lane.theirs = client::TcpFigures{60'000, 60'000, 0, 10, "cubic"};
      lane.theirs->sent_bytes = lane.sampled_bytes;
      lane.theirs->sent_segments = lane.sampled_bytes / 1448;
      peer.lanes.push_back(std::move(lane));
    }
    snapshot.peers = {std::move(peer)};
    snapshot.wanted_bytes = kFetchedBitsPerS * 1000;
    snapshot.verified_bytes = std::min(fetched_bytes_, snapshot.wanted_bytes - 1);
  });
}

Status run(const std::vector<std::string>& arguments) {
  if (arguments.size() != 5 || arguments[3] != "--ready-file")
    return Error{Code::kInvalid, "usage: moving_node DATA_DIR SOCKET COUNT --ready-file FILE"};
  sigset_t ends;
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGTERM);
  ::sigaddset(&ends, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // threads that begin from now on have it from here

  MovingNode node;
  GT_TRY(node.start(arguments[0], arguments[1]));
  while (!node.is_up()) {
    if (::sigtimedwait(&ends, nullptr, &kTick) > 0) return {};
  }
  const std::size_t size = node.size();
  GT_TRY(node.begin(std::strtoul(arguments[2].c_str(), nullptr, 10), arguments[0] + "/fetched"));
  std::ofstream(arguments[4] + ".new") << "{\"pid\":" << ::getpid() << ",\"transfers\":" << size << "}\n";
  std::rename((arguments[4] + ".new").c_str(), arguments[4].c_str());
  while (::sigtimedwait(&ends, nullptr, &kTick) < 0) node.tick();
  return {};
}

}  // namespace
}  // namespace gridtorrent::bench

int main(int argc, char** argv) {
  ::umask(077);
  const gridtorrent::Status done = gridtorrent::bench::run({argv + 1, argv + argc});
  if (!done) std::fprintf(stderr, "moving_node: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
