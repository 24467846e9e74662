// The limits of a whole node, kept by real engines on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/engine_lab.h"

namespace gridtorrent::client::engine::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(NodeLimits, OnSendingAreKeptAndSharedByNodesEvenly) {
  const Folder folder;
  const Sample sample = one_file(9'000'000);
  sample.write(folder / "seed");
  const TransferId transfer = new_transfer();
  Node seeder, one, many;
  seeder.engine->set_node_limit(0, 32'000'000);
  seeder.seed(sample, folder / "seed", transfer);
  one.fetch(sample, folder / "one", transfer);
  many.fetch(sample, folder / "many", transfer);
  const auto start = std::chrono::steady_clock::now();
  one.plan(transfer, {seeder.peer(1)});
  many.plan(transfer, {seeder.peer(12)});
  const auto received = [&](const Node& node) { return node.snapshot(transfer).received_payload_bytes; };
  ASSERT_TRUE(eventually([&] { return received(one) > 0 && received(many) > 0; })) << "from here on both ask";
  const std::uint64_t of_one = received(one), of_many = received(many);
  ASSERT_TRUE(eventually([&] { return received(one) + received(many) > of_one + of_many + 6'000'000; }));
  EXPECT_GT(received(one) - of_one, 1'200'000U) << "one lane against twelve, whose part by lanes would be 460 kB";
  EXPECT_GT(received(many) - of_many, 1'200'000U);
  ASSERT_TRUE(eventually([&] { return is_whole(one.snapshot(transfer)) && is_whole(many.snapshot(transfer)); }));
  EXPECT_GE(seconds_since(start), 4.3) << "18 MB at 4 MB/s; slower it may be, on a busy machine";
  EXPECT_THAT(sample.differing(folder / "one"), testing::IsEmpty());
  EXPECT_THAT(sample.differing(folder / "many"), testing::IsEmpty());
}

TEST(NodeLimits, OnReceivingAreKeptByAllTransfersTogetherAndSharedEvenly) {
  const Folder folder;
  const Sample samples[] = {one_file(9'000'000, 1), one_file(9'000'000, 2)};
  const TransferId transfers[] = {new_transfer(), new_transfer()};
  Node seeder, leecher;
  leecher.engine->set_node_limit(32'000'000, 0);
  for (int i : {0, 1}) {
    samples[i].write(folder / ("seed" + std::to_string(i)));
    seeder.seed(samples[i], folder / ("seed" + std::to_string(i)), transfers[i]);
    leecher.fetch(samples[i], folder / ("get" + std::to_string(i)), transfers[i]);
  }
  const auto start = std::chrono::steady_clock::now();
  leecher.plan(transfers[0], {seeder.peer(1)});
  leecher.plan(transfers[1], {seeder.peer(12)});
  const auto received = [&](int i) { return leecher.snapshot(transfers[i]).received_payload_bytes; };
  ASSERT_TRUE(eventually([&] { return received(0) > 0 && received(1) > 0; })) << "from here on both ask";
  const std::uint64_t of_one = received(0), of_many = received(1);
  ASSERT_TRUE(eventually([&] { return received(0) + received(1) > of_one + of_many + 6'000'000; }));
  EXPECT_GT(received(0) - of_one, 1'200'000U) << "one lane against twelve, whose part by lanes would be 460 kB";
  EXPECT_GT(received(1) - of_many, 1'200'000U);
  for (int i : {0, 1}) {
    ASSERT_TRUE(eventually([&] { return is_whole(leecher.snapshot(transfers[i])); }));
    EXPECT_THAT(samples[i].differing(folder / ("get" + std::to_string(i))), testing::IsEmpty());
  }
  EXPECT_GE(seconds_since(start), 4.3);
}

TEST(NodeLimits, AreTakenAwayWhileBlocksWaitForThem) {
  for (const bool of_sender : {true, false}) {
    SCOPED_TRACE(of_sender ? "sender" : "receiver");
    const Folder folder;
    const Sample sample = one_file(30'000'000);
    sample.write(folder / "seed");
    const TransferId transfer = new_transfer();
    Node seeder, leecher;
    seeder.engine->set_node_limit(0, of_sender ? 2'000'000 : 0);  // two minutes
    leecher.engine->set_node_limit(of_sender ? 0 : 2'000'000, 0);
    seeder.seed(sample, folder / "seed", transfer);
    leecher.fetch(sample, folder / "get", transfer);
    leecher.plan(transfer, {seeder.peer(4)});
    ASSERT_TRUE(eventually([&] { return leecher.snapshot(transfer).received_payload_bytes > 0; }));
    seeder.engine->set_node_limit(0, 0);
    leecher.engine->set_node_limit(0, 0);
    EXPECT_TRUE(eventually([&] { return is_whole(leecher.snapshot(transfer)); }, seconds(30)));
    EXPECT_THAT(sample.differing(folder / "get"), testing::IsEmpty());
  }
}

TEST(NodeLimits, LetTransfersEndWhileBlocksWait) {
  const Folder folder;
  const Sample sample = one_file(30'000'000);
  sample.write(folder / "seed");
  const TransferId transfer = new_transfer();
  Node seeder, leecher;
  seeder.engine->set_node_limit(0, 1'000'000);
  seeder.seed(sample, folder / "seed", transfer);
  for (int round = 0; round < 3; ++round) {
    leecher.fetch(sample, folder / "get", transfer);
    leecher.plan(transfer, {seeder.peer(4)});
    ASSERT_TRUE(eventually([&] { return leecher.snapshot(transfer).received_payload_bytes > 0; }));
    if (round == 0) {
      leecher.engine->remove(transfer);  // its lanes close
      ASSERT_TRUE(eventually([&] { return open_lanes(seeder.snapshot(transfer), leecher.id) == 0; }));
    } else if (round == 1) {
      seeder.engine->remove(transfer);  // its storage goes
      seeder.seed(sample, folder / "seed", transfer);
      leecher.engine->remove(transfer);
    }
  }
  seeder.engine->stop();  // the disk goes
}

/// A node that may send little still asks for much: what it sends does not stand before its requests.
TEST(NodeLimits, OnSendingDoNotHoldUpWhatIsFetchedOnTheSameLanes) {
  const Folder folder;
  const Sample sample = one_file(40'000'000);
  sample.write(folder / "seed");
  const TransferId transfer = new_transfer();
  Node seeder, first, second;
  seeder.seed(sample, folder / "seed", transfer);
  first.engine->set_node_limit(0, 1'000'000);
  second.engine->set_node_limit(0, 1'000'000);
  first.fetch(sample, folder / "first", transfer);
  second.fetch(sample, folder / "second", transfer);
  first.plan(transfer, {seeder.peer(2), second.peer(2)});
  second.plan(transfer, {seeder.peer(2), first.peer(2, false)});
  EXPECT_TRUE(eventually([&] { return is_whole(first.snapshot(transfer)) && is_whole(second.snapshot(transfer)); }));
}

}  // namespace
}  // namespace gridtorrent::client::engine::test
