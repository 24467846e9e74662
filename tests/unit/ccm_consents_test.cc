#include <gtest/gtest.h>

#include <string>

#include "ccm/domain/consents.h"
#include "ccm/domain/group_service.h"

namespace gridtorrent::ccm {
namespace {

class ConsentsOfRecords : public testing::Test {
 protected:
  void record(const std::string& actor, const std::string& action, const std::string& object, std::int64_t at_ms = 1) {
    AuditRecord one;
    one.at = {at_ms};
    one.actor_name = actor;
    one.action = action;
    one.object = object;
    one.outcome = "ok";
    consents_.follow(one);
  }
  Consents consents_;
};

TEST_F(ConsentsOfRecords, AnInvitationAloneMakesNoMember) {
  record("alice", "group.create", "lab");
  record("alice", "group.invite", "lab bob");
  EXPECT_FALSE(consents_.member("lab", "bob"));
  EXPECT_TRUE(consents_.member("lab", "alice")) << "who makes a group is its manager";
}

TEST_F(ConsentsOfRecords, ARequestAloneMakesNoMember) {
  record("bob", "group.request", "lab bob");
  EXPECT_FALSE(consents_.member("lab", "bob"));
}

TEST_F(ConsentsOfRecords, AnInvitationThatExpiredIsNoConsent) {
  record("alice", "group.invite", "lab bob", 1);
  record("bob", "group.request", "lab bob", 1 + GroupService::kPendingLifetime.count());
  EXPECT_FALSE(consents_.member("lab", "bob"));
}

TEST_F(ConsentsOfRecords, BothSidesMakeAMemberAndEitherEndsIt) {
  record("alice", "group.invite", "lab bob");
  record("bob", "group.accept-invitation", "lab bob");
  record("carol", "group.request", "lab carol");
  record("alice", "group.accept-request", "lab carol");
  EXPECT_TRUE(consents_.member("lab", "bob"));
  EXPECT_TRUE(consents_.member("lab", "carol"));
  record("bob", "group.leave", "lab bob");
  record("alice", "group.remove", "lab carol");
  EXPECT_FALSE(consents_.member("lab", "bob"));
  EXPECT_FALSE(consents_.member("lab", "carol"));
}

TEST_F(ConsentsOfRecords, AGroupOfTheSameNameStartsWithoutMembers) {
  record("alice", "group.invite", "lab bob");
  record("bob", "group.accept-invitation", "lab bob");
  record("alice", "group.delete", "lab");
  record("carol", "group.create", "lab");
  EXPECT_FALSE(consents_.member("lab", "bob"));
}

TEST_F(ConsentsOfRecords, OtherRecordsAreNoConsents) {
  record("bob", "content.publish", "lab bob");
  record("bob", "group.unheard-of", "lab bob");
  EXPECT_FALSE(consents_.member("lab", "bob"));
}

}  // namespace
}  // namespace gridtorrent::ccm
