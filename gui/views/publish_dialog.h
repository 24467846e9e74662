#pragma once

#include <QDialog>
#include <string>
#include <vector>

#include "gui/models/publish_draft.h"

class QCheckBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QListWidget;
class QPlainTextEdit;
class QPushButton;
class QRadioButton;
class QTimer;

namespace gridtorrent::gui {

class WordsEdit;

/// What is to be published, and for whom. Asks by signals; answers come by its setters. Closing it keeps what was
/// entered until the node has begun the work, or `Clear`. GUI thread only.
class PublishDialog final : public QDialog {
  Q_OBJECT

 public:
  explicit PublishDialog(Format format, QWidget* parent = nullptr);

  /// Shows the dialog. Paths that were dropped replace the one before; none: it stays. A data set is one file or
  /// folder: of several paths, the first is taken, and the dialog says so. While the node is asked, the draft stays as
  /// it is.
  void open_for(const QStringList& paths);
  PublishDraft draft() const;

  /// About the path of the last `scan_wanted`; with `complete`, this is the end of it.
  void set_scan(const PublishScan& scan);
  /// Why the path cannot be read; it can be entered anew.
  void set_scan_problem(const QString& text);
  /// The server's sentence on who can get it, for an access that `preview_wanted` named. One of an earlier access is
  /// passed over.
  void set_preview(const std::string& access, const QString& text);
  /// The groups that the person is in, for completion.
  void set_groups(const std::vector<std::string>& names);
  /// The node has begun: the draft is done.
  void set_accepted();
  /// Why the node did not begin. The draft stays.
  void set_refusal(const QString& text);
  /// The node, or the server, is there again: asks anew for what the dialog shows.
  void scan_again();
  void preview_again();

 Q_SIGNALS:
  /// The dialog was opened: groups may be others than before.
  void opened();
  /// Files and bytes below the path, please; the path before is out of date. Empty: none any more.
  void scan_wanted(const QString& path);
  /// Who can get it with this access, please; after a pause in typing.
  void preview_wanted(const std::string& access);
  void publish_wanted(const gridtorrent::gui::PublishDraft& draft);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget* make_form();
  QWidget* make_path();
  QWidget* make_access();
  QLayout* make_buttons();
  void add_fields(QGridLayout& form);
  void join_fields();
  void choose_path(bool folder);
  void follow_path();
  void follow_audience();
  void suggest_name(const QString& name);
  void set_asked(bool asked);
  void check();
  void publish();
  void clear();

  Format format_;
  QLineEdit *path_, *name_, *license_;
  QPlainTextEdit* description_;
  WordsEdit *tags_, *groups_, *people_;
  QRadioButton *only_me_, *chosen_, *everyone_;
  QCheckBox *buddies_, *strict_;
  QLabel *several_, *scan_, *audience_, *fault_, *refusal_;
  QListWidget* warnings_;
  QWidget *form_, *targets_;
  QPushButton *clear_, *publish_;
  QTimer *path_pause_, *audience_pause_;
  QString suggested_;   // the name that nobody has typed
  bool asked_ = false;  // the node was asked to publish and has not answered
};

}  // namespace gridtorrent::gui
