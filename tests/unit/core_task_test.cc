#include <algorithm>

#include "common/text.h"
#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::TaskState;
using client::TransferState;

class Tasks : public NodeFixture {
 protected:
  client::Task task(std::uint64_t sequence, decltype(client::Task::work) work) {
    client::Task made;
    made.id = TaskId::make(clock_.wall(), rng_);
    made.sequence = sequence;
    made.work = std::move(work);
    return made;
  }
  std::optional<client::TaskReport> last_report(const TaskId& id) {
    return link_.with([&](auto& state) {
      std::optional<client::TaskReport> last;
      for (const auto& report : state.reports) {
        if (report.id == id) last = report;
      }
      return last;
    });
  }
  client::TaskReport ended(const TaskId& id) {
    EXPECT_TRUE(eventually([&] {
      const auto report = last_report(id);
      return report && report->state != TaskState::kRunning && report->state != TaskState::kDelivered;
    }));
    return last_report(id).value_or(client::TaskReport{});
  }
};

TEST_F(Tasks, OfAnUnknownKindAreReportedAsUnsupported) {
  const auto one = task(1, client::UnknownTask{"dance"});
  EXPECT_TRUE(link_.listener().task(one));
  EXPECT_EQ(ended(one.id).state, TaskState::kUnsupported);
}

TEST_F(Tasks, MayNotLeaveTheNamedRoots) {
  published("set");
  for (const auto* path : {"in:../etc", "in:/etc", "in:a/../../b", "nowhere:a", "in:a//b", "in:."}) {
    client::GetTask get;
    get.content = "set";
    get.root_path = path;
    const auto one = task(1, get);
    EXPECT_TRUE(link_.listener().task(one));
    const auto report = ended(one.id);
    EXPECT_EQ(report.state, TaskState::kFailed) << path;
    EXPECT_EQ(report.error.code, Code::kDenied) << path;
  }
  EXPECT_TRUE(node_->transfers().empty());
}

TEST_F(Tasks, SeeTheRootsAsTheyAreNow) {
  node_->reconfigure({{{"new", "/new"}}, {}, 2});
  const auto old_root = task(1, client::ListFolderTask{"raw"}), new_root = task(2, client::ListFolderTask{"new"});
  EXPECT_TRUE(link_.listener().task(old_root));
  EXPECT_TRUE(link_.listener().task(new_root));
  EXPECT_EQ(ended(old_root.id).error.code, Code::kDenied);
  EXPECT_EQ(ended(new_root.id).state, TaskState::kDone);
  ASSERT_EQ(node_->status().share_roots.size(), 1u);
  EXPECT_EQ(node_->status().share_roots.front().path, "/new");
}

TEST_F(Tasks, AreAcknowledgedAfterTheyAreWrittenDown) {
  const auto one = task(7, client::ListFolderTask{"raw"});
  EXPECT_TRUE(link_.listener().task(one));
  EXPECT_TRUE((*store_.find_task(one.id)).has_value());
  EXPECT_TRUE(
      eventually([&] { return link_.with([](auto& state) { return state.acks == std::vector<std::uint64_t>{7}; }); }));
  restart();
  EXPECT_EQ(link_.cursor(), 7u);
}

TEST_F(Tasks, GetsIntoTheFirstDownloadRootAndTellsTheResult) {
  published("set");
  client::GetTask get;
  get.content = "set";
  const auto one = task(1, get);
  EXPECT_TRUE(link_.listener().task(one));
  ASSERT_TRUE(eventually([&] { return !node_->transfers().empty(); }));
  const auto view = node_->transfers().front();
  EXPECT_EQ(view.path, "/in/data");
  complete(view.id);
  const auto report = ended(one.id);
  EXPECT_EQ(report.state, TaskState::kDone);
  EXPECT_NE(report.result_json.find("\"event\":\"done\""), std::string::npos);
}

TEST_F(Tasks, TellOfPatternsThatMeanNoFile) {
  published("set");
  client::GetTask get;
  get.content = "set";
  get.globs = {"*", "typo"};
  const auto one = task(1, get);
  EXPECT_TRUE(link_.listener().task(one));
  ASSERT_TRUE(eventually([&] { return !node_->transfers().empty(); }));
  complete(node_->transfers().front().id);
  EXPECT_NE(ended(one.id).result_json.find("\"unmatched\":[\"typo\"]"), std::string::npos)
      << last_report(one.id)->result_json;
}

TEST_F(Tasks, WhoseTimeIsPastAreDoneAndSayThatTheyAreLate) {
  published("set");
  client::GetTask get;
  get.content = "set";
  get.wish = {.mode = "background", .by = clock_.wall() - std::chrono::hours(1)};
  const auto one = task(1, get);
  EXPECT_TRUE(link_.listener().task(one));
  ASSERT_TRUE(eventually([&] { return !node_->transfers().empty(); }));
  EXPECT_EQ(node_->transfers().front().wish.mode, client::TuningMode::kBackground);
  complete(node_->transfers().front().id);
  const auto report = ended(one.id);
  EXPECT_EQ(report.state, TaskState::kDone);
  EXPECT_NE(report.result_json.find("\"in_time\":false"), std::string::npos) << report.result_json;
}

TEST_F(Tasks, ForATunerThatThisNodeLacksFailAndNameThoseThatItHas) {
  published("set");
  client::GetTask get;
  get.content = "set";
  get.wish.tuner = "later";
  const auto one = task(1, get);
  EXPECT_TRUE(link_.listener().task(one));
  const auto report = ended(one.id);
  EXPECT_EQ(report.state, TaskState::kFailed);
  EXPECT_EQ(report.error.code, Code::kInvalid);
  EXPECT_NE(report.error.message.find("auto, fixed"), std::string::npos) << report.error.message;
}

TEST_F(Tasks, MayChooseTheNameOnDiskUnlessItBeginsWithADot) {
  published("set");
  client::GetTask get;
  get.content = "set";
  get.base_name = ".ssh";
  const auto hidden = task(1, get);
  EXPECT_TRUE(link_.listener().task(hidden));
  const auto report = ended(hidden.id);
  EXPECT_EQ(report.error.code, Code::kDenied);
  EXPECT_NE(report.error.message.find(".ssh begins with a dot"), std::string::npos) << report.error.message;
  EXPECT_TRUE(node_->transfers().empty());
  get.base_name = "mine";
  EXPECT_TRUE(link_.listener().task(task(2, get)));
  ASSERT_TRUE(eventually([&] { return !node_->transfers().empty(); }));
  EXPECT_EQ(node_->transfers().front().path, "/in/mine");
}

TEST_F(Tasks, ThatUpdateReplaceNothingOutsideOfTheirFolder) {
  published("set");
  fetched(job("set"));  // into a folder that is no root
  client::GetTask get;
  get.content = "set";
  get.update = true;
  const auto one = task(1, get);
  EXPECT_TRUE(link_.listener().task(one));
  const auto report = ended(one.id);
  EXPECT_EQ(report.error.code, Code::kNotFound);
  EXPECT_NE(report.error.message.find("holds no earlier version of ada/set in that folder"), std::string::npos)
      << report.error.message;
}

TEST_F(Tasks, ThatAskForASeederFailAtOnceWhereThereIsNone) {
  published("set");
  client::GetTask get;
  get.content = "set";
  get.if_seeded = true;
  const auto one = task(1, get);
  EXPECT_TRUE(link_.listener().task(one));
  const auto report = ended(one.id);
  EXPECT_EQ(report.state, TaskState::kFailed);
  EXPECT_EQ(report.error.code, Code::kUnreachable);
  EXPECT_NE(report.error.message.find("nobody serves"), std::string::npos) << report.error.message;
}

TEST_F(Tasks, DeliveredTwiceHaveOneEffect) {
  published("set");
  client::GetTask get;
  get.content = "set";
  const auto one = task(1, get);
  EXPECT_TRUE(link_.listener().task(one));
  ASSERT_TRUE(eventually([&] { return !node_->transfers().empty(); }));
  EXPECT_TRUE(link_.listener().task(one));
  complete(node_->transfers().front().id);
  ended(one.id);
  EXPECT_TRUE(link_.listener().task(one));
  EXPECT_TRUE(eventually([&] { return link_.with([](auto& state) { return state.acks.size() == 3; }); }));
  EXPECT_EQ(engine_->added().size(), 1u);
  EXPECT_EQ(files_.count("verify /in/data"), 0);
}

TEST_F(Tasks, GoOnAfterARestart) {
  published("set");
  client::GetTask get;
  get.content = "set";
  const auto one = task(1, get);
  EXPECT_TRUE(link_.listener().task(one));
  ASSERT_TRUE(
      eventually([&] { return !node_->transfers().empty() && !(*store_.find_task(one.id))->transfer.is_nil(); }));
  restart();
  const auto id = node_->transfers().front().id;
  complete(id);
  EXPECT_EQ(ended(one.id).state, TaskState::kDone);
  EXPECT_EQ(node_->transfers().size(), 1u);
}

TEST_F(Tasks, ReportAgainUntilTheServerHasIt) {
  link_.with([](auto& state) { state.down = Error{Code::kUnreachable, "gone"}; });
  const auto one = task(1, client::ListFolderTask{"raw"});
  EXPECT_TRUE(link_.listener().task(one));
  EXPECT_TRUE(eventually([&] { return (*store_.find_task(one.id))->report.state == TaskState::kDone; }));
  EXPECT_TRUE((*store_.find_task(one.id))->report_pending);
  link_.with([](auto& state) { state.down.reset(); });
  link_.listener().connected();
  EXPECT_EQ(ended(one.id).state, TaskState::kDone);
  EXPECT_TRUE(eventually([&] { return !(*store_.find_task(one.id))->report_pending; }));
}

TEST_F(Tasks, AreAcknowledgedBegunAndReportedOnceABusyServerHasTime) {
  published("set");
  link_.with([](auto& state) { state.down = Error{Code::kBusy, "announce: too often"}; });
  client::GetTask get;
  get.content = "set";
  const auto one = task(3, get), two = task(4, client::ListFolderTask{"raw"});
  EXPECT_TRUE(link_.listener().task(one));
  EXPECT_TRUE(link_.listener().task(two));
  EXPECT_TRUE(eventually([&] { return (*store_.find_task(two.id))->report.state == TaskState::kDone; }));
  clock_.advance(std::chrono::seconds(5));
  EXPECT_TRUE(link_.with([](auto& state) { return state.acks.empty() && state.reports.empty(); }));
  link_.with([](auto& state) { state.down.reset(); });
  EXPECT_EQ(ended(two.id).state, TaskState::kDone);
  EXPECT_TRUE(
      eventually([&] { return link_.with([](auto& state) { return std::ranges::count(state.acks, 4) == 1; }); }));
  ASSERT_TRUE(eventually([&] { return !node_->transfers().empty(); }));
  complete(node_->transfers().front().id);
  EXPECT_EQ(ended(one.id).state, TaskState::kDone);
}

TEST_F(Tasks, WhoseContentIsUnknownEndAtOnce) {
  client::GetTask get;
  get.content = "nothing";
  const auto one = task(1, get);
  EXPECT_TRUE(link_.listener().task(one));
  EXPECT_EQ(ended(one.id).error.code, Code::kNotFound);
}

TEST_F(Tasks, StopSeedingKeepsTheFiles) {
  const auto content = published("set");
  const auto view = fetched(job("set"));
  link_.with([](auto& state) { state.contents["set"].withdrawn = true; });
  const auto one = task(1, client::StopSeedingTask{content.id});
  EXPECT_TRUE(link_.listener().task(one));
  EXPECT_EQ(ended(one.id).state, TaskState::kDone);
  EXPECT_EQ(wait_for(view.id, TransferState::kComplete).path, "/home/in/data");
  EXPECT_FALSE(engine_->torrent(view.id));
  EXPECT_EQ(files_.count("discard /home/in"), 0);
}

TEST_F(Tasks, ThatCannotBeWrittenDownAreNotTaken) {
  store_.fail(Error{Code::kDisk, "the disk is full"});
  const auto one = task(7, client::ListFolderTask{"raw"});
  const Status taken = link_.listener().task(one);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().message, "task " + one.id.str() + " is not taken: the disk is full");
  store_.fail(std::nullopt);
  EXPECT_TRUE(link_.listener().task(one)) << "it came again";
  EXPECT_EQ(ended(one.id).state, TaskState::kDone);
  link_.with([](auto& state) { EXPECT_EQ(state.acks, std::vector<std::uint64_t>{7}); });
}

TEST_F(Tasks, ThatFindMoreThanAServerTakesFailWithAWayOut) {
  files_.with([](auto& state) { state.listed.assign(10'000, {std::string(100, 'x'), metainfo::EntryKind::kFile, 3}); });
  const auto one = task(1, client::ListFolderTask{"raw"});
  EXPECT_TRUE(link_.listener().task(one));
  const auto report = ended(one.id);
  EXPECT_EQ(report.state, TaskState::kFailed);
  EXPECT_EQ(report.error.code, Code::kExhausted);
  EXPECT_NE(report.error.message.find("list one below it"), std::string::npos) << report.error.message;
  EXPECT_LT(report.result_json.size(), std::size_t{1} << 20);
}

TEST_F(Tasks, WhoseErrorIsLongerThanAServerTakesTellItsBeginning) {
  std::string kind;
  for (int i = 0; i < 5000; ++i) kind += "ä";
  const auto one = task(1, client::UnknownTask{kind});
  EXPECT_TRUE(link_.listener().task(one));
  const std::string message = ended(one.id).error.message;
  EXPECT_LE(message.size(), 8192U);
  EXPECT_GE(message.size(), 8190U);
  EXPECT_TRUE(is_valid_utf8(message));
}

TEST_F(Tasks, ThatAreNotKnownEndWhereSomebodyCancelsThem) {
  const auto one = task(1, client::ListFolderTask{"raw"});
  link_.listener().task_cancelled(one.id);
  const auto report = ended(one.id);
  EXPECT_EQ(report.state, TaskState::kCancelled);
  EXPECT_EQ(report.error.message, "this node no longer has it");
}

TEST_F(Tasks, CanBeCancelledWhileTheirGetBegins) {
  published("set");
  client::GetTask get;
  get.content = "set";
  const auto one = task(1, get);
  link_.with([&](auto& state) { state.while_asked = [&] { link_.listener().task_cancelled(one.id); }; });
  EXPECT_TRUE(link_.listener().task(one));
  EXPECT_EQ(ended(one.id).state, TaskState::kCancelled);
  EXPECT_TRUE(eventually([&] { return node_->transfers().empty(); }));
}

TEST_F(Tasks, CanBeCancelled) {
  published("set");
  client::GetTask get;
  get.content = "set";
  const auto one = task(1, get);
  EXPECT_TRUE(link_.listener().task(one));
  ASSERT_TRUE(eventually([&] { return !(*store_.find_task(one.id))->transfer.is_nil(); }));
  link_.listener().task_cancelled(one.id);
  EXPECT_EQ(ended(one.id).state, TaskState::kCancelled);
  EXPECT_TRUE(eventually([&] { return node_->transfers().empty(); }));
}

}  // namespace
}  // namespace gridtorrent::testing
