// The node's status as it changes, and its settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "client/control/status_streams.h"
#include "tests/unit/control_fixture.h"

namespace gridtorrent::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

control::ControlOptions quick() {
  control::ControlOptions options;
  options.status_pause = milliseconds(1);
  return options;
}

std::string stranger() {
  UserId::Bytes bytes{};
  bytes[0] = 99;
  return UserId(bytes).str();
}

TEST_F(Control, AStrangerWatchesNoStatusAndSetsNothing) {
  const auto caller = api(stranger());
  EXPECT_EQ(caller->watch_status([](const auto&) { return true; }, {}).error().code, Code::kDenied);
  EXPECT_EQ(caller->settings().error().code, Code::kDenied);
  EXPECT_EQ(caller->set_settings({}).error().code, Code::kDenied);
}

TEST_F(Control, TheStatusIsToldNowAndAtEachChange) {
  restart(quick());
  std::vector<std::uint64_t> told;
  const Status ended = api()->watch_status(
      [&](const v1::StatusReply& status) {
        told.push_back(status.limits().upload_bits_per_s());
        if (told.size() == 1) {
          EXPECT_TRUE(node_.set_limits({5'000'000, 0}));
        }
        EXPECT_EQ(status.owner(), "ann");
        return told.size() < 2;
      },
      {});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_THAT(told, ElementsAre(0U, 5'000'000U));
}

TEST_F(Control, TheStatusIsToldNoMoreOftenThanOnceInAPause) {
  control::ControlOptions options;
  options.status_pause = milliseconds(100);
  restart(options);
  std::uint64_t told = 0;
  const auto began = clock_.mono();
  ASSERT_TRUE(api()->watch_status(
      [&](const v1::StatusReply&) {
        EXPECT_TRUE(node_.set_limits({++told * 1'000'000, 0}));
        return told < 5;
      },
      {}));
  EXPECT_GE(clock_.mono() - began, milliseconds(400)) << "four pauses lie between five";
}

TEST_F(Control, WatchersOfTheStatusHaveABoundAndTakeNoThread) {
  control::ControlOptions few = quick();
  few.max_calls = 1;
  restart(few);
  std::vector<std::unique_ptr<NodeApi>> apis;
  std::vector<api::Call> calls;
  std::mutex mutex;
  std::condition_variable changed;
  int told = 0;
  std::optional<Error> refused;
  for (int i = 0; i < 33; ++i) {
    apis.push_back(api());
    calls.push_back(apis.back()->async().watch_status(
        [&](const auto&) {
          const std::lock_guard lock(mutex);
          ++told;
          changed.notify_all();
          return true;
        },
        [&](const Status& status) {
          const std::lock_guard lock(mutex);
          if (!status) refused = status.error();
          changed.notify_all();
        }));
  }
  std::unique_lock lock(mutex);
  ASSERT_TRUE(changed.wait_for(lock, kLong, [&] { return told == 32 && refused; })) << told;
  EXPECT_EQ(refused->code, Code::kExhausted);
  EXPECT_THAT(refused->message, HasSubstr("the node is watched by 32 programs"));
  lock.unlock();
  EXPECT_TRUE(api()->status()) << "a call is served beside them";
  apis.clear();
}

TEST_F(Control, StoppingTheServerEndsAWatchOfTheStatus) {
  const auto caller = api();
  std::jthread stopper;
  const Status ended = caller->watch_status(
      [&](const auto&) {
        stopper = std::jthread([&] { server_.reset(); });
        return true;
      },
      {});
  EXPECT_FALSE(ended);
}

TEST(StatusNews, IsNeitherTheClockNorALittleFreeSpace) {
  v1::StatusReply before;
  before.set_data_dir_free_bytes(1'000'000);
  before.set_clock_offset_ms(5);
  v1::StatusReply now = before;
  now.set_clock_offset_ms(7);
  now.mutable_hello()->set_time_ms(99);
  now.set_data_dir_free_bytes(995'000);
  EXPECT_FALSE(control::is_news(before, now));
  EXPECT_FALSE(control::is_news(now, before));
  now.set_data_dir_free_bytes(900'000);
  EXPECT_TRUE(control::is_news(before, now));
  EXPECT_TRUE(control::is_news(now, before));
  now = before;
  for (int i = 0; i < 3; ++i) now.set_data_dir_free_bytes(now.data_dir_free_bytes() - 4'000);
  EXPECT_TRUE(control::is_news(before, now)) << "little by little";
  now = before;
  now.set_server_connected(true);
  EXPECT_TRUE(control::is_news(before, now));
}

TEST_F(Control, SettingsAreListedAndSetTogether) {
  EXPECT_EQ(api()->settings().error().code, Code::kUnsupported) << "nobody here keeps any";
  EXPECT_EQ(api()->set_settings({}).error().code, Code::kUnsupported);
  server_.reset();
  std::vector<control::SettingChange> asked;
  control::ControlOptions keeping;
  keeping.settings.list = [&] {
    control::Setting one{"max-fetching", {"8"}, {"4"}, "set", true, false, "N", "so many", {}};
    one.values.push_back("\xff");
    return std::vector{one};
  };
  keeping.settings.change = [&](const std::vector<control::SettingChange>& changes) -> Status {
    asked = changes;
    if (changes.empty()) return Error{Code::kInvalid, "nothing to set"};
    return {};
  };
  restart(keeping);
  EXPECT_EQ(api()->set_settings({}).error().code, Code::kInvalid);
  v1::SetSettingsRequest request;
  auto* const first = request.add_changes();
  first->set_name("share-root");
  first->add_values("a=/x");
  first->add_values("b=/y");
  auto* const second = request.add_changes();
  second->set_name("limits");
  second->set_reset(true);
  const auto settings = api()->set_settings(request);
  ASSERT_TRUE(settings) << settings.error().message;
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_THAT(asked[0].values, ElementsAre("a=/x", "b=/y"));
  EXPECT_FALSE(asked[0].reset);
  EXPECT_EQ(asked[1].name, "limits");
  EXPECT_TRUE(asked[1].reset);
  ASSERT_EQ(settings->settings_size(), 1);
  EXPECT_THAT(settings->settings(0).values(), ElementsAre("8", "\\xff")) << "bytes that are no text are shown escaped";
  EXPECT_THAT(settings->settings(0).configured(), ElementsAre("4"));
  EXPECT_EQ(settings->settings(0).source(), "set");
  EXPECT_TRUE(settings->settings(0).changeable());
}

}  // namespace
}  // namespace gridtorrent::client
