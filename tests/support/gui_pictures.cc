// gui_pictures FOLDER: each page of the window with made-up data, light and dark, large and small, as PNG files to look
// at.
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QRadioButton>
#include <QStyleFactory>
#include <QTableView>
#include <QTimer>
#include <QToolButton>
#include <QTreeView>
#include <cmath>
#include <cstdio>

#include "gui/views/dark_style.h"
#include "gui/views/details_pane.h"
#include "gui/views/find_page.h"
#include "gui/views/main_window.h"
#include "gui/views/publish_dialog.h"
#include "gui/views/rate_dialog.h"
#include "gui/views/transfers_page.h"

namespace gridtorrent::gui {
namespace {

constexpr std::int64_t kNow = 1'800'000'000'000;

QPalette dark() {
  QPalette palette;
  const QColor window(0x2b, 0x2b, 0x2b), base(0x1e, 0x1e, 0x1e), text(0xe6, 0xe6, 0xe6), dim(0x80, 0x80, 0x80);
  for (const auto role : {QPalette::Window, QPalette::Button, QPalette::ToolTipBase}) palette.setColor(role, window);
  for (const auto role :
       {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText, QPalette::BrightText})
    palette.setColor(role, text);
  palette.setColor(QPalette::Base, base);
  palette.setColor(QPalette::AlternateBase, QColor(0x26, 0x26, 0x26));
  palette.setColor(QPalette::PlaceholderText, dim);
  palette.setColor(QPalette::Highlight, QColor(0x2f, 0x65, 0xa8));
  palette.setColor(QPalette::HighlightedText, Qt::white);
  palette.setColor(QPalette::Link, QColor(0x7a, 0xb8, 0xff));
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, dim);
  return palette;
}

std::uint64_t share_done(TransferState state, std::uint64_t total) {
  if (state == TransferState::kFetching) return total / 100 * 71;
  if (state == TransferState::kHashing) return total / 100 * 12;
  if (state == TransferState::kPaused || state == TransferState::kFailed) return total / 100 * 43;
  return total;
}

TransferRow transfer(int number, TransferState state, std::string name) {
  TransferRow row;
  row.id = "x" + std::to_string(number);
  row.name = std::move(name);
  row.owner = number % 2 == 0 ? "bob" : "mia";
  row.state = state;
  row.total_bytes = 1'200'000'000'000;
  row.verified_bytes = share_done(state, row.total_bytes);
  if (state == TransferState::kFetching) {
    row.down_bits_per_s = 842'000'000;
    row.lanes = 12;
    row.seeders = 3;
    row.left = std::chrono::seconds(3300);
    row.limit_word = "path";
  }
  if (state == TransferState::kSeeding) row.up_bits_per_s = 96'000'000;
  if (state == TransferState::kFailed) row.message = "the disk is full: free 12 GB below /scratch, then resume";
  row.path = "/scratch/incoming/" + row.name;
  return row;
}

RateHistory history() {
  RateHistory history;
  for (int i = 0; i < 900; ++i) {
    if (i > 300 && i < 340) continue;  // nothing is known of that time
    const double level = i < 200 ? 300e6 : i < 600 ? 520e6 : 842e6;
    history.points.push_back({kNow - (900 - i) * 1000, 1000,
                              static_cast<std::uint64_t>(level * (1 + 0.05 * std::sin(i / 7.0))),
                              i < 200   ? 4U
                              : i < 600 ? 8U
                                        : 12U,
                              i < 450 ? 0U : static_cast<std::uint64_t>(180e6 * (1 + 0.1 * std::sin(i / 23.0)))});
  }
  history.decisions = {{kNow - 700'000, 4, 8, 220'000'000, "8 lanes gave more in a trial"},
                       {kNow - 300'000, 8, 12, 320'000'000, "12 lanes gave more in a trial"}};
  return history;
}

Explanation explanation() {
  Explanation why;
  why.limit_word = "path";
  why.limit_detail = "The path carries 842 Mbit/s; more lanes gave 1 % at 14:09.";
  why.advice = "Nothing here helps: the link is full. A seeder at another site would.";
  why.advice_command = "gridtorrent tune explain x0";
  why.plan = "auto: 12 lanes to 3 seeders";
  for (std::uint32_t lanes : {4U, 8U, 12U})
    why.curve.points.push_back({lanes, 200, lanes * 60'000'000ULL, lanes * 70'000'000ULL, lanes * 75'000'000ULL});
  why.curve.lanes_now = 12;
  return why;
}

std::vector<PeerRow> peers() {
  PeerRow alpha;
  alpha.node_id = alpha.name = "alpha";
  alpha.address = "198.51.100.7";
  alpha.down_bits_per_s = 500'000'000;
  alpha.received_bytes = 400'000'000'000;
  alpha.complete = true;
  for (int lane = 0; lane < 3; ++lane) {
    LaneRow row;
    row.local = "192.0.2.1:50000";
    row.remote = "198.51.100.7:" + std::to_string(50'000 + lane);
    row.state = "open";
    row.down_bits_per_s = 160'000'000;
    row.round_trip_us = 50'000;
    row.congestion_control = "bbr";
    alpha.lanes.push_back(row);
  }
  return {alpha};
}

FileTree files() {
  std::vector<FileRow> rows;
  for (int i = 0; i < 40; ++i) rows.push_back({"raw/2026-" + std::to_string(10 + i) + "/frame.nc", 22'500'000'000});
  rows.push_back({"log/run.log", 2'000'000'000});
  rows.push_back({"README.txt", 4'000});
  return FileTree(std::move(rows));
}

class Pictures {
 public:
  Pictures(QString folder, QString look) : folder_(std::move(folder)), look_(std::move(look)) {
    Connections connections;
    connections.node.state = connections.server.state = LinkState::kConnected;
    connections.account = "alice @ data.example.org:7443";
    connections.reachable = true;
    connections.free_bytes = 1'200'000'000'000;
    window_.set_connections(connections);
    window_.show();
  }

  void take(const QSize& size) {
    size_ = QStringLiteral("%1x%2").arg(size.width()).arg(size.height());
    window_.resize(size);
    window_.show_page(Page::kTransfers);
    transfers_.replace({});
    save(window_, "transfers-empty");
    fill_transfers(size.width() < 1000);
    auto* tabs = &window_.transfers_page().details();
    const char* names[] = {"overview", "peers", "files", "rate", "why"};
    for (int tab = 0; tab < tabs->count(); ++tab) {
      tabs->setCurrentIndex(tab);
      if (auto* tree = qobject_cast<QTreeView*>(tabs->widget(tab))) tree->expandAll();
      save(window_, std::string("transfers-") + names[tab]);
    }
    find();
    window_.show_page(Page::kInbox);
    save(window_, "inbox");
    silent();
  }

  void dialogs() {
    size_.clear();
    PublishDialog& dialog = window_.publish_dialog();
    dialog.open_for({QStringLiteral("/data/run-7")});
    const PublishScan scan{.files = 8412,
                           .bytes = 1'200'000'000'000,
                           .skipped = 2,
                           .warnings = {"/data/run-7/latest: a link, skipped", "/data/run-7/sock: a socket, skipped"},
                           .name = "run-7",
                           .complete = true};
    dialog.set_scan(scan);
    for (auto* button : dialog.findChildren<QRadioButton*>())
      if (button->text().contains(QStringLiteral("hese"))) button->setChecked(true);
    save(dialog, "publish-nobody");
    dialog.findChild<QPlainTextEdit*>()->setPlainText(QStringLiteral("Calibration of run 7, laser at 404 nm."));
    dialog.findChildren<QLineEdit*>().back()->setText(QStringLiteral("carol"));
    dialog.set_preview("user:carol", QStringLiteral("carol can find and fetch this. Nobody else sees that it exists."));
    save(dialog, "publish");
    dialog.set_refusal(QStringLiteral("alice/run-7 is there already; take another name"));
    save(dialog, "publish-refused");
    dialog.open_for({QStringLiteral("/data/run-8"), QStringLiteral("/data/run-9")});
    dialog.set_scan({});
    save(dialog, "publish-several");
    dialog.hide();
    RateDialog rate(QStringLiteral("Hold at"), QStringLiteral("Hold this rate, also where others use the path:"));
    rate.show();
    rate.findChild<QLineEdit*>()->setText(QStringLiteral("fast"));
    save(rate, "rate");
  }

 private:
  void fill_transfers(bool small) {
    std::vector<TransferRow> rows{transfer(0, TransferState::kFetching, "run-7 calib"),
                                  transfer(1, TransferState::kSeeding, "sky-survey DR3"),
                                  transfer(2, TransferState::kHashing, "beam-2026"),
                                  transfer(3, TransferState::kPaused, "ocean-model monthly means 1979 to 2025"),
                                  transfer(4, TransferState::kFailed, "genome panel"),
                                  transfer(5, TransferState::kSeeding, "run-6 calib")};
    if (small) rows.push_back(transfer(6, TransferState::kComplete, "<b>hostile</b>\n\xE2\x80\xAE"));
    transfers_.replace(rows);
    for (QTableView* table : window_.transfers_page().findChildren<QTableView*>())
      table->setCurrentIndex(transfers_.index_of("x0"));
    DetailsPane& details = window_.transfers_page().details();
    details.set_peers(peers());
    details.set_files(files());
    details.set_history(history(), kNow);
    details.set_explanation(explanation());
  }

  void find() {
    window_.show_page(Page::kFind);
    FindPage& page = window_.find_page();
    page.set_folder(QStringLiteral("/scratch/incoming"));
    page.set_groups({"SNO+", "optics"});
    std::vector<FoundRow> rows;
    for (int i = 0; i < 30; ++i) {
      FoundRow row;
      row.id = "c" + std::to_string(i);
      row.name = "run-" + std::to_string(30 - i) + (i % 4 == 3 ? " raw" : " calib");
      row.owner = i % 3 == 0 ? "bob" : "mia";
      row.bytes = std::uint64_t{1'200'000'000'000} / static_cast<std::uint64_t>(i + 1);
      row.files = 8412;
      row.access = i % 2 == 0 ? "group:SNO+" : "public";
      row.seeders = 3;
      row.here = i == 1;
      row.published_ms = kNow - i * 90'000'000LL;
      row.tags = {"calib", "2026"};
      rows.push_back(row);
    }
    found_.add(found_.start(), {rows, "more"});
    save(window_, "find-none");
    for (QTableView* table : page.findChildren<QTableView*>()) table->setCurrentIndex(found_.index(0, 0));
    ContentFacts facts;
    facts.id = "c0";
    facts.description = "Calibration of run 7, with the laser at 404 nm.\nSee the notes in README.txt.";
    facts.tags = {"calib", "2026"};
    facts.license = "CC-BY-4.0";
    facts.access = "group:SNO+";
    facts.version = 3;
    facts.replicas = {{.node = "alpha", .owner = "bob", .complete = true, .served = true, .online = true},
                      {.node = "beta", .owner = "mia", .complete = false, .served = false, .online = false}};
    page.set_content(facts);
    page.set_facts({3'000'000'000'000, "About 3 h, as the last transfers from these seeders went."});
    save(window_, "find-about");
    page.findChild<QTabWidget*>()->setCurrentIndex(1);
    page.set_files("c0", files());
    for (QTreeView* tree : page.findChildren<QTreeView*>()) {
      tree->model()->fetchMore({});
      tree->model()->setData(tree->model()->index(1, 0), Qt::Unchecked, Qt::CheckStateRole);
    }
    page.findChild<QToolButton*>()->setChecked(true);
    save(window_, "find-files");
    page.set_refusal(QStringLiteral("/scratch/incoming is no folder; create it first"));
    save(window_, "find-refused");
    page.findChild<QToolButton*>()->setChecked(false);
    page.findChild<QTabWidget*>()->setCurrentIndex(0);
  }

  void silent() {
    Connections connections;
    connections.node.state = LinkState::kConnected;
    connections.server = {LinkState::kSilent, kNow, std::chrono::seconds(8)};
    connections.account = "alice @ data.example.org:7443";
    window_.set_connections(connections);
    window_.show_page(Page::kTransfers);
    save(window_, "silent");
    connections.server.state = LinkState::kConnected;
    window_.set_connections(connections);
  }

  void save(QWidget& widget, const std::string& name) {
    for (int i = 0; i < 5; ++i) QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
    const QString file =
        QStringLiteral("%1/%2-%3%4.png")
            .arg(folder_, look_, QString::fromStdString(name), size_.isEmpty() ? QString() : u'-' + size_);
    if (!widget.grab().save(file)) std::fprintf(stderr, "%s was not written\n", qPrintable(file));
    std::printf("%s %dx%d\n", qPrintable(file), widget.width(), widget.height());
  }

  const QString folder_, look_;
  QString size_;
  const Format format_{QLocale(QLocale::English, QLocale::UnitedKingdom)};
  TransfersModel transfers_{format_};
  SearchModel found_{format_};
  MainWindow window_{transfers_, found_, format_};
};

}  // namespace
}  // namespace gridtorrent::gui

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", qEnvironmentVariableIsSet("DISPLAY") ? "xcb" : "offscreen");
  QApplication application(argc, argv);
  if (argc != 2) {
    std::fputs("gui_pictures: name the folder for the pictures: gui_pictures FOLDER\n", stderr);
    return 2;
  }
  auto* style = new gridtorrent::gui::DarkStyle;
  style->setBaseStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  QApplication::setStyle(style);
  const QPalette light = QApplication::palette();
  for (const bool is_dark : {false, true}) {
    QApplication::setPalette(is_dark ? gridtorrent::gui::dark() : light);
    gridtorrent::gui::Pictures pictures(QString::fromLocal8Bit(argv[1]),
                                        is_dark ? QStringLiteral("dark") : QStringLiteral("light"));
    pictures.take({1280, 820});
    pictures.take({760, 480});
    pictures.dialogs();
  }
  return 0;
}
