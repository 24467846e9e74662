#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ccm/domain/account_service.h"
#include "ccm/domain/buddy_service.h"
#include "ccm/domain/content_service.h"
#include "ccm/domain/group_service.h"
#include "ccm/domain/handover_service.h"
#include "ccm/domain/inbox_service.h"
#include "ccm/domain/invite_service.h"
#include "common/clock.h"
#include "common/rng.h"
#include "tests/support/memory_store.h"
#include "tests/unit/sql_fixture.h"
#include "tracker/core/audiences.h"
#include "tracker/core/news.h"
#include "tracker/core/node_service.h"
#include "tracker/core/swarms.h"
#include "tracker/core/task_service.h"
#include "tracker/store/metadata_folder.h"
#include "tracker/store/sqlite_store.h"

namespace gridtorrent::testing_support {

/// A store of one of the kinds that must behave alike: "memory" or "sqlite".
class AnyStore {
 public:
  explicit AnyStore(const std::string& kind) {
    if (kind == "memory") {
      memory_ = std::make_unique<MemoryStore>();
      return;
    }
    auto opened = tracker::store::SqliteStore::open({folder_.path(), {}, [this](std::string_view sql) {
                                                       const std::lock_guard lock(mutex_);
                                                       statements_.emplace_back(sql);
                                                     }});
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    sqlite_ = std::move(*opened);
  }
  ccm::Store& ccm() { return memory_ ? static_cast<ccm::Store&>(*memory_) : *sqlite_; }
  tracker::Store& tracker() { return memory_ ? static_cast<tracker::Store&>(*memory_) : *sqlite_; }
  tracker::store::SqliteStore& sqlite() { return *sqlite_; }  ///< of that kind only
  const std::string& folder() const { return folder_.path(); }
  /// What SQLite was asked since the last call; of the fake, nothing.
  std::vector<std::string> take_statements() {
    const std::lock_guard lock(mutex_);
    return std::exchange(statements_, {});
  }

 private:
  sql::TempFolder folder_;
  std::mutex mutex_;
  std::vector<std::string> statements_;
  std::unique_ptr<MemoryStore> memory_;
  std::unique_ptr<tracker::store::SqliteStore> sqlite_;
};

/// Generations of a data CA without a key in sight.
struct FakeEditions final : public ccm::Editions {
  std::uint32_t generation = 1;
  std::optional<Error> trouble;
  Result<std::uint32_t> restricted() const override {
    if (trouble) return *trouble;
    return generation;
  }
  std::string ca_pem(std::uint32_t wanted) const override {
    return wanted == 0 || wanted > generation ? "" : "CA " + std::to_string(wanted);
  }
};

/// Whose inboxes were rung, in order.
struct RungInboxes final : public ccm::InboxBell {
  std::vector<UserId> people;
  void ring(const std::vector<UserId>& rung) override { people.insert(people.end(), rung.begin(), rung.end()); }
};

/// The server's use cases over a store, with a clock that stands still; users are made by name.
class ServerWorld {
 public:
  explicit ServerWorld(const std::string& kind, ccm::Quotas quotas = {}) : store(kind), quotas_(quotas) {}

  AnyStore store;
  ManualClock clock;
  SeededRng rng{42};
  MemoryFiles files;
  tracker::Swarms swarms{clock, rng};
  FakeEditions editions;
  tracker::NodeHub hub;
  tracker::TaskHub task_hub;
  tracker::Audiences audiences{{store.tracker(), hub, clock, rng}};
  tracker::NodeNews news{hub, swarms, audiences};
  RungInboxes inboxes;

 private:
  ccm::Quotas quotas_;

 public:
  ccm::ContentService contents{{store.ccm(), files, swarms, news, inboxes, editions, clock, rng, quotas_}};
  ccm::GroupService groups{{store.ccm(), news, inboxes, clock, rng, quotas_}};
  ccm::InviteService invites{{store.ccm(), groups, clock, rng, quotas_}};
  ccm::BuddyService buddies{{store.ccm(), news, inboxes, clock, quotas_}};
  ccm::InboxService inbox{{store.ccm(), inboxes, clock}};
  ccm::HandoverService handovers{{store.ccm(), news, inboxes, clock, quotas_}};
  ccm::AccountService accounts{{store.ccm(), news, clock, rng, quotas_}};
  tracker::NodeService nodes{{store.tracker(), swarms, hub, audiences, clock, rng, quotas_}};
  tracker::TaskService tasks{{store.tracker(), hub, task_hub, clock, rng, quotas_}};

  /// The newest audit records as an administrator reads them.
  Result<std::vector<ccm::AuditRecord>> audit(const ccm::Actor& actor, std::size_t limit) {
    ccm::AuditFilter filter;
    filter.limit = limit;
    GT_ASSIGN(const auto found, accounts.audit_records(actor, filter));
    std::vector<ccm::AuditRecord> records;
    for (const auto& one : found) records.push_back(one.record);
    return records;
  }

  std::string request_id() { return make_request_id(clock.wall(), rng); }

  /// Names of the contents that a search finds, in its order.
  std::vector<std::string> found(const ccm::Actor& actor, const ccm::SearchQuery& query = {}) {
    const auto result = contents.search(actor, query);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    std::vector<std::string> names;
    if (!result.ok()) return names;
    for (const auto& view : result->contents) names.push_back(view.content.name);
    return names;
  }

  ccm::Actor user(const std::string& name, bool admin = false) {
    ccm::Actor actor;
    EXPECT_TRUE(store.ccm()
                    .write([&](ccm::Tx& tx) -> Status {
                      GT_ASSIGN(auto found, tx.users.by_name(name));
                      if (!found) {
                        found = ccm::User{UserId::make(clock.wall(), rng), name, admin, false, clock.wall(), ""};
                        GT_TRY(tx.users.insert(*found));
                      }
                      actor = {found->id,          name,       found->admin, NodeId(), ccm::full_scopes(found->admin),
                               "token-of-" + name, "192.0.2.1"};
                      return {};
                    })
                    .ok());
    return actor;
  }

  /// A node of that user, enrolled through the front door.
  ccm::Actor node(const ccm::Actor& owner, const std::string& name, const std::string& key = "") {
    ccm::Token enroll;
    enroll.id = "e" + std::to_string(++tokens_);
    enroll.secret_hash = "h";
    enroll.uses_left = 1;
    enroll.expires = clock.wall() + std::chrono::minutes(15);
    EXPECT_TRUE(nodes.add_enroll_token(owner, request_id(), enroll).ok());
    tracker::EnrollNode request;
    request.request_id = request_id();
    request.token_id = enroll.id;
    request.name = name;
    request.public_key = key.empty() ? "key of " + owner.name + "/" + name : key;
    request.program_version = "0.1.0";
    request.node_token = node_token();
    const auto enrolled = nodes.enroll(request);
    EXPECT_TRUE(enrolled.ok()) << (enrolled.ok() ? "" : enrolled.error().message);
    ccm::Actor actor = owner;
    if (!enrolled.ok()) return actor;
    actor.node = enrolled->node.id;
    actor.scopes = ccm::node_scopes();
    actor.token_id = enrolled->token.id;
    return actor;
  }

  ccm::Token node_token() {
    ccm::Token token;
    token.id = "n" + std::to_string(++tokens_);
    token.secret_hash = "h";
    token.expires = clock.wall() + std::chrono::hours(24 * 90);
    return token;
  }

  /// A published content.
  ccm::Content publish(const ccm::Actor& owner, const std::string& name,
                       ccm::AccessLevel level = ccm::AccessLevel::kPublic, std::uint64_t bytes = 1000,
                       std::vector<std::string> tags = {}) {
    ccm::BeginPublish begin;
    begin.request_id = request_id();
    begin.name = name;
    begin.access.level = level;
    begin.tags = std::move(tags);
    const auto ticket = contents.begin_publish(owner, begin);
    EXPECT_TRUE(ticket.ok()) << (ticket.ok() ? "" : ticket.error().message);
    if (!ticket.ok()) return {};
    const auto finished = contents.finish_publish(owner, finish_of(ticket->content, bytes));
    EXPECT_TRUE(finished.ok()) << (finished.ok() ? "" : finished.error().message);
    return finished.ok() ? finished->content : ccm::Content{};
  }

  ccm::FinishPublish finish_of(const ContentId& content, std::uint64_t bytes = 1000, char digit = 'a') {
    ccm::FinishPublish finish;
    finish.request_id = request_id();
    finish.content = content;
    finish.version = 1;
    finish.sha256_hex = std::string(64, digit);
    finish.metadata = "metadata";
    finish.bytes = bytes;
    finish.files = 3;
    finish.entries = 2;
    finish.piece_bytes = 262144;
    return finish;
  }

  tracker::Announce announce_of(const ccm::Content& content, tracker::SwarmRole role, std::uint64_t verified) const {
    tracker::Announce announce;
    announce.content = content.id;
    announce.version = content.version;
    announce.role = role;
    announce.verified_bytes = verified;
    announce.total_bytes = content.bytes;
    return announce;
  }

 private:
  int tokens_ = 0;
};

template <class T>
Code code_of(const Result<T>& result) {
  EXPECT_FALSE(result.ok()) << "an error was due";
  return result.ok() ? Code::kInternal : result.error().code;
}
template <class T>
std::string message_of(const Result<T>& result) {
  return result.ok() ? "no error" : result.error().message;
}

}  // namespace gridtorrent::testing_support
