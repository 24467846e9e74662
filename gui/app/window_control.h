#pragma once

#include <QObject>
#include <QThreadPool>
#include <functional>
#include <string>

#include "gui/models/content_facts.h"
#include "gui/models/ending.h"
#include "gui/models/search_query.h"
#include "gui/session/asking.h"
#include "gui/session/node_session.h"
#include "gui/session/server_session.h"
#include "gui/session/transfer_details.h"
#include "gui/views/find_page.h"
#include "gui/views/main_window.h"

namespace gridtorrent::gui {

/// Joins the window to node and server: what it asks for by signals is asked there, and answers go into its models.
/// All that it is given must outlive it. GUI thread only.
class WindowControl final : public QObject {
  Q_OBJECT

 public:
  struct Parts {
    MainWindow& window;
    TransfersModel& transfers;
    SearchModel& found;
    NodeSession& node;
    ServerSession& server;
    QThreadPool& pool;
    const Clock& clock;
    std::string profile;
  };
  explicit WindowControl(const Parts& parts);

 private:
  void join_sessions();
  void join_transfers();
  void join_find();
  void show_connections();
  void show_doctor();
  void follow(const std::string& transfer_id);
  void list_chosen(const std::string& transfer_id);
  void choose_files(const std::string& transfer_id, const std::vector<std::uint32_t>& places);
  void search(const SearchQuery& query);
  void ask_page(quint64 number, const std::string& page);
  void describe(const std::string& content_id);
  void list_files(const std::string& content_id);
  void find_facts(const std::string& content_id, const QString& folder, const std::vector<std::string>& globs);
  void get(const std::string& content_id, const QString& folder, const std::vector<std::string>& globs);
  void limit(const std::vector<std::string>& ids);
  void hold(const std::string& id);
  void ask_rate(const QString& title, const QString& question, const std::vector<std::string>& ids,
                const std::function<void(v1::SetTransferRequest&, std::uint64_t)>& set);
  void end(Ending ending, const std::vector<std::string>& ids);
  void save(const QString& path, const QByteArray& content);

  const Parts parts_;
  const Format format_;
  TransferDetails details_;
  v1::SearchRequest query_;
  GetFacts facts_;
  bool search_lacks_ = true;  ///< the last search has no answer
  ContentFacts about_;
  std::string followed_;
  Asking estimating_, measuring_, saving_, listing_chosen_;
};

}  // namespace gridtorrent::gui
