// Which credential a node's link uses, and when it is renewed.
#include <atomic>
#include <string>
#include <vector>

#include "tests/unit/remote_link.h"

namespace gridtorrent::client::remote {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;
using testing::FakeState;
using ::testing::HasSubstr;

class Credential : public Link {
 protected:
  /// Of a node whose credential is so many of its 90 days old, at a server that renews it and has one task.
  ServerLinkOptions of_age(int days) {
    serve();
    server_->with([&](FakeState& state) {
      state.renewal.set_node_token("gtn_new");
      state.renewal.set_expires_ms((clock_.wall() + hours(24 * 90)).ms);
      state.content.set_content_id(id<ContentId>(2).str());
      state.events = {get_task(1)};
    });
    ServerLinkOptions aged = options();
    aged.credential.issued = clock_.wall() - hours(24 * days);
    aged.credential.expires = clock_.wall() + hours(24 * (90 - days));
    return aged;
  }
  /// A call's.
  std::string token_of(RemoteLink& link) {
    EXPECT_TRUE(link.content("ann/data"));
    return server_->with([](FakeState& state) { return state.authorizations.back(); });
  }
  /// A minute later, over a new stream.
  void greeted_again(Recorder& recorder) {
    clock_.advance(std::chrono::seconds(61));
    server_->stop();
    EXPECT_THAT(recorder.next(), HasSubstr("lost"));
    server_->start();
    EXPECT_EQ(recorder.next(), "connected");
    EXPECT_EQ(recorder.next(), "task 1");
  }
};

TEST_F(Credential, AnotherCredentialIsUsedAtOnce) {
  serve();
  server_->with([](FakeState& state) { state.end_streams = true; });
  Recorder recorder;
  ServerLinkOptions slow = options();
  slow.backoff_min = slow.backoff_max = slow.least_pause = hours(1);
  const auto one = link(slow);
  one->start(recorder, 0);
  EXPECT_EQ(recorder.next(), "connected");
  EXPECT_THAT(recorder.next(), HasSubstr("lost"));
  one->use_credential({"gtn_new", clock_.wall(), clock_.wall() + hours(1)});
  EXPECT_EQ(recorder.next(), "connected");
  one->stop();
  server_->with([](FakeState& state) { EXPECT_THAT(state.authorizations.back(), HasSubstr("gtn_new")); });
}

TEST_F(Credential, RenewsItsCredentialAtTwoThirdsOfItsLifeAndUsesIt) {
  ServerLinkOptions aged = of_age(61);
  std::vector<std::string> kept;
  aged.on_credential = [&](const NodeCredential& fresh) {
    kept.push_back(fresh.token);
    return Status();
  };
  Recorder recorder;
  const auto one = link(aged);
  one->start(recorder, 0);
  EXPECT_EQ(recorder.next(), "connected");
  EXPECT_EQ(recorder.next(), "task 1");
  EXPECT_THAT(kept, ElementsAre("gtn_new"));
  EXPECT_EQ(token_of(*one), "Bearer gtn_new");
}

TEST_F(Credential, AYoungCredentialIsNotRenewed) {
  Recorder recorder;
  const auto one = link(of_age(59));
  one->start(recorder, 0);
  EXPECT_EQ(recorder.next(), "connected");
  EXPECT_EQ(recorder.next(), "task 1");
  EXPECT_EQ(server_->with([](FakeState& state) { return state.renewals; }), 0);
}

TEST_F(Credential, ARenewedCredentialThatCannotBeWrittenDownIsUsedAndTriedAgain) {
  ServerLinkOptions unkept = of_age(89);
  std::vector<std::string> tried;
  unkept.on_credential = [&](const NodeCredential& fresh) {
    tried.push_back(fresh.token);
    return tried.size() == 1 ? Status(Error{Code::kDisk, "disk full"}) : Status();
  };
  Recorder recorder;
  const auto one = link(unkept);
  one->start(recorder, 0);
  EXPECT_EQ(recorder.next(), "connected");
  EXPECT_EQ(recorder.next(), "task 1");
  EXPECT_EQ(token_of(*one), "Bearer gtn_new");
  greeted_again(recorder);
  EXPECT_THAT(tried, ElementsAre("gtn_new", "gtn_new")) << "at the next greeting";
  EXPECT_EQ(server_->with([](FakeState& state) { return state.renewals; }), 1);
}

TEST_F(Credential, ARenewedCredentialIsNotTriedAgainOnceAnotherWasGiven) {
  ServerLinkOptions unkept = of_age(89);
  std::atomic<int> tried = 0;
  unkept.on_credential = [&](const NodeCredential&) {
    ++tried;
    return Status(Error{Code::kDisk, "disk full"});
  };
  Recorder recorder;
  const auto one = link(unkept);
  one->start(recorder, 0);
  EXPECT_EQ(recorder.next(), "connected");
  EXPECT_EQ(recorder.next(), "task 1");
  one->use_credential({"gtn_given", clock_.wall(), clock_.wall() + hours(24 * 90)});
  greeted_again(recorder);
  EXPECT_EQ(tried, 1);
}

TEST_F(Credential, ARenewalThatAnotherCredentialOvertookIsNotUsed) {
  ServerLinkOptions aged = of_age(61);
  std::atomic<int> tried = 0;
  aged.on_credential = [&](const NodeCredential&) {
    ++tried;
    return Status();
  };
  Recorder recorder;
  const auto one = link(aged);
  server_->with([&](FakeState& state) {
    state.while_renewing = [&] { one->use_credential({"gtn_given", clock_.wall(), clock_.wall() + hours(24 * 90)}); };
  });
  one->start(recorder, 0);
  EXPECT_EQ(recorder.next(), "connected");
  EXPECT_EQ(recorder.next(), "task 1");
  EXPECT_EQ(token_of(*one), "Bearer gtn_given");
  EXPECT_EQ(tried, 0);
}

}  // namespace
}  // namespace gridtorrent::client::remote
