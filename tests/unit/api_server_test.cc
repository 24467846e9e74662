#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "client/api/server/server_api.h"
#include "common/hex.h"
#include "metainfo/metadata.h"
#include "tests/support/awaited_answer.h"
#include "tests/unit/remote_support.h"

namespace gridtorrent::client::api {
namespace {

using testing::AwaitedAnswer;
using ::testing::ElementsAre;
using testing::FakeServer;
using testing::FakeState;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TestCa;

constexpr char kContent[] = "c_aaaaaaaaaaaaaaaaaaaaaaaaaa";

class Server : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "gtapi-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::ofstream(folder_ + "/ca.pem") << ca_.pem();
    server_ = std::make_unique<FakeServer>(ca_.issue());
    auto api = ServerApi::open({server_->address(), folder_ + "/ca.pem", "", std::chrono::seconds(20)});
    ASSERT_TRUE(api) << api.error().message;
    api_ = std::move(*api);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// A folder with one file of three bytes and one of none.
  static metainfo::VersionMetadata metadata() {
    metainfo::VersionMetadata metadata;
    metadata.manifest.base_name = "run7";
    crypto::Sha256Digest root{};
    root[0] = 0xab;
    metadata.manifest.entries = {{"", metainfo::EntryKind::kFolder, 0, 0755, 1, {}},
                                 {"a\xff", metainfo::EntryKind::kFile, 3, 0640, 42, root},
                                 {"b", metainfo::EntryKind::kFile, 0, 0644, 1, {}}};
    metadata.segments = {{metainfo::choose_piece_bytes(3), std::string(20, 'h')}};
    return metadata;
  }
  void store(const std::string& document) {
    server_->with([&](FakeState& state) {
      state.metadata = document;
      state.metadata_sha256 = hex_encode(crypto::sha256(as_bytes(document)));
    });
  }

  TestCa ca_;
  std::string folder_;
  std::unique_ptr<FakeServer> server_;
  std::unique_ptr<ServerApi> api_;
};

TEST_F(Server, AWrongPasswordIsNotLoggedIn) {
  v1::LoginRequest request;
  request.set_user("ann");
  request.set_password("wrong");
  const auto reply = api_->accounts().login(request);
  EXPECT_EQ(reply.error().code, Code::kUnauthenticated);
  EXPECT_EQ(reply.error().message, "wrong user or password");
}

TEST_F(Server, ALoginsTokenIsUsedFromThenOn) {
  v1::LoginRequest request;
  request.set_user("ann");
  request.set_password("right");
  ASSERT_TRUE(api_->accounts().login(request));
  ASSERT_TRUE(api_->accounts().who_am_i());
  server_->with([](FakeState& state) { EXPECT_THAT(state.authorizations, ElementsAre("", "Bearer gtp_fresh")); });
}

TEST_F(Server, AClockTwoYearsOffIsNamed) {
  server_->with([](FakeState& state) { state.hello.set_time_ms(state.hello.time_ms() - 2LL * 365 * 24 * 3'600'000); });
  EXPECT_THAT(api_->accounts().who_am_i().error().message, HasSubstr("730 d"));
}

TEST_F(Server, WhatDoesNotExistIsNotFound) {
  EXPECT_EQ(api_->contents().get("missing").error().code, Code::kNotFound);
}

TEST_F(Server, AServerThatIsDownIsNamed) {
  server_->stop();
  const auto reply = api_->accounts().who_am_i();
  EXPECT_EQ(reply.error().code, Code::kUnreachable);
  EXPECT_THAT(reply.error().message, HasSubstr("no server at " + server_->address()));
  server_->start();
}

TEST_F(Server, AWrongCaFileIsNamed) {
  const TestCa other;
  std::ofstream(folder_ + "/other.pem") << other.pem();
  auto api = ServerApi::open({server_->address(), folder_ + "/other.pem", "", std::chrono::seconds(20)});
  ASSERT_TRUE(api);
  EXPECT_THAT((*api)->accounts().who_am_i().error().message, HasSubstr("is not signed by " + folder_ + "/other.pem"));
}

TEST_F(Server, EachMutationGetsARequestIdOfItsOwn) {
  ASSERT_TRUE(api_->contents().unpublish(kContent));
  ASSERT_TRUE(api_->contents().unpublish(kContent));
  server_->with([](FakeState& state) {
    ASSERT_EQ(state.request_ids.size(), 2U);
    EXPECT_EQ(state.request_ids[0].size(), 26U);
    EXPECT_NE(state.request_ids[0], state.request_ids[1]);
  });
}

TEST_F(Server, FilesComePageByPageUntilThereAreEnough) {
  v1::ListFilesRequest request;
  request.set_content_id(kContent);
  request.set_path("raw");
  EXPECT_EQ(api_->contents().list_files(request, 0, 9).error().code, Code::kUnsupported) << "an older server";
  const auto page = [](int from, int to, const std::string& next) {
    v1::ListFilesReply reply;
    for (int i = from; i < to; ++i) reply.add_lines()->set_path("run7/raw/" + std::to_string(i) + "\xff");
    reply.mutable_lines(0)->set_merkle_root(std::string(32, '\xab'));
    reply.set_path("run7/raw");
    reply.set_total_lines(6);
    reply.set_total_files(6);
    reply.set_total_bytes(60);
    reply.set_next_page(next);
    return reply;
  };
  server_->with([&](FakeState& state) { state.file_pages = {{"1", page(1, 3, "3")}, {"3", page(3, 6, "")}}; });
  const auto all = api_->contents().list_files(request, 1, 1'000'000);
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->lines.size(), 5U);
  EXPECT_EQ(all->lines[4].entry.path, "run7/raw/5\xff");
  EXPECT_EQ(all->lines[0].entry.merkle_root.substr(0, 4), "abab");
  EXPECT_EQ(all->all_lines, 6U);
  EXPECT_EQ(all->bytes, 60U);
  EXPECT_EQ(all->path, "run7/raw");
  const auto two = api_->contents().list_files(request, 1, 2);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->lines.size(), 2U);
  server_->with([&](FakeState& state) {
    EXPECT_EQ(state.file_requests.back().limit(), 2U);
    EXPECT_EQ(state.file_requests.back().path(), "raw");
    state.file_pages = {{"0", page(0, 1, "0")}};
  });
  EXPECT_EQ(api_->contents().list_files(request, 0, 9).error().code, Code::kInternal) << "the same page for ever";
}

TEST_F(Server, AManifestComesCheckedAndWithDigests) {
  store(metainfo::encode(metadata()));
  const auto plain = api_->contents().manifest(kContent, 1);
  ASSERT_TRUE(plain) << plain.error().message;
  ASSERT_EQ(plain->size(), 3U);
  EXPECT_EQ((*plain)[1].path, "run7/a\xff");
  EXPECT_EQ((*plain)[1].bytes, 3U);
  EXPECT_THAT((*plain)[1].merkle_root, ::testing::StartsWith("ab00"));
  EXPECT_TRUE((*plain)[0].folder);
  EXPECT_EQ((*plain)[2].merkle_root, "");

  const auto sums_are = [&](const std::string& bytes, const std::string& told) {
    server_->with([&](FakeState& state) {
      state.checksums = bytes;
      state.checksums_sha256 = hex_encode(crypto::sha256(as_bytes(told)));
    });
  };
  const std::string sums(3 * 32, '\x11');
  sums_are(sums, "others");
  EXPECT_EQ(api_->contents().manifest_with_sha256(kContent, 1).error().code, Code::kCorrupt);
  sums_are(sums, sums);
  const auto full = api_->contents().manifest_with_sha256(kContent, 1);
  ASSERT_TRUE(full) << full.error().message;
  EXPECT_EQ((*full)[1].sha256, std::string(64, '1'));
  EXPECT_EQ((*full)[0].sha256, "");
}

TEST_F(Server, AManifestThatIsCutOrAlteredIsRefused) {
  const std::string document = metainfo::encode(metadata());
  store(document.substr(0, document.size() - 1));
  EXPECT_FALSE(api_->contents().manifest(kContent, 1));
  store(document);
  server_->with([](FakeState& state) { state.metadata.back() = 'x'; });
  EXPECT_EQ(api_->contents().manifest(kContent, 1).error().code, Code::kCorrupt);
  store(document);
  server_->with([](FakeState& state) { state.checksums = std::string(31, 'x'); });
  EXPECT_EQ(api_->contents().manifest_with_sha256(kContent, 1).error().code, Code::kCorrupt);
}

TEST_F(Server, AWatchedTaskIsShownUntilItEndsOrTheCallerHasEnough) {
  server_->with([](FakeState& state) {
    for (const char* name : {"queued", "running", "done"}) state.task_states.emplace_back().set_state(name);
  });
  std::vector<std::string> seen;
  ASSERT_TRUE(api_->tasks().watch("t", [&](const v1::Task& task) { return seen.push_back(task.state()), true; }, {}));
  EXPECT_THAT(seen, ElementsAre("queued", "running", "done"));
  int calls = 0;
  EXPECT_TRUE(api_->tasks().watch("t", [&](const v1::Task&) { return ++calls < 1; }, {}));
  EXPECT_EQ(calls, 1);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(
      api_->tasks().watch("t", [](const v1::Task&) { return true; }, stop.get_token()).error().code, Code::kCancelled);
}

TEST_F(Server, OffersComeWholePageByPage) {
  server_->with([](FakeState& state) {
    state.offers[""].add_to_me()->set_name("a");
    state.offers[""].add_by_me()->set_name("x");
    state.offers[""].set_next_page("second");
    state.offers[""].set_cut(true);
    state.offers["second"].add_to_me()->set_name("b");
  });
  const auto all = api_->collaboration().offers();
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->to_me_size(), 2);
  EXPECT_EQ(all->to_me(0).name() + all->to_me(1).name(), "ab");
  ASSERT_EQ(all->by_me_size(), 1);
  EXPECT_EQ(all->by_me(0).name(), "x");
  EXPECT_FALSE(all->cut());
}

TEST_F(Server, OffersThatAServerWithoutPagesCutAreSaidToBe) {
  server_->with([](FakeState& state) { state.offers[""].set_cut(true); });
  EXPECT_TRUE(api_->collaboration().offers()->cut());
}

/// The asynchronous form; a GetContent that is asked for in vain is held back by the server.
class AsyncServer : public Server {
 protected:
  void TearDown() override {
    answer();
    api_.reset();
    Server::TearDown();
  }
  void answer() {
    server_->with([](FakeState& state) { state.hold = false; });
  }
  Call ask_in_vain(AwaitedAnswer<v1::Content>& reply) {
    server_->with([](FakeState& state) { state.hold = true; });
    Call call = api_->async().contents().get("c", reply.taker());
    EXPECT_TRUE(server_->wait([](const FakeState& state) { return !state.authorizations.empty(); }));
    return call;
  }
  /// A call begun after another ends after it, on the one thread of callbacks.
  void pass_through() {
    AwaitedAnswer<v1::ListOffersReply> reply;
    const Call call = api_->async().collaboration().offers(reply.taker());
    EXPECT_TRUE(reply.wait());
  }
};

TEST_F(AsyncServer, AnErrorOfTheServerComesAsAnAnswer) {
  AwaitedAnswer<v1::Content> reply;
  const Call call = api_->async().contents().get("missing", reply.taker());
  EXPECT_EQ(reply.wait().error().code, Code::kNotFound);
  pass_through();
  EXPECT_EQ(reply.count(), 1);
}

TEST_F(AsyncServer, AServerThatIsDownIsNamed) {
  server_->stop();
  AwaitedAnswer<v1::WhoAmIReply> reply;
  const Call call = api_->async().accounts().who_am_i(reply.taker());
  const Error error = reply.wait().error();
  EXPECT_EQ(error.code, Code::kUnreachable);
  EXPECT_THAT(error.message, HasSubstr("no server at " + server_->address()));
  server_->start();
}

TEST_F(AsyncServer, TellsWhenTheCertificateEndsAndWhereThereIsNone) {
  AwaitedAnswer<WallTime> end, none;
  const Call call = api_->async().certificate_end(end.taker());
  const auto when = end.wait();
  ASSERT_TRUE(when) << when.error().message;
  EXPECT_GT(*when, SystemClock().wall());
  EXPECT_EQ(*when, *api_->certificate_end());
  server_->stop();
  const Call again = api_->async().certificate_end(none.taker());
  EXPECT_EQ(none.wait().error().code, Code::kUnreachable);
  server_->start();
}

TEST_F(AsyncServer, AServerThatStopsAnsweringEndsTheCallAtItsDeadline) {
  api_ = ServerApi::open({server_->address(), folder_ + "/ca.pem", "", std::chrono::milliseconds(500)}).value();
  AwaitedAnswer<v1::WhoAmIReply> connected;
  const Call first = api_->async().accounts().who_am_i(connected.taker());
  (void)connected.wait();  // so that the next one spends its time on nothing but waiting
  server_->with([](FakeState& state) { state.hold = true; });
  AwaitedAnswer<v1::Content> reply;
  const Call call = api_->async().contents().get("c", reply.taker());
  EXPECT_EQ(reply.wait().error().code, Code::kTimeout);
}

TEST_F(AsyncServer, ACallCancelledBeforeItsAnswerIsNeverAnsweredAndEndsAtTheServer) {
  AwaitedAnswer<v1::Content> reply;
  Call call = ask_in_vain(reply);
  call.cancel();
  EXPECT_TRUE(server_->wait([](const FakeState& state) { return state.cancelled == 1; }));
  pass_through();
  EXPECT_EQ(reply.count(), 0);
}

TEST_F(AsyncServer, DestroyingTheObjectEndsWhatIsOutWithoutACallback) {
  AwaitedAnswer<v1::Content> reply;
  Call call = ask_in_vain(reply);
  api_.reset();
  EXPECT_EQ(reply.count(), 0);
  call.cancel();
  EXPECT_TRUE(server_->wait([](const FakeState& state) { return state.cancelled == 1; }));
}

TEST_F(AsyncServer, ALoginsTokenIsUsedFromThenOn) {
  v1::LoginRequest request;
  request.set_user("ann");
  request.set_password("right");
  AwaitedAnswer<v1::LoginReply> login;
  AwaitedAnswer<v1::WhoAmIReply> who;
  const Call first = api_->async().accounts().login(request, login.taker());
  ASSERT_TRUE(login.wait());
  const Call second = api_->async().accounts().who_am_i(who.taker());
  ASSERT_TRUE(who.wait());
  server_->with([](FakeState& state) { EXPECT_THAT(state.authorizations, ElementsAre("", "Bearer gtp_fresh")); });
}

TEST_F(AsyncServer, AListComesWholePageByPage) {
  server_->with([](FakeState& state) {
    state.offers[""].add_to_me()->set_name("a");
    state.offers[""].set_next_page("second");
    state.offers["second"].add_to_me()->set_name("b");
  });
  AwaitedAnswer<v1::ListOffersReply> reply;
  const Call call = api_->async().collaboration().offers(reply.taker());
  const auto all = reply.wait();
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->to_me_size(), 2);
  EXPECT_EQ(all->to_me(1).name(), "b");
}

TEST_F(AsyncServer, AManifestComesCheckedAndWithDigestsInOneCall) {
  store(metainfo::encode(metadata()));
  const std::string sums(3 * 32, '\x11');
  server_->with([&](FakeState& state) {
    state.checksums = sums;
    state.checksums_sha256 = hex_encode(crypto::sha256(as_bytes(sums)));
  });
  AwaitedAnswer<std::vector<FileEntry>> reply;
  const Call call = api_->async().contents().manifest_with_sha256(kContent, 1, reply.taker());
  const auto entries = reply.wait();
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 3U);
  EXPECT_EQ((*entries)[1].sha256, std::string(64, '1'));
}

TEST_F(AsyncServer, StatesOfATaskComeInOrderAndThenTheEnd) {
  server_->with([](FakeState& state) {
    for (const char* name : {"queued", "running", "done"}) state.task_states.emplace_back().set_state(name);
  });
  std::vector<std::string> seen;
  AwaitedAnswer<void> end;
  const Call call = api_->async().tasks().watch(
      "t", [&](const v1::Task& task) { return seen.push_back(task.state()), true; }, end.taker());
  ASSERT_TRUE(end.wait());
  EXPECT_THAT(seen, ElementsAre("queued", "running", "done"));
}

TEST(AccessText, ReadsTargetsAndRefusesTheRest) {
  EXPECT_EQ(parse_access("")->level(), v1::Access::PRIVATE);
  EXPECT_EQ(parse_access("public")->level(), v1::Access::PUBLIC);
  const auto shared = parse_access("group:lab, user:bob,buddies");
  ASSERT_TRUE(shared) << shared.error().message;
  EXPECT_EQ(access_text(*shared), "group:lab,user:bob,buddies");
  for (const char* bad : {"Public", "group:", "lab", "user:a,,user:b", "public,private"}) {
    EXPECT_EQ(parse_access(bad).error().code, Code::kInvalid) << bad;
  }
  EXPECT_THAT(parse_access("lab").error().message, HasSubstr("'lab'"));
}

}  // namespace
}  // namespace gridtorrent::client::api
