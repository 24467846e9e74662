#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/options/render.h"
#include "client/cli/context.h"

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

}  // namespace
}  // namespace gridtorrent::client::cli
