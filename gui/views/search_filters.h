#pragma once

#include <QWidget>
#include <string>
#include <vector>

#include "gui/models/format.h"
#include "gui/models/search_query.h"

class QComboBox;
class QLineEdit;

namespace gridtorrent::gui {

/// What a search may be narrowed by, beside a part of the name. GUI thread only.
class SearchFilters final : public QWidget {
  Q_OBJECT

 public:
  explicit SearchFilters(const Format& format, QWidget* parent = nullptr);
  /// The person's own groups.
  void set_groups(const std::vector<std::string>& names);
  SearchQuery query(const QString& text) const;

 Q_SIGNALS:
  void changed();

 private:
  QLineEdit *owner_, *tag_;
  QComboBox *access_, *group_, *size_, *age_;
};

}  // namespace gridtorrent::gui
