#include "base/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/options/render.h"
#include "common/version.h"
#include "tests/unit/options_fixture.h"

namespace gridtorrent::options {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kUserFile[] = "/home/u/.config/gridtorrent/sample.toml";
constexpr char kSystemFile[] = "/etc/gridtorrent/sample.toml";

TEST(OptionRefusals, NameTheThingTheReasonAndTheWayOut) {
  const World w;
  EXPECT_EQ(w.refusal({}), "no command given; see 'sample --help'");
  EXPECT_EQ(w.refusal({"gte", "x"}), "unknown command 'gte', did you mean 'get'?; see 'sample --help'");
  EXPECT_EQ(w.refusal({"frobnicate"}), "unknown command 'frobnicate'; see 'sample --help'");
  EXPECT_EQ(w.refusal({"node"}), "'node' needs one of: list, show; see 'sample node --help'");
  EXPECT_EQ(w.refusal({"node", "lst"}),
            "unknown command 'node lst', did you mean 'node list'?; see 'sample node --help'");
  EXPECT_EQ(w.refusal({"get"}), "CONTENT is missing; see 'sample get --help'");
  EXPECT_EQ(w.refusal({"get", ""}), "CONTENT is empty; see 'sample get --help'");
  EXPECT_EQ(w.refusal({"get", "a", "b"}), "get takes no further argument 'b'; see 'sample get --help'");
  EXPECT_EQ(w.refusal({"get", "a", "--limt", "3"}),
            "unknown option '--limt', did you mean '--limit'?; see 'sample get --help'");
  EXPECT_EQ(w.refusal({"get", "a", "--to"}), "--to needs a value; see 'sample get --help'");
}

TEST(OptionRefusals, WordsOfOtherToolsLeadToOurCommands) {
  const World w;
  EXPECT_EQ(w.refusal({"ls"}), "unknown command 'ls', did you mean 'search' or 'node list'?; see 'sample --help'");
  EXPECT_EQ(w.refusal({"LS", "-l", "/data"}), w.refusal({"ls"}).replace(17, 2, "LS"));
  EXPECT_EQ(w.refusal({"node", "rm", "x"}),
            "unknown command 'node rm', did you mean 'node show', 'node list' or 'search'?; see 'sample node --help'");
  EXPECT_EQ(w.refusal({"help", "ls"}), w.refusal({"ls"}));
  EXPECT_EQ(w.refusal({"help", "node", "rm"}), w.refusal({"node", "rm"}));
  EXPECT_EQ(w.refusal({"ls", "--help"}), w.refusal({"ls"}));
}

TEST(OptionRefusals, AfterTwoDashesNothingIsAnOption) {
  const World w;
  EXPECT_EQ(w.refusal({"get", "--", "-a", "-b"}), "get takes no further argument '-b'; see 'sample get --help'");
  EXPECT_EQ(w.refusal({"node", "show", "--", "-a", "--json"}),
            "node show takes no further argument '--json'; see 'sample node show --help'");
  EXPECT_EQ(w.refusal({"--", "--json"}), "unknown command '--json'; see 'sample --help'");
}

TEST(Positionals, ThatMayBeSeveralTakeAllWordsThatAreLeft) {
  const World w;
  const Parsed p = w.good({"drop", "a", "search", "--quiet", "b", "--", "-c"});
  EXPECT_THAT(p.list("ID"), ElementsAre("a", "search", "b", "-c"));
  EXPECT_TRUE(p.flag("quiet"));
  EXPECT_EQ(w.refusal({"drop"}), "ID is missing; see 'sample drop --help'");
  EXPECT_EQ(w.refusal({"drop", "a", ""}), "ID is empty; see 'sample drop --help'");
}

TEST(OptionRefusals, CheckEveryValueWhereverItComesFrom) {
  World w;
  EXPECT_EQ(w.refusal({"get", "a", "--limit", "fast"}),
            "--limit: 'fast' is no rate; write it like 200Mbit or 25MB (a second)");
  EXPECT_THAT(w.refusal({"get", "a", "--lanes", "33"}),
              HasSubstr("'33' is neither auto nor a whole number from 1 to 32"));
  EXPECT_THAT(w.refusal({"get", "a", "--lanes", "4x"}), HasSubstr("'4x' is neither"));
  EXPECT_THAT(w.refusal({"get", "a", "--priority", "11"}), HasSubstr("from -10 to 10"));
  EXPECT_THAT(w.refusal({"completion", "tcsh"}), HasSubstr("SHELL: 'tcsh' is not one of bash, zsh"));
  EXPECT_THAT(w.refusal({"node", "list", "--log-level", "loud"}), HasSubstr("--log-level: 'loud' is not one of debug"));
  w.variables["GRIDTORRENT_GET_LIMIT"] = "x";
  EXPECT_THAT(w.refusal({"get", "a"}), StartsWith("GRIDTORRENT_GET_LIMIT: 'x' is no rate"));
  w.variables.erase("GRIDTORRENT_GET_LIMIT");
  w.files[kUserFile] = "\n[get]\nlimit = \"y\"\n";
  EXPECT_THAT(w.refusal({"get", "a"}), StartsWith(std::string(kUserFile) + ", line 3: limit: 'y' is no rate"));
}

TEST(OptionRefusals, EscapeWhatTheUserTyped) {
  const World w;
  EXPECT_THAT(w.refusal({"get", "a", "b\xff\n"}), HasSubstr("'b\\xff\\n'"));
}

TEST(OptionRefusals, WhatIsNoPathIsUtf8) {
  const World w;
  EXPECT_THAT(w.refusal({"get", "b\xff"}), HasSubstr("CONTENT: 'b\\xff' is not UTF-8"));
  EXPECT_THAT(w.refusal({"get", "x", "--limit", "b\xff"}), HasSubstr("--limit: 'b\\xff' is not UTF-8"));
  EXPECT_EQ(w.good({"get", "x", "--to", "b\xff"}).str("to"), "b\xff") << "bytes on a disk";
}

TEST(OptionOrder, AFilesKeyThatIsForTheCommandLineAloneIsPassedOver) {
  Program program = sample_program();
  for (Command& command : program.commands) command.options = on_command_line_only(command.options);
  World w;
  w.files[kUserFile] = "[get]\npriority = 3\n";
  const Outcome outcome = w.parse({"get", "a"}, program);
  ASSERT_TRUE(std::holds_alternative<Parsed>(outcome));
  const auto& parsed = std::get<Parsed>(outcome);
  EXPECT_FALSE(parsed.has("priority"));
  EXPECT_THAT(parsed.notes(),
              ElementsAre(std::string(kUserFile) + ", line 2: 'get.priority' is for the command line alone; ignored"));
}

TEST(OptionRefusals, FaultyFilesAreNamedWithTheirLine) {
  World w;
  w.files[kUserFile] = "listen = \n";
  EXPECT_THAT(w.refusal({"search"}), HasSubstr(std::string(kUserFile) + ", line 1: this is no TOML"));
  w.files[kUserFile] = "jsn = true\n";
  EXPECT_EQ(w.refusal({"search"}),
            std::string(kUserFile) + ", line 1: 'jsn' is no option of sample, did you mean 'json'?");
  w.files[kUserFile] = "listen = [\"a:1\", \"b:2\"]\n";
  EXPECT_THAT(w.refusal({"search"}), HasSubstr("listen takes one value, not an array"));
  w.files[kUserFile] = "listen = 2026-11-20\n";
  EXPECT_THAT(w.refusal({"search"}), HasSubstr("listen takes a string"));
  w.files[kUserFile] = "json = \"maybe\"\n";
  EXPECT_THAT(w.refusal({"search"}), HasSubstr("'maybe' is neither true nor false"));
  w.files.clear();
  EXPECT_THAT(w.refusal({"search", "--config", "/nowhere.toml"}),
              HasSubstr("configuration file /nowhere.toml does not exist"));
}

TEST(OptionRefusals, ARequiredOptionMayComeFromAnyLayer) {
  World w;
  Program program{.name = "sample", .options = daemon_options()};
  const auto refused = w.parse({}, program);
  ASSERT_TRUE(std::holds_alternative<Error>(refused));
  EXPECT_EQ(std::get<Error>(refused).message, "--data-dir DIR is missing; see 'sample --help'");
  w.variables["GRIDTORRENT_DATA_DIR"] = "/srv/x";
  EXPECT_TRUE(std::holds_alternative<Parsed>(w.parse({}, program)));
}

TEST(OptionOrder, FlagBeatsEnvironmentBeatsUserFileBeatsSystemFileBeatsDefault) {
  World w;
  const auto where = [&](const std::vector<std::string>& arguments) {
    const Parsed p = w.good(arguments);
    return std::pair(p.str("listen"), p.source("listen"));
  };
  EXPECT_EQ(where({"search"}), std::pair(std::string("[::]:7443"), Source::kDefault));
  w.files[kSystemFile] = "listen = \"system:1\"\n";
  EXPECT_EQ(where({"search"}), std::pair(std::string("system:1"), Source::kSystemFile));
  w.files[kUserFile] = "listen = \"user:1\"\n";
  EXPECT_EQ(where({"search"}), std::pair(std::string("user:1"), Source::kUserFile));
  w.variables["GRIDTORRENT_LISTEN"] = "environment:1";
  EXPECT_EQ(where({"search"}), std::pair(std::string("environment:1"), Source::kEnvironment));
  EXPECT_EQ(where({"--listen", "flag:1", "search"}), std::pair(std::string("flag:1"), Source::kCommandLine));
  EXPECT_EQ(where({"search", "--listen=flag:2"}), std::pair(std::string("flag:2"), Source::kCommandLine));
}

TEST(OptionVariables, OfACommandCarryItsName) {
  World w;
  w.variables["GRIDTORRENT_GET_LIMIT"] = "200Mbit";
  EXPECT_EQ(w.good({"get", "a"}).bits_per_s("limit"), 200'000'000U);
  EXPECT_THAT(w.good({"get", "a"}).notes(), IsEmpty());
  EXPECT_EQ(environment_name("node enroll-token", "ttl"), "GRIDTORRENT_NODE_ENROLL_TOKEN_TTL");
}

TEST(OptionVariables, WithAnOldNameAreReadWithALineThatNamesTheNewOne) {
  World w;
  w.variables["GRIDTORRENT_LIMIT"] = "200Mbit";
  const Parsed p = w.good({"get", "a"});
  EXPECT_EQ(p.bits_per_s("limit"), 200'000'000U);
  EXPECT_EQ(p.source("limit"), Source::kEnvironment);
  EXPECT_THAT(p.notes(), ElementsAre("GRIDTORRENT_LIMIT is an old name, read until version 0.2: the variable of 'get "
                                     "--limit' is GRIDTORRENT_GET_LIMIT"));
}

TEST(OptionVariables, WithAnOldNameDoNotConcernOtherCommands) {
  World w;
  w.variables["GRIDTORRENT_LIMIT"] = "200Mbit";
  EXPECT_THAT(w.good({"search"}).notes(), IsEmpty());
  EXPECT_THAT(w.good({"node", "list"}).notes(), IsEmpty());
}

TEST(OptionVariables, WithAnOldNameAreIgnoredWhereTheyCannotBeMeant) {
  World w;
  w.variables["GRIDTORRENT_LIMIT"] = "50";
  w.variables["GRIDTORRENT_DETACH"] = "perhaps";
  w.variables["GRIDTORRENT_PRIORITY"] = "urgent\n";
  const Parsed p = w.good({"get", "a"});
  EXPECT_FALSE(p.has("limit"));
  EXPECT_FALSE(p.flag("detach"));
  EXPECT_FALSE(p.has("priority"));
  ASSERT_EQ(p.notes().size(), 3U);
  EXPECT_EQ(p.notes()[0],
            "GRIDTORRENT_LIMIT: '50' is no rate; write it like 200Mbit or 25MB (a second); ignored: the "
            "variable of 'get --limit' is GRIDTORRENT_GET_LIMIT");
  EXPECT_THAT(p.notes()[1], StartsWith("GRIDTORRENT_PRIORITY: 'urgent\\n' is"));
  EXPECT_THAT(p.notes()[2], StartsWith("GRIDTORRENT_DETACH: 'perhaps' is neither true nor false; ignored: "));
}

TEST(OptionVariables, WithTheirNewNameWinOverTheOldOne) {
  World w;
  w.variables["GRIDTORRENT_LIMIT"] = "1Mbit";
  w.variables["GRIDTORRENT_GET_LIMIT"] = "2Mbit";
  w.files[kUserFile] = "[get]\nlanes = 3\n";
  w.variables["GRIDTORRENT_LANES"] = "5";
  const Parsed p = w.good({"get", "a"});
  EXPECT_EQ(p.bits_per_s("limit"), 2'000'000U);
  EXPECT_EQ(p.str("lanes"), "5");
  EXPECT_EQ(p.notes().size(), 1U);
  EXPECT_EQ(w.good({"get", "a", "--lanes", "7"}).notes().size(), 0U);
}

TEST(OptionVariables, LoseTheirOldNamesWithVersion02) {
  EXPECT_THAT(kVersion, StartsWith("0.1.")) << "remove old_variable and kOldNamesEnd from base/options/parse.cc";
}

TEST(OptionOrder, AnEmptyVariableIsNoValue) {
  World w;
  w.variables["GRIDTORRENT_LISTEN"] = "";
  EXPECT_EQ(w.good({"search"}).source("listen"), Source::kDefault);
}

TEST(OptionOrder, ConfigReplacesTheUsersFileButNotTheSystems) {
  World w;
  w.files[kUserFile] = "listen = \"user:1\"\njson = true\n";
  w.files[kSystemFile] = "log-level = \"warning\"\n";
  w.files["/other.toml"] = "listen = \"other:1\"\n";
  const Parsed p = w.good({"search", "--config", "/other.toml"});
  EXPECT_EQ(p.str("listen"), "other:1");
  EXPECT_FALSE(p.flag("json"));
  EXPECT_EQ(p.str("log-level"), "warning");
  w.variables["GRIDTORRENT_CONFIG"] = "/other.toml";
  EXPECT_EQ(w.good({"search"}).str("listen"), "other:1");
}

TEST(OptionOrder, WithoutXdgTheFileLiesBelowHome) {
  World w;
  w.variables = {{"HOME", "/home/v"}};
  w.files["/home/v/.config/gridtorrent/sample.toml"] = "json = true\n";
  EXPECT_TRUE(w.good({"search"}).flag("json"));
}

TEST(OptionOrder, ACommandsOptionsStandBelowItsName) {
  World w;
  w.files[kUserFile] = "[get]\nlanes = 8\nto = \"/data\"\n[search]\n";
  EXPECT_EQ(w.good({"get", "a"}).str("lanes"), "8");
  EXPECT_EQ(w.good({"get", "a"}).str("to"), "/data");
  EXPECT_EQ(w.good({"get", "a", "--lanes", "2"}).str("lanes"), "2");
}

TEST(OptionValues, HaveTheirTypes) {
  const World w;
  const Parsed p = w.good({"get", "a", "--limit", "25MB", "--priority", "-3", "--detach"});
  EXPECT_EQ(p.command(), "get");
  EXPECT_EQ(p.bits_per_s("limit"), 200'000'000U);
  EXPECT_EQ(p.integer("priority"), -3);
  EXPECT_TRUE(p.flag("detach"));
  EXPECT_FALSE(p.flag("json"));
  EXPECT_FALSE(p.has("to"));
  EXPECT_EQ(p.str("CONTENT"), "a");
}

TEST(OptionValues, RepeatableOnesCollectAndOthersTakeTheLast) {
  World w;
  EXPECT_THAT(w.good({"search", "--share-root", "a=/a", "--share-root", "b=/b"}).list("share-root"),
              ElementsAre("a=/a", "b=/b"));
  EXPECT_THAT(w.good({"search"}).list("share-root"), IsEmpty());
  EXPECT_EQ(w.good({"search", "--listen", "a:1", "--listen", "b:2"}).str("listen"), "b:2");
  w.variables["GRIDTORRENT_SHARE_ROOT"] = "a=/a,with comma;b=/b";
  EXPECT_THAT(w.good({"search"}).list("share-root"), ElementsAre("a=/a,with comma", "b=/b"));
  w.variables.erase("GRIDTORRENT_SHARE_ROOT");
  w.files[kUserFile] = "share-root = [\"c=/c\", \"d=/d\"]\n";
  EXPECT_THAT(w.good({"search"}).list("share-root"), ElementsAre("c=/c", "d=/d"));
}

TEST(OptionValues, ARepeatableOptionTakesOneValueEachTime) {
  const World w;
  const Parsed p = w.good({"search", "--share-root", "a=/a", "query"});
  EXPECT_THAT(p.list("share-root"), ElementsAre("a=/a"));
  EXPECT_EQ(p.str("QUERY"), "query");
}

TEST(OptionValues, ArgumentsMayLookLikeCommandsBracketsOrBytes) {
  const World w;
  EXPECT_EQ(w.good({"search", "get"}).str("QUERY"), "get");
  EXPECT_EQ(w.good({"search", "get"}).command(), "search");
  EXPECT_EQ(w.good({"node", "show", "list"}).str("NODE"), "list");
  EXPECT_EQ(w.good({"node", "show", "search"}).str("NODE"), "search");
  EXPECT_EQ(w.good({"get", "[a,b]"}).str("CONTENT"), "[a,b]");
  EXPECT_EQ(w.good({"get", "a", "--to", "[x]"}).str("to"), "[x]");
  EXPECT_EQ(w.good({"get", "a", "--to", "/d\xff\n\"'"}).str("to"), "/d\xff\n\"'");
  EXPECT_EQ(w.good({"get", "--", "-a"}).str("CONTENT"), "-a");
  EXPECT_EQ(w.good({"get", "--", "node"}).str("CONTENT"), "node");
  EXPECT_EQ(w.good({"get", "--", "--json"}).str("CONTENT"), "--json");
  EXPECT_EQ(w.good({"get", "--", "--"}).str("CONTENT"), "--");
  EXPECT_EQ(w.good({"get", "--detach", "--", "search"}).str("CONTENT"), "search");
  EXPECT_EQ(w.good({"node", "show", "--", "--help"}).str("NODE"), "--help");
  EXPECT_EQ(w.good({"--", "node", "show", "-x"}).command(), "node show");
  EXPECT_EQ(w.good({"search", "--"}).str("QUERY"), "");
  EXPECT_EQ(w.good({"get", "a=b"}).str("CONTENT"), "a=b");
}

TEST(OptionValues, FlagsMayBeSwitchedOff) {
  World w;
  w.files[kUserFile] = "json = true\n";
  EXPECT_TRUE(w.good({"search"}).flag("json"));
  EXPECT_FALSE(w.good({"search", "--json=false"}).flag("json"));
  w.variables["GRIDTORRENT_JSON"] = "0";
  EXPECT_FALSE(w.good({"search"}).flag("json"));
}

TEST(OptionValues, ACommandYetToComeSwallowsWhatFollows) {
  const World w;
  EXPECT_EQ(w.good({"tune", "explain", "x", "--deep", "3"}).command(), "tune");
}

TEST(OptionValues, WhatTheCommandLineGivesIsToldFromHabits) {
  World w;
  w.variables["GRIDTORRENT_GET_LIMIT"] = "1Mbit";
  const Parsed p = w.good({"get", "a", "--to", "/x"});
  EXPECT_TRUE(p.given("to"));
  EXPECT_TRUE(p.given("CONTENT"));
  EXPECT_FALSE(p.given("limit"));
  EXPECT_FALSE(p.given("lanes"));
  EXPECT_TRUE(p.gives_way("limit", "to"));
  EXPECT_FALSE(p.gives_way("to", "limit"));
  EXPECT_FALSE(p.gives_way("limit", "lanes")) << "two habits: neither was asked for";
  for (const Option& option : on_command_line_only({{.name = "a"}, {.name = "b"}}))
    EXPECT_TRUE(option.command_line_only) << option.name;
}

TEST(OptionChecks, TakeAndRefuse) {
  for (const char* good : {"lab.example.org:7443", "127.0.0.1:0", "[::1]:7443", "localhost:65535"})
    EXPECT_TRUE(is_host_port(good).ok()) << good;
  for (const char* bad :
       {"", ":1", "host", "host:", "host:65536", "::1:7443", "a b:1", "[]:1", "u@h:1", "h:-1", "h:1x"})
    EXPECT_FALSE(is_host_port(bad).ok()) << bad;
  for (const char* good : {"lab.example.org:7443", "grid_server:1", "[::1]:7443", "10.0.0.1:65535"})
    EXPECT_TRUE(is_server_address(good).ok()) << good;
  for (const char* bad : {"", "127.0.0.1:0", "h:65536", "h!:1", "-h:1", "gr\xc3\xb6\xc3\x9f:1", "::1:7443", "h"})
    EXPECT_FALSE(is_server_address(bad).ok()) << bad;
  for (const char* good : {"0", "50000", "50000-50015", "1-64"}) EXPECT_TRUE(is_port_range(good).ok()) << good;
  for (const char* bad : {"", "-", "5-4", "0-4", "1-65", "70000", "a-b", "1-2-3"})
    EXPECT_FALSE(is_port_range(bad).ok()) << bad;
  for (const char* good : {"data=/srv/data", "a.b-c_1=/", "x=/with=equals"})
    EXPECT_TRUE(is_named_root(good).ok()) << good;
  for (const char* bad : {"", "=/x", "data", "data=", "data=relative", "Data=/x", ".a=/x", "a/b=/x"})
    EXPECT_FALSE(is_named_root(bad).ok()) << bad;
  EXPECT_TRUE(is_time("2026-11-20").ok());
  EXPECT_FALSE(is_time("yesterday").ok());
  EXPECT_FALSE(is_size("many").ok());
  EXPECT_FALSE(is_duration("soon").ok());
  EXPECT_FALSE(is_not_empty("").ok());
}

TEST(OptionChecks, SplitWhatTheyTook) {
  EXPECT_EQ(split_host_port("[::1]:7443"), std::pair(std::string("::1"), std::uint16_t{7443}));
  EXPECT_EQ(split_host_port("h:1"), std::pair(std::string("h"), std::uint16_t{1}));
  EXPECT_EQ(split_port_range("5-9"), std::pair(std::uint16_t{5}, std::uint16_t{9}));
  EXPECT_EQ(split_port_range("7"), std::pair(std::uint16_t{7}, std::uint16_t{7}));
  EXPECT_EQ(split_named_root("x=/a=b"), std::pair(std::string("x"), std::string("/a=b")));
  EXPECT_THAT(split_commas(" a, b,,c "), ElementsAre("a", "b", "c"));
}

class OptionSecrets : public ::testing::Test {
 protected:
  OptionSecrets() { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
  ~OptionSecrets() override { std::filesystem::remove_all(folder_); }

  Result<std::string> secret_of(const std::string& content) {
    std::ofstream(folder_ + "/token") << content;
    return read(folder_ + "/token");
  }
  static Result<std::string> read(const std::string& path) {
    const World w;
    const Program program{.name = "sample", .options = {{.name = "token-file", .value = "FILE", .secret_file = true}}};
    return std::get<Parsed>(w.parse({"--token-file", path}, program)).secret("token-file");
  }

  std::string folder_ = (std::filesystem::temp_directory_path() / "gt-options-XXXXXX").string();
};

TEST_F(OptionSecrets, AreTheFirstLineOfTheFile) {
  EXPECT_EQ(secret_of("gtp_abc\n").value(), "gtp_abc");
  EXPECT_EQ(secret_of("gtp_abc").value(), "gtp_abc");
  EXPECT_EQ(secret_of("gtp_abc\r\nmore\n").value(), "gtp_abc");
}

TEST_F(OptionSecrets, AreNeverPrintedWhenRefused) {
  EXPECT_THAT(secret_of("\nhidden").error().message, HasSubstr("is empty"));
  EXPECT_THAT(secret_of("\nhidden").error().message, ::testing::Not(HasSubstr("hidden")));
  EXPECT_THAT(secret_of(std::string(100'000, 'x')).error().message, HasSubstr("too long"));
  EXPECT_THAT(read(folder_ + "/none").error().message, HasSubstr("No such file"));
}

TEST(Overrides, ThatNoOptionTakesAreRefusedByName) {
  const Program program = sample_program();
  const Parsed parsed = World().good({"get", "x"});
  const auto refused = [&](const Overrides& values) {
    const auto changed = override_values(program, parsed, values);
    return changed ? "" : changed.error().message;
  };
  EXPECT_EQ(refused({{"frob", {"1"}}}), "'frob' is no option of sample");
  EXPECT_EQ(refused({{"lanes", {"3"}}}), "'lanes' is no option of sample") << "of a command";
  EXPECT_THAT(refused({{"listen", {"nowhere"}}}), HasSubstr("listen: 'nowhere'"));
  EXPECT_EQ(refused({{"listen", {}}}), "listen takes one value, not 0");
  EXPECT_EQ(refused({{"listen", {"a:1", "b:1"}}}), "listen takes one value, not 2");
  EXPECT_EQ(refused({{"log-level", {"loud"}}}), "log-level: 'loud' is not one of debug, info, warning, error");
  EXPECT_EQ(refused({{"json", {"maybe"}}}), "json: 'maybe' is neither true nor false");
}

TEST(Overrides, ComeBeforeTheCommandLine) {
  const Program program = sample_program();
  const Parsed parsed = World().good({"--listen", "a:1", "--share-root", "x=/x", "get", "x"});
  const auto changed = override_values(program, parsed, {{"listen", {"b:2"}}, {"share-root", {}}, {"json", {"yes"}}});
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  EXPECT_EQ(changed->str("listen"), "b:2");
  EXPECT_EQ(changed->source("listen"), Source::kOverride);
  EXPECT_THAT(changed->list("share-root"), IsEmpty());
  EXPECT_TRUE(changed->flag("json"));
  EXPECT_EQ(changed->str("log-level"), parsed.str("log-level")) << "as it was";
  EXPECT_EQ(parsed.str("listen"), "a:1");
}

TEST(Overrides, AreReadBackAsTheyWereWritten) {
  const Overrides values{{"listen", {"b:2"}},
                         {"share-root", {}},
                         {"limits", {"from=08:00 up=5Mbit", "quote \" and \\ and \n"}},
                         {"hostile", {"a=/x\n'''\nmax-fetching = '1"}},
                         {"line", {"\nx\r\t\x01"}},
                         {"name", {"zw\xc3\xb6lf '' \"\"\""}}};
  const auto read = parse_overrides(overrides_text(values), "settings.toml");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, values);
  EXPECT_THAT(parse_overrides("a = [", "settings.toml").error().message, HasSubstr("settings.toml, line 1"));
}

}  // namespace
}  // namespace gridtorrent::options
