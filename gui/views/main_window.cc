#include "gui/views/main_window.h"

#include <QBoxLayout>
#include <QDragEnterEvent>
#include <QFile>
#include <QListWidget>
#include <QMimeData>
#include <QScreen>
#include <QShortcut>
#include <QStackedWidget>
#include <QStatusBar>

#include "gui/models/text.h"
#include "gui/views/dropped.h"
#include "gui/views/find_page.h"
#include "gui/views/notice_bar.h"
#include "gui/views/publish_dialog.h"
#include "gui/views/rail_delegate.h"
#include "gui/views/status_strip.h"
#include "gui/views/transfers_page.h"

namespace gridtorrent::gui {

namespace {
constexpr int kRailWidth = 165;
constexpr QSize kUsual{1100, 720};
constexpr QSize kLeast{760, 480};

}  // namespace

MainWindow::MainWindow(TransfersModel& transfers, SearchModel& found, const Format& format, QWidget* parent)
    : QMainWindow(parent),
      format_(format),
      rail_(new QListWidget),
      pages_(new QStackedWidget),
      notice_(new NoticeBar),
      status_(new StatusStrip(format_)),
      find_page_(new FindPage(found, format_)),
      transfers_page_(new TransfersPage(transfers, format_)),
      publish_(new PublishDialog(format_, this)) {
  rail_->setFixedWidth(kRailWidth);
  rail_->setFrameShape(QFrame::NoFrame);
  rail_->setItemDelegate(new RailDelegate(rail_));
  rail_->setAccessibleName(tr("Pages"));
  rail_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  for (const Page page : kPages)
    add_page(page, page == Page::kFind        ? static_cast<QWidget*>(find_page_)
                   : page == Page::kTransfers ? static_cast<QWidget*>(transfers_page_)
                                              : new QWidget);

  auto* right = new QVBoxLayout;
  right->setSpacing(0);
  right->addWidget(notice_);
  right->addWidget(pages_, 1);
  auto* whole = new QWidget;
  auto* line = new QHBoxLayout(whole);
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(0);
  line->addWidget(rail_);
  line->addLayout(right, 1);
  setCentralWidget(whole);
  statusBar()->addPermanentWidget(status_, 1);
  statusBar()->setSizeGripEnabled(false);
  setAcceptDrops(true);
  setMinimumSize(kLeast);
  resize(kUsual);

  connect(rail_, &QListWidget::currentRowChanged, pages_, &QStackedWidget::setCurrentIndex);
  connect(transfers_page_, &TransfersPage::publish_wanted, this, [this] { show_publish(); });
  connect(transfers_page_, &TransfersPage::find_wanted, this, [this] { show_page(Page::kFind); });
  connect(&transfers, &TransfersModel::rates_changed, status_,
          [this](TransfersModel::Rates rates) { status_->set_rates(rates.down, rates.up); });
  add_keys();
  set_connections({});
  show_page(Page::kTransfers);
}

void MainWindow::add_page(Page page, QWidget* content) {
  const Place place{new QStackedWidget, new CommandPage};
  place.faces->addWidget(content);
  place.faces->addWidget(place.guidance);
  pages_->addWidget(place.faces);
  places_.push_back(place);
  auto* item = new QListWidgetItem(page_title(page), rail_);
  const QKeySequence key(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + rail_->count()));
  item->setData(RailDelegate::kKeyRole, key.toString(QKeySequence::NativeText));
}

void MainWindow::add_keys() {
  for (int i = 0; i < static_cast<int>(kPages.size()); ++i) {
    auto* key = new QShortcut(QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + i)), this);
    connect(key, &QShortcut::activated, this, [this, i] { show_page(kPages[static_cast<std::size_t>(i)]); });
  }
  connect(new QShortcut(QKeySequence::New, this), &QShortcut::activated, this, [this] { show_publish(); });
  connect(new QShortcut(QKeySequence::Find, this), &QShortcut::activated, this, [this] {
    if (rail_->currentRow() == static_cast<int>(Page::kFind)) return find_page_->focus_search();
    show_page(Page::kTransfers);
    transfers_page_->focus_filter();
  });
  connect(new QShortcut(QKeySequence::Quit, this), &QShortcut::activated, this, &QWidget::close);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (!dropped_paths(*event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QStringList paths = dropped_paths(*event->mimeData());
  if (paths.isEmpty()) return;
  event->acceptProposedAction();
  show_publish(paths);
}

void MainWindow::set_connections(const Connections& connections) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto guidance = page_guidance(kPages[i], connections);
    if (guidance) places_[i].guidance->set_guidance(*guidance);
    places_[i].faces->setCurrentIndex(guidance ? 1 : 0);
  }
  status_->set_connections(connections);
  notice_->set_notice(notice_text(connections, format_));
  setWindowTitle(connections.account.empty() ? tr("GridTorrent") : shown(connections.account));
}

void MainWindow::show_page(Page page) {
  rail_->setCurrentRow(static_cast<int>(page));
}

WindowSettings MainWindow::settings() const {
  const QSize usual = isMaximized() ? normalGeometry().size() : size();
  return {.width = usual.width(),
          .height = usual.height(),
          .maximized = isMaximized(),
          .page = std::string(page_key(kPages[static_cast<std::size_t>(rail_->currentRow())])),
          .folder = QFile::encodeName(find_page_->folder()).toStdString(),
          .transfers_columns = transfers_page_->columns(),
          .found_columns = find_page_->columns()};
}

void MainWindow::apply(const WindowSettings& settings) {
  if (settings.width > 0 && settings.height > 0)
    resize(QSize(settings.width, settings.height).boundedTo(screen()->availableSize()).expandedTo(kLeast));
  if (settings.maximized) setWindowState(windowState() | Qt::WindowMaximized);
  if (const auto page = page_of(settings.page)) show_page(*page);
  if (!settings.folder.empty()) find_page_->set_folder(QFile::decodeName(QByteArray::fromStdString(settings.folder)));
  transfers_page_->set_columns(settings.transfers_columns);
  find_page_->set_columns(settings.found_columns);
}

void MainWindow::show_publish(const QStringList& paths) {
  publish_->open_for(paths);
}

}  // namespace gridtorrent::gui
