#include <gtest/gtest.h>

#include "client/cli/local_node.h"

namespace gridtorrent::client::cli {
namespace {

TEST(NodeNames, AreOfTheHostTheFirstLabel) {
  EXPECT_EQ(node_name_of("Login1.cluster.example.org"), "login1");
  EXPECT_EQ(node_name_of("-mia's_laptop"), "miaslaptop");
  EXPECT_EQ(node_name_of(std::string(64, 'a')).size(), 32u);
}

TEST(NodeNames, AreLeftToTheServerWhereTheHostsFitsNone) {
  EXPECT_EQ(node_name_of("x"), "") << "a name has two characters";
  EXPECT_EQ(node_name_of("ü.example.org"), "");
  EXPECT_EQ(node_name_of(""), "");
}

}  // namespace
}  // namespace gridtorrent::client::cli
