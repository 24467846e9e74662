#pragma once

#include <QMainWindow>
#include <vector>

#include "gui/models/connection.h"
#include "gui/models/search_model.h"
#include "gui/models/transfers_model.h"
#include "gui/models/window_settings.h"
#include "gui/views/pages.h"

class QListWidget;
class QStackedWidget;

namespace gridtorrent::gui {

class FindPage;
class NoticeBar;
class PublishDialog;
class StatusStrip;
class TransfersPage;

/// The window: a rail of pages with words and keys, the page, and what is true of all pages (connections, rates). Shows
/// what its models hold and asks for everything else by signals; it opens no connection and no file. The models
/// must outlive the window. GUI thread only.
class MainWindow final : public QMainWindow {
  Q_OBJECT

 public:
  MainWindow(TransfersModel& transfers, SearchModel& found, const Format& format, QWidget* parent = nullptr);

  void set_connections(const Connections& connections);
  void show_page(Page page);
  /// Opens the dialog for what is to be published; no path: the person has yet to choose one.
  void show_publish(const QStringList& paths = {});
  /// How the person has arranged it, to be kept.
  WindowSettings settings() const;
  /// Before it is shown. Sizes that do not fit the screen are cut to it.
  void apply(const WindowSettings& settings);
  FindPage& find_page() { return *find_page_; }
  TransfersPage& transfers_page() { return *transfers_page_; }
  PublishDialog& publish_dialog() { return *publish_; }
  NoticeBar& notice_bar() { return *notice_; }

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  struct Place {
    QStackedWidget* faces;  // the content, and guidance in its stead
    CommandPage* guidance;
  };

  void add_page(Page page, QWidget* content);
  void add_keys();

  Format format_;
  QListWidget* rail_;
  QStackedWidget* pages_;
  NoticeBar* notice_;
  StatusStrip* status_;
  FindPage* find_page_;
  TransfersPage* transfers_page_;
  PublishDialog* publish_;
  std::vector<Place> places_;
};

}  // namespace gridtorrent::gui
