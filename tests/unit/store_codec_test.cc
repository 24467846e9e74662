// Tasks and tuning as the node's database has them.
#include <gtest/gtest.h>

#include "client/store/codec.h"
#include "client/store/tuning_codec.h"
#include "common/rng.h"

namespace gridtorrent::testing {
namespace {

using namespace client;

TEST(TaskCodec, KeepsEveryKindOfWork) {
  SeededRng rng(1);
  const ContentId content = ContentId::make({1}, rng);
  PublishTask publish{"raw:a", {"r", "n", "public", "d", "l", {"t1", "t2"}}, true};
  GetTask get{"c", "in:b", {"*.x"}, 3, 4, 5, true, 6};
  GetTask held = get;
  held.wish = {"auto", "greedy", 7, 8, WallTime{9}};
  held.base_name = "mine";
  held.if_seeded = true;
  Task task;
  for (const decltype(Task::work)& work : std::vector<decltype(Task::work)>{
           publish, get, held, SeedTask{"c", "raw:x"}, StopSeedingTask{content}, ListFolderTask{"raw"},
           TransferCommandTask{"x", "pause"}, UnknownTask{"dance"}}) {
    Task from, to;
    from.work = work;
    const auto text = store::encode_work(from);
    ASSERT_TRUE(store::decode_work(text, to).ok()) << text;
    EXPECT_EQ(store::encode_work(to), text);
    EXPECT_EQ(to.work.index(), work.index());
  }
}

TEST(PublishCodec, DoesNotKnowWhatAnOlderVersionDidNotWrite) {
  const std::string older = R"({"description":"","license":"","strict":false,"tags":[],"warnings":[]})";
  for (const bool wish : {false, true}) {
    auto lasting = store::decode_lasting(older);
    ASSERT_TRUE(lasting.ok()) << lasting.error().message;
    ASSERT_TRUE(lasting->has_value());
    EXPECT_EQ((*lasting)->as_before, std::nullopt);
    EXPECT_EQ((*store::decode_lasting(store::encode_lasting(*lasting)))->as_before, std::nullopt) << "nor later";
    (*lasting)->as_before = wish;
    EXPECT_EQ((*store::decode_lasting(store::encode_lasting(*lasting)))->as_before, wish);
  }
}

TEST(TaskCodec, KeepsWhichVersionIsMeant) {
  Task from, to;
  GetTask get;
  get.version = 2;
  get.update = true;
  from.work = get;
  ASSERT_TRUE(store::decode_work(store::encode_work(from), to).ok());
  EXPECT_EQ(std::get<GetTask>(to.work).version, 2u);
  EXPECT_TRUE(std::get<GetTask>(to.work).update);
  PublishTask publish{"raw:a", {"r", "ada/set", "", "", "", {}, true}, false};
  from.work = publish;
  ASSERT_TRUE(store::decode_work(store::encode_work(from), to).ok());
  EXPECT_TRUE(std::get<PublishTask>(to.work).publish.update);
}

TEST(TaskCodec, KeepsWhatATunerIsAskedAndReadsTasksThatAskNothing) {
  Task from, to;
  GetTask get;
  get.wish = {"auto", "greedy", 7, 8, WallTime{9}};
  from.work = get;
  ASSERT_TRUE(store::decode_work(store::encode_work(from), to).ok());
  EXPECT_EQ(std::get<GetTask>(to.work).wish, get.wish);
  const auto* const of_an_older_version =
      R"({"kind":"get","content":"c","root_path":"","globs":[],"lanes":0,"seeders":0,"limit":0,"priority":0,)"
      R"("refetch":false})";
  ASSERT_TRUE(store::decode_work(of_an_older_version, to).ok());
  EXPECT_EQ(std::get<GetTask>(to.work).wish, WishChange{});
  EXPECT_EQ(std::get<GetTask>(to.work).base_name, "");
}

TEST(TaskCodec, RefusesWhatItDidNotWrite) {
  Task task;
  for (const auto* text : {"", "{", "{}", "[]", "{\"kind\":\"dance\"}", "{\"kind\":\"get\"}", "{\"kind\":7}"}) {
    const auto decoded = store::decode_work(text, task);
    ASSERT_FALSE(decoded.ok()) << text;
    EXPECT_EQ(decoded.error().code, Code::kCorrupt);
  }
  EXPECT_FALSE(store::decode_peers("[[1,2,3,4]]").ok());
  EXPECT_FALSE(store::decode_globs("[\"zz\"]").ok());
  EXPECT_FALSE(store::parse_step("flying").ok());
  EXPECT_FALSE(store::parse_code("flying").ok());
}

TEST(TuningCodec, RefusesWhatItDidNotWrite) {
  TuningRecord record;
  record.samples.resize(2);
  const std::string good = store::encode_tuning(record);
  ASSERT_TRUE(store::decode_tuning(good).ok());
  for (const std::string& bytes :
       {std::string(), std::string("nonsense"), std::string("\xa0"), good + "x", good.substr(0, good.size() / 2)}) {
    EXPECT_EQ(store::decode_tuning(bytes).error().code, Code::kCorrupt);
  }
  std::string other = good;
  other.replace(other.find("unknown"), 7, "unknowm");
  EXPECT_EQ(store::decode_tuning(other).error().code, Code::kCorrupt) << "a limit of another version";
}

TEST(TuningCodec, TakesLittleRoom) {
  TuningRecord record;
  record.samples.assign(TuningRecord::kSamples, {std::chrono::milliseconds(600'000), 900'000'000, 16, 8,
                                                 Limit::kReceiverCpu, 0, 1'000'000'000, 0});
  EXPECT_LT(store::encode_tuning(record).size(), 40u * TuningRecord::kSamples);
}

}  // namespace
}  // namespace gridtorrent::testing
