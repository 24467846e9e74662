#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/doctor/doctor.h"
#include "common/local_time.h"

namespace gridtorrent::client {
namespace {

using ::testing::HasSubstr;

KernelFacts tuned() {
  KernelFacts facts;
  facts.rmem_max = facts.wmem_max = 64U << 20U;
  facts.somaxconn = 4096;
  facts.open_files = 65536;
  facts.tcp_rmem = facts.tcp_wmem = {4096, 131072, 64U << 20U};
  facts.congestion_control = "cubic";
  facts.available_congestion_controls = "reno cubic bbr";
  facts.allowed_congestion_controls = "reno cubic bbr";
  facts.reserved_ports = "50000-50031";
  facts.ephemeral_ports = {32768, 60999};
  return facts;
}

Finding find(const std::vector<Finding>& findings, const std::string& check) {
  for (const Finding& finding : findings)
    if (finding.check == check) return finding;
  ADD_FAILURE() << "no finding " << check;
  return {};
}

const std::vector<std::pair<int, int>> kLanes{{50000, 50015}, {50016, 50031}};

TEST(DoctorKernel, IsContentWithATunedMachine) {
  for (const Finding& finding : judge_kernel(tuned(), kLanes))
    EXPECT_TRUE(finding.ok) << finding.check << ": " << finding.message;
}

TEST(DoctorKernel, NamesTheLineForEachLimit) {
  KernelFacts facts = tuned();
  facts.rmem_max = 212992;
  facts.tcp_wmem = {4096, 16384, 4194304};
  facts.somaxconn = 128;
  facts.open_files = 1024;
  const auto findings = judge_kernel(facts, kLanes);
  EXPECT_EQ(find(findings, "rmem_max").fix, "sysctl -w net.core.rmem_max=16777216");
  EXPECT_EQ(find(findings, "tcp_wmem").fix, "sysctl -w net.ipv4.tcp_wmem=\"4096 16384 16777216\"");
  EXPECT_EQ(find(findings, "somaxconn").fix, "sysctl -w net.core.somaxconn=1024");
  EXPECT_EQ(find(findings, "open_files").fix, "ulimit -n 4096");
  EXPECT_TRUE(find(findings, "tcp_rmem").ok);
}

TEST(DoctorKernel, OffersBbrWhereItIsNotAllowed) {
  KernelFacts facts = tuned();
  facts.allowed_congestion_controls = "reno cubic";
  EXPECT_EQ(find(judge_kernel(facts, kLanes), "tcp_congestion_control").fix,
            "sysctl -w net.ipv4.tcp_allowed_congestion_control=\"reno cubic bbr\"");
  facts.available_congestion_controls = "reno cubic";
  EXPECT_THAT(find(judge_kernel(facts, kLanes), "tcp_congestion_control").fix, HasSubstr("modprobe tcp_bbr && sysctl"));
}

TEST(DoctorKernel, ReservesLanePortsBesideThoseThatAre) {
  KernelFacts facts = tuned();
  facts.reserved_ports = "8080";
  const Finding finding = find(judge_kernel(facts, {{50000, 50031}}), "ip_local_reserved_ports");
  EXPECT_FALSE(finding.ok);
  EXPECT_EQ(finding.fix, "sysctl -w net.ipv4.ip_local_reserved_ports=8080,50000-50031");
  EXPECT_TRUE(find(judge_kernel(facts, {{20000, 20015}}), "ip_local_reserved_ports").ok) << "no ephemeral ports";
  EXPECT_FALSE(find(judge_kernel({}, kLanes), "ip_local_reserved_ports").ok) << "unreadable";
}

TEST(DoctorKernel, ReservedRangesMayBeSplitAndOutOfOrder) {
  EXPECT_TRUE(ports_are_reserved("50016-50031,50000-50015", {50000, 50031}));
  EXPECT_TRUE(ports_are_reserved("1,50000,50001-50002", {50000, 50002}));
  EXPECT_FALSE(ports_are_reserved("50000-50015,50017-50031", {50000, 50031}));
  EXPECT_FALSE(ports_are_reserved("", {50000, 50000}));
  EXPECT_TRUE(ports_are_reserved("40000-60000", {50000, 50031}));
}

TEST(DoctorPorts, ComeFromTheNodeOrAreTheDefaults) {
  EXPECT_EQ(lane_port_ranges(nullptr), (std::vector<std::pair<int, int>>{{50000, 50031}}));
  v1::StatusReply node;
  for (const int port : {41002, 41000, 41001})
    node.add_listeners()->mutable_endpoint()->set_port(static_cast<std::uint32_t>(port));
  EXPECT_EQ(lane_port_ranges(&node), (std::vector<std::pair<int, int>>{{41000, 41002}}));
  EXPECT_EQ(lane_ports_text(node), "TCP ports 41000-41002");
  node.add_listeners()->mutable_endpoint()->set_port(41010);
  EXPECT_EQ(lane_ports_text(node), "TCP ports 41000-41002, 41010");
  EXPECT_FALSE(has_free_lane_ports(node));
}

TEST(DoctorPorts, OfANodeThatListensNowhereAreNotSaidToBeTheDefaults) {
  EXPECT_EQ(lane_ports_text({}), "no port; see the node's log for why");
  EXPECT_FALSE(has_free_lane_ports({}));
}

TEST(DoctorPorts, ThatWereFreeOnesNeedNoReserving) {
  v1::StatusReply node;
  for (const std::uint32_t port : {41001U, 41021U, 42003U, 43007U, 44009U})
    node.add_listeners()->mutable_endpoint()->set_port(port);
  EXPECT_TRUE(lane_port_ranges(&node).empty());
  EXPECT_TRUE(has_free_lane_ports(node));
  EXPECT_EQ(lane_ports_text(node), "free TCP ports");
  EXPECT_TRUE(find(judge_kernel(tuned(), {}), "ip_local_reserved_ports").ok);
}

TEST(DoctorServer, TellsErrorsClockAndTheLoginsEnd) {
  ServerFacts facts;
  facts.error = Error{Code::kUnreachable, "no answer from h:1"};
  EXPECT_EQ(judge_server(facts, {0})[0].message, "no answer from h:1");
  facts.error.reset();
  facts.address = "h:1";
  facts.user = "mia";
  EXPECT_TRUE(find(judge_server(facts, {0}), "clock").ok);
  facts.clock_offset = std::chrono::minutes(-3);
  const Finding clock = find(judge_server(facts, {0}), "clock");
  EXPECT_EQ(clock.message, "the server's clock is 3 min 0 s behind");
  EXPECT_EQ(clock.fix, "timedatectl set-ntp true");
  facts.token_expires_ms = 3600'000;
  EXPECT_FALSE(find(judge_server(facts, {1}), "login").ok);
}

TEST(DoctorServer, TellsWhenTheCertificateEnds) {
  constexpr WallTime kNow{1'800'000'000'000};
  ServerFacts facts;
  EXPECT_FALSE(find(judge_server(facts, kNow), "certificate").ok) << "unread";
  facts.certificate_end = kNow + std::chrono::hours(30 * 24 - 1);
  const Finding soon = find(judge_server(facts, kNow), "certificate");
  EXPECT_FALSE(soon.ok);
  EXPECT_THAT(soon.message, HasSubstr("the server's ends on 2027-02-14"));
  EXPECT_THAT(soon.fix, HasSubstr("kill -HUP"));
  facts.certificate_end = kNow + std::chrono::hours(30 * 24);
  EXPECT_EQ(find(judge_server(facts, kNow), "certificate").message,
            "the server's is good until " + local_time_text(*facts.certificate_end));
  EXPECT_TRUE(find(judge_server(facts, kNow), "certificate").ok);
}

TEST(DoctorNode, TellsWhichLanesCannotBeReached) {
  v1::StatusReply node;
  node.set_server_connected(true);
  EXPECT_FALSE(find(judge_node(node, {0}), "lanes").ok) << "no listener at all";
  auto* listener = node.add_listeners();
  listener->mutable_endpoint()->set_address("198.18.0.1");
  listener->mutable_endpoint()->set_port(50000);
  EXPECT_THAT(find(judge_node(node, {0}), "lanes").message, HasSubstr("198.18.0.1: 1 not tried"));
  listener->set_reachability(v1::REACHABLE);
  EXPECT_TRUE(find(judge_node(node, {0}), "lanes").ok);
  listener->set_reachability(v1::UNREACHABLE);
  const Finding finding = find(judge_node(node, {0}), "lanes");
  EXPECT_THAT(finding.message, HasSubstr("the server cannot reach 198.18.0.1:50000"));
  EXPECT_EQ(finding.fix, "ufw allow 50000/tcp");
}

TEST(DoctorNode, NamesTheRangesToOpenAndNoPortBetweenThem) {
  v1::StatusReply node;
  node.set_server_connected(true);
  for (const std::uint32_t port : {40000U, 40001U, 40002U, 60000U, 60001U, 60002U}) {
    auto* listener = node.add_listeners();
    listener->mutable_endpoint()->set_address("198.18.0.1");
    listener->mutable_endpoint()->set_port(port);
    listener->set_reachability(v1::UNREACHABLE);
  }
  const Finding finding = find(judge_node(node, {0}), "lanes");
  EXPECT_EQ(finding.fix, "ufw allow 40000:40002/tcp && ufw allow 60000:60002/tcp");
  EXPECT_THAT(finding.message, HasSubstr("198.18.0.1:60000 and 2 more: others cannot dial"));
}

TEST(DoctorNode, OpensNoFreePortsThatAreOthersAfterTheNextStart) {
  v1::StatusReply node;
  node.set_server_connected(true);
  for (const std::uint32_t port : {41001U, 41021U, 42003U, 43007U, 60861U}) {
    auto* listener = node.add_listeners();
    listener->mutable_endpoint()->set_port(port);
    listener->set_reachability(v1::UNREACHABLE);
  }
  EXPECT_THAT(find(judge_node(node, {0}), "lanes").fix, HasSubstr("set lane-ports and tls-lane-ports"));
}

TEST(DoctorNode, TellsWhichStateEachAddressHas) {
  v1::StatusReply node;
  const auto add = [&](const char* address, v1::Reachability reachability) {
    auto* listener = node.add_listeners();
    listener->mutable_endpoint()->set_address(address);
    listener->mutable_endpoint()->set_port(50000);
    listener->set_reachability(reachability);
  };
  add("198.18.0.1", v1::REACHABLE);
  add("198.18.0.1", v1::REACHABLE);
  add("10.0.0.1", v1::REACHABILITY_UNKNOWN);
  const Finding untried = find(judge_node(node, {0}), "lanes");
  EXPECT_TRUE(untried.ok) << "what was not tried counts as reachable";
  EXPECT_THAT(untried.message, HasSubstr("10.0.0.1: 1 not tried; 198.18.0.1: 2 reached"));
  EXPECT_THAT(untried.message, HasSubstr("--dial-back-allow"));
  add("198.18.0.1", v1::UNREACHABLE);
  add("", v1::UNREACHABLE);
  const Finding closed = find(judge_node(node, {0}), "lanes");
  EXPECT_FALSE(closed.ok);
  EXPECT_THAT(closed.message, HasSubstr("as the server sees the node: 1 not reached"));
  EXPECT_THAT(closed.message, HasSubstr("198.18.0.1: 2 reached, 1 not reached"));
}

TEST(DoctorNode, TellsWhyTheServerIsNotConnected) {
  v1::StatusReply node;
  node.set_server("h:1");
  node.set_server_error("refused");
  node.set_credential_expires_ms(10);
  EXPECT_EQ(find(judge_node(node, {0}), "node_server").message, "the node is not connected to h:1: refused");
  node.clear_server_error();
  EXPECT_EQ(find(judge_node(node, {0}), "node_server").message, "the node is still connecting to h:1");
  EXPECT_FALSE(find(judge_node(node, {0}), "node_credential").ok);
  EXPECT_EQ(find(judge_node(node, {0}), "node_server").fix, "");
  node.set_credential_refused(true);
  EXPECT_EQ(find(judge_node(node, {0}), "node_server").fix, "gridtorrent node reenroll");
}

TEST(DoctorDisks, WarnsOfFullMissingAndReadOnly) {
  const auto findings = judge_disks({{"a", "/a", 5'000'000'000U, true},
                                     {"b", "/b", 10U, true},
                                     {"c", "/c", std::nullopt, true},
                                     {"d", "/d", 5'000'000'000U, false}});
  ASSERT_EQ(findings.size(), 4U);
  EXPECT_TRUE(findings[0].ok);
  EXPECT_EQ(findings[1].message, "b /b has only 10 B left");
  EXPECT_EQ(findings[2].message, "c /c is not there");
  EXPECT_EQ(findings[3].message, "d /d cannot be written");
}

}  // namespace
}  // namespace gridtorrent::client
