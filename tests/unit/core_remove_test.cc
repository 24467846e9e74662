// Taking transfers off the list, and files off the disk.
#include <gmock/gmock.h>

#include "client/core/node_steps.h"
#include "tests/support/publish_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::ChangeKind;
using client::TransferKind;
using client::TransferRow;
using client::TransferState;
using client::TransferStep;
using ::testing::AllOf;
using ::testing::HasSubstr;

TransferRow row_of(TransferKind kind, TransferStep step, const std::string& stamp = "") {
  TransferRow row;
  row.kind = kind;
  row.step = step;
  row.stamp = stamp;
  return row;
}
std::string refusal(const TransferRow& row, ChangeKind kind) {
  const auto after = client::row_after(row, {kind}, "auto");
  if (after) return "";
  EXPECT_EQ(after.error().code, Code::kConflict);
  return after.error().message;
}

TEST(EndingATransfer, ThatIsNotDoneTakesACancel) {
  for (const auto step : {TransferStep::kPrepare, TransferStep::kFetch, TransferStep::kVerify, TransferStep::kAttach})
    for (const auto kind : {ChangeKind::kStopSeeding, ChangeKind::kForget, ChangeKind::kRemove})
      EXPECT_THAT(refusal(row_of(TransferKind::kGet, step), kind), HasSubstr("gridtorrent transfer cancel"));
}

TEST(EndingATransfer, ThatIsVerifiedIsNotSaidToHaveFilesToCome) {
  const auto verified = row_of(TransferKind::kGet, TransferStep::kAttach, "s");
  EXPECT_THAT(refusal(verified, ChangeKind::kRemove),
              AllOf(HasSubstr("is being verified: wait for it"), HasSubstr("leaves its files")));
}

TEST(EndingATransfer, ThatFailedIsForgettingIt) {
  const auto failed = row_of(TransferKind::kGet, TransferStep::kFailed);
  EXPECT_THAT(refusal(failed, ChangeKind::kStopSeeding), HasSubstr("gridtorrent transfer forget"));
  EXPECT_THAT(refusal(failed, ChangeKind::kRemove), HasSubstr("has put no files anywhere"));
  EXPECT_EQ(refusal(failed, ChangeKind::kForget), "");
}

TEST(EndingATransfer, TakesFilesAlongOnlyWhereItBroughtThem) {
  EXPECT_THAT(refusal(row_of(TransferKind::kPublish, TransferStep::kHold, "s"), ChangeKind::kRemove),
              HasSubstr("were published from here"));
  EXPECT_THAT(refusal(row_of(TransferKind::kAttach, TransferStep::kHold, "s"), ChangeKind::kRemove),
              HasSubstr("came by other means"));
  const auto got = row_of(TransferKind::kGet, TransferStep::kHold, "s");
  EXPECT_EQ(refusal(got, ChangeKind::kRemove), "");
  EXPECT_TRUE(client::row_after(got, {ChangeKind::kRemove}, "auto")->remove_files);
  EXPECT_FALSE(client::row_after(got, {ChangeKind::kForget}, "auto")->remove_files);
  EXPECT_EQ(refusal(row_of(TransferKind::kGet, TransferStep::kFailed, "s"), ChangeKind::kRemove), "") << "once whole";
}

class Removal : public NodeFixture {
 protected:
  int removals() { return files_.count("remove /home/in"); }
  /// One of the content's two files lies there; the other is to be fetched.
  Result<client::TransferView> adopts_one_of_two() {
    published("set");
    files_.with([](auto& state) {
      state.existing["/home/in/data"] = 1;
      state.gone.insert("/home/in/data/sub/b");
    });
    return get(job("set"));
  }
  void expect_only_what_was_fetched(const TransferId& id) {
    const auto look = node_->remove_files(id, true);
    ASSERT_TRUE(look.ok()) << look.error().message;
    EXPECT_EQ(look->files, 1u);
    EXPECT_EQ(look->bytes, 5u) << "that which was fetched";
  }
};

TEST_F(Removal, OfWhatIsNotThereIsNotFound) {
  const auto none = node_->remove_files(TransferId::make(clock_.wall(), rng_), false);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::kNotFound);
}

TEST_F(Removal, OfAdoptedFilesIsRefused) {
  published("set");
  files_.with([](auto& state) { state.existing["/home/in/data"] = 1; });
  const auto view = get(job("set"));
  ASSERT_TRUE(view.ok());
  wait_for(view->id, TransferState::kSeeding);
  for (const bool look_only : {true, false}) {
    const auto refused = node_->remove_files(view->id, look_only);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Code::kConflict);
  }
  EXPECT_EQ(removals(), 0);
}

TEST_F(Removal, TakesFilesAndEntry) {
  published("set");
  const auto done = fetched(job("set"));
  const auto look = node_->remove_files(done.id, true);
  ASSERT_TRUE(look.ok()) << look.error().message;
  EXPECT_EQ(look->files, 2u);
  EXPECT_EQ(removals(), 0);
  EXPECT_EQ(node_->transfer(done.id)->state, TransferState::kSeeding);
  const auto removed = node_->remove_files(done.id, false);
  ASSERT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_EQ(removed->bytes, 8u);
  EXPECT_FALSE(files_.with([](auto& state) { return state.existing.contains("/home/in/data"); }));
  EXPECT_TRUE(node_->transfers().empty());
  EXPECT_TRUE(eventually([&] { return store_.transfers()->empty(); }));
}

TEST_F(Removal, SparesWhatWasThereBefore) {
  const auto view = adopts_one_of_two();
  ASSERT_TRUE(view.ok()) << view.error().message;
  complete(view->id);
  wait_for(view->id, TransferState::kSeeding);
  restart();
  wait_for(view->id, TransferState::kSeeding);
  expect_only_what_was_fetched(view->id);
}

TEST_F(Removal, SparesWhatWasThereBeforeAlsoWhereItWasWrittenAnewMeanwhile) {
  const auto view = adopts_one_of_two();
  ASSERT_TRUE(view.ok()) << view.error().message;
  wait_for(view->id, TransferState::kFetching);
  files_.with([](auto& state) { state.existing["/home/in/data"] = 2; });  // the same bytes, in other files
  complete(view->id);
  wait_for(view->id, TransferState::kSeeding);
  expect_only_what_was_fetched(view->id);
}

class SharedFiles : public PublishFixture {};

TEST_F(SharedFiles, AreNotRemovedWithTheGetThatBroughtThem) {
  published("theirs");
  const auto done = fetched(job("theirs", "/home"));
  const auto published_too = node_->publish(publish_job(), {}, {});
  ASSERT_TRUE(published_too.ok()) << published_too.error().message;
  for (const bool look_only : {true, false}) {
    const auto refused = node_->remove_files(done.id, look_only);
    ASSERT_FALSE(refused.ok()) << "the only copy of what was published, perhaps";
    EXPECT_EQ(refused.error().code, Code::kConflict);
    EXPECT_NE(refused.error().message.find("holds files of transfer"), std::string::npos) << refused.error().message;
  }
  EXPECT_EQ(files_.count("remove /home"), 0);
}

TEST_F(Removal, IsDoneOnceHoweverLongTheServerIsAway) {
  published("set");
  const auto done = fetched(job("set"));
  link_.with([](auto& state) { state.announce_error = Error{Code::kUnreachable, "gone"}; });
  ASSERT_TRUE(node_->remove_files(done.id, false).ok());
  EXPECT_EQ(removals(), 1);
  files_.with([](auto& state) { state.existing["/home/in/data"] = 1; });  // from somebody's backup
  restart();
  link_.with([](auto& state) { state.announce_error.reset(); });
  EXPECT_TRUE(eventually([&] { return node_->transfers().empty(); }));
  EXPECT_EQ(removals(), 1);
  EXPECT_TRUE(files_.with([](auto& state) { return state.existing.contains("/home/in/data"); }));
}

TEST_F(Removal, ThatTheDiskRefusesSaysSo) {
  published("set");
  const auto done = fetched(job("set"));
  files_.with([](auto& state) { state.remove_error = Error{Code::kDisk, "Read-only file system"}; });
  const auto removed = node_->remove_files(done.id, false);
  ASSERT_FALSE(removed.ok());
  EXPECT_EQ(removed.error().code, Code::kDisk);
}

TEST_F(Removal, GoesOnAfterACrash) {
  published("set");
  const auto done = fetched(job("set"));
  auto row = store_.transfers()->front();
  end();
  row.step = TransferStep::kCancel;
  row.remove_files = true;
  ASSERT_TRUE(store_.put_transfer(row).ok());
  start();
  EXPECT_TRUE(eventually([&] { return removals() == 1; }));
  EXPECT_TRUE(node_->transfers().empty());
}

}  // namespace
}  // namespace gridtorrent::testing
