// Where tasks named a folder: real engines read and write there, and nowhere else, whatever its name stands for by
// then.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <thread>

#include "tests/integration/engine_lab.h"

namespace gridtorrent::client::engine::test {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

void exchange(const std::string& one, const std::string& other) {
  ASSERT_EQ(::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE), 0);
}

/// root/box is a folder, root/link leads to `outside`.
class RootedFolders : public testing::Test {
 protected:
  RootedFolders() {
    fs::create_directories(box_);
    fs::create_directories(outside_);
    fs::create_directory_symlink(outside_, link_);
  }
  void exchange_box() { exchange(box_, link_); }
  Place in_box(const std::string& name = {}) const { return {name.empty() ? box_ : box_ + "/" + name, root_}; }
  /// As prepare() makes it.
  Place staging() {
    fs::create_directory(box_ + "/staging");
    fs::permissions(box_ + "/staging", fs::perms::owner_all);
    return in_box("staging");
  }
  TorrentSpec spec(const Sample& sample, const Place& place, DiskTrust trust) const {
    TorrentSpec made = spec_of(sample, "", transfer_, trust);
    made.save_path = place;
    return made;
  }
  void seed(const Sample& sample) {
    sample.write(box_);
    const auto added = seeder_.engine->add(spec(sample, in_box(), DiskTrust::kComplete));
    ASSERT_TRUE(added.ok()) << added.error().message;
    ASSERT_TRUE(eventually([&] { return seeder_.snapshot(transfer_).state == TorrentState::kSeeding; }));
  }
  void fetch(const Sample& sample) {
    ASSERT_TRUE(leecher_.engine->add(spec_of(sample, folder_ / "got", transfer_, DiskTrust::kNothingThere)).ok());
    leecher_.plan(transfer_, {seeder_.peer(2)});
  }
  bool arrived() {
    return eventually([&] { return is_whole(leecher_.snapshot(transfer_)); });
  }

  const Folder folder_;
  const std::string root_ = folder_ / "root", box_ = root_ + "/box", link_ = root_ + "/link",
                    outside_ = folder_ / "outside";
  const TransferId transfer_ = new_transfer();
  Node seeder_, leecher_;
};

TEST_F(RootedFolders, AreWrittenToThoughALinkTookTheirName) {
  const Sample sample = one_file(5'000'000);
  sample.write(folder_ / "seed");
  seeder_.seed(sample, folder_ / "seed", transfer_);
  const auto added = leecher_.engine->add(spec(sample, staging(), DiskTrust::kNothingThere));
  ASSERT_TRUE(added.ok()) << added.error().message;
  exchange_box();
  leecher_.plan(transfer_, {seeder_.peer(2)});
  ASSERT_TRUE(arrived());
  EXPECT_TRUE(leecher_.engine->resume_data(transfer_).ok());
  EXPECT_TRUE(fs::is_empty(outside_));
  EXPECT_THAT(sample.differing(link_ + "/staging"), IsEmpty()) << "the folder goes by the other name now";
}

TEST_F(RootedFolders, AreReadThoughALinkTookTheirName) {
  const Sample sample = one_file(5'000'000);
  seed(sample);
  one_file(5'000'000, 2).write(outside_);
  exchange_box();
  fetch(sample);
  ASSERT_TRUE(arrived());
  EXPECT_EQ(leecher_.snapshot(transfer_).failed_bytes, 0u) << "other data was sent";
}

TEST_F(RootedFolders, AreNotReadThroughALinkInsideOfThem) {
  Sample sample = one_file(5'000'000);
  sample.names = {"run/sub/data"};
  seed(sample);
  write_file(outside_ + "/data", random_bytes(5'000'000, 2));
  exchange(box_ + "/run/sub", link_);
  fetch(sample);
  ASSERT_TRUE(eventually([&] { return seeder_.snapshot(transfer_).state == TorrentState::kError; }));
  EXPECT_EQ(leecher_.snapshot(transfer_).received_payload_bytes, 0u);
  EXPECT_EQ(leecher_.snapshot(transfer_).failed_bytes, 0u);
}

TEST_F(RootedFolders, AreServedFromTheirPlaceAfterTheMove) {
  const Sample sample = one_file(5'000'000);
  sample.write(folder_ / "seed");
  seeder_.seed(sample, folder_ / "seed", transfer_);
  ASSERT_TRUE(leecher_.engine->add(spec(sample, staging(), DiskTrust::kNothingThere)).ok());
  leecher_.plan(transfer_, {seeder_.peer(2)});
  ASSERT_TRUE(arrived());
  fs::rename(box_ + "/staging/data.bin", box_ + "/data.bin");
  ASSERT_TRUE(leecher_.engine->set_save_path(transfer_, in_box()).ok());
  exchange_box();
  Node third;
  third.fetch(sample, folder_ / "third", transfer_);
  third.plan(transfer_, {leecher_.peer(2)});
  ASSERT_TRUE(eventually([&] { return is_whole(third.snapshot(transfer_)); }));
  EXPECT_THAT(sample.differing(folder_ / "third"), IsEmpty());
  EXPECT_TRUE(fs::is_empty(outside_));
}

TEST_F(RootedFolders, AreRefusedBehindALinkAndWhereOthersGetAtTheStaging) {
  const Sample sample = one_file(100'000);
  const Place place = staging();
  fs::permissions(place.path, fs::perms::owner_all | fs::perms::others_exec);
  EXPECT_EQ(leecher_.engine->add(spec(sample, place, DiskTrust::kNothingThere)).error().code, Code::kConflict);
  fs::permissions(place.path, fs::perms::owner_all);
  exchange_box();
  EXPECT_EQ(leecher_.engine->add(spec(sample, place, DiskTrust::kNothingThere)).error().code, Code::kDenied);
  exchange_box();
  EXPECT_TRUE(leecher_.engine->add(spec(sample, place, DiskTrust::kNothingThere)).ok());
}

TEST_F(RootedFolders, AreKeptToWhileTheyAreExchangedAllTheTime) {
  const Sample sample = one_file(20'000'000);
  seed(sample);
  const Place place = staging();
  write_file(outside_ + "/data.bin", random_bytes(20'000'000, 2));
  const std::jthread attacker([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) exchange_box();
  });
  bool added = false;
  for (int tries = 0; tries < 1000 && !added; ++tries) {
    added = leecher_.engine->add(spec(sample, place, DiskTrust::kNothingThere)).ok();
  }
  ASSERT_TRUE(added) << "the attacker won every race for the name";
  leecher_.plan(transfer_, {seeder_.peer(2)});
  ASSERT_TRUE(arrived());
  EXPECT_EQ(leecher_.snapshot(transfer_).failed_bytes, 0u) << "other data was sent";
  EXPECT_EQ(std::distance(fs::directory_iterator(outside_), fs::directory_iterator()), 1) << "written outside";
}

}  // namespace
}  // namespace gridtorrent::client::engine::test
