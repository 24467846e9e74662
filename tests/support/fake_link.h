#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "client/core/server_link.h"
#include "common/hex.h"

namespace gridtorrent::testing {

/// A server of one user that lives in memory. Thread-safe.
class FakeLink final : public client::ServerLink {
 public:
  struct State {
    std::map<std::string, client::ContentInfo> contents;  ///< by name
    std::map<ContentId, metainfo::VersionMetadata> metadata;
    std::map<std::uint32_t, client::ContentInfo> versions;  ///< of any content, where that number is asked for
    std::map<std::uint32_t, metainfo::VersionMetadata> version_metadata;
    std::map<std::string, client::PublishTicket> tickets;  ///< by request id
    client::PublishRequest last_begun;
    std::vector<client::AnnounceRequest> announces;
    std::function<void(const client::AnnounceRequest&)> after_answer;  ///< of an announce, while it is on its way
    std::function<void()> while_asked;                                 ///< for a content, before the answer
    std::vector<client::PeerInfo> peers;
    std::vector<client::TaskReport> reports;
    std::vector<std::uint64_t> acks;
    std::vector<std::vector<client::LaneEndpoint>> endpoints;
    client::Reachability reachability = client::Reachability::kReachable;
    std::optional<Error> down;  ///< what every call answers
    std::optional<Error> begin_error, finish_error, announce_error, checksums_error, certify_error;
    std::string audience;  ///< of every restricted content
    std::vector<client::IssuedCertificate> certificates{{1, "CA 1", "certificate 1", WallTime{}}};
    int certified = 0;
    std::chrono::milliseconds asked_pause{0}, next_announce{30'000};
    ContentId next_content;
    std::string metadata_name;          ///< unless empty, what a publish's metadata is said to be called
    std::vector<std::string> given_up;  ///< request ids of publishes
    std::optional<Error> give_up_error;
    client::RootNames roots;  ///< of the last update of endpoints
    int endpoint_calls = 0, begins = 0, begins_refused = 0, finishes = 0, metadata_calls = 0, checksums = 0;
  };
  template <class F>
  auto with(F&& use) {
    const std::lock_guard lock(mutex_);
    return use(state_);
  }
  client::ServerListener& listener() { return *listener_; }
  std::uint64_t cursor() const { return cursor_; }

  using ServerLink::content;
  Result<client::ContentInfo> content(const std::string& reference, std::uint32_t version) override {
    if (const auto meanwhile = with([](State& state) { return state.while_asked; })) meanwhile();
    return with([&](State& state) -> Result<client::ContentInfo> {
      if (state.down) return *state.down;
      if (const auto found = state.versions.find(version); found != state.versions.end()) return found->second;
      for (const auto& [name, content] : state.contents) {
        if (reference == name || reference == content.id.str() || reference == content.owner + "/" + name)
          return content;
      }
      return Error{Code::kNotFound, "there is no content '" + reference + "', or it is not yours to see"};
    });
  }
  Result<metainfo::VersionMetadata> metadata(const ContentId& content, std::uint32_t version) override {
    return with([&](State& state) -> Result<metainfo::VersionMetadata> {
      if (state.down) return *state.down;
      ++state.metadata_calls;
      if (const auto one = state.version_metadata.find(version); one != state.version_metadata.end())
        return one->second;
      return state.metadata.at(content);
    });
  }
  Result<client::PublishTicket> begin_publish(const client::PublishRequest& request) override {
    return with([&](State& state) -> Result<client::PublishTicket> {
      if (state.down) return *state.down;
      if (state.begin_error) {
        ++state.begins_refused;
        return *state.begin_error;
      }
      ++state.begins;
      state.last_begun = request;
      auto& ticket = state.tickets[request.request_id];
      if (request.update) {
        const client::ContentInfo& newest = state.contents[request.name];
        ticket = {newest.id, newest.version + 1, newest.generation, newest.ca_pem};
        return ticket;
      }
      ticket.content = state.next_content;
      state.contents[request.name].name = request.name;
      state.contents[request.name].access_level = request.access;
      if (request.access != "public") {
        ticket.generation = state.contents[request.name].generation = 1;
        ticket.ca_pem = state.contents[request.name].ca_pem = "CA 1";
      }
      return ticket;
    });
  }
  Result<client::ContentInfo> finish_publish(const std::string&, const client::PublishTicket& ticket,
                                             const metainfo::VersionMetadata& metadata) override {
    return with([&](State& state) -> Result<client::ContentInfo> {
      if (state.down) return *state.down;
      if (state.finish_error) return *state.finish_error;
      ++state.finishes;
      if (ticket.version > 1) {
        client::ContentInfo before;
        for (const auto& [name, content] : state.contents) {
          if (content.id == ticket.content) before = content;
        }
        client::ContentInfo again = before;
        describe(again, ticket.content, metadata);
        if (again.metadata_sha256 == before.metadata_sha256) return before;  // nothing has changed: no version is made
        auto& next = state.versions[ticket.version];
        next = before;
        next.version = ticket.version;
        describe(next, ticket.content, metadata);
        state.version_metadata[ticket.version] = metadata;
        return next;
      }
      for (auto& [name, content] : state.contents) {
        if (!content.id.is_nil()) continue;
        describe(content, ticket.content, metadata);
        if (!state.metadata_name.empty()) content.metadata_sha256 = state.metadata_name;
        state.metadata[ticket.content] = metadata;
        return content;
      }
      return Error{Code::kNotFound, "nothing was begun"};
    });
  }
  Status give_up_publish(const std::string& request_id) override {
    return with([&](State& state) -> Status {
      if (state.down) return *state.down;
      if (state.give_up_error) return *state.give_up_error;
      state.given_up.push_back(request_id);
      state.tickets.erase(request_id);
      return {};
    });
  }
  /// Puts a published content there.
  static void describe(client::ContentInfo& content, const ContentId& id, const metainfo::VersionMetadata& metadata) {
    const std::string document = metainfo::encode(metadata);
    content.id = id;
    content.owner = "ada";
    content.bytes = metadata.manifest.total_bytes();
    content.files = metadata.manifest.file_count();
    content.metadata_sha256 = hex_encode(crypto::sha256(as_bytes(document)));
  }
  Status add_checksums(const ContentId&, std::uint32_t, const std::string&) override {
    return with([](State& state) -> Status {
      ++state.checksums;
      if (state.checksums_error) return *state.checksums_error;
      return {};
    });
  }
  Result<client::AnnounceReply> announce(const client::AnnounceRequest& request) override {
    auto reply = answer(request);
    if (const auto then = with([](State& state) { return state.after_answer; })) then(request);
    return reply;
  }
  Result<client::AnnounceReply> answer(const client::AnnounceRequest& request) {
    return with([&](State& state) -> Result<client::AnnounceReply> {
      if (state.down) return *state.down;
      if (state.announce_error) return *state.announce_error;
      state.announces.push_back(request);
      client::AnnounceReply reply;
      reply.peers = state.peers;
      reply.next = state.next_announce;
      for (const auto& [name, content] : state.contents) {
        if (content.id != request.content) continue;
        reply.generation = content.generation;
        reply.owner = content.owner;
        reply.name = content.name;
        if (reply.generation != 0) reply.audience = state.audience;
      }
      return reply;
    });
  }
  Result<std::vector<client::IssuedCertificate>> certify(const std::string&) override {
    return with([&](State& state) -> Result<std::vector<client::IssuedCertificate>> {
      if (state.down) return *state.down;
      ++state.certified;
      if (state.certify_error) return *state.certify_error;
      return state.certificates;
    });
  }
  Result<std::vector<client::Reachability>> update_endpoints(const std::vector<client::LaneEndpoint>& endpoints,
                                                             const client::RootNames& roots) override {
    return with([&](State& state) -> Result<std::vector<client::Reachability>> {
      ++state.endpoint_calls;
      if (state.down) return *state.down;
      state.roots = roots;
      state.endpoints.push_back(endpoints);
      return std::vector<client::Reachability>(endpoints.size(), state.reachability);
    });
  }
  Status ack_task(std::uint64_t sequence) override {
    return with([&](State& state) -> Status {
      if (state.down) return *state.down;
      state.acks.push_back(sequence);
      return {};
    });
  }
  Status report_task(const client::TaskReport& report) override {
    return with([&](State& state) -> Status {
      if (state.down) return *state.down;
      state.reports.push_back(report);
      return {};
    });
  }
  void start(client::ServerListener& listener, std::uint64_t cursor) override {
    listener_ = &listener;
    cursor_ = cursor;
    listener.connected();
  }
  void stop() override {}
  bool is_connected() const override {
    const std::lock_guard lock(mutex_);
    return !state_.down;
  }
  std::chrono::milliseconds asked_pause() const override {
    const std::lock_guard lock(mutex_);
    return state_.asked_pause;
  }
  std::chrono::milliseconds clock_offset() const override { return {}; }

 private:
  mutable std::mutex mutex_;
  State state_;
  client::ServerListener* listener_ = nullptr;
  std::uint64_t cursor_ = 0;
};

}  // namespace gridtorrent::testing
