#include <gtest/gtest.h>

#include <QApplication>
#include <QCheckBox>
#include <QCompleter>
#include <QDialogButtonBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QTest>
#include <QUrl>

#include "gui/views/publish_dialog.h"
#include "gui/views/rate_dialog.h"
#include "gui/views/words_edit.h"

namespace gridtorrent::gui {
namespace {

const Format kFormat(QLocale(QLocale::English, QLocale::UnitedKingdom));

class Publishing : public testing::Test {
 protected:
  template <class Widget>
  Widget& named(const char* accessible_name) {
    for (Widget* widget : dialog_.findChildren<Widget*>())
      if (widget->accessibleName() == QLatin1String(accessible_name)) return *widget;
    ADD_FAILURE() << "there is no " << accessible_name;
    static Widget none;
    return none;
  }
  template <class Button>
  Button& button(const QString& text) {
    for (Button* one : dialog_.findChildren<Button*>())
      if (QString(one->text()).remove(u'&') == text) return *one;
    ADD_FAILURE() << "there is no " << text.toStdString();
    static Button none;
    return none;
  }
  bool shows(const QString& part) {
    for (const QLabel* label : dialog_.findChildren<QLabel*>())
      if (label->isVisible() && label->text().contains(part)) return true;
    return false;
  }

  PublishDialog dialog_{kFormat};
};

TEST_F(Publishing, NeedsAPathAndANameAndSaysSo) {
  dialog_.open_for({});
  auto& publish = button<QPushButton>(QStringLiteral("Publish"));
  EXPECT_FALSE(publish.isEnabled());
  EXPECT_TRUE(shows(QStringLiteral("Choose the file or folder to publish.")));
  dialog_.open_for({QStringLiteral("/data/run 7/")});
  EXPECT_EQ(dialog_.draft().name, "run 7") << "the folder's name is suggested";
  EXPECT_TRUE(publish.isEnabled());
  named<QLineEdit>("Name of the data set").clear();
  EXPECT_FALSE(publish.isEnabled());
}

TEST_F(Publishing, IsForOnlyMeUntilSomebodyChooses) {
  dialog_.open_for({QStringLiteral("/data/x")});
  EXPECT_EQ(access_of(dialog_.draft()), "private");
  EXPECT_TRUE(shows(QStringLiteral("Only you can find and get it")));
  EXPECT_FALSE(named<QLineEdit>("Groups, with commas between them").isEnabled());
  button<QRadioButton>(QStringLiteral("These:")).setChecked(true);
  EXPECT_FALSE(button<QPushButton>(QStringLiteral("Publish")).isEnabled()) << "nobody is named yet";
  named<QLineEdit>("Groups, with commas between them").setText(QStringLiteral("lab, "));
  button<QCheckBox>(QStringLiteral("My buddies")).setChecked(true);
  EXPECT_EQ(access_of(dialog_.draft()), "group:lab,buddies");
}

TEST_F(Publishing, AsksOnceAfterAPauseInTyping) {
  QSignalSpy preview(&dialog_, &PublishDialog::preview_wanted);
  QSignalSpy scan(&dialog_, &PublishDialog::scan_wanted);
  dialog_.open_for({QStringLiteral("/data/x")});
  button<QRadioButton>(QStringLiteral("These:")).setChecked(true);
  QTest::keyClicks(&named<QLineEdit>("People by their exact user names, with commas between them"),
                   QStringLiteral("mia"));
  EXPECT_EQ(preview.count(), 0);
  ASSERT_TRUE(preview.wait(5000));
  EXPECT_EQ(preview.count(), 1);
  EXPECT_EQ(preview[0][0].value<std::string>(), "user:mia");
  EXPECT_TRUE(scan.count() == 1 || scan.wait(5000));
  EXPECT_EQ(scan[0][0].toString(), QStringLiteral("/data/x"));
}

TEST_F(Publishing, PassesOverThePreviewOfAnEarlierAccess) {
  dialog_.open_for({QStringLiteral("/data/x")});
  dialog_.set_preview("user:mia", QStringLiteral("mia can find it"));
  EXPECT_FALSE(shows(QStringLiteral("mia can find it")));
  dialog_.set_preview("private", QStringLiteral("only alice can"));
  EXPECT_TRUE(shows(QStringLiteral("only alice can")));
}

TEST_F(Publishing, ShowsFilesBytesAndWhatIsSkippedAsPlainText) {
  dialog_.open_for({QStringLiteral("/data/x")});
  PublishScan scan{.files = 8412,
                   .bytes = 1'200'000'000'000,
                   .skipped = 1,
                   .warnings = {"<b>link</b>\n"},
                   .name = "X-ray",
                   .complete = true};
  dialog_.set_scan(scan);
  EXPECT_TRUE(shows(QStringLiteral("Files: 8,412, size: 1.20 TB")));
  EXPECT_EQ(named<QListWidget>("What is skipped, and why").item(0)->text(), QStringLiteral("<b>link</b>\\n"));
  EXPECT_EQ(dialog_.draft().name, "X-ray");
}

TEST_F(Publishing, LeavesANameThatSomebodyTyped) {
  dialog_.open_for({QStringLiteral("/data/x")});
  named<QLineEdit>("Name of the data set").setText(QStringLiteral("mine"));
  dialog_.set_scan({.files = 1, .bytes = 1, .skipped = 0, .warnings = {}, .name = "theirs", .complete = true});
  dialog_.open_for({QStringLiteral("/data/y")});
  EXPECT_EQ(dialog_.draft().name, "mine");
}

TEST_F(Publishing, TakesTheFirstOfSeveralThingsAndSaysSo) {
  dialog_.open_for({QStringLiteral("/data/x"), QStringLiteral("/data/y")});
  EXPECT_EQ(dialog_.draft().path, "/data/x");
  EXPECT_TRUE(shows(QStringLiteral("put them into one folder")));
  dialog_.open_for({QStringLiteral("/data/z")});
  EXPECT_FALSE(shows(QStringLiteral("put them into one folder")));
}

TEST_F(Publishing, TakesWhatIsDroppedOnIt) {
  dialog_.open_for({});
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(QStringLiteral("/data/run 7"))});
  QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&dialog_, &enter);
  ASSERT_TRUE(enter.isAccepted());
  QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&dialog_, &drop);
  EXPECT_EQ(dialog_.draft().path, "/data/run 7");
}

TEST_F(Publishing, StaysAsItIsWhileTheNodeIsAsked) {
  dialog_.open_for({QStringLiteral("/data/x")});
  button<QPushButton>(QStringLiteral("Publish")).click();
  dialog_.open_for({QStringLiteral("/data/y")});
  EXPECT_EQ(dialog_.draft().path, "/data/x");
  EXPECT_FALSE(named<QLineEdit>("Name of the data set").isEnabled());
  dialog_.set_refusal(QStringLiteral("the node does not answer"));
  EXPECT_TRUE(named<QLineEdit>("Name of the data set").isEnabled());
}

TEST_F(Publishing, KeepsTheDraftWhereItIsClosedOrRefused) {
  dialog_.open_for({QStringLiteral("/data/x")});
  named<QLineEdit>("Tags, with commas between them").setText(QStringLiteral("calib"));
  const PublishDraft before = dialog_.draft();
  QTest::keyClick(&dialog_, Qt::Key_Escape);
  EXPECT_FALSE(dialog_.isVisible());
  dialog_.open_for({});
  EXPECT_EQ(dialog_.draft(), before);
  button<QPushButton>(QStringLiteral("Publish")).click();
  dialog_.set_refusal(QStringLiteral("the server does not answer"));
  EXPECT_TRUE(shows(QStringLiteral("the server does not answer")));
  EXPECT_EQ(dialog_.draft(), before);
  EXPECT_TRUE(button<QPushButton>(QStringLiteral("Publish")).isEnabled());
}

TEST_F(Publishing, AsksTheNodeOnceAndStartsAnewWhereItHasBegun) {
  QSignalSpy wanted(&dialog_, &PublishDialog::publish_wanted);
  dialog_.open_for({QStringLiteral("/data/x")});
  auto& publish = button<QPushButton>(QStringLiteral("Publish"));
  publish.click();
  publish.click();
  EXPECT_EQ(wanted.count(), 1);
  dialog_.set_accepted();
  EXPECT_FALSE(dialog_.isVisible());
  EXPECT_EQ(dialog_.draft(), PublishDraft());
}

TEST_F(Publishing, CompletesTheLastGroupAndKeepsTheOnesBefore) {
  auto& groups = static_cast<WordsEdit&>(named<QLineEdit>("Groups, with commas between them"));
  dialog_.set_groups({"SNO+", "optics", "\xff"});
  groups.setText(QStringLiteral("lab, op"));
  QCompleter& completer = *groups.completer();
  completer.setCompletionPrefix(completer.splitPath(groups.text()).join(QString()));
  ASSERT_EQ(completer.completionCount(), 1);
  EXPECT_EQ(completer.currentCompletion(), QStringLiteral("lab, optics"));
}

/// As somebody types who waits for nothing.
TEST_F(Publishing, EachKeyReachesItsFieldAtOnce) {
  dialog_.open_for({QStringLiteral("/data/x")});
  dialog_.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&dialog_));
  const auto press = [&](Qt::Key key) {
    QTest::keyClick(QApplication::focusWidget(), key, Qt::AltModifier);
    return QApplication::focusWidget()->accessibleName();
  };
  EXPECT_EQ(press(Qt::Key_H), QString());
  EXPECT_TRUE(button<QRadioButton>(QStringLiteral("These:")).hasFocus());
  EXPECT_EQ(press(Qt::Key_E), QStringLiteral("People by their exact user names, with commas between them"));
  QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("mia"));
  EXPECT_EQ(access_of(dialog_.draft()), "user:mia");
  const std::vector<std::pair<Qt::Key, const char*>> fields = {{Qt::Key_G, "Groups, with commas between them"},
                                                               {Qt::Key_F, "File or folder to publish"},
                                                               {Qt::Key_N, "Name of the data set"},
                                                               {Qt::Key_D, "Description"},
                                                               {Qt::Key_T, "Tags, with commas between them"},
                                                               {Qt::Key_L, "Licence"}};
  for (const auto& [key, name] : fields) EXPECT_EQ(press(key), QLatin1String(name));
  press(Qt::Key_B);
  press(Qt::Key_K);
  press(Qt::Key_V);
  EXPECT_EQ(access_of(dialog_.draft()), "public");
  press(Qt::Key_M);
  EXPECT_EQ(access_of(dialog_.draft()), "private");
  EXPECT_FALSE(named<QLineEdit>("Groups, with commas between them").isEnabled());
}

TEST(ARate, IsTakenAsTheCommandLineTakesIt) {
  RateDialog dialog(QStringLiteral("Limit"), QStringLiteral("No faster than:"));
  std::vector<quint64> rates;
  QObject::connect(&dialog, &RateDialog::chosen, [&](quint64 rate) { rates.push_back(rate); });
  auto* line = dialog.findChild<QLineEdit*>();
  auto* ok = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
  line->setText(QStringLiteral("fast"));
  EXPECT_FALSE(ok->isEnabled());
  for (const char* text : {"30 Mbit", "25MB", "1,5 Gbit", "0"}) {
    line->setText(QString::fromLatin1(text));
    ASSERT_TRUE(ok->isEnabled()) << text;
    ok->click();
  }
  EXPECT_EQ(rates, (std::vector<quint64>{30'000'000, 200'000'000, 1'500'000'000, 0}));
}

}  // namespace
}  // namespace gridtorrent::gui
