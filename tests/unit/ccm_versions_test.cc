#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "ccm/domain/names.h"
#include "tests/support/server_world.h"

namespace gridtorrent::ccm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::Pair;
using testing_support::code_of;
using testing_support::message_of;
using testing_support::ServerWorld;

TEST(AVersionInAReference, IsANumberBehindTheLastAt) {
  EXPECT_EQ(split_version("data"), std::nullopt);
  EXPECT_EQ(split_version("data@"), std::nullopt);
  EXPECT_EQ(split_version("@2"), std::nullopt);
  EXPECT_EQ(split_version("data@0"), std::nullopt);
  EXPECT_EQ(split_version("data@02"), std::nullopt);
  EXPECT_EQ(split_version("data@2x"), std::nullopt);
  EXPECT_EQ(split_version("data@99999999999"), std::nullopt);
  EXPECT_THAT(split_version("alice/data@2"), Optional(Pair("alice/data", 2u)));
  EXPECT_THAT(split_version("a@b@12"), Optional(Pair("a@b", 12u)));
}

class Versions : public testing::TestWithParam<const char*> {
 protected:
  Result<PublishTicket> begin(const Actor& actor, const std::string& content) {
    return w.contents.begin_update(actor, {w.request_id(), content});
  }
  FinishPublish finish_of(const PublishTicket& ticket, std::uint64_t bytes, char digit) {
    FinishPublish finish = w.finish_of(ticket.content, bytes, digit);
    finish.version = ticket.version;
    return finish;
  }
  Content update(const Actor& owner, const Content& content, std::uint64_t bytes, char digit) {
    const auto ticket = begin(owner, content.id.str());
    EXPECT_TRUE(ticket.ok()) << message_of(ticket);
    if (!ticket.ok()) return {};
    const auto done = w.contents.finish_publish(owner, finish_of(*ticket, bytes, digit));
    EXPECT_TRUE(done.ok()) << message_of(done);
    return done.ok() ? done->content : Content{};
  }
  /// As it could be called before such names were refused.
  Content with_old_name(Content content, const std::string& name) {
    content.name = name;
    const auto named =
        w.store.ccm().write([&](Tx& tx) { return tx.contents.set_owner_and_name(content.id, content.owner, name); });
    EXPECT_TRUE(named.ok());
    return content;
  }
  Status announce(const Actor& node, const Content& content, std::uint32_t version, std::uint64_t bytes,
                  tracker::SwarmRole role = tracker::SwarmRole::kSeeding) {
    tracker::Announce announce = w.announce_of(content, role, bytes);
    announce.version = version;
    announce.total_bytes = bytes;
    const auto done = w.nodes.announce(node, announce);
    return done.ok() ? Status() : Status(done.error());
  }
  std::vector<std::uint32_t> listed(const Actor& actor, const Content& content) {
    const auto found = w.contents.versions(actor, content.id);
    EXPECT_TRUE(found.ok()) << message_of(found);
    std::vector<std::uint32_t> numbers;
    for (const VersionView& view : found.ok() ? *found : std::vector<VersionView>()) {
      numbers.push_back(view.version.number);
    }
    return numbers;
  }
  std::uint32_t version_seen(const Actor& actor, const std::string& reference) {
    const auto found = w.contents.get(actor, reference);
    EXPECT_TRUE(found.ok()) << message_of(found);
    return found.ok() ? found->content.version : 0;
  }
  std::vector<std::string> notices(const Actor& actor) {
    const auto inbox = w.inbox.read(actor);
    std::vector<std::string> lines;
    for (const Notice& notice : inbox->notices) {
      lines.push_back(std::string(notice_kind_name(notice.kind)) + " " + notice.object);
    }
    return lines;
  }

  ServerWorld w{GetParam()};
  Actor alice = w.user("alice");
  Actor bob = w.user("bob");
};

INSTANTIATE_TEST_SUITE_P(Over, Versions, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(Versions, AreTheOwnersToPublish) {
  const Content data = w.publish(alice, "data");
  const Content hidden = w.publish(alice, "hidden", AccessLevel::kPrivate);
  EXPECT_EQ(code_of(begin(bob, data.id.str())), Code::kDenied);
  EXPECT_EQ(code_of(begin(bob, hidden.id.str())), Code::kNotFound);
  ASSERT_TRUE(w.contents.unpublish(alice, w.request_id(), data.id).ok());
  EXPECT_EQ(code_of(begin(alice, data.id.str())), Code::kConflict);
}

TEST_P(Versions, AreNotMadeWhereNothingChanged) {
  const Content data = w.publish(alice, "data", AccessLevel::kPublic, 1000);
  const auto ticket = begin(alice, "data");
  ASSERT_TRUE(ticket.ok()) << message_of(ticket);
  const auto same = finish_of(*ticket, 1000, data.metadata_sha256.front());
  ASSERT_EQ(same.sha256_hex, data.metadata_sha256);
  EXPECT_TRUE(w.contents.check_finish(alice, same, same.metadata.size()).ok());
  for (int i = 0; i < 2; ++i) {  // the second time as one whose answer was lost
    const auto done = w.contents.finish_publish(alice, same);
    ASSERT_TRUE(done.ok()) << message_of(done);
    EXPECT_EQ(done->content.version, 1u);
    EXPECT_EQ(done->content.state, ContentState::kPublished);
    EXPECT_TRUE(w.contents.check_finish(alice, same, same.metadata.size()).ok());
  }
  EXPECT_THAT(listed(alice, data), ElementsAre(1u));
  EXPECT_THAT(notices(bob), IsEmpty());
  EXPECT_EQ(code_of(w.contents.finish_publish(alice, finish_of(*ticket, 3000, 'b'))), Code::kNotFound)
      << "the draft has ended";
  EXPECT_EQ(update(alice, data, 3000, 'b').version, 2u);
}

TEST_P(Versions, LeaveTheNewestAsItIsUntilTheNextIsSealed) {
  const Content data = w.publish(alice, "data", AccessLevel::kPublic, 1000);
  const auto ticket = begin(alice, "alice/data");
  ASSERT_TRUE(ticket.ok()) << message_of(ticket);
  EXPECT_EQ(ticket->content, data.id);
  EXPECT_EQ(ticket->version, 2u);
  EXPECT_EQ(version_seen(bob, "data"), 1u);
  EXPECT_EQ(code_of(w.contents.get(bob, "data", 2)), Code::kNotFound);
  EXPECT_EQ(code_of(w.contents.open_metadata(alice, data.id, 2)), Code::kInvalid);
  EXPECT_THAT(listed(bob, data), ElementsAre(1u));

  const auto done = w.contents.finish_publish(alice, finish_of(*ticket, 3000, 'b'));
  ASSERT_TRUE(done.ok()) << message_of(done);
  EXPECT_EQ(done->content.version, 2u);
  EXPECT_EQ(done->content.bytes, 3000u);
  EXPECT_EQ(done->content.name, "data");
  EXPECT_EQ(version_seen(bob, "data"), 2u);
  EXPECT_THAT(listed(bob, data), ElementsAre(2u, 1u));
}

TEST_P(Versions, OfEarlierTimesStayReadable) {
  const Content data = w.publish(alice, "data", AccessLevel::kPublic, 1000);
  update(alice, data, 3000, 'b');
  const auto first = w.contents.get(bob, "data", 1);
  ASSERT_TRUE(first.ok()) << message_of(first);
  EXPECT_EQ(first->content.bytes, 1000u);
  EXPECT_EQ(first->content.published, data.published);
  EXPECT_EQ(first->newest_version, 2u);
  EXPECT_EQ(w.contents.open_metadata(bob, data.id, 1)->metadata_sha256, std::string(64, 'a'));
  EXPECT_EQ(w.contents.open_metadata(bob, data.id, 0)->metadata_sha256, std::string(64, 'b'));
  EXPECT_EQ(code_of(w.contents.open_metadata(bob, data.id, 3)), Code::kInvalid);
}

TEST_P(Versions, AreNamedWithAnAtWhereNothingHasThatVeryName) {
  const Content data = w.publish(alice, "data");
  update(alice, data, 3000, 'b');
  EXPECT_EQ(version_seen(bob, "data@1"), 1u);
  EXPECT_EQ(version_seen(bob, "alice/data@2"), 2u);
  EXPECT_EQ(version_seen(bob, data.id.str() + "@1"), 1u);
  EXPECT_EQ(code_of(w.contents.get(bob, "data@3")), Code::kNotFound);
  const auto missing = w.contents.get(bob, "none@2");
  EXPECT_EQ(code_of(missing), Code::kNotFound);
  EXPECT_THAT(message_of(missing), HasSubstr("none@2"));
}

TEST_P(Versions, OfAContentGiveWayToNoNameThatSomebodyElseGave) {
  const Content named = with_old_name(w.publish(bob, "other"), "data@1");
  EXPECT_EQ(w.contents.get(alice, "data@1")->content.id, named.id) << "no other reading";
  const Content data = w.publish(alice, "data");
  EXPECT_EQ(w.contents.get(bob, "data@1")->content.id, named.id) << "his own";
  EXPECT_EQ(w.contents.get(alice, "bob/data@1")->content.id, named.id);
  EXPECT_EQ(w.contents.get(alice, "alice/data@1")->content.id, data.id);
  for (const Actor& reader : {alice, w.user("carol")}) {
    const auto both = w.contents.get(reader, "data@1");
    EXPECT_EQ(code_of(both), Code::kConflict);
    EXPECT_THAT(message_of(both), HasSubstr("bob/data@1, and version 1 of alice/data"));
  }
}

TEST_P(Versions, AreAnnouncedEachInItsOwnSwarm) {
  const Content data = w.publish(alice, "data", AccessLevel::kPublic, 1000);
  const Actor alpha = w.node(alice, "alpha"), beta = w.node(bob, "beta");
  ASSERT_TRUE(announce(beta, data, 1, 1000).ok());
  update(alice, data, 3000, 'b');
  ASSERT_TRUE(announce(alpha, data, 2, 3000).ok());
  ASSERT_TRUE(announce(beta, data, 1, 1000).ok()) << "it goes on serving what it has";
  EXPECT_THAT(w.swarms.seeders(data.id, 1), ElementsAre(beta.node));
  EXPECT_THAT(w.swarms.seeders(data.id, 2), ElementsAre(alpha.node));
  const auto versions = w.contents.versions(bob, data.id);
  ASSERT_TRUE(versions.ok() && versions->size() == 2);
  EXPECT_EQ(versions->at(0).seeders, 1u);
  EXPECT_EQ(versions->at(1).replicas, 1u);
  const auto replicas = w.contents.replicas(bob, data.id, {}, 1);
  ASSERT_TRUE(replicas.ok() && replicas->items.size() == 1);
  EXPECT_EQ(replicas->items[0].replica.node, beta.node);
  EXPECT_TRUE(replicas->items[0].served);
  EXPECT_EQ(code_of(w.nodes.announce(beta, w.announce_of(data, tracker::SwarmRole::kSeeding, 3000))), Code::kInvalid)
      << "more bytes than version 1 has";
}

TEST_P(Versions, ThatNobodyHoldsAreForgotten) {
  const Content data = w.publish(alice, "data", AccessLevel::kPublic, 1000);
  const Actor beta = w.node(bob, "beta");
  ASSERT_TRUE(announce(beta, data, 1, 1000).ok());
  update(alice, data, 3000, 'b');
  update(alice, data, 4000, 'c');
  w.clock.advance(std::chrono::minutes(59));
  ASSERT_TRUE(w.contents.sweep().ok());
  EXPECT_THAT(listed(bob, data), ElementsAre(3u, 2u, 1u)) << "somebody may be about to fetch it";
  w.clock.advance(std::chrono::minutes(2));
  ASSERT_TRUE(w.contents.sweep().ok());
  EXPECT_THAT(listed(bob, data), ElementsAre(3u, 1u));
  EXPECT_EQ(code_of(w.contents.get(bob, "data", 2)), Code::kNotFound);
  ASSERT_TRUE(announce(beta, data, 1, 1000, tracker::SwarmRole::kGone).ok());
  ASSERT_TRUE(w.contents.sweep().ok());
  EXPECT_THAT(listed(bob, data), ElementsAre(3u));
}

TEST_P(Versions, ThatWereGivenUpFreeNothingElse) {
  const Content data = w.publish(alice, "data");
  ASSERT_TRUE(begin(alice, "data").ok());
  w.clock.advance(ContentService::kDraftLifetime + std::chrono::minutes(1));
  ASSERT_TRUE(w.contents.sweep().ok());
  EXPECT_EQ(version_seen(bob, "data"), 1u);
  const auto again = begin(alice, "data");
  ASSERT_TRUE(again.ok()) << message_of(again);
  EXPECT_EQ(again->version, 2u);
}

TEST_P(Versions, ThatAreGivenUpByTheirNodeEndTheirDraftAlone) {
  const Content data = w.publish(alice, "data");
  const Actor alpha = w.node(alice, "alpha"), beta = w.node(alice, "beta");
  const BeginUpdate request{w.request_id(), "data"};
  const auto ticket = w.contents.begin_update(alpha, request);
  ASSERT_TRUE(ticket.ok()) << message_of(ticket);
  EXPECT_EQ(code_of(w.contents.give_up_publish(beta, w.request_id(), request.request_id)), Code::kConflict);
  const std::string id = w.request_id();
  EXPECT_TRUE(w.contents.give_up_publish(alpha, id, request.request_id).ok());
  EXPECT_TRUE(w.contents.give_up_publish(alpha, id, request.request_id).ok()) << "again";
  const auto seen = w.contents.get(bob, "data");
  ASSERT_TRUE(seen.ok()) << message_of(seen);
  EXPECT_EQ(seen->content.state, ContentState::kPublished);
  EXPECT_EQ(seen->content.version, 1u);
  EXPECT_EQ(code_of(w.contents.finish_publish(alpha, finish_of(*ticket, 3000, 'b'))), Code::kNotFound);
  EXPECT_TRUE(begin(beta, "data").ok()) << "the other node need not wait";
}

TEST_P(Versions, ThatWereFinishedBeforeTheyAreGivenUpStay) {
  const Content data = w.publish(alice, "data");
  const BeginUpdate request{w.request_id(), "data"};
  const auto ticket = w.contents.begin_update(alice, request);
  ASSERT_TRUE(ticket.ok()) << message_of(ticket);
  ASSERT_TRUE(w.contents.finish_publish(alice, finish_of(*ticket, 3000, 'b')).ok());
  EXPECT_TRUE(w.contents.give_up_publish(alice, w.request_id(), request.request_id).ok());
  EXPECT_THAT(listed(bob, data), ElementsAre(2u, 1u));
}

TEST_P(Versions, ArePublishedByOneNodeAtATime) {
  const Content data = w.publish(alice, "data");
  const Actor alpha = w.node(alice, "alpha"), beta = w.node(alice, "beta");
  const auto first = begin(alpha, "data");
  ASSERT_TRUE(first.ok()) << message_of(first);
  EXPECT_EQ(code_of(begin(beta, "data")), Code::kConflict);
  const auto again = begin(alpha, "data");
  ASSERT_TRUE(again.ok()) << message_of(again);
  EXPECT_EQ(again->version, 2u) << "taken up again";
  w.clock.advance(ContentService::kDraftLifetime);
  ASSERT_TRUE(begin(beta, "data").ok()) << "the other shows no sign of life";
  EXPECT_EQ(code_of(w.contents.finish_publish(alpha, finish_of(*first, 3000, 'b'))), Code::kConflict);
  EXPECT_TRUE(w.contents.finish_publish(beta, finish_of(*first, 3000, 'c')).ok());
}

TEST_P(Versions, AreBegunAndFinishedOnceHoweverOftenAsked) {
  const Content data = w.publish(alice, "data");
  const BeginUpdate request{w.request_id(), "data"};
  const auto first = w.contents.begin_update(alice, request);
  ASSERT_TRUE(first.ok()) << message_of(first);
  const FinishPublish finish = finish_of(*first, 3000, 'b');
  ASSERT_TRUE(w.contents.finish_publish(alice, finish).ok());
  const auto again = w.contents.begin_update(alice, request);
  ASSERT_TRUE(again.ok()) << message_of(again);
  EXPECT_EQ(again->version, 2u) << "a node that crashed after finishing begins once more";
  const auto repeated = w.contents.finish_publish(alice, finish);
  ASSERT_TRUE(repeated.ok()) << message_of(repeated);
  EXPECT_EQ(repeated->content.version, 2u);
  EXPECT_EQ(code_of(w.contents.finish_publish(alice, finish_of(*first, 3000, 'd'))), Code::kConflict);
  EXPECT_THAT(listed(alice, data), ElementsAre(2u, 1u));
  const Content other = w.publish(alice, "other");
  EXPECT_EQ(code_of(w.contents.begin_update(alice, {request.request_id, "other"})), Code::kConflict);
}

TEST_P(Versions, CountInTheQuotasAsLongAsTheyAreKept) {
  Quotas quotas;
  quotas.contents = 2;
  ServerWorld small(GetParam(), quotas);
  const Actor owner = small.user("alice");
  const Content data = small.publish(owner, "data");
  const auto ticket = small.contents.begin_update(owner, {small.request_id(), "data"});
  ASSERT_TRUE(ticket.ok()) << message_of(ticket);
  FinishPublish finish = small.finish_of(data.id, 3000, 'b');
  finish.version = 2;
  ASSERT_TRUE(small.contents.finish_publish(owner, finish).ok());
  EXPECT_EQ(code_of(small.contents.begin_update(owner, {small.request_id(), "data"})), Code::kExhausted);
  small.clock.advance(ContentService::kUnheldLifetime + std::chrono::minutes(1));
  ASSERT_TRUE(small.contents.sweep().ok());
  EXPECT_TRUE(small.contents.begin_update(owner, {small.request_id(), "data"}).ok());
}

TEST_P(Versions, GetChecksumsOfTheirOwn) {
  const Content data = w.publish(alice, "data");
  update(alice, data, 3000, 'b');
  const std::string digests(2 * kDigestBytes, 'x');
  ASSERT_TRUE(w.contents.add_checksums(alice, {data.id, 1, std::string(64, 'e'), digests}).ok());
  EXPECT_EQ(w.contents.open_metadata(bob, data.id, 1)->checksums_sha256, std::string(64, 'e'));
  EXPECT_EQ(w.contents.open_metadata(bob, data.id, 2)->checksums_sha256, "");
}

TEST_P(Versions, ChangeTheirAccessTogether) {
  const Content data = w.publish(alice, "data", AccessLevel::kPublic, 1000);
  const Actor beta = w.node(bob, "beta");
  ASSERT_TRUE(announce(beta, data, 1, 1000).ok());
  update(alice, data, 3000, 'b');
  ASSERT_TRUE(w.contents.set_access(alice, w.request_id(), data.id, {AccessLevel::kPrivate, {}, {}, false}).ok());
  EXPECT_EQ(announce(beta, data, 1, 1000).error().code, Code::kNotFound);
  EXPECT_EQ(code_of(w.contents.open_metadata(bob, data.id, 1)), Code::kNotFound);
  EXPECT_EQ(code_of(w.contents.versions(bob, data.id)), Code::kNotFound);
}

TEST_P(Versions, OfOneContentShareTheListOfWhoMayHaveIt) {
  const Content data = w.publish(alice, "data", AccessLevel::kPrivate, 1000);
  const Actor alpha = w.node(alice, "alpha");
  ASSERT_TRUE(announce(alpha, data, 1, 1000).ok());
  update(alice, data, 3000, 'b');
  ASSERT_TRUE(announce(alpha, data, 2, 3000).ok());
  ASSERT_TRUE(announce(alpha, data, 1, 1000, tracker::SwarmRole::kGone).ok());
  EXPECT_THAT(w.audiences.of_node(alpha.node), testing::SizeIs(1)) << "it still serves version 2";
  ASSERT_TRUE(announce(alpha, data, 2, 3000, tracker::SwarmRole::kGone).ok());
  EXPECT_THAT(w.audiences.of_node(alpha.node), IsEmpty());
}

TEST_P(Versions, AreToldToThoseWhoHoldAnEarlierOne) {
  const Actor carol = w.user("carol");
  const Content data = w.publish(alice, "data", AccessLevel::kPublic, 1000);
  ASSERT_TRUE(announce(w.node(bob, "beta"), data, 1, 1000).ok());
  ASSERT_TRUE(announce(w.node(alice, "alpha"), data, 1, 1000).ok());
  update(alice, data, 3000, 'b');
  update(alice, data, 4000, 'c');
  EXPECT_THAT(notices(bob), ElementsAre("new-version alice/data")) << "one unread line is enough";
  EXPECT_THAT(notices(alice), IsEmpty());
  EXPECT_THAT(notices(carol), IsEmpty());
}

}  // namespace
}  // namespace gridtorrent::ccm
