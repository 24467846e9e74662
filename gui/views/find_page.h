#pragma once

#include <QWidget>
#include <optional>
#include <string>

#include "gui/models/search_model.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;
class QTimer;

namespace gridtorrent::gui {

/// What is known before a content is fetched. Nothing: not known yet.
struct GetFacts {
  std::optional<std::uint64_t> free_bytes;  ///< in the folder that was chosen
  std::string estimate;                     ///< a sentence that the node wrote
};

/// Finds contents as one types, and fetches the one that is chosen. Asks by signals; the model, which must outlive the
/// page, is filled by somebody else. GUI thread only.
class FindPage final : public QWidget {
  Q_OBJECT

 public:
  FindPage(SearchModel& model, Format format, QWidget* parent = nullptr);
  void focus_search();
  /// Where fetched data goes, until the person chooses another folder.
  void set_folder(const QString& folder);
  /// About the content and folder of the last `facts_wanted`.
  void set_facts(const GetFacts& facts);
  /// More about the content that is chosen, in lines of plain text.
  void set_description(const QString& text);
  /// Why the node did not begin what was wanted; empty: it did.
  void set_refusal(const QString& text);
  const FoundRow* current() const;
  /// Asks anew for all that the page waits for.
  void ask_again();
  /// Why the search is not answered; empty: it is.
  void set_problem(const QString& text);

 Q_SIGNALS:
  /// After a pause in typing; the search before is out of date.
  void search_wanted(const QString& text);
  /// Another content is chosen; empty: none.
  void current_changed(const std::string& content_id);
  void facts_wanted(const std::string& content_id, const QString& folder);
  void get_wanted(const std::string& content_id, const QString& folder);

 protected:
  /// What was found may be out of date since the page was last seen; a content that is chosen stays.
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* make_details();
  void follow_current();
  void tell_count();
  void choose_folder();
  void ask_for_facts();
  void get();

  SearchModel& model_;
  Format format_;
  QLineEdit* text_;
  QLabel* count_;
  QTableView* table_;
  QLabel *name_, *about_, *description_, *space_, *estimate_, *refusal_;
  QLineEdit* folder_;
  QPushButton* get_;
  QTimer* pause_;
  QString problem_;
};

}  // namespace gridtorrent::gui
