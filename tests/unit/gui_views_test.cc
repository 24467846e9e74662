#include <gtest/gtest.h>

#include <QAccessible>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QPushButton>
#include <QScreen>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <QTreeView>
#include <QUrl>
#include <algorithm>

#include "gui/views/details_pane.h"
#include "gui/views/find_page.h"
#include "gui/views/main_window.h"
#include "gui/views/notice_bar.h"
#include "gui/views/publish_dialog.h"
#include "gui/views/transfers_page.h"

namespace gridtorrent::gui {
namespace {

const Format kFormat(QLocale(QLocale::English, QLocale::UnitedKingdom));

Connections connected() {
  Connections connections;
  connections.node.state = connections.server.state = LinkState::kConnected;
  connections.account = "alice @ data.example.org";
  return connections;
}

TransferRow transfer(std::string id, std::string name) {
  TransferRow row;
  row.id = std::move(id);
  row.name = std::move(name);
  row.owner = "bob";
  row.state = TransferState::kFetching;
  row.verified_bytes = 71;
  row.total_bytes = 100;
  row.down_bits_per_s = 842'000'000;
  return row;
}

class Window : public testing::Test {
 protected:
  void SetUp() override {
    window_.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
  }
  template <class Widget>
  Widget* shown(const QString& accessible_name) {
    for (Widget* widget : window_.findChildren<Widget*>())
      if (widget->accessibleName() == accessible_name && widget->isVisible()) return widget;
    return nullptr;
  }
  QStringList visible_texts() {
    QStringList texts;
    for (const QLabel* label : window_.findChildren<QLabel*>())
      if (label->isVisible()) texts.append(label->text());
    return texts;
  }
  void press(Qt::Key key) { QTest::keyClick(&window_, key, Qt::ControlModifier); }

  TransfersModel transfers_{kFormat};
  SearchModel found_{kFormat};
  MainWindow window_{transfers_, found_, kFormat};
};

TEST_F(Window, WithoutASessionSaysWhatToDoFirst) {
  EXPECT_TRUE(visible_texts().contains(QStringLiteral("Join a server first")));
  auto* command = shown<QLineEdit>(QStringLiteral("Command"));
  ASSERT_NE(command, nullptr);
  EXPECT_TRUE(command->text().startsWith(QStringLiteral("gridtorrent join ")));
  Connections connections = connected();
  connections.node.state = LinkState::kNone;
  window_.set_connections(connections);
  EXPECT_EQ(command->text(), QStringLiteral("gridtorrent node start"));
  window_.set_connections(connected());
  EXPECT_EQ(shown<QLineEdit>(QStringLiteral("Command")), nullptr);
}

TEST_F(Window, NamesTheCommandForWhatItCannotShowYet) {
  window_.set_connections(connected());
  press(Qt::Key_3);
  auto* command = shown<QLineEdit>(QStringLiteral("Command"));
  ASSERT_NE(command, nullptr);
  EXPECT_EQ(command->text(), QStringLiteral("gridtorrent inbox"));
  press(Qt::Key_2);
  EXPECT_EQ(shown<QLineEdit>(QStringLiteral("Command")), nullptr);
}

TEST_F(Window, SaysThatTheServerIsSilentWithoutTakingThePageAway) {
  Connections connections = connected();
  connections.server = {LinkState::kSilent, 0, std::chrono::seconds(8)};
  window_.set_connections(connections);
  EXPECT_TRUE(window_.notice_bar().isVisible());
  EXPECT_TRUE(window_.transfers_page().isVisible());
  QSignalSpy retry(&window_.notice_bar(), &NoticeBar::retry_wanted);
  window_.notice_bar().findChildren<QPushButton*>().front()->click();
  EXPECT_EQ(retry.count(), 1);
  window_.set_connections(connected());
  EXPECT_FALSE(window_.notice_bar().isVisible());
}

TEST_F(Window, AsksToPauseWhatIsSelectedByKeysAlone) {
  window_.set_connections(connected());
  transfers_.replace({transfer("x1", "a"), transfer("x2", "b"), transfer("x3", "c")});
  std::vector<std::string> paused;
  QObject::connect(&window_.transfers_page(), &TransfersPage::pause_wanted,
                   [&](const std::vector<std::string>& ids) { paused = ids; });
  auto* table = shown<QTableView>(QStringLiteral("Transfers"));
  ASSERT_NE(table, nullptr);
  table->setFocus();
  table->setCurrentIndex(transfers_.index(0, 0));
  QTest::keyClick(table, Qt::Key_Down, Qt::ShiftModifier);
  QTest::keyClick(table, Qt::Key_P, Qt::ControlModifier);
  std::ranges::sort(paused);
  EXPECT_EQ(paused, (std::vector<std::string>{"x1", "x2"}));
}

TEST_F(Window, TellsAnEmptyListFromAFilterThatFitsNothing) {
  window_.set_connections(connected());
  EXPECT_TRUE(
      visible_texts().contains(QStringLiteral("Nothing here yet. Drop a folder to publish it, or find a data set.")));
  transfers_.replace({transfer("x1", "a")});
  EXPECT_NE(shown<QTableView>(QStringLiteral("Transfers")), nullptr);
  auto* filter = shown<QLineEdit>(QStringLiteral("Filter transfers by name or owner"));
  ASSERT_NE(filter, nullptr);
  filter->setText(QStringLiteral("zzz"));
  EXPECT_TRUE(visible_texts().contains(QStringLiteral("None of 1 transfers fits the filter.")));
}

TEST_F(Window, ShowsHostileNamesInLabelsThatTakePlainTextOnly) {
  window_.set_connections(connected());
  TransferRow hostile = transfer("x1", "<b>bold</b>\n\xE2\x80\xAE");
  hostile.message = "<img src='file:///etc/passwd'>";
  transfers_.replace({hostile});
  shown<QTableView>(QStringLiteral("Transfers"))->setCurrentIndex(transfers_.index(0, 0));
  EXPECT_TRUE(visible_texts().contains(QStringLiteral("bob/<b>bold</b>\\n\\u202e")));
  for (const QLabel* label : window_.findChildren<QLabel*>())
    EXPECT_TRUE(label->textFormat() == Qt::PlainText || !label->text().contains(u'<')) << label->text().toStdString();
}

TEST_F(Window, KeepsSelectedWhatAFilterLeavesAlsoOfTwentyThousand) {
  window_.set_connections(connected());
  std::vector<TransferRow> rows;
  for (int i = 0; i < 20'000; ++i) rows.push_back(transfer("x" + std::to_string(i), "run " + std::to_string(i)));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].down_bits_per_s = i * 7919 % 20'011;
  transfers_.replace(rows);
  auto* table = shown<QTableView>(QStringLiteral("Transfers"));
  table->selectionModel()->select(QItemSelection(transfers_.index(0, 0), transfers_.index(9'999, 7)),
                                  QItemSelectionModel::Select);
  QElapsedTimer timer;
  const auto say = [&](const char* what) {
    QCoreApplication::processEvents();
    std::printf("  %s: %.2f ms\n", what, static_cast<double>(timer.nsecsElapsed()) / 1e6);
    timer.restart();
  };
  timer.start();
  table->sortByColumn(TransfersModel::kDown, Qt::DescendingOrder);
  say("re-sort and repaint, half of 20,000 selected");
  auto* filter = shown<QLineEdit>(QStringLiteral("Filter transfers by name or owner"));
  filter->setText(QStringLiteral("99"));
  say("filter and repaint, half selected and scattered");
  filter->clear();
  say("filter taken off");
  const QModelIndexList selected = table->selectionModel()->selectedRows();
  EXPECT_EQ(transfers_.rowCount(), 20'000);
  ASSERT_GT(selected.size(), 0);
  for (const QModelIndex& index : selected) {
    const int number = std::stoi(transfers_.at(index)->id.substr(1));
    EXPECT_LT(number, 10'000);
    EXPECT_NE(transfers_.at(index)->name.find("99"), std::string::npos);
  }
}

TEST_F(Window, EmptiesTheDetailsOfTheTransferBefore) {
  window_.set_connections(connected());
  transfers_.replace({transfer("x1", "a"), transfer("x2", "b")});
  auto* table = shown<QTableView>(QStringLiteral("Transfers"));
  table->setCurrentIndex(transfers_.index_of("x1"));
  DetailsPane& details = window_.transfers_page().details();
  details.set_history({{{1'800'000'000'000, 1000, 5, 1}}, {{1'800'000'000'000, 1, 2, {}, "more"}}}, 1'800'000'001'000);
  const auto* decisions = details.findChild<QListWidget*>();
  EXPECT_EQ(decisions->count(), 1);
  std::string asked;
  QObject::connect(&window_.transfers_page(), &TransfersPage::current_changed,
                   [&](const std::string& id) { asked = id; });
  table->setCurrentIndex(transfers_.index_of("x2"));
  EXPECT_EQ(asked, "x2");
  EXPECT_EQ(details.transfer(), "x2");
  EXPECT_EQ(decisions->count(), 0);
}

TEST_F(Window, NamesNothingInTheOverviewBeforeATransferIsChosen) {
  window_.set_connections(connected());
  transfers_.apply({{transfer("x1", "one")}, {}});
  EXPECT_TRUE(visible_texts().contains(QStringLiteral("Choose a transfer above.")));
  EXPECT_FALSE(visible_texts().contains(QStringLiteral("Name")));
  shown<QTableView>(QStringLiteral("Transfers"))->setCurrentIndex(transfers_.index(0, 0));
  EXPECT_FALSE(visible_texts().contains(QStringLiteral("Choose a transfer above.")));
  EXPECT_TRUE(visible_texts().contains(QStringLiteral("Name")));
}

TEST_F(Window, OffersToPublishWhatIsDroppedButNoPageOfTheWeb) {
  const auto drop = [&](const QUrl& url) {
    QMimeData data;
    data.setUrls({url});
    QDragEnterEvent enter({5, 5}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window_, &enter);
    if (!enter.isAccepted()) return;
    QDropEvent event({5, 5}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window_, &event);
  };
  drop(QUrl(QStringLiteral("https://example.org/x")));
  EXPECT_FALSE(window_.publish_dialog().isVisible());
  drop(QUrl::fromLocalFile(QStringLiteral("/data/run 7")));
  EXPECT_TRUE(window_.publish_dialog().isVisible());
  EXPECT_EQ(window_.publish_dialog().draft().path, "/data/run 7");
}

TEST_F(Window, OffersToPublishByAKey) {
  window_.set_connections(connected());
  press(Qt::Key_N);
  EXPECT_TRUE(window_.publish_dialog().isVisible());
}

TEST_F(Window, SaysThatNothingIsHereWhenTheLastTransferHasGone) {
  window_.set_connections(connected());
  transfers_.replace({transfer("x1", "a")});
  transfers_.apply({{}, {"x1"}});
  EXPECT_TRUE(
      visible_texts().contains(QStringLiteral("Nothing here yet. Drop a folder to publish it, or find a data set.")));
}

TEST_F(Window, OffersForEachTransferTheWordThatEndsIt) {
  window_.set_connections(connected());
  TransferRow seeding = transfer("x2", "b");
  seeding.state = TransferState::kSeeding;
  TransferRow failed = transfer("x3", "c");
  failed.state = TransferState::kFailed;
  transfers_.replace({transfer("x1", "a"), seeding, failed});
  auto* table = shown<QTableView>(QStringLiteral("Transfers"));
  table->setFocus();
  std::vector<std::pair<Ending, std::string>> asked;
  QObject::connect(&window_.transfers_page(), &TransfersPage::end_wanted,
                   [&](Ending ending, const std::vector<std::string>& ids) {
                     for (const std::string& id : ids) asked.emplace_back(ending, id);
                   });
  table->selectAll();
  QTest::keyClick(table, Qt::Key_T, Qt::ControlModifier);
  QTest::keyClick(table, Qt::Key_Delete);
  QTest::keyClick(table, Qt::Key_K, Qt::ControlModifier);
  EXPECT_EQ(asked, (std::vector<std::pair<Ending, std::string>>{
                       {Ending::kStopSeeding, "x2"}, {Ending::kForget, "x3"}, {Ending::kCancel, "x1"}}));
  asked.clear();
  table->selectionModel()->setCurrentIndex(transfers_.index_of("x1"),
                                           QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  QTest::keyClick(table, Qt::Key_T, Qt::ControlModifier);
  EXPECT_TRUE(asked.empty()) << "it does not seed";
}

TEST_F(Window, IsArrangedAsItWasBefore) {
  const WindowSettings settings{.width = 900,
                                .height = 600,
                                .maximized = false,
                                .page = "find",
                                .folder = "/scratch",
                                .transfers_columns = "lanes:120 name:300",
                                .found_columns = "owner:77 name:200"};
  MainWindow other(transfers_, found_, kFormat);
  other.apply(settings);
  const WindowSettings kept = other.settings();
  EXPECT_EQ(kept.width, std::min(900, other.screen()->availableSize().width()));
  EXPECT_EQ(kept.page, "find");
  EXPECT_EQ(kept.folder, "/scratch");
  EXPECT_TRUE(kept.transfers_columns.starts_with("lanes:120 name:300"));
  EXPECT_TRUE(kept.found_columns.starts_with("owner:77 name:200"));
}

TEST_F(Window, OffersOtherFilesOfWhatFetches) {
  window_.set_connections(connected());
  TransferRow seeding = transfer("x2", "b");
  seeding.state = TransferState::kSeeding;
  transfers_.replace({transfer("x1", "a"), seeding});
  auto* table = shown<QTableView>(QStringLiteral("Transfers"));
  DetailsPane& details = window_.transfers_page().details();
  details.setCurrentIndex(2);
  std::vector<std::uint32_t> wanted;
  QObject::connect(&details, &DetailsPane::files_wanted,
                   [&](const std::string& id, const std::vector<std::uint32_t>& places) {
                     EXPECT_EQ(id, "x1");
                     wanted = places;
                   });
  const auto fill = [&] {
    details.set_files(FileTree({{"one", 1, 7}, {"more/two", 2, 4}, {"more/three", 3, 3}}));
    details.set_chosen_files({7});
  };
  table->setCurrentIndex(transfers_.index_of("x2"));
  fill();
  EXPECT_EQ(shown<QPushButton>(QStringLiteral("Fetch the chosen files and no others")), nullptr) << "it is done";

  table->setCurrentIndex(transfers_.index_of("x1"));
  fill();
  auto* take = shown<QPushButton>(QStringLiteral("Fetch the chosen files and no others"));
  auto* back = shown<QPushButton>(QStringLiteral("Choose the files that are being fetched"));
  ASSERT_NE(take, nullptr);
  ASSERT_NE(back, nullptr);
  EXPECT_FALSE(take->isEnabled()) << "as it is";
  QAbstractItemModel& model = *shown<QTreeView>(QStringLiteral("Files"))->model();
  model.fetchMore({});
  EXPECT_EQ(model.index(0, 0).data(Qt::CheckStateRole), Qt::Unchecked);
  ASSERT_TRUE(model.setData(model.index(0, 0), Qt::Checked, Qt::CheckStateRole));
  EXPECT_TRUE(visible_texts().contains(QStringLiteral("Chosen: 3 of 3, 6 B")));
  details.set_chosen_files({7});
  EXPECT_TRUE(take->isEnabled()) << "what somebody is choosing stays";
  take->click();
  EXPECT_EQ(wanted, (std::vector<std::uint32_t>{3, 4, 7}));
  back->click();
  EXPECT_EQ(model.index(0, 0).data(Qt::CheckStateRole), Qt::Unchecked);
  EXPECT_FALSE(back->isEnabled());
  details.set_files(FileTree({{"one", 1, 7}, {"more/two", 2, 4}}));
  EXPECT_FALSE(take->isVisible()) << "which ones are chosen is not known yet";
  details.set_chosen_files({4, 7});
  EXPECT_TRUE(take->isVisible()) << "all of them";
  fill();
  model.fetchMore({});
  ASSERT_TRUE(model.setData(model.index(1, 0), Qt::Unchecked, Qt::CheckStateRole));
  EXPECT_FALSE(take->isEnabled()) << "no file at all";
}

TEST_F(Window, OffersToHoldARateOnlyOfWhatFetches) {
  window_.set_connections(connected());
  TransferRow seeding = transfer("x2", "b");
  seeding.state = TransferState::kSeeding;
  transfers_.replace({transfer("x1", "a"), seeding});
  auto* table = shown<QTableView>(QStringLiteral("Transfers"));
  DetailsPane& details = window_.transfers_page().details();
  std::string held;
  QObject::connect(&details, &DetailsPane::hold_wanted, [&](const std::string& id) { held = id; });
  QPushButton* hold = nullptr;
  for (QPushButton* button : details.findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("&Hold at…")) hold = button;
  ASSERT_NE(hold, nullptr);
  table->setCurrentIndex(transfers_.index_of("x2"));
  EXPECT_FALSE(hold->isEnabled());
  table->setCurrentIndex(transfers_.index_of("x1"));
  hold->click();
  EXPECT_EQ(held, "x1");
}

TEST_F(Window, KeepsHowColumnsWereArranged) {
  TransfersPage& page = window_.transfers_page();
  page.set_columns("lanes:120 name:300 -up:0 down:90");
  EXPECT_EQ(page.columns().substr(0, 36), "lanes:120 name:300 -up:0 down:90 sta");
}

TEST_F(Window, SearchesOnceAfterAPauseInTyping) {
  window_.set_connections(connected());
  press(Qt::Key_1);
  QSignalSpy wanted(&window_.find_page(), &FindPage::search_wanted);
  press(Qt::Key_F);
  auto* line = shown<QLineEdit>(QStringLiteral("Find data sets by a part of their name"));
  ASSERT_NE(line, nullptr);
  QTest::keyClicks(line, QStringLiteral("calib"));
  EXPECT_EQ(wanted.count(), 0);
  ASSERT_TRUE(wanted.wait(5000));
  EXPECT_EQ(wanted.count(), 1);
  EXPECT_EQ(wanted[0][0].value<SearchQuery>().text, "calib");
}

TEST_F(Window, SearchesByFiltersOnlyWhileTheyAreShown) {
  window_.set_connections(connected());
  window_.show_page(Page::kFind);
  window_.find_page().set_groups({"lab"});
  QSignalSpy wanted(&window_.find_page(), &FindPage::search_wanted);
  auto* filters = window_.find_page().findChild<QToolButton*>();
  ASSERT_NE(filters, nullptr);
  filters->setChecked(true);
  shown<QLineEdit>(QStringLiteral("Owner"))->setText(QStringLiteral("bob"));
  shown<QComboBox>(QStringLiteral("Group"))->setCurrentIndex(1);
  shown<QComboBox>(QStringLiteral("Published"))->setCurrentIndex(1);
  window_.find_page().ask_again();
  SearchQuery query = wanted.back()[0].value<SearchQuery>();
  EXPECT_EQ(query.owner, "bob");
  EXPECT_EQ(query.group, "lab");
  EXPECT_EQ(query.within, std::chrono::days(7));
  filters->setChecked(false);
  EXPECT_EQ(wanted.back()[0].value<SearchQuery>(), SearchQuery());
}

TEST_F(Window, GetsTheFilesThatAreChosen) {
  window_.set_connections(connected());
  window_.show_page(Page::kFind);
  FindPage& find = window_.find_page();
  FoundRow row;
  row.id = "c1";
  row.name = "run-7";
  row.bytes = 7;
  found_.add(found_.start(), {{row}, {}});
  find.set_folder(QStringLiteral("/scratch"));
  QSignalSpy files(&find, &FindPage::files_wanted);
  std::vector<std::string> globs;
  QObject::connect(&find, &FindPage::get_wanted,
                   [&](const std::string&, const QString&, const std::vector<std::string>& chosen) { globs = chosen; });
  shown<QTableView>(QStringLiteral("Data sets found"))->setCurrentIndex(found_.index(0, 0));
  EXPECT_EQ(files.count(), 0) << "nobody looks at them yet";
  find.findChild<QTabWidget*>()->setCurrentIndex(1);
  ASSERT_EQ(files.count(), 1);
  find.set_files("c0", FileTree({{"of another one", 1}}));
  find.set_files("c1", FileTree({{"raw/a", 2}, {"log", 5}}));
  auto* tree = shown<QTreeView>(QStringLiteral("Files to get"));
  ASSERT_NE(tree, nullptr);
  tree->model()->fetchMore({});
  ASSERT_EQ(tree->model()->rowCount(), 2);
  tree->setFocus();
  tree->setCurrentIndex(tree->model()->index(0, 0));
  QTest::keyClick(tree, Qt::Key_Space);
  EXPECT_TRUE(visible_texts().contains(QStringLiteral("Needs 2 B, free unknown")));
  QPushButton* get = nullptr;
  for (QPushButton* button : find.findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("&Get")) get = button;
  get->click();
  EXPECT_EQ(globs, (std::vector<std::string>{"/raw"}));
  tree->setCurrentIndex(tree->model()->index(1, 0));
  QTest::keyClick(tree, Qt::Key_Space);
  EXPECT_FALSE(get->isEnabled());
  EXPECT_TRUE(visible_texts().contains(QStringLiteral("Choose a file at least.")));
}

TEST_F(Window, SearchesAnewWhenThePageIsSeenAgainAndNothingIsChosen) {
  window_.set_connections(connected());
  FoundRow row;
  row.id = "c1";
  found_.add(found_.start(), {{row}, {}});
  QSignalSpy wanted(&window_.find_page(), &FindPage::search_wanted);
  window_.show_page(Page::kFind);
  EXPECT_EQ(wanted.count(), 1) << "somebody may have published meanwhile";
  shown<QTableView>(QStringLiteral("Data sets found"))->setCurrentIndex(found_.index(0, 0));
  window_.show_page(Page::kTransfers);
  window_.show_page(Page::kFind);
  EXPECT_EQ(wanted.count(), 1) << "a new list would take the choice away";
}

TEST_F(Window, GetsNothingWithoutADataSetAndAFolder) {
  window_.set_connections(connected());
  window_.show_page(Page::kFind);
  FoundRow row;
  row.id = "c1";
  row.name = "run-7";
  found_.add(found_.start(), {{row}, {}});
  std::string wanted;
  QObject::connect(&window_.find_page(), &FindPage::get_wanted,
                   [&](const std::string& id, const QString&, const std::vector<std::string>&) { wanted = id; });
  QPushButton* get = nullptr;
  for (QPushButton* button : window_.find_page().findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("&Get")) get = button;
  ASSERT_NE(get, nullptr);
  EXPECT_FALSE(get->isEnabled());
  shown<QTableView>(QStringLiteral("Data sets found"))->setCurrentIndex(found_.index(0, 0));
  EXPECT_FALSE(get->isEnabled());
  window_.find_page().set_folder(QStringLiteral("/scratch"));
  ASSERT_TRUE(get->isEnabled());
  get->click();
  EXPECT_EQ(wanted, "c1");
}

TEST_F(Window, ScreenReaderSpeaksTheDetailsThatAreShown) {
  window_.set_connections(connected());
  TransferRow failed = transfer("x1", "a");
  failed.message = "not yours to have any more";
  transfers_.replace({failed});
  shown<QTableView>(QStringLiteral("Transfers"))->setCurrentIndex(transfers_.index(0, 0));
  const auto labels = window_.transfers_page().details().findChildren<QLabel*>();
  const auto message = std::ranges::find(labels, QStringLiteral("not yours to have any more"), &QLabel::text);
  ASSERT_NE(message, labels.end());
  QAccessibleInterface* spoken = QAccessible::queryAccessibleInterface(*message);
  ASSERT_NE(spoken, nullptr);
  EXPECT_EQ(spoken->text(QAccessible::Name), QStringLiteral("not yours to have any more"));
  const auto titles = spoken->relations(QAccessible::Label);
  ASSERT_EQ(titles.size(), 1);
  EXPECT_EQ(titles.front().first->text(QAccessible::Name), QStringLiteral("Message"));
}

TEST_F(Window, HasANameForEverythingThatTakesTheFocus) {
  for (const QWidget* widget : window_.findChildren<QWidget*>()) {
    if (widget->focusPolicy() == Qt::NoFocus || qobject_cast<const QLabel*>(widget) != nullptr) continue;
    if (widget->objectName().startsWith(QStringLiteral("qt_"))) continue;  // parts of Qt's own widgets
    QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
    ASSERT_NE(interface, nullptr);
    const bool in_own_right = widget->parentWidget() == nullptr || !widget->parentWidget()->inherits("QComboBox");
    if (!in_own_right || qobject_cast<const QTabBar*>(widget) != nullptr || widget->inherits("QComboBoxListView"))
      continue;
    EXPECT_FALSE(interface->text(QAccessible::Name).isEmpty())
        << widget->metaObject()->className() << " in " << widget->parentWidget()->metaObject()->className();
  }
}

TEST_F(Window, FitsIntoItsLeastSize) {
  window_.set_connections(connected());
  window_.resize(760, 480);
  EXPECT_EQ(window_.size(), QSize(760, 480));
  EXPECT_LE(window_.minimumSizeHint().width(), 760);
  EXPECT_LE(window_.minimumSizeHint().height(), 480);
}

}  // namespace
}  // namespace gridtorrent::gui
