#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <numeric>
#include <string>

#include "bench/wan/network.h"
#include "bench/wan/packet.h"
#include "bench/wan/scenario.h"
#include "bench/wan/shaper.h"

namespace gridtorrent::wan {
namespace {

using testing::HasSubstr;

constexpr Nanos kMs = 1'000'000;
constexpr std::uint32_t kSeed = 0xC6120001, kGet = 0xC6120002;  // 198.18.0.1 and .2

void put16(std::vector<std::uint8_t>& bytes, std::size_t at, std::uint32_t value) {
  bytes[at] = static_cast<std::uint8_t>(value >> 8);
  bytes[at + 1] = static_cast<std::uint8_t>(value);
}
void put32(std::vector<std::uint8_t>& bytes, std::size_t at, std::uint32_t value) {
  put16(bytes, at, value >> 16);
  put16(bytes, at + 2, value & 0xFFFF);
}
std::uint32_t get32(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(at[0]) << 24 | static_cast<std::uint32_t>(at[1]) << 16 |
         static_cast<std::uint32_t>(at[2]) << 8 | at[3];
}

/// A TCP packet as a TUN device hands it over; `gso` 0: already cut.
std::vector<std::uint8_t> tcp(std::size_t payload, std::uint16_t gso, std::uint32_t from = kSeed,
                              std::uint32_t to = kGet, std::uint32_t port = 1000) {
  std::vector<std::uint8_t> bytes(sizeof(VirtioHeader) + 40 + payload);
  VirtioHeader virtio;
  if (gso > 0) {
    virtio = {1, 1, 40, gso, 20, 16};
    std::memcpy(bytes.data(), &virtio, sizeof(virtio));
  }
  const std::size_t ip = sizeof(VirtioHeader);
  bytes[ip] = 0x45;
  put16(bytes, ip + 2, static_cast<std::uint32_t>(40 + payload));
  put16(bytes, ip + 4, 7);  // id
  bytes[ip + 8] = 64;
  bytes[ip + 9] = 6;
  put32(bytes, ip + 12, from);
  put32(bytes, ip + 16, to);
  put16(bytes, ip + 20, port);
  put16(bytes, ip + 22, 80);
  put32(bytes, ip + 24, 5'000);  // sequence number
  bytes[ip + 32] = 5 << 4;
  bytes[ip + 33] = 0x80 | 0x18 | 0x01;  // CWR, PSH, ACK, FIN
  for (std::size_t i = 0; i < payload; ++i) bytes[ip + 40 + i] = static_cast<std::uint8_t>(i * 7);
  return bytes;
}

std::shared_ptr<const SuperPacket> packet(std::size_t payload, std::uint16_t gso = 0, std::uint32_t from = kSeed,
                                          std::uint32_t to = kGet, std::uint32_t port = 1000) {
  return SuperPacket::read(tcp(payload, gso, from, to, port));
}

Scenario two_hosts(const LinkSpec& seed, const LinkSpec& get = {}) {
  Scenario scenario;
  scenario.hosts = {{"seed", {{kSeed, seed}}}, {"get", {{kGet, get}}}};
  return scenario;
}

std::vector<Network::Delivery> all(Network& network) {
  std::vector<Network::Delivery> out;
  while (const auto next = network.next()) {
    for (auto& delivery : network.due(*next)) out.push_back(std::move(delivery));
  }
  return out;
}

// --- scenarios
// ---------------------------------------------------------------------------------------------------------

std::string refusal(const std::string& json) {
  const auto parsed = parse_scenario(json);
  return parsed ? "" : parsed.error().message;
}

TEST(WanScenario, RefusesWhatItDoesNotUnderstandAndNamesThePlace) {
  const std::string host = R"("address": "198.18.0.1")";
  const auto with = [&](const std::string& more) { return R"({"hosts": {"a": {)" + host + ", " + more + "}}}"; };
  EXPECT_THAT(refusal("["), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal(R"({"hosts": {}})"), HasSubstr("network.hosts"));
  EXPECT_THAT(refusal(R"({"hosts": {"a": {}}})"), HasSubstr("hosts.a: has no address"));
  EXPECT_THAT(refusal(R"({"hosts": {"a": {"address": "10.0.0.1"}}})"), HasSubstr("198.18.0.0/15"));
  EXPECT_THAT(refusal(R"({"hosts": {"a": {"address": 3}}})"), HasSubstr("IPv4"));
  EXPECT_THAT(refusal(R"({"hosts": {"a": {"address": "198.18.0.1"}, "b": {"address": "198.18.0.1"}}})"),
              HasSubstr("twice"));
  EXPECT_THAT(refusal(with(R"("upp": "1Gbit")")), HasSubstr("unknown key \"upp\""));
  EXPECT_THAT(refusal(with(R"("up": "fast")")), HasSubstr("hosts.a.up"));
  EXPECT_THAT(refusal(with(R"("up": 5)")), HasSubstr("hosts.a.up"));
  EXPECT_THAT(refusal(with(R"("loss": 1.5)")), HasSubstr("hosts.a.loss"));
  EXPECT_THAT(refusal(with(R"("delay_ms": -1)")), HasSubstr("hosts.a.delay_ms"));
  EXPECT_THAT(refusal(R"({"mtu": 100, "hosts": {"a": {"address": "198.18.0.1"}}})"), HasSubstr("mtu"));
  EXPECT_THAT(refusal(R"({"hosts": {"a": {"address": "198.18.0.1"}}, "changes": [{"host": "b"}]})"),
              HasSubstr("no host \"b\""));
  EXPECT_THAT(
      refusal(R"({"hosts": {"a": {"address": "198.18.0.1"}}, "changes": [{"host": "a", "address": "198.18.0.9"}]})"),
      HasSubstr("has no address 198.18.0.9"));
  EXPECT_FALSE(parse_command(R"({"do": "dance"})"));
  EXPECT_FALSE(parse_command(R"({"do": "drops", "host": "a"})"));
  EXPECT_FALSE(parse_command(R"({"do": "reseed"})")) << "what would it be?";
  EXPECT_FALSE(parse_command(R"({"do": "reseed", "seed": -1})"));
}

TEST(WanScenario, TakesValuesOfAHostForItsAddressesUnlessTheyHaveTheirOwn) {
  const auto parsed = parse_scenario(R"({"mtu": 9000, "hosts": {"a": {"up": "1Gbit", "delay_ms": 2.5, "queue": "6MB",
      "addresses": [{"address": "198.18.0.1"}, {"address": "198.18.1.1", "up": "10Mbit", "loss": 0.01}]}},
      "changes": [{"at_s": 9, "host": "a", "up": "1Mbit"}, {"at_s": 3, "host": "a", "address": "198.18.1.1", "loss": 0}]})");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const Scenario& scenario = parsed.value();
  ASSERT_EQ(scenario.hosts.size(), 1U);
  ASSERT_EQ(scenario.hosts[0].addresses.size(), 2U);
  EXPECT_EQ(scenario.mtu, 9000U);
  const LinkSpec &first = scenario.hosts[0].addresses[0].link, &second = scenario.hosts[0].addresses[1].link;
  EXPECT_EQ(first.up_bits_per_s, 1'000'000'000U);
  EXPECT_EQ(second.up_bits_per_s, 10'000'000U);
  EXPECT_EQ(second.delay_ms, 2.5);
  EXPECT_EQ(second.loss, 0.01);
  EXPECT_EQ(second.queue_bytes, 6'000'000U);
  EXPECT_EQ(scenario.changes[0].at_s, 3) << "in the order of time";
}

// --- packets
// -----------------------------------------------------------------------------------------------------------

TEST(WanPacket, RefusesWhatIsNoWholeIpv4Packet) {
  auto bytes = tcp(3'000, 1'000);
  EXPECT_EQ(SuperPacket::read(std::span(bytes).first(20)), nullptr);
  bytes[sizeof(VirtioHeader)] = 0x60;  // IPv6
  EXPECT_EQ(SuperPacket::read(bytes), nullptr);
  auto no_tcp = tcp(3'000, 1'000);
  no_tcp[sizeof(VirtioHeader) + 32] = 0xF0;  // a TCP header longer than all that came
  EXPECT_EQ(SuperPacket::read(std::span(no_tcp).first(sizeof(VirtioHeader) + 60)), nullptr);
}

TEST(WanPacket, IsCutIntoSegmentsAsANetworkCardWould) {
  const auto p = packet(3'500, 1'448);
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p->segments(), 3U);
  EXPECT_EQ(p->wire_bytes(0), 1'488U);
  EXPECT_EQ(p->wire_bytes(2), 40U + 3'500 - 2 * 1'448);
  EXPECT_EQ(packet(900)->segments(), 1U);
  EXPECT_EQ(packet(900)->wire_bytes(0), 940U);
}

std::uint32_t ones_sum(const std::uint8_t* bytes, std::size_t size) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < size; i += 2) sum += static_cast<std::uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  if (size % 2 == 1) sum += static_cast<std::uint32_t>(bytes[size - 1] << 8);
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return sum;
}

TEST(WanPacket, MergesNeighboursWithHeadersThatAreTrue) {
  const auto p = packet(4 * 1'448, 1'448);
  const auto merged = p->merge(1, 2);
  VirtioHeader virtio;
  std::memcpy(&virtio, merged.head.data(), sizeof(virtio));
  EXPECT_EQ(virtio.gso_size, 1'448);
  EXPECT_EQ(virtio.gso_type, 1);
  const std::uint8_t* ip = merged.head.data() + sizeof(virtio);
  EXPECT_EQ(merged.head_bytes, sizeof(virtio) + 40);
  EXPECT_EQ(merged.payload.size(), 2U * 1'448);
  EXPECT_EQ(merged.payload[0], static_cast<std::uint8_t>(1'448 * 7));
  EXPECT_EQ(ip[2] << 8 | ip[3], 40 + 2 * 1'448);
  EXPECT_EQ(ip[4] << 8 | ip[5], 8) << "ids count up";
  EXPECT_EQ(ones_sum(ip, 20), 0xFFFFU) << "the IP header's checksum";
  EXPECT_EQ(get32(ip + 24), 5'000U + 1'448);
  EXPECT_EQ(ip[33], 0x10) << "CWR belongs to the first, FIN and PSH to the last";

  // The receiving kernel adds the rest to what stands in the checksum's place.
  std::uint32_t pseudo = ones_sum(ip + 12, 8) + 6 + 20 + 2 * 1'448;
  while (pseudo > 0xFFFF) pseudo = (pseudo & 0xFFFF) + (pseudo >> 16);
  EXPECT_EQ(static_cast<std::uint32_t>(ip[36] << 8 | ip[37]), pseudo);
}

TEST(WanPacket, KeepsAllFlagsWhereItIsWholeAndNamesOneSegmentNoGso) {
  const auto p = packet(2 * 1'448, 1'448);
  EXPECT_EQ(p->merge(0, 1).head[sizeof(VirtioHeader) + 33], 0x99);
  VirtioHeader virtio;
  std::memcpy(&virtio, p->merge(1, 1).head.data(), sizeof(virtio));
  EXPECT_EQ(virtio.gso_size, 0);
  EXPECT_EQ(virtio.gso_type, 0);
  EXPECT_EQ(virtio.flags, 1) << "the checksum is still to be completed";
}

// --- shapers
// -----------------------------------------------------------------------------------------------------------

TEST(WanShaper, SendsExactlyAtItsRateAndDropsWhatItsQueueCannotHold) {
  Shaper shaper;
  shaper.set(12'000'000, 15'000);  // a packet of 1,500 bytes a millisecond, and ten of them may wait
  int admitted = 0;
  Nanos last = 0;
  for (int i = 0; i < 20; ++i) {
    const Nanos left = shaper.admit(0, 1'500);
    if (left < 0) continue;
    ++admitted;
    last = left;
  }
  EXPECT_EQ(admitted, 11) << "one under way and ten behind it";
  EXPECT_EQ(last, 11 * kMs);
  EXPECT_EQ(shaper.admit(5 * kMs, 1'500), 12 * kMs);
  EXPECT_EQ(shaper.admit(100 * kMs, 1'500), 101 * kMs) << "an idle link saves nothing up";
}

TEST(WanLosses, AreAsManyAsAskedAndTheSameForTheSameSeed) {
  const auto run = [](std::uint64_t seed) {
    Losses losses;
    losses.set(0.01, seed);
    std::vector<int> lost;
    for (int i = 0; i < 200'000; ++i) {
      if (losses.next()) lost.push_back(i);
    }
    return lost;
  };
  const auto lost = run(1);
  EXPECT_EQ(lost, run(1));
  EXPECT_NE(lost, run(2));
  EXPECT_NEAR(static_cast<double>(lost.size()), 2'000, 5 * 45) << "five standard deviations";
  Losses none, every;
  none.set(0, 1);
  every.set(1, 1);
  EXPECT_FALSE(none.next());
  EXPECT_TRUE(every.next() && every.next());
}

// --- the network
// -------------------------------------------------------------------------------------------------------

TEST(WanNetwork, DropsWhatComesFromOrGoesToAStrangeAddress) {
  Network network(two_hosts({}));
  network.send(0, 1, packet(100));                      // the seed's address, from the other host
  network.send(0, 0, packet(100, 0, kSeed, kGet + 1));  // nobody's address
  EXPECT_EQ(network.unroutable(), 2U);
  EXPECT_FALSE(network.next());
}

TEST(WanNetwork, DelaysByBothEndsAndByTheLinksBetween) {
  LinkSpec seed, get;
  seed.delay_ms = 20;
  seed.up_bits_per_s = 12'000'000;
  get.delay_ms = 5;
  get.down_bits_per_s = 6'000'000;
  Network network(two_hosts(seed, get));
  network.send(0, 0, packet(1'460));  // 1,500 bytes
  const auto deliveries = all(network);
  ASSERT_EQ(deliveries.size(), 1U);
  EXPECT_EQ(deliveries[0].due, kMs + 25 * kMs + 2 * kMs);
  EXPECT_EQ(deliveries[0].host, 1U);
}

TEST(WanNetwork, HandsOverNeighboursInOnePieceAndEachFlowInOrder) {
  LinkSpec seed;
  seed.delay_ms = 1;
  Network network(two_hosts(seed));
  const auto a = packet(10 * 1'448, 1'448, kSeed, kGet, 1), b = packet(10 * 1'448, 1'448, kSeed, kGet, 2);
  network.send(0, 0, a);
  network.send(0, 0, b);
  const auto deliveries = network.due(5 * kMs);
  ASSERT_EQ(deliveries.size(), 2U);
  EXPECT_EQ(deliveries[0].packet, a);
  EXPECT_EQ(deliveries[0].last, 9U);
  EXPECT_EQ(deliveries[1].packet, b);
}

TEST(WanNetwork, MergesNothingOverALostSegment) {
  LinkSpec seed;
  seed.loss = 0.2;
  Network network(two_hosts(seed));
  network.send(0, 0, packet(40 * 1'448, 1'448));
  const auto deliveries = all(network);
  std::uint32_t handed_over = 0, before = 0;
  for (const auto& run : deliveries) {
    EXPECT_GE(run.first, before);
    before = run.last + 2;  // at least one was lost between
    handed_over += run.last - run.first + 1;
  }
  EXPECT_GT(deliveries.size(), 1U);
  EXPECT_EQ(handed_over + network.counters(kSeed).losses, 40U);
}

/// Two senders that always have something to send through one downlink, with a random wait before each packet.
TEST(WanNetwork, SharesADownlinkAmongThoseWhoComeInTheOrderOfTime) {
  Scenario scenario = two_hosts({}, [] {
    LinkSpec get;
    get.down_bits_per_s = 12'000'000;
    get.queue_bytes = 100'000'000;
    return get;
  }());
  scenario.hosts.push_back({"third", {{kGet + 1, {}}}});
  Network network(scenario);
  // Twice as often from the one as from the other.
  for (int i = 0; i < 3'000; ++i) {
    const bool third = i % 3 == 2;
    network.send(i * 100, third ? 2 : 0, packet(1'460, 0, third ? kGet + 1 : kSeed));
  }
  std::map<std::uint32_t, int> by_source;
  Nanos last = 0;
  for (const auto& delivery : network.due(1'500 * kMs)) {
    by_source[delivery.packet->source()] += 1;
    last = delivery.due;
  }
  EXPECT_EQ(by_source[kSeed], 1'000);
  EXPECT_EQ(by_source[kGet + 1], 500);
  EXPECT_EQ(last, 1'500 * kMs) << "the downlink was never idle";
}

TEST(WanNetwork, CapsEachFlowByItself) {
  LinkSpec seed;
  seed.flow_bits_per_s = 12'000'000;
  seed.queue_bytes = 10'000'000;
  Network network(two_hosts(seed));
  for (int i = 0; i < 100; ++i) network.send(0, 0, packet(1'460, 0, kSeed, kGet, 1));
  for (int i = 0; i < 10; ++i) network.send(0, 0, packet(1'460, 0, kSeed, kGet, 2));
  std::map<std::uint64_t, Nanos> last;
  for (const auto& delivery : all(network)) last[delivery.packet->flow()] = delivery.due;
  EXPECT_EQ(last[packet(0, 0, kSeed, kGet, 1)->flow()], 100 * kMs);
  EXPECT_EQ(last[packet(0, 0, kSeed, kGet, 2)->flow()], 10 * kMs) << "not behind the other's hundred";
}

TEST(WanNetwork, ChangesALinkForWhatComesLaterAndLetsNobodyOvertake) {
  LinkSpec seed;
  seed.delay_ms = 50;
  Network network(two_hosts(seed));
  network.send(0, 0, packet(1'460));
  Change change;
  change.host = "seed";
  change.delay_ms = 1;
  change.up_bits_per_s = 12'000'000;
  network.apply(change);
  network.send(10 * kMs, 0, packet(1'460));
  network.send(100 * kMs, 0, packet(1'460));
  const auto deliveries = all(network);
  ASSERT_EQ(deliveries.size(), 3U);
  EXPECT_EQ(deliveries[0].due, 50 * kMs);
  EXPECT_EQ(deliveries[1].due, 50 * kMs) << "behind the one that left before it";
  EXPECT_EQ(deliveries[2].due, 102 * kMs);
}

TEST(WanNetwork, GivesLinksTheScenariosValuesAgainAlsoTheQueueThatItLeavesOut) {
  LinkSpec seed;
  seed.delay_ms = 50;
  seed.up_bits_per_s = 12'000'000;  // a packet of 1500 bytes a millisecond; 100 of them wait where nothing else is said
  const Scenario scenario = two_hosts(seed);
  Network network(scenario);
  Change change;
  change.host = "seed";
  change.delay_ms = 1;
  change.up_bits_per_s = 120'000'000;
  change.queue_bytes = 0;
  network.apply(change);
  network.reset(scenario);
  for (int i = 0; i < 50; ++i) network.send(0, 0, packet(1'460));
  const auto deliveries = all(network);
  ASSERT_EQ(deliveries.size(), 50U) << "the change's queue holds one";
  EXPECT_EQ(deliveries.front().due, 51 * kMs);
  EXPECT_EQ(deliveries.back().due, 100 * kMs);
  EXPECT_EQ(parse_command(R"({"do": "reset"})").value().kind, Command::Kind::kReset);
  EXPECT_FALSE(parse_command(R"({"do": "reset", "seed": 7})"));
}

TEST(WanNetwork, LosesTheSamePacketsAgainAfterTheSameSeedWhateverWasBefore) {
  LinkSpec seed;
  seed.loss = 0.1;
  Network network(two_hosts(seed));
  Nanos at = 0;
  const auto arrived = [&](int packets) {
    std::vector<int> numbers;
    for (int i = 0; i < packets; ++i) {
      network.send(at += kMs, 0, packet(1'460));
      if (!all(network).empty()) numbers.push_back(i);
    }
    return numbers;
  };
  arrived(123);
  network.reseed(7);
  const auto first = arrived(500);
  arrived(45);
  network.reseed(7);
  EXPECT_EQ(arrived(500), first);
  network.reseed(8);
  EXPECT_NE(arrived(500), first);
  const auto command = parse_command(R"({"do": "reseed", "seed": 7})");
  ASSERT_TRUE(command);
  EXPECT_EQ(command.value().seed, 7U);
}

TEST(WanNetwork, KeepsTheLinksOfOneHostsAddressesApart) {
  Scenario scenario = two_hosts({});
  LinkSpec slow;
  slow.up_bits_per_s = 12'000'000;
  scenario.hosts[0].addresses.push_back({kSeed + 0x100, slow});
  Network network(scenario);
  network.send(0, 0, packet(1'460, 0, kSeed));
  network.send(0, 0, packet(1'460, 0, kSeed + 0x100));
  const auto deliveries = all(network);
  ASSERT_EQ(deliveries.size(), 2U);
  EXPECT_EQ(deliveries[0].due, 0);
  EXPECT_EQ(deliveries[1].due, kMs);
}

TEST(WanNetwork, CountsWhatFullQueuesDrop) {
  LinkSpec seed;
  seed.up_bits_per_s = 12'000'000;
  seed.queue_bytes = 15'000;
  Network network(two_hosts(seed));
  network.send(0, 0, packet(40 * 1'448, 1'448));
  all(network);
  EXPECT_EQ(network.counters(kSeed).up_packets + network.counters(kSeed).queue_drops, 40U);
  EXPECT_EQ(network.counters(kSeed).up_packets, 11U);
  EXPECT_EQ(network.counters(kGet).down_packets, 11U);
}

TEST(WanNetwork, TellsOnceOfWhatWasDroppedWhereAndWhy) {
  LinkSpec seed;
  seed.up_bits_per_s = 12'000'000;
  seed.queue_bytes = 15'000;
  Network full(two_hosts(seed));
  const auto sent = packet(40 * 1'448, 1'448);
  full.send(7 * kMs, 0, sent);
  const auto by_queue = full.take_drops();
  ASSERT_EQ(by_queue.size(), 29U);
  EXPECT_EQ(by_queue[0], (Drop{7 * kMs, kSeed, true, true, sent->flow(), sent->wire_bytes(11)}));
  EXPECT_TRUE(full.take_drops().empty());

  LinkSpec lossy;
  lossy.loss = 1;
  Network random(two_hosts({}, lossy));
  random.send(0, 0, packet(1'448, 0));
  all(random);
  const auto at_random = random.take_drops();
  ASSERT_EQ(at_random.size(), 1U);
  EXPECT_EQ(at_random[0].ip, kGet);
  EXPECT_FALSE(at_random[0].up || at_random[0].by_queue);
}

}  // namespace
}  // namespace gridtorrent::wan
