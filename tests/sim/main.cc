#include <gtest/gtest.h>

#include "tests/sim/table.h"

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments.front() == "--table") return gridtorrent::sim::print_table(arguments);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
