#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/options/render.h"
#include "client/cli/completing.h"
#include "tests/unit/cli_fixture.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

v1::Content content(const char* owner, const char* name) {
  v1::Content made;
  made.set_owner(owner);
  made.set_name(name);
  return made;
}

TEST(OfferLines, LeaveOutWhatNobodyCanType) {
  EXPECT_EQ(offer_lines({{"run\x1b[31m", ""}, {"a\nb", ""}, {"x\xff", ""}, {"", ""}, {"bidi\xe2\x80\xae", ""}}, ""),
            "");
}

TEST(OfferLines, AreSortedWithEachWordOnceAndBeginAsWhatIsTyped) {
  EXPECT_EQ(offer_lines({{"run2", ""}, {"run1", "of\tmia"}, {"other", ""}, {"run1", ""}, {"a\\b c", ""}}, "run"),
            "run1\tof\\tmia\nrun2\n");
  EXPECT_EQ(offer_lines({{"a\\b c", ""}}, "a\\"), "a\\b c\n");
}

TEST(ContentOffers, NameTheOwnerWhereItIsNeeded) {
  const std::vector<v1::Content> found{content("mia", "run"), content("ben", "run"), content("ben", "raw")};
  EXPECT_THAT(content_offers(found, "r"),
              ElementsAre(Offer{"mia/run", ""}, Offer{"ben/run", ""}, Offer{"raw", "of ben"}));
  EXPECT_THAT(content_offers({content("ben", "raw")}, "ben/"), ElementsAre(Offer{"ben/raw", ""}));
}

TEST(NodeOffers, GoOnAfterEachComma) {
  std::vector<v1::Node> nodes(2);
  nodes[0].set_name("alpha");
  nodes[1].set_name("beta");
  nodes[1].set_online(true);
  EXPECT_THAT(node_offers(nodes, "al"), ElementsAre(Offer{"alpha", "offline"}, Offer{"beta", "online"}));
  EXPECT_THAT(node_offers(nodes, "alpha,"), ElementsAre(Offer{"alpha,beta", "online"}));
}

TEST(TransferOffers, AreNamesAndIdsWhereThatIsNeeded) {
  std::vector<v1::Transfer> list(3);
  const char* const names[] = {"run", "twin", "twin"};
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i].set_transfer_id("x_" + std::to_string(i));
    list[i].set_name(names[i]);
    list[i].set_state("seeding");
  }
  EXPECT_THAT(transfer_offers(list, ""),
              ElementsAre(Offer{"run", "seeding"}, Offer{"x_1", "twin, seeding"}, Offer{"x_2", "twin, seeding"}));
  EXPECT_EQ(offer_lines(transfer_offers(list, "x_0"), "x_0"), "x_0\trun, seeding\n");
}

TEST(CompletionScripts, AskForContentsGroupsNodesTransfersAndTasks) {
  const std::string bash = options::completion_script(program(), "bash").value();
  for (const char* line :
       {"'get:0') _gridtorrent_asked content ;;", "'group show:0') _gridtorrent_asked group ;;",
        "'node show:0') _gridtorrent_asked node ;;", "'get:--node') _gridtorrent_asked node; return ;;",
        "'transfer wait:0') _gridtorrent_asked transfer ;;", "'task wait:0') _gridtorrent_asked task ;;",
        "'transfer pause:'*) _gridtorrent_asked transfer ;;"})
    EXPECT_THAT(bash, HasSubstr(line));
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_THAT(options::completion_script(program(), shell).value(), HasSubstr(" __complete "));
}

TEST(CompletionScripts, OfferByTheArgumentThatIsTyped) {
  const std::string bash = options::completion_script(program(), "bash").value();
  EXPECT_THAT(bash, HasSubstr("'group invite:1') COMPREPLY=() ;;")) << "a user";
  EXPECT_THAT(bash, HasSubstr("'content rename:1') COMPREPLY=() ;;")) << "a new name";
  EXPECT_THAT(bash, HasSubstr("'verify:0') if [[ \"$cur\" == [./~]* ]]; then compopt -o filenames"));
}

TEST(CompletionScripts, HelpAndManPageDoNotShowTheCommandThatTheyRun) {
  EXPECT_THAT(options::help_text(program(), ""), Not(HasSubstr("__complete")));
  EXPECT_THAT(options::man_page(program(), "1"), Not(HasSubstr("complete\\fR")));
  EXPECT_THAT(options::markdown_reference(program()), Not(HasSubstr("__complete")));
}

TEST_F(CommandLine, CompletingIsSilentWithoutServerAndNode) {
  for (const char* kind : {"content", "group", "node", "task", "transfer"}) {
    EXPECT_EQ(run({"__complete", kind, "--", "r"}), 0) << kind;
    EXPECT_EQ(out_ + err_, "") << kind;
  }
}

}  // namespace
}  // namespace gridtorrent::client::cli
