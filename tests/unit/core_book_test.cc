// The table of transfers: in the order of their ids, found by them.
#include <gtest/gtest.h>

#include "client/core/transfer_book.h"
#include "tests/support/memory_node_store.h"

namespace gridtorrent::client {
namespace {

TransferRow row_of(std::uint8_t number, const std::string& target = "/in") {
  TransferId::Bytes bytes{};
  bytes[0] = number;
  TransferRow row;
  row.id = TransferId(bytes);
  row.target = target;
  return row;
}

class Book : public ::testing::Test {
 protected:
  std::vector<std::uint8_t> ids() {
    std::vector<std::uint8_t> found;
    for (const auto& [id, transfer] : book_.all()) found.push_back(id.bytes()[0]);
    return found;
  }
  gridtorrent::testing::MemoryNodeStore store_;
  TransferBook book_{store_, [](NodeLogLevel, const std::string&) {}, "epoch"};
};

TEST_F(Book, KeepsTransfersInTheOrderOfTheirIds) {
  for (const std::uint8_t number : std::vector<std::uint8_t>{5, 1, 3}) book_.insert(row_of(number));
  EXPECT_EQ(ids(), (std::vector<std::uint8_t>{1, 3, 5}));
  book_.erase(row_of(3).id);
  EXPECT_EQ(ids(), (std::vector<std::uint8_t>{1, 5}));
  EXPECT_EQ(book_.find(row_of(3).id), nullptr);
  EXPECT_EQ(book_.find(row_of(5).id)->row.id, row_of(5).id);
}

TEST_F(Book, HasOneTransferOfAnId) {
  book_.insert(row_of(1, "/old"));
  Transfer& second = book_.insert(row_of(1, "/new"));
  EXPECT_EQ(ids(), (std::vector<std::uint8_t>{1}));
  EXPECT_EQ(book_.find(row_of(1).id), &second);
  EXPECT_EQ(second.row.target, "/new");
  book_.erase(second.row.id);
  EXPECT_TRUE(book_.all().empty()) << "also by an id within the transfer that goes";
}

}  // namespace
}  // namespace gridtorrent::client
