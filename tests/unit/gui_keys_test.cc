#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAccessible>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QRadioButton>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <map>
#include <set>

#include "gui/views/details_pane.h"
#include "gui/views/find_page.h"
#include "gui/views/main_window.h"
#include "gui/views/publish_dialog.h"
#include "gui/views/transfers_page.h"

namespace gridtorrent::gui {
namespace {

const Format kFormat(QLocale(QLocale::English, QLocale::UnitedKingdom));

/// The window with something on each page, as somebody sees it who has no mouse, or no screen.
class Keys : public testing::Test {
 protected:
  void SetUp() override {
    window_.resize(1280, 820);
    Connections connections;
    connections.node.state = LinkState::kConnected;
    connections.server = {LinkState::kSilent, 0, std::chrono::seconds(8)};  // the bar with its buttons is there, too
    connections.account = "alice @ data.example.org";
    window_.set_connections(connections);
    TransferRow transfer;
    transfer.id = "x1";
    transfer.name = "a";
    transfer.state = TransferState::kFetching;
    transfers_.replace({transfer});
    FoundRow found;
    found.id = "c1";
    found.name = "run-7";
    found_.add(found_.start(), {{found}, {}});
    for (QTableView* table : window_.findChildren<QTableView*>()) table->setCurrentIndex(table->model()->index(0, 0));
    window_.find_page().set_folder(QStringLiteral("/scratch"));
    window_.find_page().findChild<QToolButton*>()->setChecked(true);
    Explanation why;
    why.advice_command = "gridtorrent tune explain x1";
    window_.transfers_page().details().set_explanation(why);
    window_.show();
    window_.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  }

  /// Calls `look` with a name for each page and each of its tabs, while they are shown.
  void each_face(const std::function<void(const std::string&)>& look) {
    for (const Page page : kPages) {
      window_.show_page(page);
      const auto tabs = page == Page::kFind        ? window_.find_page().findChild<QTabWidget*>()
                        : page == Page::kTransfers ? &window_.transfers_page().details()
                                                   : nullptr;
      for (int tab = 0; tab < (tabs == nullptr ? 1 : tabs->count()); ++tab) {
        if (tabs != nullptr) tabs->setCurrentIndex(tab);
        look(std::string(page_key(page)) + " " + std::to_string(tab));
      }
    }
  }

  TransfersModel transfers_{kFormat};
  SearchModel found_{kFormat};
  MainWindow window_{transfers_, found_, kFormat};
};

std::vector<QWidget*> seen_widgets(QWidget& window) {
  std::vector<QWidget*> seen;
  for (QWidget* widget : window.findChildren<QWidget*>())
    if (widget->isVisible() && widget->window() == &window) seen.push_back(widget);
  return seen;
}

/// Radio buttons are one stop together: the arrow keys go from one to the other.
const QWidget* stop_of(const QWidget* widget) {
  return qobject_cast<const QRadioButton*>(widget) != nullptr ? widget->parentWidget() : widget;
}

std::vector<QWidget*> reachable_by_tab(QWidget& window) {
  std::vector<QWidget*> all;
  for (QWidget* widget : seen_widgets(window))
    if ((widget->focusPolicy() & Qt::TabFocus) != 0 && widget->isEnabled() && widget->focusProxy() == nullptr)
      all.push_back(widget);
  return all;
}

std::string described(const QWidget* widget) {
  return std::string(widget->metaObject()->className()) + " \"" + widget->accessibleName().toStdString() + '"';
}

void expect_no_key_twice(QWidget& window, const std::string& where) {
  std::map<std::string, int> keys;
  for (const QWidget* widget : seen_widgets(window)) {
    QString text;
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) text = button->text();
    if (const auto* label = qobject_cast<const QLabel*>(widget); label != nullptr && label->buddy() != nullptr)
      text = label->text();
    if (const QKeySequence key = QKeySequence::mnemonic(text); !key.isEmpty()) ++keys[key.toString().toStdString()];
  }
  for (const auto& [key, uses] : keys) EXPECT_EQ(uses, 1) << key << " on " << where;
}

/// As screen readers ask for it.
void expect_names(QWidget& window, const std::string& where) {
  for (QWidget* widget : reachable_by_tab(window)) {
    QAccessibleInterface* seen = QAccessible::queryAccessibleInterface(widget);
    ASSERT_NE(seen, nullptr);
    EXPECT_FALSE(seen->text(QAccessible::Name).isEmpty()) << described(widget) << " on " << where;
  }
}

void expect_tab_reaches_all(QWidget& window, const std::string& where) {
  const std::vector<QWidget*> all = reachable_by_tab(window);
  ASSERT_FALSE(all.empty());
  all.front()->setFocus();
  std::set<const QWidget*> reached;
  for (std::size_t i = 0; i <= all.size(); ++i) {
    reached.insert(stop_of(QApplication::focusWidget()));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
  }
  for (const QWidget* widget : all)
    EXPECT_TRUE(reached.contains(stop_of(widget))) << described(widget) << " on " << where;
}

TEST_F(Keys, NoneStandsForTwoThingsOnOnePage) {
  each_face([&](const std::string& where) { expect_no_key_twice(window_, where); });
}

TEST_F(Keys, EverythingThatTakesTheFocusHasAName) {
  each_face([&](const std::string& where) { expect_names(window_, where); });
}

TEST_F(Keys, TabReachesEverything) {
  each_face([&](const std::string& where) { expect_tab_reaches_all(window_, where); });
}

TEST(KeysOfTheDialogForPublishing, AreAsGood) {
  PublishDialog dialog(kFormat);
  dialog.open_for({QStringLiteral("/data/x")});
  dialog.set_scan({.files = 1, .bytes = 1, .skipped = 1, .warnings = {"a link"}, .name = "", .complete = true});
  for (auto* button : dialog.findChildren<QAbstractButton*>())
    if (button->text() == QStringLiteral("T&hese:")) button->setChecked(true);
  dialog.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&dialog));
  expect_no_key_twice(dialog, "publish");
  expect_names(dialog, "publish");
  expect_tab_reaches_all(dialog, "publish");
}

}  // namespace
}  // namespace gridtorrent::gui
