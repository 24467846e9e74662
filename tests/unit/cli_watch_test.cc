// `transfers --watch`, which ends here because the node does.
#include <gmock/gmock.h>

#include <sstream>
#include <thread>

#include "client/cli/interrupt.h"
#include "tests/support/older_node.h"
#include "tests/unit/cli_fixture.h"
#include "tests/unit/control_fixture.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::HasSubstr;

class WatchTransfers : public CommandLine {
 protected:
  WatchTransfers() {
    install_default_interrupt();
    std::filesystem::create_directories(folder_ + "/gridtorrent");
  }
  std::string socket() const { return folder_ + "/gridtorrent/control.sock"; }
  void start() {
    control::ControlOptions options;
    options.socket_path = socket();
    options.clock = &system_clock_;
    options.transfers_pause = milliseconds(1);
    auto started = control::ControlServer::start(options, node_);
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
  }
  /// Once a watcher has seen all: the next of these; then the node ends.
  void play(std::vector<std::function<void()>> steps) {
    node_.on_all_told = [this, steps = std::move(steps), next = std::size_t{0}]() mutable {
      if (next < steps.size()) return steps[next++]();
      if (next++ == steps.size()) stopper_ = std::jthread([this] { server_.reset(); });
    };
    start();
  }
  std::vector<Json> events() const {
    std::vector<Json> all;
    std::istringstream lines(out_);
    for (std::string line; std::getline(lines, line);) all.push_back(Json::parse(line));
    return all;
  }

  SystemClock system_clock_;
  FakeNode node_;
  std::unique_ptr<control::ControlServer> server_;
  std::jthread stopper_;
};

TEST_F(WatchTransfers, EachChangeIsAnEventWithoutPeers) {
  node_.add(transfer_id(1), TransferState::kFetching);
  play({[this] { EXPECT_TRUE(node_.change(transfer_id(1), TransferState::kPaused)); },
        [this] { node_.remove(transfer_id(1)); }});
  EXPECT_NE(run({"--json", "transfers", "--watch"}), 0) << "the node ended, not the person";
  const auto told = events();
  ASSERT_GE(told.size(), 3U);
  EXPECT_EQ(told[0]["event"], "transfers");
  EXPECT_EQ(told[0]["snapshot"], true);
  EXPECT_EQ(told[0]["last_page"], true);
  EXPECT_EQ(told[0]["transfers"][0]["state"], "fetching");
  EXPECT_FALSE(told[0]["transfers"][0].contains("peers"));
  EXPECT_EQ(told[0]["limits"]["upload_bits_per_s"], 0);
  EXPECT_EQ(told[1]["snapshot"], false);
  EXPECT_EQ(told[1]["transfers"][0]["state"], "paused");
  EXPECT_EQ(told[2]["transfers"], Json::array());
  EXPECT_EQ(told[2]["removed"], Json::array({transfer_id(1).str()}));
}

TEST_F(WatchTransfers, PeopleSeeATableOfAll) {
  node_.add(transfer_id(1), TransferState::kFetching);
  node_.add(transfer_id(2), TransferState::kSeeding);
  play({});
  EXPECT_NE(run({"transfers", "--watch"}), 0);
  EXPECT_THAT(out_, HasSubstr("fetching"));
  EXPECT_THAT(out_, HasSubstr("seeding"));
}

TEST_F(WatchTransfers, AnOlderNodeIsAskedAgainAndAgain) {
  OlderNode older(socket());
  older.put(transfer_id(1).str(), "fetching");
  int lists = 0;
  older.on_list = [&] {
    if (++lists == 2) older.put(transfer_id(1).str(), "seeding");
    if (lists == 4) stopper_ = std::jthread([&] { older.stop(); });  // three answers have gone out
  };
  EXPECT_NE(run({"--json", "transfers", "--watch"}), 0);
  stopper_ = {};  // it stops `older`
  const auto told = events();
  ASSERT_GE(told.size(), 3U);
  EXPECT_EQ(told[0]["transfers"][0]["state"], "fetching");
  EXPECT_EQ(told[1]["transfers"][0]["state"], "seeding");
}

}  // namespace
}  // namespace gridtorrent::client::cli
