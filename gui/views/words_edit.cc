#include "gui/views/words_edit.h"

#include <QCompleter>
#include <QStringListModel>

#include "common/text.h"
#include "gui/models/publish_draft.h"

namespace gridtorrent::gui {

namespace {

/// Completes what stands after the last comma, and leaves what stands before it.
class LastWordCompleter final : public QCompleter {
 public:
  using QCompleter::QCompleter;

  QStringList splitPath(const QString& line) const override { return {line.mid(line.lastIndexOf(u',') + 1).trimmed()}; }
  QString pathFromIndex(const QModelIndex& index) const override {
    const QString line = static_cast<const QLineEdit*>(widget())->text();
    const qsizetype comma = line.lastIndexOf(u',');
    const QString word = QCompleter::pathFromIndex(index);
    return comma < 0 ? word : line.left(comma + 1) + u' ' + word;
  }
};

}  // namespace

WordsEdit::WordsEdit(QWidget* parent) : QLineEdit(parent) {
  auto* completer = new LastWordCompleter(this);
  completer->setModel(new QStringListModel(completer));
  completer->setCaseSensitivity(Qt::CaseInsensitive);
  setCompleter(completer);
}

std::vector<std::string> WordsEdit::words() const {
  return words_of(text());
}

void WordsEdit::set_known(const std::vector<std::string>& known) {
  QStringList list;
  for (const std::string& word : known)
    if (is_valid_utf8(word)) list.append(QString::fromStdString(word));
  static_cast<QStringListModel*>(completer()->model())->setStringList(list);
}

}  // namespace gridtorrent::gui
