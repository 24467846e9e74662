#pragma once

#include <QWidget>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/models/content_facts.h"
#include "gui/models/file_choice.h"
#include "gui/models/file_tree.h"
#include "gui/models/search_model.h"
#include "gui/models/search_query.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;
class QTimer;
class QToolButton;

namespace gridtorrent::gui {

class ContentPane;
class SearchFilters;

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
  QString folder() const;
  /// How the person has arranged the columns, for the settings.
  std::string columns() const;
  void set_columns(std::string_view text);
  /// About content, folder and files of the last `facts_wanted`.
  void set_facts(const GetFacts& facts);
  /// More about a content; passed over where another one is chosen by now.
  void set_content(const ContentFacts& facts);
  /// Why nothing more is known of it.
  void set_content_problem(const std::string& content_id, const QString& text);
  /// What `files_wanted` asked for; passed over where another content is chosen by now.
  void set_files(const std::string& content_id, FileTree files);
  void set_files_problem(const std::string& content_id, const QString& text);
  /// The person's own groups, to search by.
  void set_groups(const std::vector<std::string>& names);
  /// Why the node did not begin what was wanted; empty: it did.
  void set_refusal(const QString& text);
  const FoundRow* current() const;
  /// Asks anew for all that the page waits for.
  void ask_again();
  /// Why the search is not answered; empty: it is.
  void set_problem(const QString& text);

 Q_SIGNALS:
  /// After a pause in typing; the search before is out of date.
  void search_wanted(const gridtorrent::gui::SearchQuery& query);
  /// Another content is chosen; empty: none.
  void current_changed(const std::string& content_id);
  void files_wanted(const std::string& content_id);
  /// `globs` mean the chosen files, as in GetRequest; empty: all.
  void facts_wanted(const std::string& content_id, const QString& folder, const std::vector<std::string>& globs);
  void get_wanted(const std::string& content_id, const QString& folder, const std::vector<std::string>& globs);

 protected:
  /// What was found may be out of date since the page was last seen; a content that is chosen stays.
  void showEvent(QShowEvent* event) override;

 private:
  QLayout* make_search();
  QWidget* make_details();
  void follow_current();
  void follow_choice();
  void search();
  void tell_count();
  void tell_space();
  void allow_get();
  std::string current_id() const;
  void choose_folder();
  void ask_for_facts();
  void get();

  SearchModel& model_;
  Format format_;
  QLineEdit* text_;
  QLabel* count_;
  QTableView* table_;
  QToolButton* filter_;
  SearchFilters* filters_;
  QLabel *name_, *about_, *choice_note_, *space_, *estimate_, *refusal_;
  ContentPane* content_;
  QLineEdit* folder_;
  QPushButton* get_;
  QTimer *pause_, *facts_pause_;
  GlobChoice choice_;
  GetFacts facts_;
  QString problem_;
};

}  // namespace gridtorrent::gui
