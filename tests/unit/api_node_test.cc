#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <optional>
#include <thread>

#include "tests/support/awaited_answer.h"
#include "tests/unit/control_fixture.h"

namespace gridtorrent::client {
namespace {

using api::Call;
using testing::AwaitedAnswer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A node whose `explain_transfer` answers when it is let go.
class AsyncNode : public Control {
 protected:
  void TearDown() override {
    let_go();
    Control::TearDown();
  }
  void hold_explanations() {
    node_.on_tuning = [this] {
      if (!asked_.try_wait()) asked_.count_down();
      go_.wait();
    };
  }
  void let_go() {
    if (!gone_.exchange(true)) go_.count_down();
  }
  /// A call begun after another ends after it, on the one thread of callbacks.
  void pass_through(NodeApi& node) {
    AwaitedAnswer<v1::ListTransfersReply> reply;
    const Call call = node.async().list_transfers(reply.taker());
    EXPECT_TRUE(reply.wait());
  }
  /// Asks for an explanation that is held back, until the node works at it.
  Call ask_in_vain(NodeApi& node, AwaitedAnswer<v1::Tuning>& reply) {
    hold_explanations();
    Call call = node.async().explain_transfer(transfer_id(1).str(), reply.taker());
    asked_.wait();
    return call;
  }

  std::latch asked_{1}, go_{1};
  std::atomic<bool> gone_ = false;
};

TEST_F(AsyncNode, AnErrorOfTheNodeComesAsAnAnswer) {
  const auto caller = api();
  AwaitedAnswer<v1::Transfer> reply;
  const Call call = caller->async().get_transfer(transfer_id(42).str(), reply.taker());
  EXPECT_EQ(reply.wait().error().code, Code::kNotFound);
  pass_through(*caller);
  EXPECT_EQ(reply.count(), 1);
}

TEST_F(AsyncNode, EveryCallIsRefusedToAStrangerAsInTheBlockingForm) {
  UserId::Bytes other{};
  other[0] = 1;
  const auto stranger = api(UserId(other).str());
  api::AsyncNodeApi& node = stranger->async();
  AwaitedAnswer<v1::StatusReply> status;
  AwaitedAnswer<v1::GetReply> get, seed;
  AwaitedAnswer<v1::Tuning> explain;
  AwaitedAnswer<void> publish, verify, watch, tuning, estimate;
  const auto any = [](const auto&) { return true; };
  const std::string id = transfer_id(1).str();
  const Call calls[] = {node.status(status.taker()),
                        node.get({}, get.taker()),
                        node.seed({}, seed.taker()),
                        node.explain_transfer(id, explain.taker()),
                        node.publish({}, any, publish.taker()),
                        node.verify({}, any, verify.taker()),
                        node.watch_transfer(id, any, watch.taker()),
                        node.watch_tuning(id, any, tuning.taker()),
                        node.estimate({}, any, estimate.taker())};
  for (const Error& error :
       {status.wait().error(), get.wait().error(), seed.wait().error(), explain.wait().error(), publish.wait().error(),
        verify.wait().error(), watch.wait().error(), tuning.wait().error(), estimate.wait().error()}) {
    EXPECT_EQ(error.code, Code::kDenied) << error.message;
  }
}

TEST_F(AsyncNode, ANodeThatGoesAwayEndsEachCallOnce) {
  node_.add(transfer_id(1), TransferState::kPaused);
  const auto caller = api();
  std::latch first(1);
  AwaitedAnswer<void> end;
  const Call call = caller->async().watch_transfer(
      transfer_id(1).str(), [&](const auto&) { return first.count_down(), true; }, end.taker());
  first.wait();
  server_.reset();
  EXPECT_FALSE(end.wait().ok());
  AwaitedAnswer<v1::StatusReply> later;
  const Call again = caller->async().status(later.taker());
  const Error error = later.wait().error();
  EXPECT_EQ(error.code, Code::kUnreachable);
  EXPECT_THAT(error.message, HasSubstr("went away"));
  EXPECT_EQ(end.count(), 1);
}

TEST_F(AsyncNode, ANodeThatStopsAnsweringEndsTheCallAtItsDeadline) {
  auto caller = NodeApi::open({socket_, {}, milliseconds(200)}).value();
  AwaitedAnswer<v1::Tuning> reply;
  hold_explanations();
  const Call call = caller->async().explain_transfer(transfer_id(1).str(), reply.taker());
  EXPECT_EQ(reply.wait().error().code, Code::kTimeout);
  let_go();
  EXPECT_EQ(reply.count(), 1);
}

TEST_F(AsyncNode, ACallCancelledBeforeItsAnswerIsNeverAnswered) {
  const auto caller = api();
  AwaitedAnswer<v1::Tuning> reply;
  Call call = ask_in_vain(*caller, reply);
  call.cancel();
  call.cancel();
  let_go();
  pass_through(*caller);
  EXPECT_EQ(reply.count(), 0);
}

TEST_F(AsyncNode, ACallWhoseHandleGoesIsNeverAnswered) {
  const auto caller = api();
  AwaitedAnswer<v1::Tuning> dropped, replaced;
  {
    const Call call = ask_in_vain(*caller, dropped);
  }
  Call call = caller->async().explain_transfer(transfer_id(1).str(), replaced.taker());
  call = Call();
  let_go();
  pass_through(*caller);
  EXPECT_EQ(dropped.count(), 0);
  EXPECT_EQ(replaced.count(), 0);
}

TEST_F(AsyncNode, CancellingAPublishStopsTheHashing) {
  node_.hash_until_stopped = true;
  v1::PublishRequest request;
  request.set_path("/data");
  request.set_name("n");
  const auto caller = api();
  AwaitedAnswer<void> end;
  Call call = caller->async().publish(request, [](const auto&) { return true; }, end.taker());
  node_.wait_until(node_.hashing_started);
  call.cancel();
  node_.wait_until(node_.publish_stopped);
  pass_through(*caller);
  EXPECT_EQ(end.count(), 0);
}

TEST_F(AsyncNode, CancellingAfterTheAnswerDoesNothing) {
  const auto caller = api();
  AwaitedAnswer<v1::StatusReply> reply;
  Call call = caller->async().status(reply.taker());
  ASSERT_TRUE(reply.wait());
  call.cancel();
  pass_through(*caller);
  EXPECT_EQ(reply.count(), 1);
}

TEST_F(AsyncNode, CancellingWaitsForACallbackThatRuns) {
  const auto caller = api();
  std::latch entered(1), leave(1);
  std::atomic<bool> left = false;
  Call call = caller->async().status([&](const auto&) {
    entered.count_down();
    leave.wait();
    left = true;
  });
  entered.wait();
  std::jthread canceller([&] {
    call.cancel();
    EXPECT_TRUE(left);
  });
  leave.count_down();
}

TEST_F(AsyncNode, ACallbackMayCancelItsOwnCall) {
  node_.add(transfer_id(1), TransferState::kFetching);
  const auto caller = api();
  Call call;
  std::latch kept(1);
  std::promise<void> cancelled;
  std::atomic<int> events = 0;
  AwaitedAnswer<void> end;
  call = caller->async().watch_transfer(
      transfer_id(1).str(),
      [&](const auto&) {
        kept.wait();
        if (++events == 1) {
          call.cancel();
          cancelled.set_value();
        }
        return true;
      },
      end.taker());
  kept.count_down();
  ASSERT_EQ(cancelled.get_future().wait_for(kLong), std::future_status::ready);
  ASSERT_TRUE(node_.change(transfer_id(1), TransferState::kSeeding));
  pass_through(*caller);
  EXPECT_EQ(events, 1);
  EXPECT_EQ(end.count(), 0);
}

TEST_F(AsyncNode, ACallbackMayDestroyItsHandle) {
  const auto caller = api();
  std::latch kept(1);
  std::promise<void> destroyed;
  std::optional<Call> call;
  call.emplace(caller->async().status([&](const auto&) {
    kept.wait();
    call.reset();
    destroyed.set_value();
  }));
  kept.count_down();
  ASSERT_EQ(destroyed.get_future().wait_for(kLong), std::future_status::ready);
  pass_through(*caller);
  EXPECT_FALSE(call.has_value());
}

TEST_F(AsyncNode, ACallbackMayBeginCallsAndWaitForBlockingOnes) {
  node_.add(transfer_id(1), TransferState::kPaused);
  const auto caller = api();
  AwaitedAnswer<v1::StatusReply> second;
  Call first_call, second_call;
  std::promise<int> listed;
  first_call = caller->async().list_transfers([&](const auto&) {
    second_call = caller->async().status(second.taker());
    const auto blocking = caller->list_transfers();
    listed.set_value(blocking ? blocking->transfers_size() : -1);
  });
  EXPECT_EQ(listed.get_future().get(), 1);
  EXPECT_TRUE(second.wait());
}

TEST_F(AsyncNode, EventsComeInOrderAndThenTheEnd) {
  v1::PublishRequest request;
  request.set_path("/data");
  request.set_name("n");
  const auto caller = api();
  std::vector<std::string> order;
  std::promise<Status> ended;
  const Call call = caller->async().publish(
      request,
      [&](const v1::PublishEvent& event) {
        order.push_back(event.has_hashing() ? "hashing" : event.has_published() ? "published" : "warning");
        return true;
      },
      [&](const Status& status) {
        order.push_back("end");
        ended.set_value(status);
      });
  ASSERT_TRUE(ended.get_future().get());
  EXPECT_THAT(order, ElementsAre("hashing", "warning", "published", "end"));
}

TEST_F(AsyncNode, AnEventThatIsEnoughEndsTheStreamWithSuccess) {
  node_.add(transfer_id(1), TransferState::kPaused);
  const auto caller = api();
  std::atomic<int> events = 0;
  AwaitedAnswer<void> end;
  const Call call =
      caller->async().watch_transfer(transfer_id(1).str(), [&](const auto&) { return ++events, false; }, end.taker());
  EXPECT_TRUE(end.wait());
  EXPECT_EQ(events, 1);
}

TEST_F(AsyncNode, MoreThanSocketsHoldArrivesWholeBehindASlowCallback) {
  constexpr std::size_t kMany = 200'000;  // with names of 100 bytes
  node_.digest_count = kMany;
  v1::VerifyRequest request;
  request.set_content("c");
  request.set_sha256(true);
  const auto caller = api();
  std::latch entered(1), leave(1);
  std::size_t events = 0, digests = 0;
  AwaitedAnswer<void> end;
  const Call call = caller->async().verify(
      request,
      [&](const v1::VerifyEvent& event) {
        if (++events == 1) {
          entered.count_down();
          leave.wait();
        }
        digests += static_cast<std::size_t>(event.result().digests_size());
        return true;
      },
      end.taker());
  entered.wait();
  leave.count_down();
  ASSERT_TRUE(end.wait());
  EXPECT_EQ(digests, kMany);
}

TEST_F(AsyncNode, DestroyingTheObjectEndsWhatIsOutWithoutACallback) {
  node_.add(transfer_id(1), TransferState::kPaused);
  auto caller = api();
  std::latch first(1);
  AwaitedAnswer<void> end;
  AwaitedAnswer<v1::Tuning> reply;
  Call watch = caller->async().watch_transfer(
      transfer_id(1).str(), [&](const auto&) { return first.count_down(), true; }, end.taker());
  Call held = ask_in_vain(*caller, reply);
  first.wait();
  caller.reset();
  EXPECT_EQ(end.count(), 0);
  EXPECT_EQ(reply.count(), 0);
  watch.cancel();
  held.cancel();
}

TEST_F(AsyncNode, DestroyingTheObjectWaitsForACallbackAndForWhatThatBegins) {
  auto caller = api();
  std::latch entered(1);
  const auto captured = std::make_shared<int>(0);
  std::atomic<bool> left = false;
  api::AsyncNodeApi& node = caller->async();
  Call inner;
  const Call call = node.status([&](const auto&) {
    entered.count_down();
    inner = node.status([captured](const auto&) {});
    left = true;
  });
  entered.wait();
  caller.reset();
  EXPECT_TRUE(left);
  EXPECT_EQ(captured.use_count(), 1);
}

TEST_F(AsyncNode, WhatACallbackHasCapturedIsGoneWithTheObject) {
  auto caller = api();
  const auto captured = std::make_shared<int>(0);
  const Call call = caller->async().status([captured](const auto&) {});
  caller.reset();
  EXPECT_EQ(captured.use_count(), 1);
}

}  // namespace
}  // namespace gridtorrent::client
