#include "gui/session/server_session.h"

#include <utility>

#include "client/profile/saved_login.h"
#include "gui/session/convert.h"

namespace gridtorrent::gui {

namespace api = client::api;
using api::ServerApi;

/// A login, and the server that it is for; neither where nobody is logged in.
struct ServerSession::Opened {
  client::SavedLogin login;
  std::unique_ptr<ServerApi> api;
};

Result<std::shared_ptr<ServerSession::Opened>> ServerSession::open_server(const std::string& profile) {
  const auto opened = std::make_shared<Opened>();
  GT_ASSIGN(const std::optional<client::SavedLogin> login, client::saved_login(profile));
  if (!login || login->token.empty()) return opened;
  opened->login = *login;
  GT_ASSIGN(
      opened->api,
      ServerApi::open({.address = login->profile.server, .ca_file = login->profile.ca_file, .token = login->token}));
  return opened;
}

ServerSession::ServerSession(std::string profile, QThreadPool& pool, const Clock& clock, QObject* parent)
    : Session(pool, clock, parent), profile_(std::move(profile)) {}

ServerSession::~ServerSession() {
  for (Asking* asking : askings()) asking->cancel();
  asking_state_.cancel();
  end(std::move(api_));
}

void ServerSession::retry() {
  refused_token_.clear();
  Session::retry();
}

void ServerSession::begin_opening() {
  opening_.run<Result<std::shared_ptr<Opened>>>(
      pool_, [profile = profile_] { return open_server(profile); },
      [this](const Result<std::shared_ptr<Opened>>& opened) {
        if (!opened) return refuse(opened.error());
        take(**opened);
      });
}

void ServerSession::take(Opened& opened) {
  const client::Profile& profile = opened.login.profile;
  account_ = profile.server.empty() ? std::string() : profile.user + " @ " + profile.server;
  if (!opened.api) {
    login_ended_ = false;
    return be_absent();
  }
  token_ = opened.login.token;
  if (token_ == refused_token_) return refuse({Code::kUnauthenticated, problem()});
  api_ = std::move(opened.api);
  ask_state();
}

void ServerSession::close(const Error& why) {
  auto ending = std::exchange(api_, nullptr);
  for (Asking* asking : askings()) asking->fail(why);
  end(std::move(ending));
}

std::vector<Asking*> ServerSession::askings() {
  std::vector<Asking*> all{&searching_, &describing_, &replicas_, &previewing_, &listing_groups_};
  for (FilesQuestion& question : files_) {
    all.push_back(&question.finding_version);
    all.push_back(&question.listing);
  }
  return all;
}

void ServerSession::refuse(const Error& error) {
  login_ended_ = error.code == Code::kUnauthenticated;
  if (login_ended_) refused_token_ = token_;
  fail(error, false);
}

void ServerSession::ask_state() {
  asking_state_.call<v1::WhoAmIReply>(
      [this](auto answer) { return api_->async().accounts().who_am_i(std::move(answer)); },
      [this](const Result<v1::WhoAmIReply>& who) {
        if (!who) return refuse(who.error());
        login_ended_ = false;
        answered();
      });
}

void ServerSession::search(v1::SearchRequest request, std::function<void(Result<v1::SearchReply>)> done) {
  if (!api_) return done(Error{Code::kUnreachable, problem()});
  searching_.call<v1::SearchReply>(
      [&](auto answer) { return api_->async().contents().search(request, std::move(answer)); }, std::move(done));
}

void ServerSession::describe(const std::string& content_id, std::function<void(Result<v1::Content>)> content,
                             std::function<void(Result<client::api::Listed<v1::Replica>>)> replicas) {
  describing_.cancel();
  replicas_.cancel();
  if (content_id.empty()) return;
  if (!api_) return content(Error{Code::kUnreachable, problem()});
  client::api::AsyncContentsApi& contents = api_->async().contents();
  describing_.call<v1::Content>([&](auto answer) { return contents.get(content_id, std::move(answer)); },
                                std::move(content));
  constexpr std::size_t kShown = 100;
  replicas_.call<client::api::Listed<v1::Replica>>(
      [&](auto answer) { return contents.list_replicas(content_id, kShown, std::move(answer)); }, std::move(replicas));
}

void ServerSession::files(FilesReader reader, const std::string& content_id, std::uint32_t version,
                          std::function<void(Result<FileTree>)> done) {
  if (!api_) return done(Error{Code::kUnreachable, problem()});
  FilesQuestion& question = files_[static_cast<std::size_t>(reader)];
  question.finding_version.cancel();
  question.listing.cancel();
  if (version > 0) return list_files(question, content_id, version, std::move(done));
  question.finding_version.call<v1::Content>(
      [&](auto answer) { return api_->async().contents().get(content_id, std::move(answer)); },
      [this, &question, content_id, done = std::move(done)](const Result<v1::Content>& content) {
        if (!content) return done(content.error());
        list_files(question, content_id, content->version(), done);
      });
}

void ServerSession::list_files(FilesQuestion& question, const std::string& content_id, std::uint32_t version,
                               std::function<void(Result<FileTree>)> done) {
  question.listing.call<FileTree>(
      [&](api::Answer<FileTree> answer) {
        // The tree is made where the answer comes, which is not the GUI thread.
        return api_->async().contents().manifest(
            content_id, version, [answer = std::move(answer)](const Result<std::vector<api::FileEntry>>& entries) {
              if (!entries) return answer(entries.error());
              answer(file_tree(*entries));
            });
      },
      std::move(done));
}

void ServerSession::preview(const v1::Access& access, std::function<void(Result<v1::PreviewAccessReply>)> done) {
  if (!api_) return done(Error{Code::kUnreachable, problem()});
  previewing_.call<v1::PreviewAccessReply>(
      [&](auto answer) { return api_->async().contents().preview_access(access, std::move(answer)); }, std::move(done));
}

void ServerSession::groups(std::function<void(Result<std::vector<std::string>>)> done) {
  if (!api_) return done(Error{Code::kUnreachable, problem()});
  listing_groups_.call<std::vector<v1::Group>>(
      [&](auto answer) { return api_->async().collaboration().list_groups(false, std::move(answer)); },
      [done = std::move(done)](const Result<std::vector<v1::Group>>& groups) {
        if (!groups) return done(groups.error());
        std::vector<std::string> names;
        for (const v1::Group& group : *groups)
          if (group.standing() == "member" || group.standing() == "manager") names.push_back(group.name());
        done(std::move(names));
      });
}

}  // namespace gridtorrent::gui
