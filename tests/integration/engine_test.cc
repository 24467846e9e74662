// Two or three real engines in one process, on loopback.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <libtorrent/load_torrent.hpp>
#include <libtorrent/session.hpp>
#include <libtorrent/torrent_status.hpp>
#include <optional>

#include "tests/integration/engine_lab.h"

namespace gridtorrent::client::engine::test {
namespace {

using std::chrono::seconds;

class Lanes : public testing::TestWithParam<int> {};

TEST_P(Lanes, CarryAFileFromSeederToLeecher) {
  const Folder folder;
  const Sample sample = one_file(20'000'000);
  sample.write(folder / "seed");
  const TransferId transfer = new_transfer();
  Node seeder, leecher;
  seeder.seed(sample, folder / "seed", transfer);
  leecher.fetch(sample, folder / "get", transfer);
  // Slow enough to see the lanes stand.
  leecher.engine->set_rate_limit(transfer, 8'000'000, 0);
  leecher.plan(transfer, {seeder.peer(GetParam())});
  EXPECT_TRUE(eventually([&] { return open_lanes(leecher.snapshot(transfer), seeder.id) == GetParam(); }));
  EXPECT_TRUE(eventually([&] { return open_lanes(seeder.snapshot(transfer), leecher.id) == GetParam(); }));
  leecher.engine->set_rate_limit(transfer, 0, 0);
  ASSERT_TRUE(eventually([&] { return is_whole(leecher.snapshot(transfer)); }));
  EXPECT_THAT(sample.differing(folder / "get"), testing::IsEmpty());
  EXPECT_EQ(leecher.recorder.pieces().size(), (sample.total() + sample.piece_bytes - 1) / sample.piece_bytes);
  EXPECT_TRUE(eventually([&] {
    const auto snapshot = leecher.snapshot(transfer);
    return snapshot.peers.size() == 1 && snapshot.peers[0].node == seeder.id &&
           snapshot.peers[0].lanes_peak == GetParam() && snapshot.peers[0].received_bytes >= sample.total();
  }));
  EXPECT_TRUE(eventually([&] { return sees_complete(seeder.snapshot(transfer), leecher.id); }))
      << "whom nobody told of single pieces";
}
INSTANTIATE_TEST_SUITE_P(OneFourSixteenThirtyTwo, Lanes, testing::Values(1, 4, 16, 32));

TEST(LanePlans, RaiseAndLowerWhileATransferRuns) {
  SlowPair pair;
  for (const int lanes : {2, 8, 3, 16, 1}) {
    pair.leecher.plan(pair.transfer, {pair.seeder.peer(lanes)});
    EXPECT_TRUE(pair.stand(lanes)) << lanes;  // 1 to 2 s on a machine that is not loaded
  }
  EXPECT_TRUE(stays([&] { return open_lanes(pair.leecher.snapshot(pair.transfer), pair.seeder.id) == 1; }, seconds(3)));
}

TEST(LanePlans, TakeAsManyLanesOverOnePortAndEndThemAgain) {
  SlowPair pair;
  for (const int lanes : {1, 5, 2, 6}) {
    pair.leecher.plan(pair.transfer, {pair.seeder.peer(lanes, true, 1)});
    EXPECT_TRUE(pair.stand(lanes)) << lanes;
  }
  std::set<std::string> ports;
  for (const auto& lane : pair.leecher.snapshot(pair.transfer).peers.at(0).lanes) ports.insert(lane.remote);
  EXPECT_THAT(ports, testing::SizeIs(1));
  pair.leecher.engine->set_rate_limit(pair.transfer, 0, 0);
  EXPECT_TRUE(eventually([&] { return is_whole(pair.leecher.snapshot(pair.transfer)); }));
  EXPECT_THAT(pair.sample.differing(pair.folder / "get"), testing::IsEmpty());
}

TEST(LanePlans, OfNoLanesEndTheConnections) {
  SlowPair pair;
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(4)});
  ASSERT_TRUE(pair.stand(4));
  pair.leecher.plan(pair.transfer, {});
  EXPECT_TRUE(pair.stand(0));
}

TEST(LanePlans, LetThePeerDialWhenTheySaySo) {
  SlowPair pair;
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(5, false)});
  EXPECT_TRUE(eventually([&] { return !pair.leecher.snapshot(pair.transfer).problems.empty(); }));
  // The seeder dials one lane by its own plan; the leecher then asks for the others.
  pair.seeder.plan(pair.transfer, {pair.leecher.peer(1)});
  EXPECT_TRUE(pair.stand(5));
  const auto snapshot = pair.leecher.snapshot(pair.transfer);
  for (const auto& lane : snapshot.peers.at(0).lanes) EXPECT_FALSE(lane.outgoing);
  EXPECT_TRUE(eventually([&] { return pair.leecher.snapshot(pair.transfer).problems.empty(); }));
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(2, false)});
  EXPECT_TRUE(pair.stand(2));
  pair.leecher.engine->set_rate_limit(pair.transfer, 0, 0);
  EXPECT_TRUE(eventually([&] { return is_whole(pair.leecher.snapshot(pair.transfer)); }));
  EXPECT_THAT(pair.sample.differing(pair.folder / "get"), testing::IsEmpty());
}

TEST(LanePlans, AskNothingOfASeederThatTheyLeaveOutAndThatDialsByItself) {
  SlowPair pair;
  Node other;
  other.seed(pair.sample, pair.folder / "seed", pair.transfer);
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(1)});
  ASSERT_TRUE(pair.stand(1));
  other.plan(pair.transfer, {pair.leecher.peer(1)});
  const auto of_other = [&] {
    const TorrentSnapshot now = pair.leecher.snapshot(pair.transfer);
    const auto found = std::ranges::find(now.peers, other.id, &PeerSnapshot::node);
    return found == now.peers.end() ? PeerSnapshot{} : *found;
  };
  const auto rests = [&] {
    const PeerSnapshot peer = of_other();
    return peer.lanes.size() == 1 && peer.lanes[0].rests && peer.lanes[0].outstanding_blocks == 0;
  };
  ASSERT_TRUE(eventually(rests));
  const std::uint64_t before = of_other().received_bytes;
  EXPECT_TRUE(stays([&] { return rests() && of_other().received_bytes == before; }, seconds(2)));
  pair.seeder.engine->stop();
  pair.leecher.engine->set_rate_limit(pair.transfer, 0, 0);
  EXPECT_TRUE(eventually([&] { return is_whole(pair.leecher.snapshot(pair.transfer)); })) << "it is better than nobody";
  EXPECT_THAT(pair.sample.differing(pair.folder / "get"), testing::IsEmpty());
}

TEST(LanePlans, DialAgainWhoWasCompleteAndFetchesAnew) {
  const Folder folder;
  const Sample sample = one_file(3'000'000);
  sample.write(folder / "seed");
  const TransferId transfer = new_transfer();
  Node seeder, leecher;
  seeder.seed(sample, folder / "seed", transfer);
  // Who has all may end its lanes before the seeder has heard of the last piece: then it was not seen complete.
  for (int round = 0, complete = 0; complete < 2; ++round) {
    ASSERT_LT(round, 15) << "it was seen complete " << complete << " times";
    const std::string place = "out" + std::to_string(round);
    SCOPED_TRACE(place);
    leecher.fetch(sample, folder / place, transfer);
    leecher.plan(transfer, {seeder.peer(4, false)});
    seeder.plan(transfer, {leecher.peer(1)});  // nobody can dial it
    ASSERT_TRUE(eventually([&] { return is_whole(leecher.snapshot(transfer)); }));
    EXPECT_THAT(sample.differing(folder / place), testing::IsEmpty());
    const auto is_seen = [&] { return sees_complete(seeder.snapshot(transfer), leecher.id); };
    if (eventually(is_seen, std::chrono::seconds(3))) ++complete;
    seeder.plan(transfer, {});
    leecher.engine->remove(transfer);
  }
}

/// Whether the four lanes of a pair that dials from both ends come to be those of one end, with never fewer of them.
/// Nothing where one end dialled so late that it found the other's lanes and left them.
std::optional<bool> four_lanes_become(bool leechers) {
  SlowPair pair;
  PeerPlan of_leecher = pair.seeder.peer(4), of_seeder = pair.leecher.peer(4);
  of_leecher.by_rule = leechers;
  of_seeder.by_rule = !leechers;
  pair.leecher.plan(pair.transfer, {of_leecher});
  pair.seeder.plan(pair.transfer, {of_seeder});
  EXPECT_TRUE(eventually([&] { return open_lanes(pair.leecher.snapshot(pair.transfer), pair.seeder.id) >= 4; }));
  int fewest = 16, most = 0;
  const bool became = eventually([&] {
    const auto snapshot = pair.leecher.snapshot(pair.transfer);
    const int open = open_lanes(snapshot, pair.seeder.id);
    fewest = std::min(fewest, open);
    most = std::max(most, open);
    return snapshot.peers.size() == 1 && snapshot.peers[0].lanes.size() == 4 &&
           std::ranges::all_of(snapshot.peers[0].lanes,
                               [&](const LaneSnapshot& lane) { return lane.outgoing == leechers; });
  });
  EXPECT_GE(fewest, 4);
  EXPECT_TRUE(pair.stand(4));
  return became || most > 4 ? std::optional(became) : std::nullopt;
}

/// Both dial at once, as after a wait on a busy machine: all that was asked for would be lost, were both to give way.
TEST(LanePlans, KeepTheLanesOfWhomTheRuleNamesWhereBothDialAndNeverGoWithout) {
  for (const bool leechers : {true, false}) {
    SCOPED_TRACE(leechers ? "the rule names the leecher" : "the rule names the seeder");
    std::optional<bool> became;
    for (int attempt = 0; attempt < 3 && !became; ++attempt) became = four_lanes_become(leechers);
    EXPECT_EQ(became, true);
  }
}

TEST(LanePlans, SayWhyNoLaneStands) {
  SlowPair pair;
  PeerPlan nowhere = pair.seeder.peer(2);
  nowhere.endpoints.resize(1);
  nowhere.endpoints[0].port = 1;  // nobody listens there
  pair.leecher.plan(pair.transfer, {nowhere});
  EXPECT_TRUE(eventually([&] {
    const auto problems = pair.leecher.snapshot(pair.transfer).problems;
    return problems.size() == 1 && problems[0].node == pair.seeder.id &&
           problems[0].message.find("127.0.0.1:1: Connection refused") != std::string::npos;
  }));
}

TEST(LanePlans, TakeNoOtherNodeForThePlannedOne) {
  SlowPair pair;
  Node other;
  PeerPlan mistaken = pair.seeder.peer(2);
  mistaken.node = other.id;
  pair.leecher.plan(pair.transfer, {mistaken});
  EXPECT_TRUE(eventually([&] {
    const auto problems = pair.leecher.snapshot(pair.transfer).problems;
    return !problems.empty() && problems[0].message.find(pair.seeder.id.str() + " answers there") != std::string::npos;
  }));
}

TEST(LanePlans, ReplaceALaneThatBroke) {
  SlowPair pair;
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(3)});
  ASSERT_TRUE(pair.stand(3));
  pair.seeder.engine->pause(pair.transfer);  // ends its connections
  ASSERT_TRUE(pair.stand(0));
  pair.seeder.engine->resume(pair.transfer);
  EXPECT_TRUE(pair.stand(3));
}

/// Without a seeder: each of three has a third of the pieces, so what one lacks comes from the others.
TEST(Swarms, OfThreeShareWhatTheyHave) {
  const Folder folder;
  const Sample sample = one_file(48 * 3 * 64 * 1024);
  const std::size_t third = sample.total() / 3;
  const TransferId transfer = new_transfer();
  std::vector<std::unique_ptr<Node>> nodes;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string place = folder / std::to_string(i);
    std::string bytes(sample.total(), '\0');
    bytes.replace(i * third, third, sample.bytes[0], i * third, third);
    write_file(place + "/" + sample.names[0], bytes);
    nodes.push_back(std::make_unique<Node>());
    ASSERT_TRUE(nodes[i]->engine->add(spec_of(sample, place, transfer, DiskTrust::kRecheck)).ok());
    ASSERT_TRUE(eventually([&] { return nodes[i]->snapshot(transfer).state == TorrentState::kFetching; }));
    ASSERT_EQ(nodes[i]->snapshot(transfer).verified_bytes, third);
  }
  for (const auto& node : nodes) {
    std::vector<PeerPlan> others;
    for (const auto& other : nodes) {
      if (other != node) others.push_back(other->peer(2, node->id < other->id));
    }
    node->plan(transfer, std::move(others));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(eventually([&] { return is_whole(nodes[i]->snapshot(transfer)); }, seconds(60)));
    EXPECT_THAT(sample.differing(folder / std::to_string(i)), testing::IsEmpty());
    EXPECT_TRUE(eventually([&] { return nodes[i]->snapshot(transfer).sent_payload_bytes >= third; })) << i;
    EXPECT_TRUE(eventually([&] { return nodes[i]->snapshot(transfer).received_payload_bytes >= 2 * third; })) << i;
  }
}

/// An option of the connections that were accepted at the node's ports.
template <typename Value>
std::vector<Value> option_of_accepted(const Node& node, int level, int option) {
  std::set<int> ports;
  for (const auto& endpoint : node.peer(16).endpoints) ports.insert(endpoint.port);
  std::vector<Value> found;
  for (int fd = 3; fd < 1024; ++fd) {
    sockaddr_in local{}, remote{};
    socklen_t local_size = sizeof(local), remote_size = sizeof(remote), value_size = sizeof(Value);
    Value value = 0;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &local_size) == 0 &&
        ::getpeername(fd, reinterpret_cast<sockaddr*>(&remote), &remote_size) == 0 &&
        ports.contains(ntohs(local.sin_port)) && ::getsockopt(fd, level, option, &value, &value_size) == 0) {
      found.push_back(value);
    }
  }
  return found;
}

std::vector<bool> accepted_with_no_delay(const Node& node) {
  const std::vector<int> found = option_of_accepted<int>(node, IPPROTO_TCP, TCP_NODELAY);
  return {found.begin(), found.end()};
}

TEST(Lanes, ArePacedByTheKernelWithoutALimit) {
  constexpr std::uint64_t kUnpaced = ~std::uint64_t{0}, kAboveAnyNetwork = std::uint64_t{1} << 50;
  const Folder folder;
  const Sample sample = one_file(4 << 20);
  const TransferId transfer = new_transfer();
  Node seeder, getter;
  sample.write(folder / "seeder");
  seeder.seed(sample, folder / "seeder", transfer);
  getter.fetch(sample, folder / "getter", transfer);
  getter.engine->set_rate_limit(transfer, 1'000'000, 0);
  getter.plan(transfer, {seeder.peer(2)});
  EXPECT_TRUE(eventually([&] {
    const auto paces = option_of_accepted<std::uint64_t>(seeder, SOL_SOCKET, SO_MAX_PACING_RATE);
    return paces.size() == 2 &&
           std::ranges::all_of(paces, [](std::uint64_t pace) { return pace != kUnpaced && pace > kAboveAnyNetwork; });
  }));
}

TEST(Swarms, BundleTheNewsOfPiecesForThoseOfWhomTheyAskNothing) {
  const Folder folder;
  const Sample sample = one_file(16 << 20);  // half a minute at 4 Mbit/s: longer than what is waited for
  const TransferId transfer = new_transfer();
  Node seeder, middle, last;
  sample.write(folder / "seeder");
  seeder.seed(sample, folder / "seeder", transfer);
  middle.fetch(sample, folder / "middle", transfer);
  last.fetch(sample, folder / "last", transfer);
  middle.engine->set_rate_limit(transfer, 4'000'000, 0);
  last.engine->set_rate_limit(transfer, 1'000'000, 0);  // so that it lags, and its interest never ends
  last.plan(transfer, {middle.peer(2)});
  middle.plan(transfer, {seeder.peer(2)});
  EXPECT_TRUE(eventually([&] { return accepted_with_no_delay(middle) == std::vector{false, false}; }));
  EXPECT_TRUE(eventually([&] { return accepted_with_no_delay(seeder) == std::vector{true, true}; }))
      << "it has no news to tell";
}

/// Two nodes, each without one of two files.
struct HalfEach {
  explicit HalfEach(std::size_t first_lacks = 2 << 20, std::size_t second_lacks = 2 << 20) {
    sample.names = {"a.bin", "b.bin"};
    sample.bytes = {random_bytes(first_lacks, 1), random_bytes(second_lacks, 2)};
    for (Node* node : {&first, &second}) {
      const auto [lacks, has] = node == &first ? std::pair(0u, 1u) : std::pair(1u, 0u);
      sample.write(folder / node->id.str());
      write_file(folder / node->id.str() + "/" + sample.names[lacks], std::string(sample.bytes[lacks].size(), '\0'));
      EXPECT_TRUE(node->engine->add(spec_of(sample, folder / node->id.str(), transfer, DiskTrust::kRecheck)).ok());
      EXPECT_TRUE(eventually([&] { return node->snapshot(transfer).verified_bytes == sample.bytes[has].size(); }));
    }
  }
  const Folder folder;
  Sample sample;
  const TransferId transfer = new_transfer();
  Node first, second;
};

/// At the end each idle lane asks for a block of another's. One that was kept back and arrived on the other lane has to
/// be off libtorrent's books, where it would keep the lane from asking for more.
TEST(Swarms, OweALaneNothingOnceAllIsHere) {
  HalfEach pair;
  pair.second.engine->set_rate_limit(pair.transfer, 1'000'000, 0);  // so that it stays incomplete, and its lanes open
  pair.first.engine->set_rate_limit(pair.transfer, 8'000'000, 0);   // so that lanes are idle while others wait
  pair.second.plan(pair.transfer, {pair.first.peer(8, false)});
  pair.first.plan(pair.transfer, {pair.second.peer(8)});
  ASSERT_TRUE(eventually([&] { return is_whole(pair.first.snapshot(pair.transfer)); }));
  EXPECT_TRUE(eventually([&] {
    const auto snapshot = pair.first.snapshot(pair.transfer);
    return open_lanes(snapshot, pair.second.id) == 8 &&
           std::ranges::all_of(snapshot.peers[0].lanes,
                               [](const LaneSnapshot& lane) { return lane.outstanding_blocks == 0; });
  }));
}

/// Both come to have what the other began with, of which neither says anything.
TEST(Swarms, LearnOfANodeThatHasAllByNow) {
  HalfEach pair(2 << 20, 16 << 20);
  pair.second.engine->set_rate_limit(pair.transfer, 1'000'000, 0);  // two minutes for what the first learns meanwhile
  pair.first.plan(pair.transfer, {pair.second.peer(4)});
  ASSERT_TRUE(eventually([&] { return is_whole(pair.first.snapshot(pair.transfer)); }));
  EXPECT_TRUE(eventually([&] { return sees_complete(pair.second.snapshot(pair.transfer), pair.first.id); }));
  EXPECT_FALSE(is_whole(pair.second.snapshot(pair.transfer)));
  pair.second.engine->set_rate_limit(pair.transfer, 0, 0);
  ASSERT_TRUE(eventually([&] { return is_whole(pair.second.snapshot(pair.transfer)); }));
  EXPECT_TRUE(eventually([&] { return sees_complete(pair.first.snapshot(pair.transfer), pair.second.id); }));
}

TEST(Limits, AreNotExceededFromTheFirstBlockOn) {
  const Folder folder;
  const Sample sample = one_file(3'000'000);
  sample.write(folder / "seed");
  const TransferId transfer = new_transfer();
  Node seeder, leecher;
  seeder.seed(sample, folder / "seed", transfer);
  leecher.fetch(sample, folder / "get", transfer);
  leecher.engine->set_rate_limit(transfer, 8'000'000, 0);
  const auto start = std::chrono::steady_clock::now();
  leecher.plan(transfer, {seeder.peer(4)});
  ASSERT_TRUE(eventually([&] { return is_whole(leecher.snapshot(transfer)); }));
  // Slower it may be, on a busy machine; a block more than the rate's is already on its way.
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(2'900));
  EXPECT_THAT(sample.differing(folder / "get"), testing::IsEmpty());
}

/// The fetching node is dialled, by somebody who has proved nothing.
TEST(Limits, HoldForWhatComesOverLanesOfOthersToo) {
  HalfEach pair(64 << 10, 16 << 20);
  pair.second.engine->set_rate_limit(pair.transfer, 1'000'000, 0);  // two minutes
  pair.first.plan(pair.transfer, {pair.second.peer(4)});
  ASSERT_TRUE(eventually([&] { return pair.second.snapshot(pair.transfer).verified_bytes > 64 << 10; }));
  EXPECT_TRUE(stays([&] { return !is_whole(pair.second.snapshot(pair.transfer)); }, seconds(2)));
}

TEST(Limits, CanBeTakenAwayWhileBlocksWaitForThem) {
  SlowPair pair;
  pair.leecher.engine->set_rate_limit(pair.transfer, 4'000'000, 0);  // two minutes
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(4)});
  ASSERT_TRUE(pair.stand(4));
  pair.leecher.engine->set_rate_limit(pair.transfer, 0, 0);
  EXPECT_TRUE(eventually([&] { return is_whole(pair.leecher.snapshot(pair.transfer)); }));
}

TEST(Swarms, RefuseAlteredDataAndTakeItFromOthers) {
  const Folder folder;
  const Sample sample = one_file(8'000'000);
  sample.write(folder / "good");
  sample.write(folder / "bad");
  std::string altered = sample.bytes[0];
  for (std::size_t at = 100'000; at < altered.size(); at += 1'000'000) altered[at] = static_cast<char>(altered[at] ^ 1);
  write_file(folder / "bad/data.bin", altered);
  const TransferId transfer = new_transfer();
  Node good, bad, leecher;
  good.seed(sample, folder / "good", transfer);
  bad.seed(sample, folder / "bad", transfer);
  leecher.fetch(sample, folder / "get", transfer);
  leecher.plan(transfer, {bad.peer(2)});
  // Alone, it gives its good pieces and no more; nothing runs hot.
  EXPECT_TRUE(eventually([&] { return !leecher.recorder.warnings().empty(); }));
  EXPECT_THAT(leecher.recorder.warnings(), testing::Contains(testing::HasSubstr(bad.id.str())));
  EXPECT_TRUE(eventually([&] { return leecher.snapshot(transfer).failed_bytes > 0; }));
  EXPECT_TRUE(stays([&] { return leecher.snapshot(transfer).failed_bytes < 40 * sample.piece_bytes; }, seconds(4)));
  EXPECT_FALSE(is_whole(leecher.snapshot(transfer)));
  leecher.plan(transfer, {bad.peer(2), good.peer(2)});
  ASSERT_TRUE(eventually([&] { return is_whole(leecher.snapshot(transfer)); }));
  EXPECT_THAT(sample.differing(folder / "get"), testing::IsEmpty());
  const auto snapshot = leecher.snapshot(transfer);
  for (const auto& peer : snapshot.peers) {
    EXPECT_EQ(peer.bad_pieces > 0, peer.node == bad.id);
  }
}

TEST(Swarms, MeasureTheSendersTcpOnBothSides) {
  SlowPair pair;
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(2)});
  const auto measured = [&](const Node& node) {
    const auto snapshot = node.snapshot(pair.transfer);
    if (snapshot.peers.size() != 1 || snapshot.peers[0].lanes.size() != 2) return false;
    return std::ranges::all_of(snapshot.peers[0].lanes, [](const LaneSnapshot& lane) {
      const TcpFigures tcp = lane.of_sender();
      return tcp.srtt_us > 0 && tcp.cwnd_segments > 0 && !tcp.congestion_control.empty() && !lane.local.empty();
    });
  };
  EXPECT_TRUE(eventually([&] { return measured(pair.leecher) && measured(pair.seeder); }));
}

TEST(Swarms, TellOfTheSendersTcpBeforeAnythingIsSent) {
  const Folder folder;
  const Sample sample = one_file(1'000'000);
  const TransferId transfer = new_transfer();
  Node one, other;  // neither has anything to give
  one.fetch(sample, folder / "one", transfer);
  other.fetch(sample, folder / "other", transfer);
  one.plan(transfer, {other.peer(1)});
  EXPECT_TRUE(eventually([&] {
    const auto snapshot = one.snapshot(transfer);
    if (snapshot.peers.size() != 1 || snapshot.peers[0].lanes.size() != 1) return false;
    const LaneSnapshot& lane = snapshot.peers[0].lanes[0];
    return lane.own && lane.own->min_rtt_us > 0 && lane.theirs && !lane.theirs->congestion_control.empty();
  }));
}

TEST(Listening, OnAllAddressesReportsWhatWasAskedFor) {
  Recorder recorder;
  EngineOptions options;
  options.node = new_node();
  options.first_lane_port = options.last_lane_port = 0;
  auto engine = make_libtorrent_engine(options, recorder);
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  const auto endpoints = (*engine)->listening();
  EXPECT_EQ(std::ranges::count(endpoints, "0.0.0.0", &LaneEndpoint::address), 16);
  EXPECT_TRUE(std::ranges::all_of(endpoints, [](const LaneEndpoint& e) { return e.port >= 1024 && !e.tls; }));

  const Folder folder;
  const Sample sample = one_file(2'000'000);
  sample.write(folder / "seed");
  const TransferId transfer = new_transfer();
  ASSERT_TRUE((*engine)->add(spec_of(sample, folder / "seed", transfer, DiskTrust::kComplete)).ok());
  Node leecher;
  leecher.fetch(sample, folder / "get", transfer);
  PeerPlan plan;
  plan.node = options.node;
  plan.lanes = 16;
  for (const auto& endpoint : endpoints) {
    if (endpoint.address == "0.0.0.0") plan.endpoints.push_back({"127.0.0.1", endpoint.port, false, ""});
  }
  leecher.plan(transfer, {plan});
  EXPECT_TRUE(eventually([&] { return is_whole(leecher.snapshot(transfer)); }));
  (*engine)->stop();
}

TEST(Swarms, WorkOverIpv6) {
  const Folder folder;
  const Sample sample = one_file(3'000'000);
  sample.write(folder / "seed");
  const TransferId transfer = new_transfer();
  Node seeder("::1"), leecher("::1");
  seeder.seed(sample, folder / "seed", transfer);
  leecher.fetch(sample, folder / "get", transfer);
  leecher.plan(transfer, {seeder.peer(4)});
  ASSERT_TRUE(eventually([&] { return is_whole(leecher.snapshot(transfer)); }));
  EXPECT_THAT(sample.differing(folder / "get"), testing::IsEmpty());
}

bool all_ours(const TorrentSnapshot& snapshot, const NodeId& node, int count) {
  int ours = 0;
  for (const auto& peer : snapshot.peers) {
    for (const auto& lane : peer.lanes) ours += peer.node == node && lane.outgoing && lane.proven ? 1 : 0;
  }
  return ours == count;
}

TEST(Impostors, UnderTheSeedersIdLeaveItsLanesAlone) {
  for (const bool proves : {true, false}) {
    SCOPED_TRACE(proves ? "with a key of their own" : "without a key");
    SlowPair pair;
    Node impostor("127.0.0.1", {}, false, proves, pair.seeder.id);
    impostor.fetch(pair.sample, pair.folder / "impostor", pair.transfer);
    PeerPlan of_leecher = pair.seeder.peer(4);
    of_leecher.by_rule = false;  // so that ours would be the first to give way
    pair.leecher.plan(pair.transfer, {of_leecher});
    ASSERT_TRUE(pair.stand(4));
    EXPECT_TRUE(eventually([&] { return all_ours(pair.leecher.snapshot(pair.transfer), pair.seeder.id, 4); }));
    impostor.plan(pair.transfer, {pair.leecher.peer(16)});
    EXPECT_TRUE(stays([&] { return all_ours(pair.leecher.snapshot(pair.transfer), pair.seeder.id, 4); }, seconds(8)));
    const auto impostors = [&] { return open_lanes(impostor.snapshot(pair.transfer), pair.leecher.id); };
    EXPECT_TRUE(eventually([&] { return (impostors() > 0) != proves; }))
        << "who shows another key than the server names is sent away";
    pair.leecher.engine->set_rate_limit(pair.transfer, 0, 0);
    EXPECT_TRUE(eventually([&] { return is_whole(pair.leecher.snapshot(pair.transfer)); }));
  }
}

TEST(OlderNodes, ThatProveNothingServeFetchAndAreAskedForLanes) {
  const Folder folder;
  const Sample sample = one_file(60'000'000);
  sample.write(folder / "seed");
  const TransferId transfer = new_transfer();
  Node older("127.0.0.1", {}, false, false), leecher;
  older.seed(sample, folder / "seed", transfer);
  leecher.fetch(sample, folder / "get", transfer);
  leecher.engine->set_rate_limit(transfer, 8'000'000, 0);
  leecher.plan(transfer, {older.peer(4)});
  EXPECT_TRUE(eventually([&] { return open_lanes(leecher.snapshot(transfer), older.id) == 4; }));
  leecher.plan(transfer, {});
  EXPECT_TRUE(eventually([&] { return open_lanes(leecher.snapshot(transfer), older.id) == 0; }));
  // One that cannot be dialled.
  PeerPlan hidden = older.peer(5, false);
  leecher.plan(transfer, {hidden});
  older.plan(transfer, {leecher.peer(1)});
  EXPECT_TRUE(eventually([&] { return open_lanes(leecher.snapshot(transfer), older.id) == 5; }));
  leecher.engine->set_rate_limit(transfer, 0, 0);
  EXPECT_TRUE(eventually([&] { return is_whole(leecher.snapshot(transfer)); }));
}

/// A stock libtorrent that dials all the lanes it is told of.
TEST(Strangers, GetOneLane) {
  SlowPair pair;
  pair.seeder.engine->set_rate_limit(pair.transfer, 0, 16'000'000);
  lt::settings_pack settings;
  settings.set_str(lt::settings_pack::listen_interfaces, "127.0.0.1:0");
  settings.set_bool(lt::settings_pack::allow_multiple_connections_per_ip, true);
  for (const int off : {lt::settings_pack::enable_dht, lt::settings_pack::enable_lsd, lt::settings_pack::enable_upnp,
                        lt::settings_pack::enable_natpmp}) {
    settings.set_bool(off, false);
  }
  settings.set_int(lt::settings_pack::out_enc_policy, lt::settings_pack::pe_disabled);
  lt::session session(settings);
  const std::string torrent = "d4:info" + pair.sample.info_dict() + "e";
  lt::add_torrent_params params = lt::load_torrent_buffer(torrent, lt::load_torrent_limits{});
  params.save_path = pair.folder / "stranger";
  const lt::torrent_handle handle = session.add_torrent(std::move(params));
  for (const auto& endpoint : pair.seeder.peer(6, true, 6).endpoints) {
    handle.connect_peer({lt::make_address(endpoint.address), endpoint.port});
  }
  const auto strangers = [&] {
    std::size_t lanes = 0;
    const auto snapshot = pair.seeder.snapshot(pair.transfer);
    for (const auto& peer : snapshot.peers) {
      if (peer.node.is_nil()) lanes += peer.lanes.size();
    }
    return lanes;
  };
  EXPECT_TRUE(eventually([&] { return strangers() == 1 && handle.status().total_payload_download > 0; }, seconds(15)));
  // Nodes on the same host have theirs.
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(4)});
  EXPECT_TRUE(pair.stand(4));
  EXPECT_TRUE(eventually([&] { return strangers() == 1; }));
}

}  // namespace
}  // namespace gridtorrent::client::engine::test
