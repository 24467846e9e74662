#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <algorithm>

#include <fstream>
#include <functional>
#include <memory>

#include "client/store/codec.h"
#include "client/store/rate_rows.h"
#include "client/store/schema.h"
#include "client/store/sqlite_store.h"
#include "tests/support/memory_node_store.h"
#include "tests/support/temp_folder.h"

namespace gridtorrent::testing {
namespace {

using namespace client;

/// What every NodeStore must do; the real one is opened anew for each look, so that only what is on disk counts.
class StoreMaker {
 public:
  virtual ~StoreMaker() = default;
  virtual NodeStore& store() = 0;
  virtual void reopen() {}
};

class MemoryMaker final : public StoreMaker {
 public:
  NodeStore& store() override { return store_; }

 private:
  MemoryNodeStore store_;
};

class SqliteMaker final : public StoreMaker {
 public:
  SqliteMaker() { SqliteMaker::reopen(); }
  NodeStore& store() override { return *store_; }
  void reopen() override {
    store_.reset();
    auto opened = store::SqliteStore::open({folder_.path(), {}});
    if (!opened) ADD_FAILURE() << opened.error().message;
    store_ = std::move(*opened);
  }

 private:
  TempFolder folder_;
  std::unique_ptr<store::SqliteStore> store_;
};

class NodeStoreContract : public ::testing::TestWithParam<const char*> {
 protected:
  NodeStoreContract() {
    if (std::string(GetParam()) == "sqlite") {
      maker_ = std::make_unique<SqliteMaker>();
    } else {
      maker_ = std::make_unique<MemoryMaker>();
    }
  }
  NodeStore& store() { return maker_->store(); }
  void reopen() { maker_->reopen(); }
  template <class T>
  T id() {
    return T::make(clock_.wall(), rng_);
  }
  TransferRow full_row() {
    TransferRow row;
    row.id = id<TransferId>();
    row.kind = TransferKind::kAttach;
    row.step = TransferStep::kFetch;
    row.paused = true;
    row.content = {id<ContentId>(), "name", "owner", 3,      "public", std::uint64_t{1} << 63, 4, "abcd", 5,
                   "pem",           true,   0,       "list", {}};
    row.base_name = "b\xff\n";
    row.target = "/t\xfe";
    row.globs = {"*.x", "\xff"};
    row.old_place = id<TransferId>();
    row.kept_globs = {"b*", "\xff"};
    row.lost = {false, true, false, false, false, false, false, true};
    row.kept_lost = std::vector<bool>(16, true);
    row.lanes_wish = 6;
    row.seeders_wish = 7;
    row.priority = -8;
    row.limit_bits_per_s = 9;
    row.wish = {"fixed", TuningMode::kBackground, 30, std::uint64_t{1} << 63, WallTime{31}};
    row.fetched = WallTime{32};
    row.source = "swarm";
    row.wanted_bytes = 10;
    row.verified_bytes = 20;
    row.received_bytes = 11;
    row.sent_bytes = 12;
    row.redundant_bytes = 13;
    row.fetch_time = std::chrono::milliseconds(14);
    row.lanes_peak = 15;
    row.peers = {{id<NodeId>(), 16, 17, 18}};
    row.error = Error{Code::kDisk, "full"};
    row.stamp = "stamp";
    row.checksums_due = true;
    row.clean = true;
    row.refused = true;
    row.unpublished = true;
    row.verified = WallTime{78};
    row.root = "/t";
    row.follow_links = true;
    row.replaces = id<TransferId>();
    row.umask = 027;
    row.unmarked = true;
    row.created = WallTime{19};
    return row;
  }
  SavedAudience audience(const std::string& list_id, std::uint64_t version, std::size_t members) {
    Audience made;
    for (std::size_t i = 0; i < members; ++i) {
      KeyPrint print{};
      print.fill(static_cast<std::uint8_t>(i + 1));
      made[print] = id<NodeId>();
    }
    return {{{list_id, version}, std::make_shared<const Audience>(std::move(made))}, WallTime{77}};
  }
  TuningRecord tuning(std::uint64_t sequence, bool running) {
    TuningRecord record;
    record.transfer = id<TransferId>();
    record.name = "ada/\xff\n";
    record.tuner = "auto";
    if (running) record.mode = TuningMode::kGreedy;
    record.running = running;
    record.sequence = sequence;
    record.elapsed = std::chrono::milliseconds(2000);
    record.findings.bits_per_s = std::uint64_t{1} << 40;
    record.findings.best_bits_per_s = 8;
    record.findings.limit = Limit::kReceiverCpu;
    record.findings.detail = "detail";
    record.findings.advice = {"advice", "sysctl -w x"};
    record.findings.target = TargetState{TargetState::Kind::kFloor, true, 30e6, 0.25, "held"};
    record.findings.sources = {{id<NodeId>(), 3, std::chrono::microseconds(5), std::chrono::microseconds(4), "cubic", 9,
                                0.0002, 10, 0.5, 0.25, 11, Limit::kSeeder}};
    record.samples = {{std::chrono::milliseconds(0), 1, 2, 3, Limit::kUnknown, 0, 4, 5},
                      {std::chrono::milliseconds(1000), 6, 7, 8, Limit::kLoss, 0, 0, 0}};
    record.decisions = {{1, std::chrono::milliseconds(0), 0, 4, 5, "auto: 4", Limit::kPath, 6, 0},
                        {2, std::chrono::milliseconds(900), 4, 8, 5, "auto: 8", Limit::kCap, std::nullopt, 0,
                         WallTime{1'700'000'000'000}}};
    return record;
  }
  TaskRow task_row(std::uint64_t sequence, decltype(Task::work) work = ListFolderTask{"raw"}) {
    TaskRow row;
    row.task.id = id<TaskId>();
    row.task.sequence = sequence;
    row.task.work = std::move(work);
    row.report.id = row.task.id;
    return row;
  }

  ManualClock clock_;
  SeededRng rng_{3};
  std::unique_ptr<StoreMaker> maker_;
};

void expect_equal(const TransferRow& a, const TransferRow& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.paused, b.paused);
  EXPECT_EQ(store::encode_content(a.content), store::encode_content(b.content));
  EXPECT_EQ(a.content.audience, b.content.audience);
  EXPECT_EQ(a.refused, b.refused);
  EXPECT_EQ(a.verified, b.verified);
  EXPECT_EQ(a.root, b.root);
  EXPECT_EQ(a.follow_links, b.follow_links);
  EXPECT_EQ(a.replaces, b.replaces);
  EXPECT_EQ(a.umask, b.umask);
  EXPECT_EQ(a.unmarked, b.unmarked);
  EXPECT_EQ(a.base_name, b.base_name);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.globs, b.globs);
  EXPECT_EQ(a.old_place, b.old_place);
  EXPECT_EQ(a.kept_globs, b.kept_globs);
  EXPECT_EQ(a.lost, b.lost);
  EXPECT_EQ(a.kept_lost, b.kept_lost);
  EXPECT_EQ(a.lanes_wish, b.lanes_wish);
  EXPECT_EQ(a.seeders_wish, b.seeders_wish);
  EXPECT_EQ(a.priority, b.priority);
  EXPECT_EQ(a.limit_bits_per_s, b.limit_bits_per_s);
  EXPECT_EQ(a.wish, b.wish);
  EXPECT_EQ(a.fetched, b.fetched);
  EXPECT_EQ(a.unpublished, b.unpublished);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.wanted_bytes, b.wanted_bytes);
  EXPECT_EQ(a.verified_bytes, b.verified_bytes);
  EXPECT_EQ(a.received_bytes, b.received_bytes);
  EXPECT_EQ(a.sent_bytes, b.sent_bytes);
  EXPECT_EQ(a.redundant_bytes, b.redundant_bytes);
  EXPECT_EQ(a.fetch_time, b.fetch_time);
  EXPECT_EQ(a.lanes_peak, b.lanes_peak);
  EXPECT_EQ(a.peers, b.peers);
  EXPECT_EQ(a.error, b.error);
  EXPECT_EQ(a.stamp, b.stamp);
  EXPECT_EQ(a.checksums_due, b.checksums_due);
  EXPECT_EQ(a.clean, b.clean);
  EXPECT_EQ(a.created, b.created);
}

TEST_P(NodeStoreContract, ManyTransfersAreWrittenAtOnce) {
  std::vector<TransferRow> rows{full_row(), full_row()};
  ASSERT_TRUE(store().put_transfers(rows).ok());
  rows[1].priority = 5;
  rows.push_back(full_row());
  ASSERT_TRUE(store().put_transfers(rows).ok());
  reopen();
  auto kept = *store().transfers();
  ASSERT_EQ(kept.size(), 3u);
  for (const auto& row : rows) expect_equal(*std::ranges::find(kept, row.id, &TransferRow::id), row);
}

RatePoint rate_point(std::int64_t at_ms) {
  return {WallTime{at_ms}, std::chrono::milliseconds(1003), std::uint64_t{1} << 40, 5, 300, 2};
}

TEST_P(NodeStoreContract, RatesAreKeptByTransferAndBlock) {
  const TransferRow row = full_row(), other = full_row();
  ASSERT_TRUE(store().put_transfers(std::vector{row, other}).ok());
  const WallTime now{1'700'000'000'000};
  const RateBlock coarse{row.id, false, {rate_point(now.ms - 90'000)}};
  RateBlock fine{row.id, true, {rate_point(now.ms - 2000)}};
  ASSERT_TRUE(store().put_rates(std::vector{fine, coarse, RateBlock{other.id, true, fine.points}}, now).ok());
  fine.points.push_back(rate_point(now.ms - 3000));  // the clock was set back
  fine.points.push_back(rate_point(now.ms - 900));
  ASSERT_TRUE(store().put_rates(std::vector{fine}, now).ok());
  reopen();
  EXPECT_THAT(*store().rates(row.id, {}), ::testing::ElementsAre(coarse, fine));
  EXPECT_THAT(*store().rates(row.id, now - std::chrono::minutes(1)), ::testing::ElementsAre(fine));
  EXPECT_THAT(*store().rates(other.id, {}), ::testing::SizeIs(1));
}

TEST_P(NodeStoreContract, RatesGoWithTheirTransfer) {
  const TransferRow row = full_row();
  ASSERT_TRUE(store().put_transfer(row).ok());
  const WallTime now{1'700'000'000'000};
  const RateBlock block{row.id, true, {rate_point(now.ms)}};
  ASSERT_TRUE(store().put_rates({&block, 1}, now).ok());
  ASSERT_TRUE(store().erase_transfer(row.id).ok());
  EXPECT_THAT(*store().rates(row.id, {}), ::testing::IsEmpty());
  ASSERT_TRUE(store().put_rates({&block, 1}, now).ok()) << "it was forgotten meanwhile: passed over";
  EXPECT_THAT(*store().rates(row.id, {}), ::testing::IsEmpty());
}

TEST_P(NodeStoreContract, RatesThatAreTooOldGo) {
  const TransferRow row = full_row();
  ASSERT_TRUE(store().put_transfer(row).ok());
  const WallTime then{1'700'000'000'000};
  const RateBlock fine{row.id, true, {rate_point(then.ms)}}, coarse{row.id, false, {rate_point(then.ms)}};
  ASSERT_TRUE(store().put_rates(std::vector{fine, coarse}, then).ok());
  ASSERT_TRUE(store().put_rates({}, then + kSecondsKept).ok());
  EXPECT_THAT(*store().rates(row.id, {}), ::testing::ElementsAre(coarse));
  ASSERT_TRUE(store().put_rates({}, then + kRatesKept).ok());
  EXPECT_THAT(*store().rates(row.id, {}), ::testing::IsEmpty());
}

TEST(RateRows, WhatIsDamagedIsToldAndNotShown) {
  const std::string whole = store::encode_points(std::vector{rate_point(5), rate_point(3)});
  EXPECT_EQ(store::decode_points(whole)->size(), 2u);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto read = store::decode_points(std::string_view(whole).substr(0, size));
    const bool between_two = read && read->size() == 1;
    EXPECT_TRUE(between_two || read.error().code == Code::kCorrupt) << size;
  }
  EXPECT_EQ(store::decode_points(std::string(6 * 11, '\xff')).error().code, Code::kCorrupt);
}

TEST_P(NodeStoreContract, ListsOfWhoMayHaveContentAreKept) {
  const auto one = audience("one", 3, 2), none = audience("none", 1, 0);
  ASSERT_TRUE(store().put_audience(one).ok());
  ASSERT_TRUE(store().put_audience(none).ok());
  reopen();
  auto kept = *store().audiences();
  ASSERT_EQ(kept.size(), 2u);
  std::ranges::sort(kept, {}, [](const auto& each) { return each.list.ref.id; });
  EXPECT_EQ(kept[0].list.ref, none.list.ref);
  EXPECT_TRUE(kept[0].list.members->empty());
  EXPECT_EQ(*kept[1].list.members, *one.list.members);
  EXPECT_EQ(kept[1].confirmed, one.confirmed);
  const auto newer = audience("one", 4, 1);
  ASSERT_TRUE(store().put_audience(newer).ok());
  ASSERT_TRUE(store().erase_audience("none").ok());
  ASSERT_TRUE(store().erase_audience("none").ok());
  kept = *store().audiences();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(*kept[0].list.members, *newer.list.members);
}

TEST_P(NodeStoreContract, WhatIsConfirmedIsTheVersionThatIsThere) {
  EXPECT_EQ(*store().heard(), std::nullopt);
  auto one = audience("one", 3, 1), two = audience("two", 1, 1);
  ASSERT_TRUE(store().put_audience(one).ok());
  ASSERT_TRUE(store().put_audience(two).ok());
  one.confirmed = two.confirmed = WallTime{99};
  two.list.ref.version = 2;
  ASSERT_TRUE(store().note_confirmed(WallTime{88}, {one, two}).ok());
  reopen();
  EXPECT_EQ(*store().heard(), WallTime{88});
  const auto all = *store().audiences();
  for (const auto& kept : all) {
    EXPECT_EQ(kept.confirmed, WallTime{kept.list.ref.id == "one" ? 99 : 77}) << kept.list.ref.id;
  }
}

TEST_P(NodeStoreContract, TheListsOfManyTransfersChangeAtOnceAndNothingElseOfThem) {
  auto row = full_row();
  ASSERT_TRUE(store().put_transfer(row).ok());
  ASSERT_TRUE(store().set_audiences({{row.id, "another"}, {TransferId(), "of nobody"}}).ok());
  reopen();
  row.content.audience = "another";
  const auto rows = store().transfers();
  ASSERT_EQ(rows->size(), 1u);
  expect_equal(rows->front(), row);
}

TEST_P(NodeStoreContract, KeepsAllOfATransfer) {
  auto row = full_row();
  ASSERT_TRUE(store().put_transfer(row).ok());
  reopen();
  auto rows = store().transfers();
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 1u);
  expect_equal(rows->front(), row);
  row.error.reset();
  row.wish = {};
  row.step = TransferStep::kHold;
  ASSERT_TRUE(store().put_transfer(row).ok());
  reopen();
  expect_equal(store().transfers()->front(), row);
}

TEST_P(NodeStoreContract, ResumeDataGoesWithItsTransferAndSurvivesItsChanges) {
  const auto row = full_row();
  ASSERT_TRUE(store().save_resume(row.id, "early").ok());
  EXPECT_FALSE((*store().load_resume(row.id)).has_value()) << "nobody's";
  ASSERT_TRUE(store().put_transfer(row).ok());
  ASSERT_TRUE(store().save_resume(row.id, std::string("a\0b", 3)).ok());
  ASSERT_TRUE(store().put_transfer(row).ok());
  reopen();
  EXPECT_EQ(*store().load_resume(row.id), std::string("a\0b", 3));
  ASSERT_TRUE(store().erase_transfer(row.id).ok());
  reopen();
  EXPECT_FALSE((*store().load_resume(row.id)).has_value());
  EXPECT_TRUE(store().transfers()->empty());
}

TEST_P(NodeStoreContract, WhatIsKnownOfPublishedFilesGoesWithTheirTransfer) {
  const auto row = full_row();
  const KnownFiles known{{0, 1, 0x0102030405060708, ~std::uint64_t{0}}, std::string("s\0m", 3)};
  ASSERT_TRUE(store().save_known_files(row.id, known).ok());
  EXPECT_EQ(*store().load_known_files(row.id), KnownFiles{}) << "nobody's";
  ASSERT_TRUE(store().put_transfer(row).ok());
  ASSERT_TRUE(store().save_known_files(row.id, known).ok());
  ASSERT_TRUE(store().put_transfer(row).ok());
  reopen();
  EXPECT_EQ(*store().load_known_files(row.id), known);
  ASSERT_TRUE(store().erase_transfer(row.id).ok());
  EXPECT_EQ(*store().load_known_files(row.id), KnownFiles{});
}

TEST_P(NodeStoreContract, KeepsPublishes) {
  PublishRow row;
  row.request_id = "r";
  row.path = "/p\xff";
  row.name = "n";
  row.access = "public";
  row.transfer = id<TransferId>();
  row.created = WallTime{5};
  ASSERT_TRUE(store().put_publish(row).ok());
  row.done = true;
  row.published.id = id<ContentId>();
  row.published.bytes = 7;
  row.skipped = 3;
  row.lasting = PublishRow::Lasting{"d\n", "CC-BY-4.0", {"a", "b"}, true, {"skipped '/x\\xff'"}, {}, 1, 2, 3};
  row.lasting->as_before = true;
  row.rules = {.links = LinkRule::kKeep, .exclude = {"a\xff"}, .include = {"*.nc"}};
  ASSERT_TRUE(store().put_publish(row).ok());
  reopen();
  const auto rows = store().publishes();
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 1u);
  const auto& kept = rows->front();
  EXPECT_EQ(kept.path, row.path);
  EXPECT_EQ(kept.transfer, row.transfer);
  EXPECT_TRUE(kept.done);
  EXPECT_EQ(kept.published.id, row.published.id);
  EXPECT_EQ(kept.published.bytes, 7u);
  EXPECT_EQ(kept.skipped, 3u);
  EXPECT_EQ(kept.lasting, row.lasting);
  EXPECT_EQ(kept.rules, row.rules) << "bytes";
  ASSERT_TRUE(store().erase_publish("r").ok());
  EXPECT_TRUE(store().publishes()->empty());
}

void expect_equal(const TuningRecord& a, const TuningRecord& b) {
  EXPECT_EQ(a.transfer, b.transfer);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.tuner, b.tuner);
  EXPECT_EQ(a.mode, b.mode);
  EXPECT_EQ(a.running, b.running);
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.elapsed, b.elapsed);
  EXPECT_EQ(a.findings, b.findings);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.decisions, b.decisions);
}

TEST_P(NodeStoreContract, KeepsHowATransferWasTunedInPlaceOfWhatWasKept) {
  auto record = tuning(7, true);
  ASSERT_TRUE(store().put_tuning(record).ok());
  reopen();
  auto kept = store().tunings();
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  ASSERT_EQ(kept->size(), 1u);
  expect_equal(kept->front(), record);
  record.running = false;
  record.samples.pop_front();
  record.findings = {};
  ASSERT_TRUE(store().put_tuning(record).ok());
  reopen();
  expect_equal(store().tunings()->at(0), record);
}

TEST_P(NodeStoreContract, KeepsTheTuningOfAllThatRunAndOfTheLastHundredThatEnded) {
  const auto running = tuning(1, true), oldest = tuning(2, false);
  ASSERT_TRUE(store().put_tuning(running).ok());
  ASSERT_TRUE(store().put_tuning(oldest).ok());
  for (std::uint64_t i = 0; i < kEndedTunings; ++i) ASSERT_TRUE(store().put_tuning(tuning(103 - i, false)).ok());
  reopen();
  const auto kept = *store().tunings();
  ASSERT_EQ(kept.size(), kEndedTunings + 1);
  EXPECT_EQ(kept[0].transfer, running.transfer);
  EXPECT_EQ(kept[1].sequence, 4u) << "in order of sequence";
  EXPECT_EQ(kept.back().sequence, 103u);
}

TEST_P(NodeStoreContract, KeepsMetadataByName) {
  EXPECT_FALSE((*store().load_metadata("ab")).has_value());
  ASSERT_TRUE(store().save_metadata("ab", "document").ok());
  reopen();
  EXPECT_EQ(*store().load_metadata("ab"), "document");
}

TEST_P(NodeStoreContract, KeepsWhatPathsHaveCarriedByKey) {
  const PathFacts facts{id<NodeId>(),
                        "198.18.0.0/24",
                        "cubic",
                        std::chrono::microseconds(60'123),
                        2e-4,
                        true,
                        12,
                        3,
                        std::uint64_t{1} << 40,
                        5,
                        6,
                        7,
                        Limit::kLoss,
                        true};
  PathRecord record{{facts.node, facts.network, facts.congestion_control, 16, -4, true}, facts, 8, WallTime{9}};
  ASSERT_TRUE(store().put_path(record).ok());
  record.transfers = 9;
  record.facts.lanes = 13;
  ASSERT_TRUE(store().put_path(record).ok());
  PathRecord other = record;
  other.key.loss_decade = -5;
  ASSERT_TRUE(store().put_path(other).ok());
  reopen();
  EXPECT_THAT(*store().paths(), ::testing::UnorderedElementsAre(record, other));
  ASSERT_TRUE(store().erase_paths({other.key, {id<NodeId>(), "", "", 0, 0, false}}).ok());
  reopen();
  EXPECT_THAT(*store().paths(), ::testing::ElementsAre(record));
}

TEST_P(NodeStoreContract, TheCursorNeverGoesBack) {
  EXPECT_EQ(*store().task_cursor(), 0u);
  auto row = task_row(9);
  row.report.state = TaskState::kDone;
  ASSERT_TRUE(store().put_task(row).ok());
  ASSERT_TRUE(store().put_task(task_row(4)).ok());
  reopen();
  EXPECT_EQ(*store().task_cursor(), 9u);
}

TEST_P(NodeStoreContract, OpenTasksAreThoseNotEndedOrNotReported) {
  auto done = task_row(1), unreported = task_row(2), running = task_row(3);
  done.report.state = unreported.report.state = TaskState::kDone;
  unreported.report_pending = true;
  running.report.state = TaskState::kRunning;
  running.report.error = {Code::kDenied, "no"};
  running.transfer = id<TransferId>();
  for (const auto& row : {running, done, unreported}) ASSERT_TRUE(store().put_task(row).ok());
  reopen();
  const auto open = store().open_tasks();
  ASSERT_TRUE(open.ok()) << open.error().message;
  ASSERT_EQ(open->size(), 2u);
  EXPECT_EQ((*open)[0].task.id, unreported.task.id);
  EXPECT_EQ((*open)[1].transfer, running.transfer);
  EXPECT_EQ((*open)[1].report.error, running.report.error);
  EXPECT_TRUE((*store().find_task(done.task.id)).has_value());
  EXPECT_FALSE((*store().find_task(id<TaskId>())).has_value());
}

INSTANTIATE_TEST_SUITE_P(Stores, NodeStoreContract, ::testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST(SqliteStore, TakesATransferOfAnOlderVersionAsOneThatAsksNothingOfATuner) {
  TempFolder folder;
  const std::string path = folder / "node.db";
  {
    sql::Options options;
    options.path = path;
    options.application_id = store::kApplicationId;
    options.migrations = std::span(store::kMigrations).first(6);
    auto older = sql::Database::open(std::move(options));
    ASSERT_TRUE(older.ok()) << older.error().message;
    SeededRng rng(5);
    const std::string content = ContentId::make({1}, rng).str();
    const auto insert = [&](sql::Transaction& tx, const char* step) {
      return tx.exec(
          "INSERT INTO transfer(transfer_id, kind, step, paused, content_id, version, name, owner, access_level, "
          "bytes, "
          "files, metadata_sha256, generation, ca_pem, withdrawn, base_name, target, globs, old_place, lanes_wish, "
          "seeders_wish, priority, limit_bits_per_s, source, wanted_bytes, verified_bytes, received_bytes, sent_bytes, "
          "redundant_bytes, fetch_ms, lanes_peak, peers, stamp, checksums_due, clean, created_ms) VALUES (?, 'get', ?, "
          "0, ?, 1, 'n', 'o', 'public', 1, 1, '', 0, '', 0, x'61', x'2f', '[]', '', 3, 0, 0, 0, '', 1, 0, 0, "
          "0, "
          "0, 0, 0, '[]', '', 0, 0, 1)",
          {TransferId::make({1}, rng).str(), step, content});
    };
    const auto written = (*older)->write([&](sql::Transaction& tx) -> Status {
      GT_TRY(insert(tx, "fetch"));
      return insert(tx, "hold");
    });
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  const auto opened = store::SqliteStore::open({folder.path(), {}});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const auto rows = (*opened)->transfers();
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 2u);
  for (const TransferRow& row : *rows) {
    EXPECT_EQ(row.lanes_wish, 3);
    EXPECT_EQ(row.wish, TuningWish{});
    EXPECT_EQ(row.fetched, WallTime{});
    EXPECT_EQ(row.unmarked, row.step == TransferStep::kFetch) << "a staging folder of then has no mark";
  }
}

TEST(SqliteStore, RefusesADamagedDatabase) {
  TempFolder folder;
  std::ofstream(folder / "node.db") << "this is no database, and long enough to be read as a header of one ...........";
  const auto opened = store::SqliteStore::open({folder.path(), {}});
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace gridtorrent::testing
