// What callers of the control API are told of a transfer.
#include "client/control/convert.h"

#include <gtest/gtest.h>

namespace gridtorrent::client {
namespace {

TEST(ControlConvert, SaysOnlyWhatATunerWasAsked) {
  TransferView view;
  EXPECT_FALSE(control::to_message(view).has_wish());
  view.wish.mode = TuningMode::kGreedy;
  view.wish.by = WallTime{5};
  view.fetched = WallTime{6};
  const v1::Transfer message = control::to_message(view);
  EXPECT_EQ(message.wish().mode(), "greedy");
  EXPECT_EQ(message.wish().by_ms(), 5);
  EXPECT_FALSE(message.wish().has_tuner());
  EXPECT_FALSE(message.wish().has_target_bits_per_s());
  EXPECT_EQ(message.fetched_ms(), 6);
}

TEST(ControlConvert, SaysWhetherATargetIsHeldOnceThatIsKnown) {
  TransferView view;
  view.findings.emplace();
  EXPECT_FALSE(control::to_message(view).has_target());
  view.findings->target = TargetState{TargetState::Kind::kFloor, false, 30e6, 0.07, "28 of 30 Mbit/s"};
  const v1::TargetState target = control::to_message(view).target();
  EXPECT_EQ(target.kind(), "floor");
  EXPECT_FALSE(target.held());
  EXPECT_EQ(target.wanted_bits_per_s(), 30'000'000U);
  EXPECT_DOUBLE_EQ(target.shortfall(), 0.07);
  EXPECT_EQ(target.text(), "28 of 30 Mbit/s");
  TuningRecord record;
  record.findings = *view.findings;
  EXPECT_EQ(control::to_message(record).target().kind(), "floor");
}

TEST(ControlConvert, SaysUnknownEtaAndAutoWishes) {
  TransferView view;
  view.waiting_for = "no seeders online";
  v1::Transfer message = control::to_message(view);
  EXPECT_EQ(message.eta_s(), -1);
  EXPECT_EQ(message.lanes_wish(), "auto");
  EXPECT_EQ(message.message(), "no seeders online");
  view.lanes_wish = 4;
  view.error = Error{Code::kDisk, "disk full"};
  message = control::to_message(view);
  EXPECT_EQ(message.lanes_wish(), "4");
  EXPECT_EQ(message.error_code(), "disk");
  EXPECT_EQ(message.message(), "disk full");
}

TEST(ControlConvert, ANewVersionTakesNothingThatDescribesTheContent) {
  v1::PublishRequest request;
  request.set_path("/x");
  request.set_update("run42");
  EXPECT_FALSE(control::to_job(request).ok()) << "without a request_id";
  request.set_request_id("r1");
  const auto job = control::to_job(request);
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_TRUE(job->request.update);
  EXPECT_EQ(job->request.name, "run42");
  request.set_description("what it is");
  EXPECT_FALSE(control::to_job(request).ok());
}

}  // namespace
}  // namespace gridtorrent::client
