#pragma once

#include <QObject>
#include <QThreadPool>
#include <QTimer>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/api/server/server_api.h"
#include "common/clock.h"
#include "gui/models/file_tree.h"
#include "gui/session/asking.h"
#include "gui/session/retry.h"

namespace gridtorrent::gui {

/// The server that a profile is logged in to, for as long as the window lives: asks who one is, searches, and goes on
/// where the server comes back or the person logs in again. GUI thread only; nothing here waits. The pool, which reads
/// files and closes connections, must outlive this.
class ServerSession final : public QObject {
  Q_OBJECT

 public:
  ServerSession(std::string profile, QThreadPool& pool, const Clock& clock, QObject* parent = nullptr);
  ~ServerSession() override;

  void start();
  /// At once, where it is waiting for the next attempt.
  void retry();
  /// One second has gone; the timer that `start` begins calls this.
  void second();

  const Link& link() const { return attempts_.link(); }
  /// "alice @ data.example.org:7443"; empty: nobody is logged in.
  const std::string& account() const { return account_; }
  /// Why it does not answer, in the words of the error; empty: it does, or nobody is logged in.
  const std::string& problem() const { return problem_; }
  /// The token is no longer good. It goes on by itself once there is another.
  bool login_ended() const { return login_ended_; }

  /// Ends the search before: one is under way at most.
  void search(v1::SearchRequest request, std::function<void(Result<v1::SearchReply>)> done);
  /// A content, then where it lies. Ends the description before; an empty id ends it only.
  void describe(const std::string& content_id, std::function<void(Result<v1::Content>)> content,
                std::function<void(Result<client::api::Listed<v1::Replica>>)> replicas);
  /// The newest version's files. Ends the question before.
  void files(const std::string& content_id, std::function<void(Result<FileTree>)> done);

 Q_SIGNALS:
  /// Link, account, problem or login are others than before.
  void changed();
  /// It answers, for the first time or again.
  void connected();

 private:
  struct Opened;
  static Result<std::shared_ptr<Opened>> open_server(const std::string& profile);

  void open();
  void take(Opened& opened);
  void close();
  void ask_who();
  void fail(const Error& error);

  const std::string profile_;
  QThreadPool& pool_;
  const Clock& clock_;
  QTimer timer_;
  Attempts attempts_;
  std::string account_, problem_, token_;
  bool login_ended_ = false;
  std::string refused_token_;  ///< shown once, and no longer good
  bool opening_now_ = false;
  std::shared_ptr<client::api::ServerApi> api_;
  bool waits_ = false;  ///< an answer about its state is to come
  MonoTime answered_{};
  std::int64_t answered_ms_ = 0;
  Asking opening_, asking_who_, searching_, describing_, replicas_, finding_version_, listing_files_;
};

}  // namespace gridtorrent::gui
