#include <gtest/gtest.h>

#include "gui/models/content_facts.h"
#include "gui/models/ending.h"
#include "gui/models/publish_draft.h"
#include "gui/models/window_settings.h"

namespace gridtorrent::gui {
namespace {

const Format kFormat(QLocale(QLocale::English, QLocale::UnitedKingdom));

PublishDraft draft() {
  PublishDraft draft;
  draft.path = "/data/run-7";
  draft.name = "run-7";
  return draft;
}

TEST(ADraft, IsForNobodyElseUntilSomebodySaysSo) {
  EXPECT_EQ(access_of(PublishDraft()), "private");
  PublishDraft chosen = draft();
  chosen.audience = Audience::kChosen;
  EXPECT_EQ(access_of(chosen), "private") << "nobody is named yet";
  EXPECT_EQ(fault_of(chosen), DraftFault::kNobodyChosen);
}

TEST(ADraft, OfTheChosenNamesThemInTheWordsOfTheNode) {
  PublishDraft chosen = draft();
  chosen.audience = Audience::kChosen;
  chosen.groups = {"lab"};
  chosen.people = {"mia", "noor"};
  chosen.buddies = true;
  EXPECT_EQ(access_of(chosen), "group:lab,user:mia,user:noor,buddies");
  EXPECT_FALSE(fault_of(chosen));
  EXPECT_EQ(audience_text(chosen).toStdString(),
            "These can find and get it: members of lab; mia, noor; your buddies. Nobody else sees that it exists.");
}

TEST(ADraft, DoesNotKeepTargetsOfAnotherAudience) {
  PublishDraft mine = draft();
  mine.people = {"mia"};
  mine.buddies = true;
  EXPECT_EQ(access_of(mine), "private");
}

TEST(ADraft, SaysTheFirstThingThatIsMissing) {
  EXPECT_EQ(fault_of(PublishDraft()), DraftFault::kNoPath);
  PublishDraft wrong = draft();
  wrong.path = "run-7";
  EXPECT_EQ(fault_of(wrong), DraftFault::kRelativePath);
  wrong.path = "/data/\xEF\xBF\xBD";
  EXPECT_EQ(fault_of(wrong), DraftFault::kPathNotText);
  EXPECT_TRUE(fault_text(DraftFault::kPathNotText).contains(QStringLiteral("gridtorrent publish")));
  wrong = draft();
  wrong.name.clear();
  EXPECT_EQ(fault_of(wrong), DraftFault::kNoName);
  wrong.name = "a/b";
  EXPECT_EQ(fault_of(wrong), DraftFault::kSlashInName);
  wrong.name = std::string(129, 'x');
  EXPECT_EQ(fault_of(wrong), DraftFault::kLongName);
  wrong = draft();
  wrong.tags = {std::string(65, 'x')};
  EXPECT_EQ(fault_of(wrong), DraftFault::kLongTag);
  wrong.tags.assign(33, "x");
  EXPECT_EQ(fault_of(wrong), DraftFault::kTooManyTags);
  EXPECT_FALSE(fault_of(draft()));
}

TEST(ADraft, CountsCharactersAndNotBytes) {
  PublishDraft greek = draft();
  greek.name.clear();
  for (int i = 0; i < 128; ++i) greek.name += "\xCE\xB1";
  EXPECT_FALSE(fault_of(greek));
}

TEST(Words, AreWhatStandsBetweenCommas) {
  EXPECT_EQ(words_of(QStringLiteral(" lab , ,beam 9,lab,")), (std::vector<std::string>{"lab", "beam 9"}));
  EXPECT_TRUE(words_of({}).empty());
}

TEST(AContent, IsToldInLinesOfPlainText) {
  ContentFacts facts;
  facts.description = "first\n<b>second</b>\xE2\x80\xAE";
  facts.tags = {"calib", "<i>"};
  facts.access = "group:lab";
  facts.version = 3;
  facts.replicas = {{.node = "alpha\n", .owner = "bob", .complete = true, .served = true, .online = true},
                    {.node = "beta", .owner = "mia", .complete = false, .served = false, .online = false}};
  EXPECT_EQ(content_text(facts, kFormat).toStdString(),
            "first\n<b>second</b>\\u202e\n\nTags: calib, <i>\nAccess: group:lab\nVersion: 3\n\n"
            "Copies: 1 of 2 complete\nalpha\\n of bob: complete, served now\nbeta of mia: its node is off");
}

TEST(EndingATransfer, HasAWordForEachStateThatIsKnown) {
  EXPECT_EQ(ending_of(TransferState::kFetching), Ending::kCancel);
  EXPECT_EQ(ending_of(TransferState::kHashing), Ending::kCancel);
  EXPECT_EQ(ending_of(TransferState::kSeeding), Ending::kStopSeeding);
  EXPECT_EQ(ending_of(TransferState::kFailed), Ending::kForget);
  EXPECT_FALSE(ending_of(TransferState::kOther));
  EXPECT_TRUE(ending_question(Ending::kStopSeeding, 2).contains(QStringLiteral("The files stay where they are")));
}

TEST(Settings, AreReadAsTheyWereWritten) {
  const WindowSettings settings{.width = 1100,
                                .height = 720,
                                .maximized = true,
                                .page = "find",
                                .folder = "/data/a b\n%41\xFF",
                                .transfers_columns = "name:240 -up:80",
                                .found_columns = "owner:90"};
  EXPECT_EQ(read_settings(write_settings(settings)), settings);
  EXPECT_EQ(read_settings(write_settings({})), WindowSettings());
}

TEST(Settings, OfAnotherVersionAreReadAsFarAsTheyAreKnown) {
  const WindowSettings read = read_settings("gridtorrent-window 7\nnews yes\nwidth 900\nheight tall\n\npage find");
  EXPECT_EQ(read.width, 900);
  EXPECT_EQ(read.height, 0);
  EXPECT_EQ(read.page, "find");
}

TEST(Settings, ThatAreNoneGiveTheUsualWindow) {
  EXPECT_EQ(read_settings(""), WindowSettings());
  EXPECT_EQ(read_settings("[Window]\nwidth 900\n"), WindowSettings());
  EXPECT_EQ(read_settings("gridtorrent-window 1\nwidth -5\nheight 999999\nfolder %").folder, "%");
  EXPECT_EQ(read_settings("gridtorrent-window 1\nwidth -5\nheight 999999").width, 0);
}

}  // namespace
}  // namespace gridtorrent::gui
