#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "client/core/announcer.h"
#include "client/core/dialling.h"
#include "client/core/named_roots.h"
#include "client/core/transfer.h"
#include "tests/support/numbered_node.h"

namespace gridtorrent::client {
namespace {

using gridtorrent::testing::numbered_node;
using std::chrono::milliseconds;

PairFacts pair(bool self_wants, bool peer_wants, Reachability self = Reachability::kReachable,
               Reachability peer = Reachability::kReachable) {
  return {numbered_node(1), numbered_node(2), self_wants, peer_wants, self, peer};
}

PairFacts turned(const PairFacts& facts) {
  return {facts.peer, facts.self, facts.peer_wants, facts.self_wants, facts.peer_reachability, facts.self_reachability};
}

TEST(WhoDials, NobodyWhereNobodyWantsData) {
  EXPECT_EQ(who_dials(pair(false, false)), Dialler::kNobody);
}
TEST(WhoDials, WhoeverWantsData) {
  EXPECT_EQ(who_dials(pair(true, false)), Dialler::kSelf);
  EXPECT_EQ(who_dials(pair(false, true)), Dialler::kPeer);
}
TEST(WhoDials, TheLowerIdWhereBothWant) {
  EXPECT_EQ(who_dials(pair(true, true)), Dialler::kSelf);
  EXPECT_EQ(who_dials(turned(pair(true, true))), Dialler::kPeer);
}
TEST(WhoDials, TheHiddenSideWhereOnlyTheOtherCanBeReached) {
  EXPECT_EQ(who_dials(pair(true, false, Reachability::kReachable, Reachability::kUnreachable)), Dialler::kPeer);
  EXPECT_EQ(who_dials(pair(false, true, Reachability::kUnreachable, Reachability::kReachable)), Dialler::kSelf);
}
TEST(WhoDials, BothEndsAgreeInEveryCase) {
  const Reachability all[] = {Reachability::kUnknown, Reachability::kReachable, Reachability::kUnreachable};
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      for (const auto ra : all) {
        for (const auto rb : all) {
          const auto facts = pair(a, b, ra, rb);
          const auto here = who_dials(facts), there = who_dials(turned(facts));
          if (here == Dialler::kNobody) {
            EXPECT_EQ(there, Dialler::kNobody);
          } else {
            EXPECT_NE(here, there);
          }
          EXPECT_EQ(without_path(facts), without_path(turned(facts)));
        }
      }
    }
  }
}
TEST(WhoDials, NoPathOnlyWhereNeitherCanBeReached) {
  EXPECT_TRUE(without_path(pair(true, false, Reachability::kUnreachable, Reachability::kUnreachable)));
  EXPECT_FALSE(without_path(pair(true, false, Reachability::kUnknown, Reachability::kUnreachable)));
  EXPECT_FALSE(without_path(pair(false, false, Reachability::kUnreachable, Reachability::kUnreachable)));
}

std::vector<LaneEndpoint> ports(std::initializer_list<std::uint16_t> numbers) {
  std::vector<LaneEndpoint> endpoints;
  for (const std::uint16_t port : numbers) endpoints.push_back({"198.18.0.1", port, false, ""});
  return endpoints;
}

TEST(NoPath, SaysWhichPortsOfWhichNodeToOpenWhereNoneIsOpen) {
  const std::string head = "no path to beta: neither beta nor this node, alpha, can be dialled";
  const std::string tail = " (behind NAT: forward them)";
  EXPECT_EQ(no_path_message({"alpha", ports({50001, 50000, 50000})}, {"beta", ports({50007, 50100})}),
            head +
                "; open the ports of one of them: on alpha 'ufw allow 50000:50001/tcp', or on beta 'ufw allow "
                "50007/tcp'" +
                tail);
  EXPECT_EQ(no_path_message({"alpha", ports({50000})}, {"beta", {}}),
            head + "; open the ports of one of them: on alpha 'ufw allow 50000/tcp'" + tail);
  EXPECT_EQ(no_path_message({"alpha", {}}, {"beta", {}}), head);
}

TEST(DialsNow, TheOtherSideTriesAfterTwoSeconds) {
  DialPeer peer;
  peer.nothing_for = milliseconds(1999);
  EXPECT_FALSE(dials_now(pair(false, true), peer));
  peer.nothing_for = milliseconds(2000);
  EXPECT_TRUE(dials_now(pair(false, true), peer));
  peer.nothing_for = milliseconds(0);
  peer.outgoing = true;
  EXPECT_TRUE(dials_now(pair(false, true), peer)) << "what it dialled stays";
  peer.incoming = true;
  EXPECT_FALSE(dials_now(pair(false, true), peer)) << "where both stand, the rule's dialler's stay";
}
TEST(DialsNow, TheRulesDiallerAsksForLanesWhereOnlyTheOthersStand) {
  DialPeer peer;
  peer.incoming = peer.incoming_carries = true;
  peer.no_outgoing_for = milliseconds(1000);
  EXPECT_TRUE(dials_now(pair(true, false), peer));
  peer.no_outgoing_for = milliseconds(2000);
  EXPECT_FALSE(dials_now(pair(true, false), peer));
}
TEST(DialsNow, IdleLanesKeepNobodyFromDiallingWhomTheRuleNames) {
  DialPeer peer;
  peer.incoming = true;
  peer.no_outgoing_for = milliseconds(60'000);
  EXPECT_TRUE(dials_now(pair(true, false), peer)) << "they may be somebody's who relays the node's proof";
}
TEST(DialsNow, WhoProvedNothingKeepsNobodyFromDialling) {
  DialPeer peer;
  peer.incoming_unproven = true;
  peer.nothing_for = peer.no_outgoing_for = milliseconds(60'000);
  EXPECT_TRUE(dials_now(pair(true, false), peer));
  EXPECT_TRUE(dials_now(pair(false, true), peer));
}
TEST(AsksForLanes, WhereThePeerDialsOrOursDoNotComeUp) {
  DialPeer peer;
  EXPECT_TRUE(asks_for_lanes(false, peer));
  EXPECT_FALSE(asks_for_lanes(true, peer));
  peer.incoming_unproven = true;
  EXPECT_FALSE(asks_for_lanes(true, peer)) << "ours are on their way";
  peer.no_outgoing_for = milliseconds(2000);
  EXPECT_TRUE(asks_for_lanes(true, peer)) << "an older node that cannot be dialled";
  peer.outgoing = true;
  EXPECT_FALSE(asks_for_lanes(true, peer));
}

DialFacts swarm_of(int seeders, bool wants = true) {
  DialFacts facts;
  facts.self = numbered_node(100);
  facts.wants_data = wants;
  for (int i = 0; i < seeders; ++i) {
    DialPeer peer;
    peer.info.node = numbered_node(static_cast<std::uint8_t>(i + 1));
    peer.info.complete = true;
    peer.info.endpoints = {{"198.18.0.1", 50000, false, ""}, {"198.18.0.1", 50016, true, ""}};
    facts.peers.push_back(peer);
  }
  return facts;
}

/// So many lanes to everybody.
Plan lanes_to_all(const DialFacts& facts, int lanes) {
  Plan plan{.peers = {}, .reason = {Limit::kUnknown, "test: as it likes"}};
  for (const auto& peer : facts.peers) plan.peers.push_back({.node = peer.info.node, .lanes = lanes});
  return plan;
}
LanePlan planned(const DialFacts& facts, int lanes = 4) {
  return make_lane_plan(facts, lanes_to_all(facts, lanes));
}

TEST(LanePlans, KeepWithinThirtyTwoLanesAPeerAndAHundredAndTwentyEightInAll) {
  for (const auto& peer : planned(swarm_of(3), 1'000'000).peers) EXPECT_EQ(peer.lanes, 32);
  EXPECT_EQ(planned(swarm_of(1), -5).peers.front().lanes, 0);
  int all = 0;
  for (const auto& peer : planned(swarm_of(40), 16).peers) all += peer.lanes;
  EXPECT_EQ(all, 128);
}
TEST(LanePlans, NameNobodyTwiceAndNobodyThatTheSwarmDoesNotKnow) {
  const DialFacts facts = swarm_of(2);
  Plan wish = lanes_to_all(facts, 1);
  wish.peers.push_back({.node = numbered_node(2), .lanes = 7});
  wish.peers.push_back({.node = numbered_node(77), .lanes = 1});
  const LanePlan plan = make_lane_plan(facts, wish);
  ASSERT_EQ(plan.peers.size(), 2U);
  EXPECT_EQ(plan.peers.back().lanes, 1);
}
TEST(LanePlans, SayWhatTheControllerSays) {
  EXPECT_EQ(planned(swarm_of(1)).reason, "test: as it likes");
}
TEST(LanePlans, NameTheKeysOfAllNodesForPlainEditionsAlone) {
  auto facts = swarm_of(40);
  for (auto& peer : facts.peers) peer.info.key = KeyPrint{peer.info.node.bytes()[15]};
  facts.peers[0].info.key.reset();  // of an older server
  EXPECT_EQ(planned(facts).keys.size(), 39u) << "who is not dialled dials us";
  EXPECT_EQ(planned(facts).keys.at(numbered_node(2)), *facts.peers[1].info.key);
  facts.tls = true;
  EXPECT_TRUE(planned(facts).keys.empty()) << "certificates prove them";
}
TEST(LanePlans, NameAllThatFetchEvenThoseThatGetNoLanes) {
  auto facts = swarm_of(12);
  for (auto& peer : facts.peers) {
    peer.info.complete = peer.info.node == numbered_node(3);
    peer.info.wants_data = !peer.info.complete;
  }
  Plan wish = lanes_to_all(facts, 1);
  wish.peers.resize(8);
  std::ranges::reverse(facts.peers);
  const LanePlan plan = make_lane_plan(facts, wish);
  EXPECT_EQ(plan.peers.size(), 8u);
  std::vector<NodeId> expected;
  for (std::uint8_t i = 1; i <= 12; ++i) {
    if (i != 3) expected.push_back(numbered_node(i));
  }
  EXPECT_EQ(plan.fetching, expected);
  facts.wants_data = false;
  EXPECT_TRUE(planned(facts).fetching.empty()) << "a seeder divides nothing";
}
TEST(LanePlans, OfASeederHaveOneLaneByWhichThePeerAsksForMore) {
  auto facts = swarm_of(1, false);
  facts.peers[0].info.wants_data = true;
  facts.peers[0].nothing_for = kFallbackAfter;
  ASSERT_EQ(planned(facts, 16).peers.size(), 1u);
  EXPECT_EQ(planned(facts, 16).peers.front().lanes, 1);
}
TEST(LanePlans, NameOnlyEndpointsOfTheEdition) {
  const auto plain = planned(swarm_of(1));
  ASSERT_EQ(plain.peers.front().endpoints.size(), 1u);
  EXPECT_FALSE(plain.peers.front().endpoints.front().tls);
}
TEST(LanePlans, NameNeitherThisNodeNorForeigners) {
  auto facts = swarm_of(1);
  facts.peers.front().info.node = facts.self;
  EXPECT_TRUE(planned(facts).peers.empty());
  facts.peers.front().info.node = {};
  EXPECT_TRUE(planned(facts).peers.empty());
}
TEST(LanePlans, OfASeederNameOnlyWhomNobodyElseCanDial) {
  auto facts = swarm_of(2, false);
  for (auto& peer : facts.peers) {
    peer.info.complete = false;
    peer.info.wants_data = true;
  }
  EXPECT_TRUE(planned(facts).peers.empty());
  facts.self_reachability = Reachability::kUnreachable;
  facts.peers.front().info.reachability = Reachability::kReachable;
  const auto plan = planned(facts);
  ASSERT_EQ(plan.peers.size(), 2u) << "an unknown peer is worth a try as well";
  EXPECT_TRUE(plan.peers.front().dial);
}
TEST(LanePlans, OfASeederKeepWhomItDialledWhereThePeersLanesStandToo) {
  auto facts = swarm_of(1, false);
  auto& peer = facts.peers.front();
  peer.info.complete = false;
  peer.info.wants_data = peer.outgoing = peer.incoming = true;
  const auto plan = planned(facts);
  ASSERT_EQ(plan.peers.size(), 1U) << "not named, it would lose its lanes at once, while the peer gives up its own";
  EXPECT_FALSE(plan.peers.front().dial);
  EXPECT_FALSE(plan.peers.front().by_rule);
  EXPECT_EQ(plan.reason, "seeding: those who want data dial");
  peer.info.wants_data = false;
  EXPECT_TRUE(planned(facts).peers.empty());
}
TEST(LanePlans, SayWhereTheRuleNamesThisNode) {
  EXPECT_TRUE(planned(swarm_of(1)).peers.front().by_rule);
  auto facts = swarm_of(1);
  facts.peers.front().info.complete = false;
  facts.peers.front().info.wants_data = true;
  EXPECT_FALSE(planned(facts).peers.front().by_rule) << "both want, and the peer has the lower id";
}

TEST(ChooseActive, TakesPriorityThenAgeAndStalledOnesBeside) {
  std::vector<QueueEntry> entries;
  for (int i = 0; i < 4; ++i) {
    TransferId::Bytes bytes{};
    bytes[0] = static_cast<std::uint8_t>(i + 1);
    entries.push_back({TransferId(bytes), 0, WallTime{i}, false});
  }
  entries[3].priority = 1;
  entries[0].stalled = true;
  const auto active = choose_active(entries, 2);
  EXPECT_EQ(active, (std::vector<TransferId>{entries[3].id, entries[0].id, entries[1].id}));
}

TEST(ChooseActive, WhoHasToWaitIsToldForWhatAndWhatItsDeadlineTakes) {
  const WallTime now{1'700'000'000'000};
  TransferRow row;
  row.wanted_bytes = 110'000'000;
  row.verified_bytes = 10'000'000;
  const std::string turn = "waits for its turn: max-fetching is 4, and those of higher --priority go first";
  EXPECT_EQ(turn_text(row, 4, now), turn);
  row.wish.by = now + std::chrono::seconds(100);
  EXPECT_EQ(turn_text(row, 4, now), turn + "; 8.00 Mbit/s from now on would be in time");
  row.wish.by = now + std::chrono::milliseconds(99'000);
  EXPECT_EQ(turn_text(row, 4, now), turn + "; 8.10 Mbit/s from now on would be in time") << "never less than it takes";
  row.wish.by = now;
  EXPECT_EQ(turn_text(row, 4, now), turn + "; the time that it was to be done by is past");
  row.wish.by = now + std::chrono::hours(24);
  row.verified_bytes = row.wanted_bytes;
  EXPECT_THAT(turn_text(row, 4, now), ::testing::HasSubstr("1 bit/s from now on")) << "no logarithm of nothing";
}

metainfo::Manifest tree() {
  using metainfo::EntryKind;
  crypto::Sha256Digest root{};
  root.fill(1);
  metainfo::Manifest manifest;
  manifest.base_name = "base";
  manifest.entries = {{"", EntryKind::kFolder, 0, 0755, 0, {}},    {"a", EntryKind::kFolder, 0, 0755, 0, {}},
                      {"a-b", EntryKind::kFile, 1, 0644, 0, root}, {"a/x", EntryKind::kFile, 2, 0644, 0, root},
                      {"a/y", EntryKind::kFolder, 0, 0755, 0, {}}, {"a/y/z.txt", EntryKind::kFile, 4, 0644, 0, root},
                      {"empty", EntryKind::kFile, 0, 0644, 0, {}}};
  return manifest;
}

TEST(Wanted, IsEverythingWithoutGlobs) {
  EXPECT_TRUE(wanted_entries(tree(), {})->empty());
  EXPECT_EQ(wanted_bytes(tree(), {}), 7u);
}
TEST(Wanted, AFolderMeansAllBelowItAndParentsComeAlong) {
  EXPECT_EQ(*wanted_entries(tree(), {"a"}), (std::vector<bool>{true, true, false, true, true, true, false}));
  EXPECT_EQ(*wanted_entries(tree(), {"*.txt"}), (std::vector<bool>{true, true, false, false, true, true, false}));
  EXPECT_EQ(wanted_bytes(tree(), *wanted_entries(tree(), {"a"})), 6u);
}
metainfo::Manifest odd_names() {
  metainfo::Manifest manifest;
  manifest.base_name = "run";
  manifest.entries = {
      {"", metainfo::EntryKind::kFolder, 0, 0755, 1, {}},     {"c1.txt", metainfo::EntryKind::kFile, 1, 0644, 1, {}},
      {"c?.txt", metainfo::EntryKind::kFile, 1, 0644, 1, {}}, {"odd\nname", metainfo::EntryKind::kFile, 1, 0644, 1, {}},
      {"raw", metainfo::EntryKind::kFolder, 0, 0755, 1, {}},  {"raw/run", metainfo::EntryKind::kFile, 1, 0644, 1, {}}};
  return manifest;
}

TEST(Wanted, APathAsItIsShownMeansThatOneAlone) {
  using Wanted = std::vector<bool>;
  const auto wanted = [](const std::string& text) { return *wanted_entries(odd_names(), {text}); };
  EXPECT_EQ(wanted("c?.txt"), (Wanted{true, false, true, false, false, false})) << "no pattern";
  EXPECT_EQ(wanted("c*.txt"), (Wanted{true, true, true, false, false, false})) << "a pattern";
  for (const char* text : {"odd\nname", "odd\\nname", "run/odd\\nname"})
    EXPECT_EQ(wanted(text), (Wanted{true, false, false, true, false, false})) << text;
  for (const char* text : {"raw", "raw/", "run/raw", "run/raw/"})
    EXPECT_EQ(wanted(text), (Wanted{true, false, false, false, true, true})) << text;
  EXPECT_EQ(wanted("run"), Wanted(6, true)) << "all of it";
}

TEST(Wanted, ARequestSetsAsideWhatMatchesNothing) {
  const auto none = choose_files(odd_names(), {"x", "y"});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::kNotFound);
  EXPECT_NE(none.error().message.find("'x'"), std::string::npos);
  const auto some = choose_files(odd_names(), {"x", "c1.txt"});
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->globs, std::vector<std::string>{"c1.txt"});
  EXPECT_EQ(some->unmatched, std::vector<std::string>{"x"});
  EXPECT_EQ(wanted_bytes(odd_names(), some->wanted), 1u);
  EXPECT_TRUE(choose_files(odd_names(), {})->wanted.empty());
}

TEST(Wanted, OfASingleFileIsThatFile) {
  metainfo::Manifest one;
  one.base_name = "scan.h5";
  one.entries = {{"", metainfo::EntryKind::kFile, 7, 0644, 1, {}}};
  const auto chosen = choose_files(one, {"*.h5"});
  ASSERT_TRUE(chosen.ok());
  EXPECT_TRUE(chosen->globs.empty()) << "it may be called otherwise where it is put";
  EXPECT_TRUE(chosen->wanted.empty());
}

using Places = std::vector<std::uint32_t>;

TEST(Patterns, MeanExactlyTheEntriesAtThesePlaces) {
  const auto means = [](const metainfo::Manifest& manifest, const Places& places) {
    const auto patterns = patterns_of(manifest, places);
    EXPECT_TRUE(patterns.ok()) << patterns.error().message;
    return *wanted_entries(manifest, *patterns);
  };
  using Wanted = std::vector<bool>;
  EXPECT_EQ(means(tree(), {2}), (Wanted{true, false, true, false, false, false, false}));
  EXPECT_EQ(means(tree(), {3, 6}), (Wanted{true, true, false, true, false, false, true}));
  EXPECT_EQ(means(tree(), {1}), (Wanted{true, true, false, true, true, true, false})) << "a folder, all below it";
  EXPECT_EQ(means(odd_names(), {2, 3}), (Wanted{true, false, true, true, false, false})) << "no glob among them";
}
TEST(Patterns, NameAWholeFolderOnce) {
  EXPECT_EQ(*patterns_of(tree(), Places{3, 5, 6}), (std::vector<std::string>{"a", "empty"}));
  EXPECT_EQ(*patterns_of(tree(), Places{5}), (std::vector<std::string>{"a/y"}));
  EXPECT_TRUE(patterns_of(tree(), Places{2, 3, 5, 6})->empty()) << "all";
  EXPECT_TRUE(patterns_of(tree(), Places{0})->empty()) << "BASE";
}
TEST(Patterns, OfPlacesThatAreNotThereAreRefused) {
  EXPECT_EQ(patterns_of(tree(), Places{7}).error().code, Code::kInvalid);
  EXPECT_NE(patterns_of(tree(), Places{7}).error().message.find("no entry 7"), std::string::npos);
  EXPECT_EQ(patterns_of(tree(), Places{}).error().code, Code::kInvalid);
}
TEST(Patterns, OfAPathThatIsNoTextAreTheTextThatIsShown) {
  metainfo::Manifest manifest = odd_names();
  manifest.entries[3].path = "odd\xff";
  const auto patterns = patterns_of(manifest, Places{3});
  EXPECT_EQ(*wanted_entries(manifest, *patterns), (std::vector<bool>{true, false, false, true, false, false}));
  EXPECT_EQ(patterns->front().find('\xff'), std::string::npos);
}

TEST(Wanted, HasSizesThatRiseOfFilesWithBytesOnly) {
  EXPECT_EQ(wanted_file_sizes(tree(), {}), (std::vector<std::uint64_t>{1, 2, 4}));
  EXPECT_EQ(wanted_file_sizes(tree(), *wanted_entries(tree(), {"a", "empty"})), (std::vector<std::uint64_t>{2, 4}));
}
TEST(Wanted, CountsOnlyFilesWithBytesForTheTorrent) {
  const auto wanted = *wanted_entries(tree(), {"a-b", "empty"});
  EXPECT_EQ(torrent_wanted(tree(), wanted), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(torrent_files(tree()), (std::vector<std::string>{"base/a-b", "base/a/x", "base/a/y/z.txt"}));
}
TEST(Wanted, OfAnAdditionIsWhatIsNotThereYet) {
  metainfo::Manifest manifest;
  manifest.base_name = "data";
  manifest.entries = {{"", metainfo::EntryKind::kFolder, 0, 0755, 1, {}},
                      {"a1", metainfo::EntryKind::kFile, 3, 0644, 1, {}},
                      {"a2", metainfo::EntryKind::kFile, 3, 0644, 1, {}},
                      {"empty", metainfo::EntryKind::kFolder, 0, 0755, 1, {}}};
  using Wanted = std::vector<bool>;
  const auto to_fetch = [&](std::vector<std::string> globs, std::vector<std::string> kept_globs, Wanted kept_lost) {
    TransferRow row;
    row.globs = std::move(globs);
    row.kept_globs = std::move(kept_globs);
    row.kept_lost = std::move(kept_lost);
    return *entries_to_fetch(manifest, row);
  };
  EXPECT_EQ(to_fetch({"a*"}, {}, {}), (Wanted{true, true, true, false}));
  EXPECT_EQ(to_fetch({"a*"}, {"a1"}, {}), (Wanted{true, false, true, false}));
  EXPECT_EQ(to_fetch({}, {"a*"}, {}), (Wanted{true, false, false, true})) << "empty folders are missing, too";
  EXPECT_EQ(to_fetch({}, {}, {false, false, true}), (Wanted{true, false, true, true})) << "what got lost of all";
  EXPECT_EQ(to_fetch({"a1"}, {"a*"}, {false, true}), (Wanted{true, true, false, false}));
  EXPECT_EQ(joined_globs({"a*"}, {"b", "a*"}), (std::vector<std::string>{"a*", "b"}));
  EXPECT_TRUE(joined_globs({"a*"}, {}).empty()) << "all";
}

TEST(Wanted, WhatIsHeldIsLessByWhatWasLost) {
  using Wanted = std::vector<bool>;
  const auto manifest = tree();  // seven entries
  EXPECT_TRUE(held_entries(manifest, {}, {})->empty()) << "all";
  EXPECT_EQ(*held_entries(manifest, {}, {false, true}), (Wanted{true, false, true, true, true, true, true}));
  EXPECT_EQ(*held_entries(manifest, {"a"}, Wanted(8, true)), Wanted(7, false))
      << "bits beyond the last entry say nothing";
}
TEST(Wanted, BeyondTwoSelectionsIsWhatIsInNeither) {
  using Wanted = std::vector<bool>;
  const auto manifest = tree();
  EXPECT_TRUE(entries_beyond(manifest, {}, {}, Wanted(7, false))->empty()) << "the first has all";
  EXPECT_TRUE(entries_beyond(manifest, {}, Wanted(7, true), Wanted(7, false))->empty());
  EXPECT_EQ(*entries_beyond(manifest, {}, {true, true, false, false, false, false, false},
                            {true, false, true, false, false, false, false}),
            (Wanted{false, false, false, true, true, true, true}));
}
TEST(Wanted, CoversKnowsWhatASelectionLacks) {
  EXPECT_TRUE(covers({}, {true, false}));
  EXPECT_TRUE(covers({true, false}, {true, false}));
  EXPECT_FALSE(covers({true, false}, {true, true}));
  EXPECT_FALSE(covers({true, false}, {}));
}

TEST(Space, SaysFreeAndNeeded) {
  EXPECT_EQ(judge_space({100, 1000}, 0), DiskVerdict::kEnough);
  EXPECT_EQ(judge_space({100, 1000}, 100), DiskVerdict::kWait) << "a reserve stays free";
  EXPECT_EQ(judge_space({200, 1000}, 100), DiskVerdict::kEnough);
  EXPECT_EQ(judge_space({200, 1000}, 1001), DiskVerdict::kNever);
  const auto error = space_error("/t", {3, 1000}, 7, false);
  EXPECT_EQ(error.code, Code::kDisk);
  EXPECT_NE(error.message.find("3 bytes"), std::string::npos);
  EXPECT_NE(error.message.find("7 bytes"), std::string::npos);
}

TEST(Space, CountsWhatIsThereAlready) {
  EXPECT_EQ(bytes_to_come(100, 0, 0, 0), 100U);
  EXPECT_EQ(bytes_to_come(100, 70, 0, 0), 30U);
  EXPECT_EQ(bytes_to_come(100, 0, 60, 0), 40U) << "the engine has not looked yet";
  EXPECT_EQ(bytes_to_come(100, 0, 10, 60), 40U) << "a filesystem that compresses";
  EXPECT_EQ(bytes_to_come(100, 0, 0, 60), 100U) << "the staging folder is gone";
  EXPECT_EQ(bytes_to_come(100, 0, 130, 0), 0U);
}

TEST(Restart, TrustsResumeDataOnlyWhereItSaysAll) {
  TransferRow row;
  row.wanted_bytes = 1000;
  EXPECT_EQ(trust_after_restart(row, false), DiskTrust::kRecheck);
  EXPECT_EQ(trust_after_restart(row, true), DiskTrust::kRecheck) << "hashing little costs less than fetching it again";
  row.clean = true;
  EXPECT_EQ(trust_after_restart(row, true), DiskTrust::kResumeData);
  row.clean = false;
  row.wanted_bytes = std::uint64_t{1} << 40;
  EXPECT_EQ(trust_after_restart(row, true), DiskTrust::kResumeData);
}

TEST(Roots, RefuseEverythingThatCouldLeadOut) {
  const std::vector<NamedRoot> roots{{"raw", "/srv/raw"}};
  for (const auto* text :
       {"raw:..", "raw:../x", "raw:a/../b", "raw:/etc", "raw:a//b", "raw:./a", "other:a", "", "raw/a"}) {
    const auto path = parse_root_path(text, roots, "share", false);
    ASSERT_FALSE(path.ok()) << text;
    EXPECT_EQ(path.error().code, Code::kDenied) << text;
  }
  EXPECT_FALSE(parse_root_path(std::string_view("raw:a\0b", 7), roots, "share", false).ok());
  EXPECT_FALSE(parse_root_path("raw:a", {}, "share", false).ok());
  EXPECT_EQ(parse_root_path("raw:a/b", roots, "share", false)->relative, "a/b");
  EXPECT_EQ(parse_root_path("raw", roots, "share", false)->relative, "");
  EXPECT_EQ(parse_root_path("", roots, "download", true)->root, "/srv/raw");
}

TEST(Retry, GrowsToAMinuteAndVaries) {
  SeededRng rng(7);
  for (int failures = 1; failures < 40; ++failures) {
    const auto pause = retry_pause(failures, rng);
    EXPECT_GE(pause, milliseconds(500));
    EXPECT_LE(pause, milliseconds(60'000));
    if (failures > 8) {
      EXPECT_GE(pause, milliseconds(30'000));
    }
  }
}

}  // namespace
}  // namespace gridtorrent::client
