#include <gtest/gtest.h>

#include "client/cli/json.h"

namespace gridtorrent::client::cli {
namespace {

constexpr WallTime kNow{1'700'000'000'123};

v1::Transfer sample_transfer() {
  v1::Transfer t;
  t.set_transfer_id("x_1");
  t.set_content_id("c_1");
  t.set_name("run42");
  t.set_owner("mia");
  t.set_state("seeding");
  t.set_verified_bytes(1000);
  t.set_total_bytes(1000);
  t.set_eta_s(-1);
  t.set_path("/data/run\xff");
  t.set_seconds(2);
  t.set_lanes_peak(8);
  t.set_source("swarm");
  v1::PeerStats* peer = t.add_peers();
  peer->set_node_id("n_a");
  peer->set_received_bytes(600);
  peer->set_lanes_peak(4);
  t.add_peers()->set_node_id("n_silent");
  return t;
}

TEST(JsonText, IsAlwaysUtf8) {
  EXPECT_EQ(json_text("naïve \\ path\n"), "naïve \\ path\n");
  EXPECT_EQ(json_text("a\xff"), "a\\xff");
}

TEST(JsonOfOthers, MembersOfAnotherKindCountAsMissing) {
  const Json json = Json::parse(R"({"name": "a", "bytes": 7, "less": -7, "yes": true, "list": []})");
  EXPECT_EQ(member(json, "name", std::string()), "a");
  EXPECT_EQ(member(json, "bytes", std::uint64_t{0}), 7U);
  EXPECT_TRUE(member(json, "yes", false));
  for (const char* name : {"bytes", "yes", "list", "absent"}) EXPECT_EQ(member(json, name, std::string("-")), "-");
  for (const char* name : {"name", "less", "list", "absent"}) EXPECT_EQ(member(json, name, std::uint64_t{1}), 1U);
  for (const char* text : {"7", "[7]", "\"name\"", "null"})
    EXPECT_EQ(member(Json::parse(text), "name", std::string("-")), "-") << text;
}

TEST(JsonTimes, AreRfc3339OrNull) {
  EXPECT_EQ(one_line(json_time(kNow.ms)), "\"2023-11-14T22:13:20.123Z\"");
  EXPECT_EQ(one_line(json_time(0)), "null");
}

TEST(JsonEvents, DoneIsTheContract) {
  EXPECT_EQ(
      one_line(done_event(sample_transfer(), kNow)),
      R"({"event":"done","time":"2023-11-14T22:13:20.123Z","transfer_id":"x_1","content_id":"c_1","state":"seeding",)"
      R"("verified_bytes":1000,"seconds":2.0,"bits_per_s":4000,"redundant_bytes":0,"lanes_peak":8,"source":"swarm",)"
      R"("seeders":[{"node":"n_a","bytes":600,"lanes":4,"address":""}],"path":"/data/run\\xff"})");
}

TEST(JsonEvents, DoneInNoTimeHasNoRate) {
  v1::Transfer t = sample_transfer();
  t.set_seconds(0);
  EXPECT_EQ(done_event(t, kNow)["bits_per_s"], 0);
}

TEST(JsonEvents, StartedProgressAndFailed) {
  EXPECT_EQ(
      one_line(started_event(sample_transfer(), kNow)),
      R"({"event":"started","time":"2023-11-14T22:13:20.123Z","transfer_id":"x_1","content_id":"c_1","name":"run42",)"
      R"("total_bytes":1000,"path":"/data/run\\xff"})");
  EXPECT_EQ(
      one_line(progress_event(sample_transfer(), kNow)),
      R"({"event":"progress","time":"2023-11-14T22:13:20.123Z","state":"seeding","verified_bytes":1000,"total_bytes":1000,)"
      R"("payload_bits_per_s":0,"lanes":0,"seeders":0,"eta_s":null,"limit_word":""})");
  EXPECT_EQ(one_line(failed_event({Code::kDisk, "full"}, kNow)),
            R"({"event":"failed","time":"2023-11-14T22:13:20.123Z","code":"disk","exit_code":8,"message":"full"})");
}

TEST(JsonEvents, DetachedNamesWhatGoesOn) {
  EXPECT_EQ(one_line(detached_event("transfer", "x_1", {Code::kCancelled, "no longer watched"}, kNow)),
            R"({"event":"detached","time":"2023-11-14T22:13:20.123Z","transfer_id":"x_1","exit_code":10,)"
            R"("message":"no longer watched"})");
}

TEST(JsonEvents, PublishedCarriesAccessAsAnObject) {
  v1::Published p;
  p.set_content_id("c_1");
  p.set_name("run42");
  p.set_bytes(7);
  p.set_files(2);
  p.set_seconds(0.25);
  v1::Access access;
  access.set_level(v1::Access::SHARED);
  access.add_users("noor");
  EXPECT_EQ(
      one_line(published_event(p, access, kNow)),
      R"({"event":"published","time":"2023-11-14T22:13:20.123Z","content_id":"c_1","name":"run42","bytes":7,"files":2,)"
      R"("access":{"level":"shared","groups":[],"users":["noor"],"buddies":false},"seconds":0.25,"skipped":0,"transfer_id":"","version":0})");
  v1::PublishProgress progress;
  progress.set_done_bytes(1);
  progress.set_total_bytes(2);
  EXPECT_EQ(hashing_event(progress, kNow)["done_bytes"], 1);
}

TEST(JsonModels, TransferHasAllThatTheContractNames) {
  const Json json = to_json(sample_transfer());
  for (const char* key : {"transfer_id", "content_id", "name", "state", "verified_bytes", "total_bytes",
                          "payload_bits_per_s", "lanes", "peers"})
    EXPECT_TRUE(json.contains(key)) << key;
  for (const char* key : {"node", "address", "lanes", "bits_per_s"}) EXPECT_TRUE(json["peers"][0].contains(key)) << key;
  EXPECT_FALSE(json.contains("code"));
}

TEST(JsonModels, ContentHasAllThatTheContractNames) {
  v1::Content content;
  content.set_name("run42");
  content.mutable_access()->set_level(v1::Access::PUBLIC);
  content.add_tags("raw");
  const Json json = to_json(content);
  for (const char* key : {"content_id", "name", "owner", "access", "bytes", "files", "seeders", "tags"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json["access"]["level"], "public");
  EXPECT_EQ(one_line(json["tags"]), R"(["raw"])");
}

TEST(JsonModels, ATasksResultIsJsonItself) {
  v1::Task task;
  task.set_task_id("t_1");
  task.set_result_json(R"({"path":"a"})");
  EXPECT_EQ(to_json(task)["result"]["path"], "a");
  task.set_result_json("{broken");
  EXPECT_EQ(to_json(task)["result"], "{broken");
  EXPECT_EQ(task_event(task, kNow)["event"], "task");
}

TEST(JsonModels, AFileWhoseNameIsNoTextHasItsBytesToo) {
  api::FileEntry file;
  file.path = "a\xff";
  file.mode = 0644;
  file.sha256 = std::string(64, '0');
  const Json json = to_json(file);
  EXPECT_EQ(json["path"], "a\\xff");
  EXPECT_EQ(json["path_hex"], "61ff");
  file.path = "a";
  EXPECT_FALSE(to_json(file).contains("path_hex"));
}

TEST(JsonModels, VerifyResultShowsFaultsAndDigests) {
  v1::VerifyResult result;
  result.set_fault_count(1);
  auto* fault = result.add_faults();
  fault->set_path("a");
  fault->set_reason("missing");
  auto* digest = result.add_digests();
  digest->set_path("b");
  digest->set_sha256(std::string(32, '\x01'));
  const Json json = to_json(result);
  EXPECT_EQ(one_line(json["faults"]), R"([{"path":"a","reason":"missing"}])");
  EXPECT_EQ(json["digests"][0]["sha256"].get<std::string>().size(), 64U);
}

}  // namespace
}  // namespace gridtorrent::client::cli
