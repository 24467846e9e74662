#pragma once

#include <QLineEdit>
#include <string>
#include <vector>

namespace gridtorrent::gui {

/// A line of words with commas between them. Completes the last word from a list. GUI thread only.
class WordsEdit final : public QLineEdit {
  Q_OBJECT

 public:
  explicit WordsEdit(QWidget* parent = nullptr);
  std::vector<std::string> words() const;
  /// What the last word is completed from. Bytes that others wrote; a word that is not UTF-8 is left out.
  void set_known(const std::vector<std::string>& known);
};

}  // namespace gridtorrent::gui
