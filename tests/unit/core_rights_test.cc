#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/core/rights.h"
#include "client/core/rights_keeper.h"
#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::Audience;
using client::AudienceList;
using client::AudienceRef;
using client::DiskTrust;
using client::LanePapers;
using client::Rights;
using client::TransferState;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

AudienceList list_of(const std::string& id, std::uint64_t version, std::uint8_t members = 1) {
  Audience made;
  for (std::uint8_t i = 0; i < members; ++i) {
    client::KeyPrint print{};
    print.fill(i);
    made[print] = NodeId();
  }
  return {{id, version}, std::make_shared<const Audience>(std::move(made))};
}

// --- leases

constexpr WallTime kStart{1'000'000'000};

TEST(RightsLease, AListCountsForItsLifetimeAndNoLonger) {
  Rights rights(hours(24));
  EXPECT_EQ(rights.audience("a", kStart), nullptr) << "unknown";
  const auto list = list_of("a", 1);
  rights.learn(list, kStart);
  EXPECT_EQ(rights.audience("a", kStart + hours(24)), list.members);
  EXPECT_EQ(rights.audience("a", kStart + hours(24) + seconds(1)), nullptr);
  rights.confirm({{"a", 1}}, kStart + hours(30));
  EXPECT_EQ(rights.audience("a", kStart + hours(54)), list.members) << "it recovers";
}

TEST(RightsLease, OnlyTheVersionThatIsThereIsConfirmed) {
  Rights rights(hours(24));
  rights.learn(list_of("a", 5), kStart);
  rights.confirm({{"a", 6}, {"unknown", 1}}, kStart + hours(20));
  EXPECT_EQ(rights.audience("a", kStart + hours(25)), nullptr);
  EXPECT_EQ(rights.audience("unknown", kStart + hours(20)), nullptr);
}

TEST(RightsLease, ANewerListTakesThePlaceAndAnOlderOneDoesNot) {
  Rights rights(hours(24));
  rights.learn(list_of("a", 5, 3), kStart);
  rights.learn(list_of("a", 4, 1), kStart);
  EXPECT_EQ(rights.audience("a", kStart)->size(), 3u);
  rights.learn(list_of("a", 6, 2), kStart);
  EXPECT_EQ(rights.audience("a", kStart)->size(), 2u);
}

TEST(RightsLease, AClockThatWasPutBackDoesNotProlongIt) {
  Rights rights(hours(24));
  rights.learn(list_of("a", 1), kStart);
  EXPECT_NE(rights.audience("a", kStart - minutes(4)), nullptr);
  EXPECT_EQ(rights.audience("a", kStart - hours(1)), nullptr);
  EXPECT_FALSE(rights.serves_public(kStart - hours(1)));
}

TEST(RightsLease, PublicContentIsServedWhileTheServerWasHeardRecently) {
  Rights rights(hours(24));
  EXPECT_FALSE(rights.serves_public(kStart)) << "never heard";
  rights.hear(kStart);
  EXPECT_TRUE(rights.serves_public(kStart + hours(24)));
  EXPECT_FALSE(rights.serves_public(kStart + hours(25)));
}

TEST(RightsLease, SurvivesTheProcessAsItWas) {
  Rights before(hours(24)), after(hours(24));
  before.learn(list_of("a", 1), kStart);
  after.restore(before.all(), before.heard());
  EXPECT_NE(after.audience("a", kStart + hours(24)), nullptr);
  EXPECT_EQ(after.audience("a", kStart + hours(25)), nullptr);
  EXPECT_TRUE(after.keep_only({}, kStart).empty()) << "just confirmed: its content may be on the way";
  EXPECT_THAT(after.keep_only({}, kStart + seconds(1)), ::testing::ElementsAre("a"));
  EXPECT_EQ(after.audience("a", kStart), nullptr);
}

TEST(PapersDue, WhereSomethingIsMissingOrHalfOver) {
  const auto paper = [](std::uint32_t generation, WallTime issued) {
    return LanePapers::Paper{generation, {}, issued, issued + hours(24 * 7)};
  };
  EXPECT_TRUE(client::papers_due({}, {}, kStart));
  EXPECT_FALSE(client::papers_due({paper(1, kStart)}, {1}, kStart + hours(83)));
  EXPECT_TRUE(client::papers_due({paper(1, kStart)}, {1}, kStart + hours(84)));
  EXPECT_TRUE(client::papers_due({paper(1, kStart)}, {1, 2}, kStart)) << "a rotation has begun";
  EXPECT_FALSE(client::papers_due({paper(1, kStart), paper(2, kStart)}, {2}, kStart));
  EXPECT_FALSE(client::papers_due({paper(2, kStart)}, {1, 2}, kStart)) << "the first has ended";
}

// --- a node

class NodeRights : public NodeFixture {
 protected:
  NodeRights() {
    link_.with([](auto& state) { state.audience = "list"; });
  }
  /// Turns the clock until the condition holds.
  ::testing::AssertionResult soon(const std::function<bool()>& condition) {
    return eventually(condition, std::chrono::milliseconds(500));
  }
  client::AudiencePtr let_in(const TransferId& id) {
    const auto torrent = engine_->torrent(id);
    return torrent ? torrent->spec.audience : nullptr;
  }
};

TEST_F(NodeRights, ACertificateIsFetchedAtTheStartAndShown) {
  EXPECT_TRUE(soon([&] { return engine_->identities().contains(1); }));
  EXPECT_EQ(engine_->identities()[1], "certificate 1");
  restart();
  EXPECT_TRUE(engine_->identities().contains(1)) << "at once: it was kept";
}

TEST_F(NodeRights, TheCertificateIsRenewedAtHalfOfItsLife) {
  ASSERT_TRUE(soon([&] { return engine_->identities().contains(1); }));
  link_.with([](auto& state) { state.certificates[0].certificate_pem = "renewed"; });
  clock_.advance(hours(83));
  EXPECT_EQ(link_.with([](auto& state) { return state.certified; }), 1);
  clock_.advance(hours(2));
  EXPECT_TRUE(soon([&] { return engine_->identities()[1] == "renewed"; }));
}

TEST_F(NodeRights, ARefusedCertificateIsAskedForAgainAndSaidToPeople) {
  end();
  papers_ = std::make_unique<FakePapers>(clock_);
  link_.with([](auto& state) { state.certify_error = Error{Code::kUnsupported, "no sealing key"}; });
  start();
  published("set", "private");
  const auto id = get(job("set"))->id;
  EXPECT_TRUE(soon([&] { return node_->transfer(id)->waiting_for.find("no sealing key") != std::string::npos; }));
  link_.with([](auto& state) { state.certify_error.reset(); });
  EXPECT_TRUE(soon([&] { return engine_->identities().contains(1); }));
}

TEST_F(NodeRights, NobodyIsLetInBeforeTheListCameAndWhoIsInItAfter) {
  published("set", "private");
  const auto id = get(job("set"))->id;
  ASSERT_TRUE(soon([&] { return !link_.with([](auto& state) { return state.announces.empty(); }); }));
  ASSERT_TRUE(soon([&] { return engine_->torrent(id).has_value(); }));
  EXPECT_EQ(let_in(id), nullptr);
  const auto list = list_of("list", 1, 2);
  link_.listener().audience(list);
  EXPECT_TRUE(soon([&] { return let_in(id) == list.members; }));
  const auto changed = list_of("list", 2, 1);
  link_.listener().audience(changed);
  EXPECT_TRUE(soon([&] { return let_in(id) == changed.members; }));
}

TEST_F(NodeRights, AfterARestartWithoutTheServerTheKeptListCountsUntilItsTimeIsOver) {
  published("set", "private");
  link_.listener().audience(list_of("list", 1, 2));
  const auto id = fetched(job("set")).id;
  ASSERT_TRUE(soon([&] { return let_in(id) != nullptr; }));
  end();
  link_.with([](auto& state) { state.down = Error{Code::kUnreachable, "away"}; });
  start();
  ASSERT_TRUE(soon([&] { return engine_->torrent(id).has_value(); }));
  ASSERT_NE(let_in(id), nullptr);
  EXPECT_EQ(let_in(id)->size(), 2u);
  clock_.advance(hours(25));
  EXPECT_TRUE(soon([&] { return let_in(id) == nullptr; })) << "fail closed";
  link_.with([](auto& state) { state.down.reset(); });
  link_.listener().audiences_confirmed({{"list", 1}});
  EXPECT_TRUE(soon([&] { return let_in(id) != nullptr; }));
}

TEST_F(NodeRights, PublicContentIsNoLongerServedWhenTheServerIsAwayForTooLong) {
  published("set");
  const auto id = fetched(job("set")).id;
  link_.with([](auto& state) { state.down = Error{Code::kUnreachable, "away"}; });
  clock_.advance(hours(25));
  EXPECT_TRUE(soon([&] { return !engine_->torrent(id).has_value(); }));
  EXPECT_THAT(node_->transfer(id)->waiting_for, HasSubstr("--list-lifetime"));
  link_.with([](auto& state) { state.down.reset(); });
  EXPECT_TRUE(soon([&] { return engine_->torrent(id).has_value(); }));
}

TEST_F(NodeRights, WhatItHoldsMovesToAnotherEditionWithoutHashing) {
  published("set");
  const auto id = fetched(job("set")).id;
  ASSERT_TRUE(soon([&] { return engine_->torrent(id).has_value(); }));
  link_.with([](auto& state) {
    state.contents["set"].access_level = "private";
    state.contents["set"].generation = 1;
    state.contents["set"].ca_pem = "CA 1";
  });
  link_.listener().content_changed(node_->transfer(id)->content);
  ASSERT_TRUE(soon([&] {
    const auto torrent = engine_->torrent(id);
    return torrent && torrent->spec.generation == 1;
  }));
  EXPECT_EQ(engine_->torrent(id)->spec.trust, DiskTrust::kComplete);
  EXPECT_EQ(files_.count("verify /home/in"), 0);
  EXPECT_EQ(node_->transfer(id)->state, TransferState::kSeeding);
  EXPECT_EQ(store_.transfers()->front().content.generation, 1u);
}

TEST_F(NodeRights, WhatItFetchesMovesToAnotherEditionWithWhatItHas) {
  published("set");
  const auto id = get(job("set"))->id;
  ASSERT_TRUE(soon([&] { return engine_->torrent(id).has_value(); }));
  link_.with([](auto& state) {
    state.contents["set"].access_level = "private";
    state.contents["set"].generation = 1;
    state.contents["set"].ca_pem = "CA 1";
  });
  link_.listener().content_changed(std::nullopt);
  ASSERT_TRUE(soon([&] {
    const auto torrent = engine_->torrent(id);
    return torrent && torrent->spec.generation == 1;
  }));
  EXPECT_EQ(engine_->torrent(id)->spec.trust, DiskTrust::kResumeData);
  EXPECT_EQ(engine_->torrent(id)->spec.resume_data, "resume " + id.str());
  EXPECT_FALSE(engine_->torrent(id)->paused);
}

TEST_F(NodeRights, RefusedLanesAreToldToTheServerOnce) {
  published("set", "private");
  const auto id = fetched(job("set")).id;
  ASSERT_TRUE(soon([&] { return engine_->torrent(id).has_value(); }));
  const auto told = [&] {
    return link_.with([](auto& state) {
      std::uint64_t all = 0;
      for (const auto& announce : state.announces) all += announce.refused_lanes;
      return all;
    });
  };
  engine_->happens(id, [](auto& snapshot) { snapshot.refused_lanes = 3; });
  EXPECT_TRUE(soon([&] { return told() == 3; }));
  clock_.advance(minutes(2));
  engine_->happens(id, [](auto& snapshot) { snapshot.refused_lanes = 5; });
  EXPECT_TRUE(soon([&] { return told() == 5; }));
}

TEST_F(NodeRights, RefusedHandshakesAreToldToTheServerOnceByWhicheverTransferIsNext) {
  for (const std::string name : {"one", "two", "three"}) {
    published(name, "private");
    const auto id = fetched(job(name, "/home/" + name)).id;
    ASSERT_TRUE(soon([&] { return engine_->torrent(id).has_value(); }));
  }
  const auto told = [&] {
    return link_.with([](auto& state) {
      std::uint64_t all = 0;
      for (const auto& announce : state.announces) all += announce.refused_handshakes;
      return all;
    });
  };
  engine_->refuse_handshakes(7);
  clock_.advance(minutes(2));
  EXPECT_TRUE(soon([&] { return told() == 7; }));
  clock_.advance(minutes(2));
  engine_->refuse_handshakes(2);
  clock_.advance(minutes(2));
  EXPECT_TRUE(soon([&] { return told() == 9; })) << told();
}

TEST_F(NodeRights, WhatWasRefusedIsNotServedAfterARestartWithoutTheServer) {
  published("set");
  const auto id = fetched(job("set")).id;
  ASSERT_TRUE(soon([&] { return engine_->torrent(id).has_value(); }));
  link_.with([](auto& state) {
    state.announce_error = Error{Code::kNotFound, "no content"};
    state.contents.clear();  // nor can it be looked at
  });
  link_.listener().content_changed(node_->transfer(id)->content);
  ASSERT_TRUE(soon([&] { return !engine_->torrent(id).has_value(); }));
  end();
  link_.with([](auto& state) { state.down = Error{Code::kUnreachable, "away"}; });
  start();
  for (int round = 0; round < 20; ++round) {
    clock_.advance(seconds(1));
    events_->torrent_changed({});
  }
  EXPECT_FALSE(engine_->torrent(id).has_value());
  EXPECT_THAT(node_->transfer(id)->waiting_for, HasSubstr("not yours to have any more"));
}

TEST_F(NodeRights, AWithdrawnFetchEndsWithThatReason) {
  published("set");
  const auto id = get(job("set"))->id;
  ASSERT_TRUE(soon([&] { return engine_->torrent(id).has_value(); }));
  link_.with([](auto& state) {
    state.contents["set"].withdrawn = true;
    state.announce_error = Error{Code::kConflict, "its owner has withdrawn it"};
  });
  link_.listener().content_changed(std::nullopt);
  ASSERT_TRUE(soon([&] { return node_->transfer(id)->state == TransferState::kFailed; }));
  EXPECT_THAT(node_->transfer(id)->error->message, HasSubstr("was withdrawn by its owner"));
}

TEST_F(NodeRights, AnEditionThatChangesDuringACheckWaitsForItsEnd) {
  published("set");
  const auto id = get(job("set"))->id;
  ASSERT_TRUE(soon([&] { return engine_->torrent(id).has_value(); }));
  engine_->happens(id, [](auto& snapshot) { snapshot.state = client::TorrentState::kChecking; });
  link_.with([](auto& state) {
    state.contents["set"].access_level = "private";
    state.contents["set"].generation = 1;
    state.contents["set"].ca_pem = "CA 1";
  });
  link_.listener().content_changed(node_->transfer(id)->content);
  for (int round = 0; round < 20; ++round) {
    clock_.advance(seconds(1));
    events_->torrent_changed({});
  }
  EXPECT_EQ(engine_->torrent(id)->spec.generation, 0u) << "nothing is known yet that could be written down";
  engine_->happens(id, [](auto& snapshot) { snapshot.state = client::TorrentState::kFetching; });
  EXPECT_TRUE(soon([&] {
    const auto torrent = engine_->torrent(id);
    return torrent && torrent->spec.generation == 1;
  }));
  EXPECT_EQ(engine_->torrent(id)->spec.trust, DiskTrust::kResumeData);
}

TEST_F(NodeRights, WhatIsBeingCheckedWhereItLiesFollowsTheServer) {
  published("set");
  const auto id = fetched(job("set")).id;
  ASSERT_TRUE(soon([&] { return engine_->torrent(id).has_value(); }));
  link_.with([](auto& state) {
    state.contents["set"].access_level = "private";
    state.contents["set"].generation = 1;
    state.contents["set"].ca_pem = "CA 1";
  });
  ASSERT_TRUE(get(job("set")).ok());  // to the same place: it is verified
  EXPECT_TRUE(soon([&] {
    const auto torrent = engine_->torrent(id);
    return !torrent || torrent->spec.generation == 1;
  })) << "the plain edition is served no more";
  EXPECT_TRUE(soon([&] {
    const auto torrent = engine_->torrent(id);
    return torrent && torrent->spec.generation == 1;
  }));
}

TEST_F(NodeRights, WhoMayNotHaveItAnyMoreStopsAndGoesOnWhereTheRightComesBack) {
  published("set", "private");
  link_.listener().audience(list_of("list", 1));
  const auto id = get(job("set"))->id;
  ASSERT_TRUE(soon([&] { return let_in(id) != nullptr; }));
  link_.with([](auto& state) { state.announce_error = Error{Code::kNotFound, "no content"}; });
  link_.listener().content_changed(node_->transfer(id)->content);
  ASSERT_TRUE(soon([&] { return engine_->torrent(id)->paused; }));
  EXPECT_TRUE(soon([&] { return let_in(id) == nullptr; }));
  EXPECT_THAT(node_->transfer(id)->waiting_for, HasSubstr("not yours to have any more"));
  EXPECT_EQ(node_->transfer(id)->state, TransferState::kQueued) << "it waits, and nothing is lost: it may come back";
  link_.with([](auto& state) { state.announce_error.reset(); });
  EXPECT_TRUE(soon([&] { return !engine_->torrent(id)->paused && let_in(id) != nullptr; }));
  EXPECT_EQ(node_->transfer(id)->state, TransferState::kFetching);
  EXPECT_THAT(node_->transfer(id)->waiting_for, Not(HasSubstr("not yours")));
}

}  // namespace
}  // namespace gridtorrent::testing
