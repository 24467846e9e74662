#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/options/render.h"
#include "client/cli/context.h"
#include "tests/unit/options_fixture.h"

namespace gridtorrent::client::cli {
namespace {

TEST(CommandTable, NoVariableStandsForTwoOptions) {
  std::map<std::string, std::string> owners;
  const auto add = [&](const std::string& command, const std::vector<options::Option>& list) {
    for (const options::Option& option : list) {
      const std::string name = options::environment_name(command, option.name);
      EXPECT_TRUE(owners.emplace(name, command).second)
          << name << " is of '" << command << "' and of '" << owners[name] << "'";
    }
  };
  add("", options::standard_options());
  add("", program().options);
  for (const CommandEntry& entry : all_commands()) add(entry.table.name, entry.table.options);
}

bool is_command_or_group(const std::string& words) {
  return std::ranges::any_of(all_commands(), [&](const CommandEntry& entry) {
    return entry.table.name == words || entry.table.name.starts_with(words + " ");
  });
}

TEST(OtherWords, LeadToCommandsAndAreNone) {
  std::set<std::string> seen;
  for (const options::OtherWord& other : other_words()) {
    EXPECT_TRUE(seen.insert(other.word).second) << other.word << " is there twice";
    EXPECT_FALSE(is_command_or_group(other.word)) << other.word << " is a command: take it out of other_words.cc";
    const std::size_t space = other.word.find(' ');
    EXPECT_TRUE(space == std::string::npos || is_command_or_group(other.word.substr(0, space))) << other.word;
    EXPECT_FALSE(other.commands.empty()) << other.word;
    for (const std::string& command : other.commands)
      EXPECT_NE(options::find_command(program(), command), nullptr)
          << other.word << " leads to no command: " << command;
  }
  for (const char* word :
       {"node rm", "node delete", "group ls", "user ls", "token ls", "task ls", "content rm", "buddy rm"})
    EXPECT_EQ(seen.count(word), 1U) << word;
  for (const char* word : {"ls", "download", "rm", "status", "share", "upload", "cp", "info", "list", "find"})
    EXPECT_EQ(seen.count(word), 1U) << word;
}

TEST(EveryCommand, TakesArgumentsThatBeginWithADashAfterTwoDashes) {
  const options::World world;
  for (const CommandEntry& entry : all_commands()) {
    if (entry.table.takes_anything || entry.table.positionals.empty()) continue;
    std::vector<std::string> line;
    std::istringstream words(entry.table.name);
    for (std::string word; words >> word;) line.push_back(word);
    for (const options::Option& option : entry.table.options)
      if (option.required)
        line.push_back("--" + option.name + "=" + (option.choices.empty() ? "1" : option.choices[0]));
    line.emplace_back("--");
    int number = 0;
    for (const options::Positional& positional : entry.table.positionals)
      line.push_back(positional.choices.empty() ? "-x" + std::to_string(++number) : positional.choices[0]);
    const options::Outcome outcome = world.parse(line, program());
    ASSERT_TRUE(std::holds_alternative<options::Parsed>(outcome))
        << entry.table.name << ": " << std::get<Error>(outcome).message;
    number = 0;
    for (const options::Positional& positional : entry.table.positionals)
      EXPECT_EQ(std::get<options::Parsed>(outcome).str(positional.name),
                positional.choices.empty() ? "-x" + std::to_string(++number) : positional.choices[0])
          << entry.table.name;
  }
}

}  // namespace
}  // namespace gridtorrent::client::cli
