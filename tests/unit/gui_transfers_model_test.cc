#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QItemSelectionModel>
#include <QSignalSpy>
#include <QTextDocument>
#include <map>
#include <random>

#include "common/rng.h"
#include "gui/models/transfers_model.h"

namespace gridtorrent::gui {
namespace {

constexpr auto kFatal = QAbstractItemModelTester::FailureReportingMode::Fatal;

TransferRow row(std::string id, std::string name, std::uint64_t down = 0) {
  TransferRow r;
  r.id = std::move(id);
  r.name = std::move(name);
  r.owner = "bob";
  r.state = down > 0 ? TransferState::kFetching : TransferState::kSeeding;
  r.verified_bytes = 71;
  r.total_bytes = 100;
  r.down_bits_per_s = down;
  r.lanes = down > 0 ? 12 : 0;
  r.seeders = down > 0 ? 3 : 0;
  return r;
}

std::vector<std::string> names(const TransfersModel& model) {
  std::vector<std::string> out;
  for (int i = 0; i < model.rowCount(); ++i) out.push_back(model.at(model.index(i, 0))->name);
  return out;
}

using Names = std::vector<std::string>;

class Transfers : public testing::Test {
 protected:
  TransfersModel model_{Format(QLocale(QLocale::English, QLocale::UnitedKingdom))};
  QAbstractItemModelTester tester_{&model_, kFatal};
};

TEST_F(Transfers, PassesOverTheRemovalOfWhatItNeverHad) {
  model_.apply({{row("x1", "a")}, {"x2", "x2"}});
  EXPECT_EQ(names(model_), Names{"a"});
  model_.apply({{row("x3", "c")}, {"x3"}});
  EXPECT_EQ(model_.size(), 1U) << "what is changed and removed in one delta is gone";
  EXPECT_EQ(model_.at(QModelIndex()), nullptr);
}

TEST_F(Transfers, AreSortedByRateFromTheFastestAndByNameFromA) {
  const auto first_order = [&](int column) {
    return model_.headerData(column, Qt::Horizontal, Qt::InitialSortOrderRole).value<Qt::SortOrder>();
  };
  EXPECT_EQ(first_order(TransfersModel::kUp), Qt::DescendingOrder);
  EXPECT_EQ(first_order(TransfersModel::kName), Qt::AscendingOrder);
}

TEST_F(Transfers, TakesTheSecondOfTwoChangesInOneDelta) {
  model_.set_filter({QStringLiteral("keep"), {}});
  model_.apply({{row("x1", "keep"), row("x1", "drop"), row("x2", "drop"), row("x2", "keep 2")}, {}});
  EXPECT_EQ(names(model_), Names{"keep 2"});
  model_.apply({{row("x2", "drop"), row("x2", "keep 3")}, {}});
  EXPECT_EQ(names(model_), Names{"keep 3"});
}

TEST_F(Transfers, SortNamesAsPeopleDo) {
  model_.replace({row("x1", "run 10"), row("x2", "Run 9"), row("x3", "alpha")});
  EXPECT_EQ(names(model_).front(), "alpha");
  model_.sort(TransfersModel::kName, Qt::DescendingOrder);
  EXPECT_EQ(names(model_).back(), "alpha");
}

TEST_F(Transfers, KeepTheirOrderUntilTheySettle) {
  model_.replace({row("x1", "a", 3), row("x2", "b", 2), row("x3", "c", 1)});
  model_.sort(TransfersModel::kDown, Qt::DescendingOrder);
  EXPECT_EQ(names(model_), (Names{"a", "b", "c"}));
  QSignalSpy moved(&model_, &QAbstractItemModel::layoutChanged);
  model_.apply({{row("x3", "c", 9), row("x4", "d", 5)}, {}});
  EXPECT_EQ(names(model_), (Names{"a", "b", "c", "d"}));
  model_.settle();
  EXPECT_EQ(names(model_), (Names{"c", "d", "a", "b"}));
  model_.settle();
  EXPECT_EQ(moved.count(), 1);
}

TEST_F(Transfers, TellOfADeltaInOneSignal) {
  model_.replace({row("x1", "a"), row("x2", "b"), row("x3", "c"), row("x4", "d")});
  QSignalSpy changed(&model_, &QAbstractItemModel::dataChanged);
  model_.apply({{row("x2", "b", 5), row("x4", "d", 6)}, {}});
  ASSERT_EQ(changed.count(), 1);
  EXPECT_EQ(changed[0][0].toModelIndex().row(), 1);
  EXPECT_EQ(changed[0][1].toModelIndex().row(), 3);
}

TEST_F(Transfers, RemoveScatteredRowsAsOneSpan) {
  std::vector<TransferRow> rows;
  for (char c = 'a'; c <= 'j'; ++c) rows.push_back(row(std::string("x") + c, std::string(1, c)));
  model_.replace(std::move(rows));
  QSignalSpy removed(&model_, &QAbstractItemModel::rowsRemoved);
  model_.apply({{}, {"xb", "xd", "xi"}});
  EXPECT_EQ(removed.count(), 1);
  EXPECT_EQ(names(model_), (Names{"a", "c", "e", "f", "g", "h", "j"}));
}

TEST_F(Transfers, StaySelectedWhereverTheyMove) {
  model_.replace({row("x1", "a", 1), row("x2", "b", 2), row("x3", "c", 3)});
  QItemSelectionModel selection(&model_);
  selection.select(model_.index_of("x1"), QItemSelectionModel::Select | QItemSelectionModel::Rows);
  model_.sort(TransfersModel::kDown, Qt::DescendingOrder);
  ASSERT_EQ(selection.selectedRows().size(), 1);
  EXPECT_EQ(model_.at(selection.selectedRows()[0])->id, "x1");
  model_.replace({row("x1", "z", 9), row("x9", "y", 1)});
  ASSERT_EQ(selection.selectedRows().size(), 1);
  EXPECT_EQ(model_.at(selection.selectedRows()[0])->id, "x1");
}

TEST_F(Transfers, AreFoundByAPartOfNameOrOwnerAndByState) {
  model_.replace({row("x1", "Calibration"), row("x2", "survey", 4)});
  model_.set_filter({QStringLiteral("CALIB"), {}});
  EXPECT_EQ(names(model_), Names{"Calibration"});
  model_.apply({{row("x3", "calib 2"), row("x1", "renamed")}, {}});
  EXPECT_EQ(names(model_), Names{"calib 2"});
  EXPECT_EQ(model_.size(), 3U);
  EXPECT_FALSE(model_.index_of("x2").isValid());
  model_.set_filter({QStringLiteral("bob/"), TransferState::kFetching});
  EXPECT_EQ(names(model_), Names{"survey"});
  model_.set_filter({});
  EXPECT_EQ(model_.rowCount(), 3);
}

TEST_F(Transfers, ShowHostileNamesAsPlainText) {
  TransferRow hostile = row("x1", "<b>a</b>\n\xE2\x80\xAE\xff");
  hostile.message = "<a href='x'>click</a>";
  model_.replace({hostile});
  const std::string plain = "<b>a</b>\\n\\u202e\\xff";
  EXPECT_EQ(model_.index(0, TransfersModel::kName).data().toString().toStdString(), plain);
  QTextDocument tip;
  tip.setHtml(model_.index(0, TransfersModel::kName).data(Qt::ToolTipRole).toString());
  EXPECT_EQ(tip.toPlainText().toStdString(), "bob/" + plain);
  tip.setHtml(model_.index(0, TransfersModel::kState).data(Qt::ToolTipRole).toString());
  EXPECT_EQ(tip.toPlainText().toStdString(), hostile.message);
}

TEST_F(Transfers, SayASentenceToScreenReaders) {
  TransferRow r = row("x1", "run-7", 842'000'000);
  r.left = std::chrono::seconds(120);
  r.limit_word = "receiver-cpu";
  model_.replace({r});
  EXPECT_EQ(
      model_.index(0, 0).data(Qt::AccessibleTextRole).toString().toStdString(),
      "run-7 of bob, fetching, 71 % of 100 B, 842 Mbit/s down, lanes 12, seeders 3, 2 min left, limited by CPU here.");
  EXPECT_EQ(model_.index(0, TransfersModel::kDown).data(Qt::AccessibleTextRole).toString().toStdString(),
            "Down: 842 Mbit/s");
}

/// What the model should hold, done in the plainest way.
class Mirror {
 public:
  TransferDelta random_delta(SeededRng& rng) {
    TransferDelta delta;
    for (std::uint64_t n = rng.below(12); n > 0; --n) {
      const std::string id = "x" + std::to_string(rng.below(60));
      TransferRow r = row(id, (rng.below(4) == 0 ? "new " : "run ") + std::to_string(rng.below(30)), rng.below(5));
      delta.changed.push_back(r);
      rows_[id] = r;
    }
    for (std::uint64_t n = rng.below(6); n > 0; --n) {
      const std::string id = "x" + std::to_string(rng.below(60));
      delta.removed.push_back(id);
      rows_.erase(id);
    }
    return delta;
  }
  std::vector<TransferRow> all() const {
    std::vector<TransferRow> out;
    for (const auto& [id, r] : rows_) out.push_back(r);
    return out;
  }
  void expect_shown(const TransfersModel& model, const std::string& part) const {
    std::size_t fitting = 0;
    for (const auto& [id, r] : rows_) {
      const QModelIndex index = model.index_of(id);
      const bool fits = r.name.find(part) != std::string::npos;
      fitting += fits ? 1 : 0;
      ASSERT_EQ(index.isValid(), fits) << id;
      if (!fits) continue;
      ASSERT_EQ(*model.at(index), r);
    }
    ASSERT_EQ(static_cast<std::size_t>(model.rowCount()), fitting);
    ASSERT_EQ(model.size(), rows_.size());
    std::uint64_t down = 0;
    for (const auto& [id, r] : rows_) down += r.down_bits_per_s;
    ASSERT_EQ(model.rates().down, down);
  }

 private:
  std::map<std::string, TransferRow> rows_;
};

TEST_F(Transfers, HoldWhatRandomDeltasSay) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRng rng(seed);
  Mirror mirror;
  std::string part;
  std::map<std::string, QPersistentModelIndex> held;
  for (int step = 0; step < 600 && !HasFatalFailure(); ++step) {
    model_.apply(mirror.random_delta(rng));
    if (rng.below(3) == 0) model_.settle();
    if (rng.below(20) == 0) model_.replace(mirror.all());
    if (rng.below(10) == 0)
      model_.sort(static_cast<int>(rng.below(8)), rng.below(2) == 0 ? Qt::AscendingOrder : Qt::DescendingOrder);
    if (rng.below(10) == 0) {
      part = rng.below(2) == 0 ? "" : "new";
      model_.set_filter({QString::fromStdString(part), {}});
    }
    for (const auto& [id, index] : held) ASSERT_TRUE(!index.isValid() || model_.at(index)->id == id) << id;
    if (model_.rowCount() > 0) {
      const QModelIndex some =
          model_.index(static_cast<int>(rng.below(static_cast<std::uint64_t>(model_.rowCount()))), 0);
      held[model_.at(some)->id] = some;
    }
    mirror.expect_shown(model_, part);
  }
  model_.sort(TransfersModel::kDown, Qt::DescendingOrder);
  for (int i = 1; i < model_.rowCount(); ++i)
    EXPECT_GE(model_.at(model_.index(i - 1, 0))->down_bits_per_s, model_.at(model_.index(i, 0))->down_bits_per_s);
}

TEST(ManyTransfers, AreTwentyThousandWithHalfOfThemSelected) {
  TransfersModel model{Format()};
  SeededRng rng(7);
  std::vector<TransferRow> rows;
  for (int i = 0; i < 20'000; ++i)
    rows.push_back(row("x" + std::to_string(i), "run " + std::to_string(rng.below(1 << 20)), 1));
  QElapsedTimer timer;
  const auto say = [&](const char* what) {
    std::printf("  %s: %.2f ms\n", what, static_cast<double>(timer.nsecsElapsed()) / 1e6);
    timer.restart();
  };
  timer.start();
  model.replace(rows);
  say("first snapshot of 20,000");
  QItemSelectionModel selection(&model);
  selection.select(QItemSelection(model.index(0, 0), model.index(9'999, 7)), QItemSelectionModel::Select);
  model.sort(TransfersModel::kDown, Qt::DescendingOrder);
  for (TransferRow& r : rows) r.down_bits_per_s = rng.below(1'000'000'000);
  TransferDelta delta;
  for (std::size_t i = 0; i < 2000; ++i) delta.changed.push_back(rows[i * 10]);
  timer.restart();
  model.apply(std::move(delta));
  say("delta of 2,000");
  model.settle();
  say("re-sort by rate, half selected");
  EXPECT_EQ(selection.selectedRows().size(), 10'000);
  timer.restart();
  model.set_filter({QStringLiteral("99"), {}});
  say("filter, half selected, scattered");
  model.set_filter({});
  say("filter taken off");
  EXPECT_EQ(model.rowCount(), 20'000);
  {
    const QAbstractItemModelTester tester(&model, kFatal);
  }
  EXPECT_GE(model.at(model.index(0, 0))->down_bits_per_s, model.at(model.index(1, 0))->down_bits_per_s);
}

}  // namespace
}  // namespace gridtorrent::gui
