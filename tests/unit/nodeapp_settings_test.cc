// Options that a node's owner sets while it runs.
#include "client/app/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "tests/support/temp_folder.h"

namespace gridtorrent::testing {
namespace {

using namespace client::app;
using client::control::Setting;
using client::control::SettingChange;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NodeSettings : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Settings>> open(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"--data-dir", folder_.path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    options::Environment nothing;
    nothing.variable = [](const std::string&) { return std::nullopt; };
    nothing.read_file = [](const std::string&) -> Result<std::optional<std::string>> {
      return std::optional<std::string>();
    };
    return Settings::open(std::get<options::Parsed>(options::parse(program(), arguments, nothing)));
  }
  Settings::Apply apply_ = [this](const Config&, const Config& now) -> Status {
    applied_.push_back(now.max_fetching);
    return {};
  };
  static Setting find(const Settings& settings, const std::string& name) {
    const auto list = settings.list();
    const auto found = std::ranges::find(list, name, &Setting::name);
    return found == list.end() ? Setting{} : *found;
  }

  TempFolder folder_;
  std::vector<std::size_t> applied_;
};

TEST_F(NodeSettings, ThatMakeNoSenseAreRefusedAndNoneOfThemIsTaken) {
  const auto settings = open();
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  const auto refused = [&](const std::vector<SettingChange>& changes) {
    const Status status = (*settings)->change(changes, apply_);
    return status ? "" : status.error().message;
  };
  EXPECT_THAT(refused({{"max-fetching", {"2"}}, {"upload-limit", {"fast"}}}), HasSubstr("upload-limit: 'fast'"));
  EXPECT_THAT(refused({{"frob", {"1"}}}), HasSubstr("'frob' is no setting of a node"));
  EXPECT_THAT(refused({{"socket", {"/s"}}}), HasSubstr("'socket' cannot be set while the node runs"));
  EXPECT_THAT(refused({{"max-fetching", {}}}), HasSubstr("max-fetching takes one value, not 0"));
  EXPECT_THAT(refused({{"max-fetching", {"2"}}, {"max-fetching", {"3"}}}), HasSubstr("max-fetching is given twice"));
  EXPECT_THAT(refused({{"max-fetching", {"2"}, true}}), HasSubstr("set and reset"));
  EXPECT_THAT(refused({{"share-root", {"a=/x", "a=/y"}}}), HasSubstr("given twice"));
  EXPECT_THAT(refused({{"share-root", {"a=/\xff"}}}), HasSubstr("UTF-8"));
  EXPECT_THAT(refused({{"limits", {"from=08:00"}}}),
              ::testing::AllOf(HasSubstr("limits"), ::testing::Not(HasSubstr("settings.toml"))));
  EXPECT_THAT(applied_, IsEmpty());
  EXPECT_EQ((*settings)->config().max_fetching, 4u);
  EXPECT_EQ((*open())->config().max_fetching, 4u);
}

TEST_F(NodeSettings, TakeEffectAndAreKeptBeforeTheCommandLine) {
  {
    const auto settings = open({"--max-fetching", "3"});
    const Status set = (*settings)->change({{"max-fetching", {"8"}}, {"share-root", {"a=/x", "b=/y"}}}, apply_);
    ASSERT_TRUE(set.ok()) << set.error().message;
    EXPECT_THAT(applied_, ElementsAre(8u));
    EXPECT_EQ((*settings)->config().max_fetching, 8u);
    EXPECT_EQ((*settings)->config().share_roots.size(), 2u);
  }
  const auto again = open({"--max-fetching", "3"});
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ((*again)->config().max_fetching, 8u);
  const Setting shown = find(**again, "max-fetching");
  EXPECT_THAT(shown.values, ElementsAre("8"));
  EXPECT_THAT(shown.configured, ElementsAre("3"));
  EXPECT_EQ(shown.source, "set");
  ASSERT_TRUE((*again)->change({{"max-fetching", {}, true}, {"share-root", {}}}, apply_).ok());
  EXPECT_EQ(find(**again, "max-fetching").source, "command line");
  EXPECT_EQ((*again)->config().max_fetching, 3u);
  EXPECT_THAT(find(**again, "share-root").values, IsEmpty());
  EXPECT_EQ(find(**again, "share-root").source, "set") << "to none";
}

TEST_F(NodeSettings, ThatCannotBeKeptAreNotTaken) {
  const auto settings = open();
  ASSERT_TRUE(settings.ok());
  const std::string beside = folder_ / "settings.toml.new";
  ASSERT_EQ(::mkdir(beside.c_str(), 0700), 0);
  EXPECT_EQ((*settings)->change({{"max-fetching", {"8"}}}, apply_).error().code, Code::kDisk);
  EXPECT_THAT(applied_, IsEmpty());
  EXPECT_EQ(find(**settings, "max-fetching").source, "default");
}

TEST_F(NodeSettings, ThatAFileHoldsInErrorAreNamedWithTheFile) {
  const auto error_of = [&](const std::string& text) {
    std::ofstream(folder_ / "settings.toml") << text;
    const auto settings = open();
    return settings ? "" : settings.error().message;
  };
  EXPECT_THAT(error_of("max-fetching = \"many\"\n"), ::testing::AllOf(HasSubstr("settings.toml"), HasSubstr("many")));
  EXPECT_THAT(error_of("socket = \"/s\"\n"), ::testing::AllOf(HasSubstr("settings.toml"), HasSubstr("'socket'")));
  EXPECT_THAT(error_of("max-fetching = "), HasSubstr("settings.toml, line 1"));
  EXPECT_EQ(error_of("max-fetching = 5\n"), "");
}

TEST_F(NodeSettings, ThatTakeNoEffectAreNotKept) {
  const auto settings = open();
  ASSERT_TRUE((*settings)->change({{"max-fetching", {"8"}}}, apply_).ok());
  const auto fails = [](const Config&, const Config&) -> Status { return Error{Code::kInternal, "no"}; };
  EXPECT_EQ((*settings)->change({{"max-fetching", {"9"}}}, fails).error().code, Code::kInternal);
  EXPECT_EQ((*settings)->config().max_fetching, 8u);
  EXPECT_THAT(find(**settings, "max-fetching").values, ElementsAre("8"));
  EXPECT_EQ((*open())->config().max_fetching, 8u);
}

TEST_F(NodeSettings, AreReadAgainWithTheConfigurationOrAllStaysAsItWas) {
  const auto settings = open();
  ASSERT_TRUE((*settings)->change({{"upload-limit", {"20Mbit"}}}, apply_).ok());
  std::ofstream(folder_ / "settings.toml") << "max-fetching = 5\n";
  const auto changes = (*settings)->read_again(apply_);
  ASSERT_TRUE(changes.ok()) << changes.error().message;
  EXPECT_THAT(changes->taken, ::testing::UnorderedElementsAre("max-fetching", "upload-limit"));
  EXPECT_EQ((*settings)->config().max_fetching, 5u);
  std::ofstream(folder_ / "settings.toml") << "max-fetching = none\n";
  EXPECT_THAT((*settings)->read_again(apply_).error().message, HasSubstr("settings.toml, line 1"));
  EXPECT_THAT((*settings)->change({{"log-level", {"debug"}}}, apply_).error().message, HasSubstr("settings.toml"))
      << "what a person wrote there is not lost";
  EXPECT_EQ((*settings)->config().max_fetching, 5u);
  EXPECT_THAT(find(**settings, "max-fetching").values, ElementsAre("5"));
}

TEST_F(NodeSettings, ThatCanBeSetTakeEffectWithoutARestart) {
  const auto settings = open();
  const std::map<std::string, std::string> others{{"share-root", "a=/x"},       {"download-root", "b=/y"},
                                                  {"max-fetching", "7"},        {"upload-limit", "20Mbit"},
                                                  {"download-limit", "30Mbit"}, {"limits", "from=08:00 up=5Mbit"},
                                                  {"log-level", "debug"}};
  std::vector<SettingChange> changes;
  for (const Setting& setting : (*settings)->list()) {
    if (setting.changeable) changes.push_back({setting.name, {others.at(setting.name)}});
  }
  EXPECT_EQ(changes.size(), others.size());
  ConfigChanges seen;
  const auto compared = [&](const Config& before, const Config& now) -> Status {
    seen = compare(before, now);
    return {};
  };
  const Status set = (*settings)->change(changes, compared);
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(seen.taken.size(), others.size());
  EXPECT_THAT(seen.need_restart, IsEmpty());
}

TEST_F(NodeSettings, AreListedWithoutSecrets) {
  const auto settings = open();
  EXPECT_EQ(find(**settings, "enroll-token-file").name, "");
  EXPECT_THAT(find(**settings, "data-dir").values, ElementsAre(folder_.path()));
  EXPECT_FALSE(find(**settings, "data-dir").changeable);
  EXPECT_THAT(find(**settings, "log-level").choices, ElementsAre("debug", "info", "warning", "error"));
  EXPECT_TRUE(find(**settings, "limits").repeatable);
  EXPECT_THAT(find(**settings, "server").values, IsEmpty());
}

}  // namespace
}  // namespace gridtorrent::testing
