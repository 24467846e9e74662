#pragma once

#include <QTabWidget>
#include <optional>

#include "gui/models/content_facts.h"
#include "gui/models/file_choice.h"
#include "gui/models/files_model.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QTimer;

namespace gridtorrent::gui {

/// What is known of one content, and which of its files a person wants. Its files are asked for when somebody looks at
/// them. GUI thread only.
class ContentPane final : public QTabWidget {
  Q_OBJECT

 public:
  explicit ContentPane(Format format, QWidget* parent = nullptr);

  /// Another content: nothing is known of it yet, and all its files are wanted.
  void start(bool any);
  void set_facts(const ContentFacts& facts);
  /// Why nothing more is known of it.
  void set_problem(const QString& text);
  void set_files(FileTree files);
  /// Why they are not shown.
  void set_files_problem(const QString& text);

  /// Of the chosen files; nothing: all, and their sum is not known here.
  std::optional<std::uint64_t> chosen_bytes() const;
  bool any_chosen() const;
  GlobChoice choice() const;

 Q_SIGNALS:
  void files_wanted();
  void choice_changed();

 private:
  QWidget* make_files();
  void want_files();
  void tell_choice();

  Format format_;
  FilesModel model_;
  QPlainTextEdit* about_;
  QLineEdit* filter_;
  QLabel *sum_, *problem_;
  QWidget* files_;
  QTimer* pause_;
  bool any_ = false;
  bool asked_ = false;
  bool known_ = false;  // the files are here
};

}  // namespace gridtorrent::gui
