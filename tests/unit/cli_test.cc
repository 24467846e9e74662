#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/options/render.h"
#include "client/cli/context.h"
#include "client/cli/sha256sum.h"
#include "tests/unit/cli_fixture.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Sha256sum, LinesAreWhatCoreutilsReads) {
  const std::string digest(64, 'a');
  EXPECT_EQ(sha256sum_line(digest, "run42/a b.dat"), digest + "  run42/a b.dat\n");
  EXPECT_EQ(sha256sum_line(digest, "a\\b"), "\\" + digest + "  a\\\\b\n");
  EXPECT_EQ(sha256sum_line(digest, "a\nb"), "\\" + digest + "  a\\nb\n");
  EXPECT_EQ(sha256sum_line(digest, "a\rb"), "\\" + digest + "  a\\rb\n");
  EXPECT_EQ(sha256sum_line(digest, "a\xff\x01"), digest + "  a\xff\x01\n");
}

TEST(CommandTable, EveryCommandOfTheContractIsThere) {
  std::set<std::string> names;
  for (const CommandEntry& entry : all_commands())
    EXPECT_TRUE(names.insert(entry.table.name).second) << entry.table.name;
  for (const char* name : {"login",         "logout",         "whoami",          "node enroll-token",
                           "node list",     "node show",      "node ls",         "publish",
                           "search",        "show",           "access",          "unpublish",
                           "get",           "seed",           "verify",          "transfers",
                           "transfer show", "transfer pause", "transfer resume", "transfer cancel",
                           "transfer wait", "transfer set",   "user add",        "user list",
                           "user disable",  "token create",   "token list",      "token revoke",
                           "group create",  "group list",     "group show",      "group invite",
                           "group request", "group accept",   "group decline",   "group leave",
                           "group remove",  "buddy add",      "buddy remove",    "buddy list",
                           "inbox",         "task list",      "task show",       "task cancel",
                           "task wait",     "subscribe",      "tune list",       "tune explain",
                           "tune history",  "estimate",       "doctor",          "completion"})
    EXPECT_EQ(names.count(name), 1U) << name;
}

TEST(CommandTable, EveryCommandHasHelpAndAFunction) {
  for (const CommandEntry& entry : all_commands()) {
    EXPECT_NE(entry.run, nullptr) << entry.table.name;
    EXPECT_FALSE(entry.table.summary.empty()) << entry.table.name;
    EXPECT_THAT(options::help_text(program(), entry.table.name), StartsWith("gridtorrent " + entry.table.name + ": "));
  }
}

TEST(CommandTable, NoOptionOfACommandHidesOneOfAllButVersion) {
  std::set<std::string> shared;
  for (const options::Option& option : program().options) shared.insert(option.name);
  for (const options::Option& option : options::standard_options()) shared.insert(option.name);
  shared.erase("version");  // `show --version 2` is a content's; the program's own stands before the command
  for (const CommandEntry& entry : all_commands())
    for (const options::Option& option : entry.table.options) EXPECT_EQ(shared.count(option.name), 0U) << option.name;
}

TEST(CommandTable, WhatChangesSomethingThatIsThereIsForTheCommandLineAlone) {
  for (const auto& [command, option] :
       std::initializer_list<std::pair<std::string, std::string>>{{"access", "set"},
                                                                  {"get", "update"},
                                                                  {"publish", "update"},
                                                                  {"inbox", "mark-read"},
                                                                  {"node limit", "upload"},
                                                                  {"node set", "reset"},
                                                                  {"node limit", "download"},
                                                                  {"transfer set", "limit"},
                                                                  {"tune history", "forget"},
                                                                  {"user quota", "set"},
                                                                  {"content restore", "name"}}) {
    const auto entry = std::ranges::find_if(all_commands(), [&](const auto& one) { return one.table.name == command; });
    ASSERT_NE(entry, all_commands().end()) << command;
    const auto found = std::ranges::find(entry->table.options, option, &options::Option::name);
    ASSERT_NE(found, entry->table.options.end()) << command << " --" << option;
    EXPECT_TRUE(found->command_line_only) << command << " --" << option;
  }
}

TEST_F(CommandLine, APathThatIsKeptTakesNoWayThroughFoldersThatMayGo) {
  const std::string top = std::filesystem::canonical(folder_).string();
  std::filesystem::create_directories(top + "/build");
  std::filesystem::create_directories(top + "/deep/inner");
  std::filesystem::create_directory_symlink(top + "/deep/inner", top + "/build/link");
  const std::map<std::string, std::string> meant{{"/build/../data", "/data"},
                                                 {"/gone/../data", "/data"},
                                                 {"/build/../deep/inner/", "/deep/inner"},
                                                 {"/build/..", ""},
                                                 {"/build/../build/link", "/build/link"},
                                                 {"/build/link/../x", "/deep/x"},
                                                 {"/build/./link//x", "/build/link/x"}};
  for (const auto& [given, path] : meant) EXPECT_EQ(*Context::absolute(top + given), top + path) << given;
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(*Context::absolute("."), here);
  EXPECT_EQ(*Context::absolute("./a/"), here + "/a");
  EXPECT_EQ(*Context::absolute("/.."), "/");
}

TEST_F(CommandLine, ManyNodesAreNamedWithCommasBetweenOrAllAtOnce) {
  for (const char* wrong : {"n1,", ",", "@all,n1", "n1, n2"}) {
    EXPECT_EQ(run({"get", "run42", "--node", wrong, "--to", "in:a"}), 2) << wrong;
    EXPECT_THAT(err_, HasSubstr("--node: '" + std::string(wrong) + "' is neither a node, nor several")) << wrong;
  }
  for (const char* right : {"n1", "n1,n2", "@all"}) {
    EXPECT_NE(run({"get", "run42", "--node", right, "--to", "in:a"}), 2) << "it is not logged in: " << err_;
  }
}

TEST_F(CommandLine, WhatIsYetToComeSaysSoInOneLine) {
  EXPECT_EQ(run({"subscribe", "q", "--node", "n"}), 1);
  EXPECT_THAT(err_, HasSubstr("is not there yet"));
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1);
  EXPECT_EQ(out_, "");
}

TEST_F(CommandLine, WithoutALoginItSaysHowToLogIn) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"whoami"},
                                                    {"search"},
                                                    {"show", "x"},
                                                    {"node", "list"},
                                                    {"task", "list"},
                                                    {"user", "list"},
                                                    {"token", "list"}}) {
    EXPECT_EQ(run(arguments), 4) << arguments[0];
    EXPECT_THAT(err_, HasSubstr("gridtorrent: not logged in: log in with 'gridtorrent login"));
  }
}

TEST_F(CommandLine, AProfilesTokenIsShownToItsOwnServerOnly) {
  const ProfileStore store = ProfileStore::open("default", [this](const std::string&) { return folder_; }).value();
  std::ofstream(folder_ + "/ca.pem") << "no certificate";
  ASSERT_TRUE(store.save({"lab:7443", folder_ + "/ca.pem", "mia", "u_1"}, "gtp_secret").ok());
  EXPECT_EQ(run({"whoami", "--server", "other:7443"}), 4);
  EXPECT_THAT(err_, HasSubstr("not logged in to other:7443"));
  EXPECT_EQ(run({"whoami"}), 2) << "the profile's own server is asked, but its CA file holds no certificate";
}

TEST_F(CommandLine, ValuesThatMayNotBeEmptyAreRefusedByName) {
  EXPECT_EQ(run({"get", "x", "--file", ""}), 2);
  EXPECT_THAT(err_, HasSubstr("--file: is empty"));
  EXPECT_EQ(run({"publish", "/x", "--name", "x", "--access", ""}), 2);
  EXPECT_THAT(err_, HasSubstr("--access: is empty"));
  EXPECT_EQ(run({"tune", "explain", "x", "--plot", ""}), 2);
  EXPECT_THAT(err_, HasSubstr("--plot: is empty"));
  EXPECT_EQ(run({"join", "x", "--user", ""}), 2);
  EXPECT_THAT(err_, HasSubstr("--user: is empty"));
}

TEST_F(CommandLine, AfterALogoutTheServerIsStillKnown) {
  const ProfileStore store = ProfileStore::open("default", [this](const std::string&) { return folder_; }).value();
  std::ofstream(folder_ + "/ca.pem") << "no certificate";
  ASSERT_TRUE(store.save({"lab:7443", folder_ + "/ca.pem", "mia", "u_1"}, "gtp_secret").ok());
  run({"logout"});
  EXPECT_EQ(run({"whoami"}), 4);
  EXPECT_EQ(err_, "gridtorrent: not logged in to lab:7443: log in with 'gridtorrent login'\n");
  EXPECT_EQ(run({"logout"}), 0) << err_;
}

TEST_F(CommandLine, WithoutAHomeTheNodeCanStillBeAsked) {
  for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}) ::unsetenv(name);
  EXPECT_EQ(run({"transfers"}), 5);
  EXPECT_EQ(run({"whoami"}), 4);
}

TEST_F(CommandLine, WithoutANodeItSaysHowToStartOne) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"transfers"},
                                                    {"get", "x"},
                                                    {"seed", "x", "--from", "/y"},
                                                    {"verify", "x"},
                                                    {"publish", "/x", "--name", "n"},
                                                    {"transfer", "show", "x"}}) {
    EXPECT_EQ(run(arguments), 5) << arguments[0];
    EXPECT_THAT(err_, HasSubstr("start it with `gridtorrent node start`"));
    EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1);
  }
}

TEST_F(CommandLine, AFailureOfWhatTakesTimeIsAnEventToo) {
  EXPECT_EQ(run({"get", "x", "--json"}), 5);
  const Json event = Json::parse(out_);
  EXPECT_EQ(event["event"], "failed");
  EXPECT_EQ(event["code"], "unreachable");
  EXPECT_EQ(event["exit_code"], 5);
  EXPECT_TRUE(event.contains("time"));
  EXPECT_EQ(run({"transfers", "--json"}), 5);
  EXPECT_EQ(out_, "");
}

TEST_F(CommandLine, WrongUsageIsTwo) {
  EXPECT_EQ(run({"get"}), 2);
  EXPECT_EQ(run({"publish", "/x"}), 2);
  EXPECT_EQ(run({"publish", "/x", "--name", "n", "--access", "everyone"}), 2);
  EXPECT_EQ(run({"get", "x", "--lanes", "0"}), 2);
  EXPECT_EQ(run({"get", "x", "--limit", "quick"}), 2);
  EXPECT_EQ(run({"search", "--since", "lately"}), 2);
  EXPECT_EQ(run({"search", "--limit", "201"}), 2);
  EXPECT_EQ(run({"transfer", "set", "x"}), 2);
  EXPECT_EQ(run({"access", "x", "--set", "public", "--explain", "mia"}), 2);
  EXPECT_EQ(run({"whoami", "--profile", "../x"}), 2);
  EXPECT_EQ(run({"login", "--user", "mia"}), 2);
  EXPECT_EQ(run({"login", "--server", "h:1", "--ca", folder_ + "/none", "--user", "mia"}), 2);
  EXPECT_THAT(err_, HasSubstr(folder_ + "/none"));
}

TEST_F(CommandLine, CompletionGoesToStandardOutput) {
  EXPECT_EQ(run({"completion", "bash"}), 0);
  EXPECT_THAT(out_, StartsWith("# bash completion for gridtorrent"));
  EXPECT_THAT(out_, HasSubstr("'show:--manifest') COMPREPLY=($(compgen -W 'merkle sha256' -- \"$cur\")); return ;;"));
  EXPECT_THAT(out_, EndsWith("complete -F _gridtorrent gridtorrent\n"));
}

TEST_F(CommandLine, DoctorRunsWithoutAnythingElse) {
  EXPECT_EQ(run({"doctor", "--json"}), 0);
  const Json json = Json::parse(out_);
  EXPECT_EQ(json["checks"][0]["check"], "node");
  EXPECT_EQ(json["checks"][0]["status"], "warn");
  EXPECT_GE(json["warnings"].get<int>(), 2);
}

TEST(AbsolutePaths, KeepBytesAndResolveTheWorkingDirectory) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(Context::absolute("x\xff y").value(), here + "/x\xff y");
  EXPECT_EQ(Context::absolute(".").value(), here);
  EXPECT_EQ(Context::absolute("./x").value(), here + "/x");
  EXPECT_EQ(Context::absolute(".//x").value(), here + "/x");
  EXPECT_EQ(Context::absolute(".x").value(), here + "/.x");
}

}  // namespace
}  // namespace gridtorrent::client::cli
