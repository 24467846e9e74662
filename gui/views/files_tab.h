#pragma once

#include <QWidget>
#include <cstdint>
#include <vector>

#include "gui/models/files_model.h"

class QPushButton;

namespace gridtorrent::gui {

class PlainLabel;

/// The files of a transfer. While it fetches, each has a check box, and others can be chosen. GUI thread only.
class FilesTab final : public QWidget {
  Q_OBJECT

 public:
  explicit FilesTab(Format format, QWidget* parent = nullptr);

  /// Of another transfer; which of them are chosen is not known yet.
  void set_files(FileTree files);
  /// Places in the manifest of those that it fetches. What somebody is choosing meanwhile stays.
  void set_chosen(const std::vector<std::uint32_t>& places);
  /// Whether other files can be chosen: it fetches.
  void set_choosable(bool choosable);

 Q_SIGNALS:
  /// Places in the manifest, at least one.
  void choice_wanted(const std::vector<std::uint32_t>& places);

 private:
  std::vector<std::uint32_t> chosen_places() const;
  void show_choice();
  void take_back();

  const Format format_;
  FilesModel model_;
  PlainLabel* sum_;
  QPushButton* take_;
  QPushButton* back_;
  std::vector<std::uint32_t> before_;  // rising, as the node has them
  bool known_ = false;                 // `before_` is
  bool choosable_ = false;
};

}  // namespace gridtorrent::gui
