#include "tests/integration/engine_lab.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <algorithm>

#include <fstream>
#include <libtorrent/hasher.hpp>
#include <sstream>
#include <thread>

#include "base/crypto/digest.h"
#include "base/crypto/keys.h"
#include "common/hex.h"

namespace gridtorrent::client::engine::test {
namespace {

std::string text(const std::string& s) {
  return std::to_string(s.size()) + ":" + s;
}

SystemRng g_rng;
const SystemClock g_clock;
std::map<NodeId, KeyPrint> g_keys;  ///< of all nodes, whether they use them or not; one thread makes them all

}  // namespace

std::string random_bytes(std::size_t count, std::uint64_t seed) {
  SeededRng rng(seed);
  std::string bytes(count, '\0');
  rng.fill({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
  return bytes;
}

Sample one_file(std::size_t bytes, std::uint64_t seed) {
  return {{"data.bin"}, {random_bytes(bytes, seed)}, 64 * 1024};
}

std::uint64_t Sample::total() const {
  std::uint64_t sum = 0;
  for (const auto& file : bytes) sum += file.size();
  return sum;
}

std::string Sample::info_dict() const {
  std::string files, all, pieces;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string opaque = std::to_string(i);
    opaque.insert(0, 8 - opaque.size(), '0');
    files += "d6:lengthi" + std::to_string(bytes[i].size()) + "e4:pathl" + text(opaque) + "ee";
    all += bytes[i];
  }
  for (std::size_t at = 0; at < all.size(); at += piece_bytes) {
    const std::string piece = all.substr(at, piece_bytes);
    pieces += lt::hasher(piece.data(), static_cast<int>(piece.size())).final().to_string();
  }
  return "d5:filesl" + files + "e4:name" + text("gt-aaaaaaaaaaaaaaaaaaaaaaaaaa") + "12:piece lengthi" +
         std::to_string(piece_bytes) + "e6:pieces" + text(pieces) + "7:privatei1e" +
         (ca_pem.empty() ? "" : "8:ssl-cert" + text(ca_pem)) + "e";
}

void Sample::write(const std::string& folder) const {
  for (std::size_t i = 0; i < names.size(); ++i) write_file(folder + "/" + names[i], bytes[i]);
}

std::vector<std::string> Sample::differing(const std::string& folder) const {
  std::vector<std::string> names_found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (read_file(folder + "/" + names[i]) != bytes[i]) names_found.push_back(names[i]);
  }
  return names_found;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

void write_file(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "gt-engine-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}
Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Recorder::torrent_changed(const TransferId&) {}
void Recorder::piece_verified(const TransferId&, std::uint32_t piece) {
  if (on_piece) on_piece(piece);
  const std::lock_guard lock(mutex_);
  pieces_.insert(piece);
}
void Recorder::warning(const TransferId&, const std::string& message) {
  const std::lock_guard lock(mutex_);
  warnings_.push_back(message);
}
std::set<std::uint32_t> Recorder::pieces() const {
  const std::lock_guard lock(mutex_);
  return pieces_;
}
std::vector<std::string> Recorder::warnings() const {
  const std::lock_guard lock(mutex_);
  return warnings_;
}

Node::Node(const std::string& address, std::function<void(std::uint32_t)> on_piece, bool tls_lanes, bool proves,
           const NodeId& node, std::vector<std::string> grants)
    : id(node) {
  recorder.on_piece = std::move(on_piece);
  EngineOptions options;
  options.node = id;
  options.listen_addresses = {address};
  options.first_lane_port = options.last_lane_port = options.first_tls_port = options.last_tls_port = 0;
  options.tls_lanes = tls_lanes;
  options.congestion_controls = std::move(grants);
  const auto key = crypto::EcKey::make();
  EXPECT_TRUE(key.ok());
  if (proves) options.key_pem = key->private_pem();
  g_keys.try_emplace(id, crypto::sha256(as_bytes(key->public_der())));
  auto made = make_libtorrent_engine(options, recorder);
  EXPECT_TRUE(made.ok()) << (made ? "" : made.error().message);
  engine = std::move(made).value();
}

PeerPlan Node::peer(int lanes, bool dial, std::size_t ports) const {
  PeerPlan plan;
  plan.node = id;
  std::size_t plain = 0, tls = 0;
  for (const auto& endpoint : engine->listening()) {
    if ((endpoint.tls ? tls : plain)++ < ports) plan.endpoints.push_back(endpoint);
  }
  plan.dial = dial;
  plan.ask = !dial;
  plan.lanes = lanes;
  return plan;
}

TorrentSpec spec_of(const Sample& sample, const std::string& folder, const TransferId& id, DiskTrust trust) {
  TorrentSpec spec;
  spec.id = id;
  spec.info_dict = sample.info_dict();
  spec.save_path = folder;
  spec.file_paths = sample.names;
  spec.trust = trust;
  return spec;
}

void Node::seed(const Sample& sample, const std::string& folder, const TransferId& transfer,
                std::shared_ptr<const Audience> audience) {
  TorrentSpec spec = spec_of(sample, folder, transfer, DiskTrust::kComplete);
  spec.audience = std::move(audience);
  spec.generation = sample.ca_pem.empty() ? 0 : 1;
  const Status added = engine->add(spec);
  ASSERT_TRUE(added.ok()) << added.error().message;
  ASSERT_TRUE(eventually([&] { return snapshot(transfer).state == TorrentState::kSeeding; }));
}

void Node::fetch(const Sample& sample, const std::string& folder, const TransferId& transfer,
                 std::shared_ptr<const Audience> audience) {
  TorrentSpec spec = spec_of(sample, folder, transfer, DiskTrust::kNothingThere);
  spec.audience = std::move(audience);
  spec.generation = sample.ca_pem.empty() ? 0 : 1;
  const Status added = engine->add(spec);
  ASSERT_TRUE(added.ok()) << added.error().message;
}

void Node::plan(const TransferId& transfer, std::vector<PeerPlan> peers) {
  engine->set_plan(transfer, {++revision_, "test", std::move(peers), {}, g_keys});
}

TorrentSnapshot Node::snapshot(const TransferId& transfer) const {
  return engine->snapshot(transfer).value_or(TorrentSnapshot{});
}

NodeId new_node() {
  return NodeId::make(g_clock.wall(), g_rng);
}

TransferId new_transfer() {
  return TransferId::make(g_clock.wall(), g_rng);
}

int open_lanes(const TorrentSnapshot& snapshot, const NodeId& node) {
  int open = 0;
  for (const auto& peer : snapshot.peers) {
    if (peer.node != node) continue;
    for (const auto& lane : peer.lanes) open += lane.state == LaneState::kOpen ? 1 : 0;
  }
  return open;
}

bool is_whole(const TorrentSnapshot& snapshot) {
  return (snapshot.state == TorrentState::kSeeding || snapshot.state == TorrentState::kComplete) &&
         snapshot.verified_bytes == snapshot.wanted_bytes && snapshot.wanted_bytes > 0;
}

bool sees_complete(const TorrentSnapshot& snapshot, const NodeId& node) {
  return std::ranges::any_of(snapshot.peers, [&](const auto& peer) { return peer.node == node && peer.complete; });
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return condition();
}

bool stays(const std::function<bool()>& condition, std::chrono::milliseconds time) {
  return !eventually([&] { return !condition(); }, time);
}

}  // namespace gridtorrent::client::engine::test
