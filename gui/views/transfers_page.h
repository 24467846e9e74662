#pragma once

#include <QWidget>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gui/models/ending.h"
#include "gui/models/transfers_model.h"

class QAction;
class QComboBox;
class QLabel;
class QLineEdit;
class QStackedWidget;
class QTableView;
class QTimer;
class QToolButton;

namespace gridtorrent::gui {

class DetailsPane;

/// The page with the table of transfers, what can be done with the selected ones, and the details of the current one.
/// Asks for everything by signals, with ids; the model, which must outlive the page, is filled by somebody else. Has
/// the model sort itself once a second while it is seen. GUI thread only.
class TransfersPage final : public QWidget {
  Q_OBJECT

 public:
  TransfersPage(TransfersModel& model, Format format, QWidget* parent = nullptr);

  DetailsPane& details() { return *details_; }
  /// How the person has arranged the columns, for the settings.
  std::string columns() const;
  void set_columns(std::string_view text);
  void focus_filter();
  /// A line above the table: what the node refused. Empty: none.
  void set_message(const QString& text);

 Q_SIGNALS:
  void publish_wanted();
  void find_wanted();
  void pause_wanted(const std::vector<std::string>& ids);
  void resume_wanted(const std::vector<std::string>& ids);
  void verify_wanted(const std::vector<std::string>& ids);
  void limit_wanted(const std::vector<std::string>& ids);
  /// To take these off the node, after a question. Only ids of transfers for which this is the word.
  void end_wanted(gridtorrent::gui::Ending ending, const std::vector<std::string>& ids);
  /// The transfer whose details are to be shown; empty: none.
  void current_changed(const std::string& id);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  using Ask = void (TransfersPage::*)(const std::vector<std::string>&);

  QAction* add_action(const QString& text, const QKeySequence& key, Ask ask);
  QAction* add_ending(Ending ending, const QKeySequence& key);
  QAction* new_action(const QString& text, const QKeySequence& key);
  QToolButton* make_more();
  QWidget* make_tools();
  QWidget* make_empty();
  std::vector<std::string> selected(std::optional<Ending> ending = std::nullopt) const;
  void filter();
  void follow_selection();
  void follow_current();
  void choose_face();

  TransfersModel& model_;
  QLineEdit* text_;
  QComboBox* state_;
  QTableView* table_;
  DetailsPane* details_;
  QStackedWidget* faces_;
  QLabel *empty_text_, *message_;
  std::vector<QAction*> on_selection_;
  std::vector<std::pair<Ending, QAction*>> endings_;
  QTimer* second_;
};

}  // namespace gridtorrent::gui
