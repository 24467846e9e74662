#include <gmock/gmock.h>

#include "client/cli/people_view.h"
#include "tests/unit/cli_fixture.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::Membership membership(const std::string& user, const std::string& standing, const std::string& asked_by) {
  v1::Membership one;
  one.set_group_id("g_aguox6ktnj2w3jvyvdh2ehzvmi");
  one.set_group("lab");
  one.set_user(user);
  one.set_standing(standing);
  one.set_asked_by(asked_by);
  one.set_since_ms(1'000);
  if (standing == "invited" || standing == "requested") one.set_expires_ms(2'000'000'000'000);
  return one;
}

v1::Inbox full_inbox() {
  v1::Inbox inbox;
  *inbox.add_invitations() = membership("bob", "invited", "alice");
  *inbox.add_requests() = membership("carol", "requested", "carol");
  inbox.mutable_requests(0)->set_message("hi\x1b[31m");
  for (const std::int64_t shared_ms : {5'000, 3'000}) {
    v1::Content& share = *inbox.add_shares();
    share.set_name("data" + std::to_string(shared_ms));
    share.set_owner("alice");
    share.set_shared_ms(shared_ms);
    share.mutable_access()->set_level(v1::Access::SHARED);
  }
  v1::Notice& notice = *inbox.add_notices();
  notice.set_kind("removed");
  notice.set_by("dave");
  notice.set_group("field");
  notice.set_at_ms(3'000);
  inbox.set_read_until_ms(4'000);
  return inbox;
}

TEST(InboxView, ShowsTheCommandsThatAnswer) {
  const std::string text = inbox_text(full_inbox(), true);
  EXPECT_THAT(text, HasSubstr("alice invites you to lab"));
  EXPECT_THAT(text, HasSubstr("gridtorrent group accept lab\n    gridtorrent group decline lab\n"));
  EXPECT_THAT(text, HasSubstr("carol asks to join lab"));
  EXPECT_THAT(text, HasSubstr("gridtorrent group accept lab carol\n    gridtorrent group decline lab carol\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(InboxView, CommandsCanBePastedWhateverTheNames) {
  v1::Inbox inbox;
  v1::Membership& invitation = *inbox.add_invitations();
  invitation.set_group("-our lab's");
  v1::Offer& offer = *inbox.add_offers();
  offer.set_owner("alice");
  offer.set_name("run \"42\"\x1b");
  const std::string text = inbox_text(inbox, true);
  EXPECT_THAT(text, HasSubstr("gridtorrent group accept -- '-our lab'\\''s'\n"));
  EXPECT_THAT(text, HasSubstr("gridtorrent handover accept $'alice/run \"42\"\\x1b'\n"));
}

TEST(InboxView, LeavesOutWhatWasReadUnlessAskedForAll) {
  const std::string unread = inbox_text(full_inbox(), true), all = inbox_text(full_inbox(), false);
  EXPECT_THAT(unread, HasSubstr("alice/data5000"));
  EXPECT_THAT(unread, Not(HasSubstr("alice/data3000")));
  EXPECT_THAT(unread, Not(HasSubstr("dave")));
  EXPECT_THAT(all, HasSubstr("alice/data3000"));
  EXPECT_THAT(all, HasSubstr("dave removed you from field"));
  EXPECT_THAT(inbox_text({}, true), HasSubstr("nothing new"));
  EXPECT_THAT(inbox_text({}, false), HasSubstr("empty"));
}

TEST(InboxView, AsJsonHasTheSame) {
  const Json all = to_json(full_inbox(), false), unread = to_json(full_inbox(), true);
  EXPECT_EQ(all["invitations"][0]["asked_by"], "alice");
  EXPECT_EQ(all["requests"][0]["user"], "carol");
  EXPECT_EQ(all["shares"].size(), 2u);
  EXPECT_EQ(all["shares"][1]["unread"], false);
  EXPECT_EQ(unread["shares"].size(), 1u);
  EXPECT_EQ(unread["notices"].size(), 0u);
  EXPECT_EQ(all["notices"][0]["kind"], "removed");
  EXPECT_TRUE(all["notices"][0]["content"].is_null());
}

TEST(InboxView, SaysOfWhichKindsThereAreMoreAndWhereTheyAre) {
  v1::Inbox inbox = full_inbox();
  EXPECT_THAT(inbox_text(inbox, false), Not(HasSubstr("there are more")));
  for (const char* kind : {"invitations", "requests", "offers", "shares", "notices"}) inbox.add_more(kind);
  inbox.set_older_notices(312);
  const std::string all = inbox_text(inbox, false);
  EXPECT_THAT(all, HasSubstr("there are more; all: gridtorrent group list\n"));
  EXPECT_THAT(all, HasSubstr("there are more; all: gridtorrent group show GROUP\n"));
  EXPECT_THAT(all, HasSubstr("there are more; all: gridtorrent handover list\n"));
  EXPECT_THAT(all, HasSubstr("there are more; all: gridtorrent search --access shared\n"));
  EXPECT_THAT(all, HasSubstr("there are more; 312 older ones are not shown"));
  EXPECT_THAT(inbox_text(inbox, true), Not(HasSubstr("312"))) << "they are older than one that was read";
  EXPECT_EQ(to_json(inbox, true)["more"].size(), 5u);
  EXPECT_EQ(to_json(inbox, true)["older_notices"], 312);
}

TEST(NoticeView, SaysEachKindInWords) {
  for (const char* kind :
       {"request-accepted", "request-declined", "invitation-accepted", "invitation-declined", "removed", "left",
        "made-manager", "manager-no-more", "group-deleted", "offer-accepted", "offer-declined", "new-version"}) {
    v1::Notice notice;
    notice.set_kind(kind);
    notice.set_by("dave");
    notice.set_group("lab");
    notice.set_object("dave/run");
    EXPECT_THAT(notice_text(notice), Not(HasSubstr("-"))) << kind;
    EXPECT_THAT(notice_text(notice), HasSubstr("dave"));
  }
  v1::Notice later;
  later.set_kind("of-a-newer-server");
  EXPECT_EQ(notice_text(later), "of-a-newer-server");
}

TEST(GroupView, ShowsWhereOneStandsAndWhoIsIn) {
  v1::Group group;
  group.set_name("lab");
  group.set_description("first line\nsecond");
  group.set_standing("requested");
  group.set_expires_ms(2'000'000'000'000);
  *group.add_members() = membership("alice", "manager", "alice");
  EXPECT_THAT(groups_table({group}), HasSubstr("requested, ends 2033-05-18"));
  EXPECT_THAT(groups_table({group}), Not(HasSubstr("second")));
  EXPECT_THAT(groups_table({}), HasSubstr("group create"));
  group.set_group_id("g_1");
  EXPECT_THAT(groups_table({group}), Not(HasSubstr("g_1")));
  EXPECT_THAT(groups_table({group}, true), HasSubstr("g_1"));
  EXPECT_THAT(group_text(group), HasSubstr("alice  manager"));
  const Json json = to_json(group, true);
  EXPECT_EQ(json["members"][0]["standing"], "manager");
  EXPECT_FALSE(to_json(group, false).contains("members"));
}

TEST_F(CommandLine, InboxRefusesToWatchAndMarkAtOnce) {
  EXPECT_EQ(run({"inbox", "--watch", "--mark-read"}), 2);
  EXPECT_THAT(err_, HasSubstr("give one of them"));
}

TEST_F(CommandLine, GroupSetNeedsSomethingToSet) {
  EXPECT_EQ(run({"group", "set", "lab"}), 2);
  EXPECT_THAT(err_, HasSubstr("--description or --hidden"));
}

}  // namespace
}  // namespace gridtorrent::client::cli
