#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tests/support/server_world.h"

namespace gridtorrent::ccm {
namespace {

using testing_support::code_of;
using testing_support::message_of;
using testing_support::ServerWorld;

class MetadataQuota : public testing::TestWithParam<const char*> {
 protected:
  MetadataQuota() {
    quotas.metadata_bytes = 10;
    w = std::make_unique<ServerWorld>(GetParam(), quotas);
    alice = w->user("alice");
  }
  FinishPublish draft(const std::string& name, char digit) {
    const auto ticket = w->contents.begin_publish(alice, begin(name));
    EXPECT_TRUE(ticket.ok()) << message_of(ticket);
    auto finish = w->finish_of(ticket->content, 1000, digit);  // eight bytes of metadata
    return finish;
  }
  BeginPublish begin(const std::string& name) {
    return {w->request_id(), name, {AccessLevel::kPublic, {}, {}, false}, "", "", {}};
  }
  std::uint64_t used() {
    std::uint64_t bytes = 0;
    EXPECT_TRUE(w->store.ccm()
                    .read([&](Tx& tx) -> Status {
                      GT_ASSIGN(const auto usage, tx.contents.usage(alice.user));
                      bytes = usage.metadata_bytes;
                      return {};
                    })
                    .ok());
    return bytes;
  }

  Quotas quotas;
  std::unique_ptr<ServerWorld> w;
  Actor alice;
};
INSTANTIATE_TEST_SUITE_P(Over, MetadataQuota, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(MetadataQuota, IsNotOverrunByAnUploadThatEndsBetweenTheCheckAndTheWrite) {
  const auto first = draft("first", 'a'), second = draft("second", 'b');
  std::optional<Result<ContentView>> between;
  w->files.before_put = [&] { between = w->contents.finish_publish(alice, second); };
  EXPECT_TRUE(w->contents.finish_publish(alice, first).ok());
  ASSERT_TRUE(between);
  EXPECT_EQ(code_of(*between), Code::kExhausted);
  EXPECT_FALSE(w->files.files.contains(second.sha256_hex)) << "refused, and kept on the disk for ever";
  EXPECT_EQ(used(), 8u);
}

TEST_P(MetadataQuota, IsNotOverrunByParallelUploads) {
  std::vector<FinishPublish> drafts;
  for (char digit = 'a'; digit <= 'f'; ++digit) drafts.push_back(draft(std::string(1, digit), digit));
  std::atomic<int> published = 0;
  {
    std::vector<std::jthread> threads;
    for (const FinishPublish& finish : drafts) {
      threads.emplace_back([&] { published += w->contents.finish_publish(alice, finish).ok() ? 1 : 0; });
    }
  }
  EXPECT_EQ(published, 1);
  EXPECT_EQ(w->files.files.size(), 1u);
  EXPECT_EQ(used(), 8u);
}

TEST_P(MetadataQuota, IsNotTakenTwiceByTheSameDraft) {
  const auto first = draft("first", 'a');
  w->files.full = true;
  EXPECT_EQ(code_of(w->contents.finish_publish(alice, first)), Code::kDisk);
  EXPECT_EQ(used(), 8u) << "the draft holds its place";
  w->files.full = false;
  EXPECT_TRUE(w->contents.finish_publish(alice, first).ok());
  EXPECT_TRUE(w->contents.finish_publish(alice, first).ok()) << "repeated";
  EXPECT_EQ(used(), 8u);
}

TEST_P(MetadataQuota, IsGivenBackByADraftThatIsGivenUp) {
  const auto first = draft("first", 'a');
  w->files.full = true;
  EXPECT_EQ(code_of(w->contents.finish_publish(alice, first)), Code::kDisk);
  w->files.full = false;
  w->clock.advance(ContentService::kDraftLifetime + std::chrono::hours(1));
  ASSERT_TRUE(w->contents.sweep().ok());
  EXPECT_EQ(used(), 0u);
  EXPECT_TRUE(w->contents.finish_publish(alice, draft("second", 'b')).ok());
}

TEST_P(MetadataQuota, HoldsWhereADraftIsBegunAnewInTheMiddleOfItsUpload) {
  const auto first = draft("first", 'a'), second = draft("second", 'b');
  w->files.before_put = [&] {
    EXPECT_TRUE(w->contents.begin_publish(alice, begin("first")).ok());  // the same draft, without its reservation
    EXPECT_TRUE(w->contents.finish_publish(alice, second).ok());
  };
  EXPECT_EQ(code_of(w->contents.finish_publish(alice, first)), Code::kExhausted);
  EXPECT_EQ(used(), 8u);
}

TEST(ContentQuotas, AreRefusedByName) {
  Quotas quotas;
  quotas.contents = 1;
  quotas.metadata_bytes = 10;
  ServerWorld w("memory", quotas);
  const Actor alice = w.user("alice");
  BeginPublish request{w.request_id(), "one", {AccessLevel::kPublic, {}, {}, false}, "", "", {}};
  const auto ticket = w.contents.begin_publish(alice, request);
  ASSERT_TRUE(ticket.ok());
  auto finish = w.finish_of(ticket->content);
  EXPECT_EQ(code_of(w.contents.check_finish(alice, finish, 11)), Code::kExhausted);
  EXPECT_TRUE(w.contents.check_finish(alice, finish, 10).ok());
  finish.metadata = "more than ten bytes";
  EXPECT_EQ(code_of(w.contents.finish_publish(alice, finish)), Code::kExhausted);
  request.request_id = w.request_id();
  request.name = "two";
  EXPECT_EQ(code_of(w.contents.begin_publish(alice, request)), Code::kExhausted);
}

}  // namespace
}  // namespace gridtorrent::ccm
