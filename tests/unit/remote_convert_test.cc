// What the server's messages become, and how long a node waits before it tries again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/remote/convert.h"
#include "client/remote/node_stream.h"
#include "client/remote/pushback.h"

namespace gridtorrent::client::remote {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

template <class IdType>
IdType id(std::uint8_t tag) {
  typename IdType::Bytes bytes{};
  bytes[0] = tag;
  return IdType(bytes);
}

TEST(TaskConversion, AnUnknownKindKeepsItsNameAndABadIdIsRefused) {
  v1::Task message;
  message.set_task_id("t_nonsense");
  EXPECT_EQ(to_task(message).error().code, Code::kInternal);
  message.set_task_id(id<TaskId>(1).str());
  message.set_kind("defragment");
  const auto task = to_task(message);
  ASSERT_TRUE(task);
  ASSERT_TRUE(std::holds_alternative<UnknownTask>(task->work));
  EXPECT_EQ(std::get<UnknownTask>(task->work).kind, "defragment");
}

TEST(TaskConversion, APublishTaskWithoutRequestIdUsesItsOwnId) {
  v1::Task message;
  message.set_task_id(id<TaskId>(1).str());
  message.mutable_work()->mutable_publish()->set_root_path("data:run7");
  const auto task = to_task(message);
  ASSERT_TRUE(task);
  EXPECT_EQ(std::get<PublishTask>(task->work).publish.request_id, message.task_id());
}

TEST(ContentConversion, RefusesMetadataNamesThatCouldBePaths) {
  v1::Content message;
  message.set_content_id(id<ContentId>(1).str());
  EXPECT_TRUE(to_content(message));
  for (const auto& name :
       {std::string("../credential.json"), std::string(63, 'a'), std::string(64, 'A'), std::string(63, 'a') + "/"}) {
    message.set_metadata_sha256(name);
    EXPECT_THAT(to_content(message).error().message, HasSubstr("no proper name")) << name;
  }
  message.set_metadata_sha256(std::string(64, 'a'));
  EXPECT_TRUE(to_content(message));
}

TEST(PeerConversion, RefusesAPortBeyond65535) {
  v1::Peer peer;
  peer.set_node_id(id<NodeId>(3).str());
  peer.add_endpoints()->set_port(70'000);
  EXPECT_EQ(to_peer(peer).error().code, Code::kInternal);
}

TEST(PeerConversion, TakesAHashOfAKeyOfItsOwnSizeOnly) {
  v1::Peer peer;
  peer.set_node_id(id<NodeId>(3).str());
  EXPECT_FALSE(to_peer(peer)->key) << "an older server's";
  peer.set_key_sha256(std::string(32, '\7'));
  EXPECT_EQ(to_peer(peer)->key->at(31), 7);
  peer.set_key_sha256(std::string(31, '\7'));
  EXPECT_EQ(to_peer(peer).error().code, Code::kInternal);
}

TEST(Backoff, DoublesItsCeilingUpToTheMaximumAndJittersBelow) {
  constexpr std::uint64_t kTop = ~std::uint64_t{0};
  const milliseconds min(1'000), max(60'000);
  EXPECT_EQ(backoff_pause(0, min, max, kTop), min);
  EXPECT_EQ(backoff_pause(3, min, max, kTop), milliseconds(8'000));
  EXPECT_EQ(backoff_pause(6, min, max, kTop), max);
  EXPECT_EQ(backoff_pause(1'000'000, min, max, kTop), max);
  EXPECT_EQ(backoff_pause(6, min, max, 0), milliseconds(0));
  EXPECT_NEAR(static_cast<double>(backoff_pause(6, min, max, kTop / 2).count()), 30'000, 1);
}

TEST(Backoff, CountsFromAnewOnlyAfterAStreamThatLasted) {
  EXPECT_EQ(attempt_after(5, milliseconds(0)), 5);
  EXPECT_EQ(attempt_after(5, milliseconds(59'999)), 5) << "somebody displaces it each time";
  EXPECT_EQ(attempt_after(5, milliseconds(60'000)), 0);
}

TEST(Pushback, IsANumberOfMillisecondsOrForbidsToTryAgain) {
  EXPECT_FALSE(parse_pushback("-1"));
  EXPECT_FALSE(parse_pushback(""));
  EXPECT_FALSE(parse_pushback("soon"));
  EXPECT_FALSE(parse_pushback("10 "));
  EXPECT_FALSE(parse_pushback("99999999999999999999"));
  EXPECT_EQ(parse_pushback("0"), milliseconds(0));
  EXPECT_EQ(parse_pushback("6000"), milliseconds(6000));
  EXPECT_EQ(parse_pushback("999999999999"), hours(1));
}

}  // namespace
}  // namespace gridtorrent::client::remote
