#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "client/api/server/server_api.h"
#include "gui/models/file_tree.h"
#include "gui/session/session.h"

namespace gridtorrent::gui {

/// The server that a profile is logged in to: who one is, and what there is. Goes on by itself where the person logs in
/// again. A question that waits when the connection breaks is answered with the error.
class ServerSession final : public Session {
  Q_OBJECT

 public:
  ServerSession(std::string profile, QThreadPool& pool, const Clock& clock, QObject* parent = nullptr);
  ~ServerSession() override;

  /// Also with a token that was refused.
  void retry() override;

  /// "alice @ data.example.org:7443"; empty: nobody is logged in.
  const std::string& account() const { return account_; }
  /// The token is no longer good. It goes on by itself once there is another.
  bool login_ended() const { return login_ended_; }

  /// Ends the search before: one is under way at most.
  void search(v1::SearchRequest request, std::function<void(Result<v1::SearchReply>)> done);
  /// A content, then where it lies. Ends the description before; an empty id ends it only.
  void describe(const std::string& content_id, std::function<void(Result<v1::Content>)> content,
                std::function<void(Result<client::api::Listed<v1::Replica>>)> replicas);
  /// Who reads a list of files: neither ends the question of the other.
  enum class FilesReader : std::uint8_t { kDetails, kChoice };
  /// A version's files; 0: the newest. Ends the question before of the same reader.
  void files(FilesReader reader, const std::string& content_id, std::uint32_t version,
             std::function<void(Result<FileTree>)> done);
  /// Who could get something with this access. Ends the question before.
  void preview(const v1::Access& access, std::function<void(Result<v1::PreviewAccessReply>)> done);
  /// The names of the groups that the person is in. Ends the question before.
  void groups(std::function<void(Result<std::vector<std::string>>)> done);

 private:
  struct Opened;
  static Result<std::shared_ptr<Opened>> open_server(const std::string& profile);

  bool is_open() const override { return api_ != nullptr; }
  void begin_opening() override;
  void ask_state() override;
  void close(const Error& why) override;
  void take(Opened& opened);
  std::vector<Asking*> askings();
  void refuse(const Error& error);

  const std::string profile_;
  std::string account_, token_;
  bool login_ended_ = false;
  std::string refused_token_;  ///< shown once, and no longer good
  std::shared_ptr<client::api::ServerApi> api_;
  struct FilesQuestion {
    Asking finding_version, listing;
  };
  void list_files(FilesQuestion& question, const std::string& content_id, std::uint32_t version,
                  std::function<void(Result<FileTree>)> done);
  std::array<FilesQuestion, 2> files_;  ///< by reader
  Asking searching_, describing_, replicas_, previewing_, listing_groups_;
};

}  // namespace gridtorrent::gui
