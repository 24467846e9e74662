#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/memory_state.h"
#include "tracker/store/audit_chain.h"

namespace gridtorrent::testing_support {

// A MemoryStore's tables of people, their tokens, what is audited and what was asked before.

class Users final : public ccm::UserStore {
 public:
  explicit Users(MemoryState& state) : s_(state) {}
  Status insert(const ccm::User& user) override {
    if (!s_.users.emplace(user.name, user).second) return Error{Code::kConflict, "user " + user.name + " exists"};
    return {};
  }
  Result<std::optional<ccm::User>> by_id(const UserId& id) override { return by_name(s_.user_name(id)); }
  Result<std::optional<ccm::User>> by_name(std::string_view name) override {
    const auto found = s_.users.find(std::string(name));
    return found == s_.users.end() ? std::nullopt : std::optional<ccm::User>(found->second);
  }
  Result<std::vector<ccm::User>> list(std::string_view after, std::size_t limit) override {
    std::vector<ccm::User> all;
    for (const auto& [name, user] : s_.users) {
      if (name > after) all.push_back(user);
    }
    cut(all, limit);
    return all;
  }
  Status set_disabled(const UserId& id, bool disabled) override {
    s_.users.at(s_.user_name(id)).disabled = disabled;
    return {};
  }
  Status set_password_hash(const UserId& id, const std::string& hash) override {
    s_.users.at(s_.user_name(id)).password_hash = hash;
    return {};
  }
  Result<std::vector<ccm::QuotaLimit>> quota_limits(const UserId& id) override {
    std::vector<ccm::QuotaLimit> limits;
    for (const auto& [key, limit] : s_.quotas) {
      if (key.first == id) limits.push_back({key.second, limit});
    }
    return limits;
  }
  Status change_quota(const UserId& id, const ccm::QuotaChange& change) override {
    s_.quotas.erase({id, change.quota});
    if (change.limit) s_.quotas[{id, change.quota}] = *change.limit;
    return {};
  }

 private:
  MemoryState& s_;
};

class Tokens final : public ccm::TokenStore {
 public:
  explicit Tokens(MemoryState& state) : s_(state) {}
  Status insert(const ccm::Token& token) override {
    if (!s_.tokens.emplace(token.id, token).second) return Error{Code::kConflict, "token exists"};
    return {};
  }
  Result<std::optional<ccm::Token>> by_id(std::string_view id) override {
    const auto found = s_.tokens.find(std::string(id));
    return found == s_.tokens.end() ? std::nullopt : std::optional<ccm::Token>(found->second);
  }
  Result<std::vector<ccm::Token>> of_user(const UserId& user, const std::optional<ccm::TokenPlace>& after,
                                          std::size_t limit) override {
    std::vector<ccm::Token> own;
    for (const auto& [id, token] : s_.tokens) {
      const bool follows =
          !after || token.created < after->created || (token.created == after->created && id > after->id);
      if (token.user == user && follows) own.push_back(token);
    }
    std::stable_sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.created > b.created; });
    cut(own, limit);
    return own;
  }
  Result<std::vector<ccm::Token>> good_of_kind(const UserId& user, ccm::TokenKind kind, WallTime now) override {
    std::vector<ccm::Token> own;
    for (const auto& [id, token] : s_.tokens) {
      if (token.user == user && token.kind == kind && token.is_good(now)) own.push_back(token);
    }
    return own;
  }
  Status revoke(std::string_view id, WallTime now) override {
    return revoke_where([&](const ccm::Token& t) { return t.id == id; }, now);
  }
  Status revoke_all_of_user(const UserId& user, WallTime now) override {
    return revoke_where([&](const ccm::Token& t) { return t.user == user; }, now);
  }
  Status revoke_personal_of_user(const UserId& user, WallTime now) override {
    return revoke_where([&](const ccm::Token& t) { return t.user == user && t.kind != ccm::TokenKind::kNode; }, now);
  }
  Status revoke_devices_of_user(const UserId& user, WallTime now) override {
    return revoke_where([&](const ccm::Token& t) { return t.user == user && t.kind == ccm::TokenKind::kDevice; }, now);
  }
  Status revoke_all_of_node(const NodeId& node, WallTime now) override {
    return revoke_where([&](const ccm::Token& t) { return t.node == node; }, now);
  }
  Status remove_all_of_node(const NodeId& node) override {
    std::erase_if(s_.tokens, [&](const auto& entry) { return entry.second.node == node; });
    return {};
  }
  Result<std::uint64_t> count_of_node(const NodeId& node, WallTime since) override {
    std::uint64_t count = 0;
    for (const auto& [id, token] : s_.tokens) count += token.node == node && token.created >= since ? 1U : 0U;
    return count;
  }
  Status set_last_used(std::string_view id, WallTime now) override {
    s_.tokens.at(std::string(id)).last_used = now;
    return {};
  }
  Status set_expires(std::string_view id, WallTime expires) override {
    s_.tokens.at(std::string(id)).expires = expires;
    return {};
  }
  Status expire_all_of_node(const NodeId& node, WallTime now, WallTime until) override {
    for (auto& [id, token] : s_.tokens) {
      if (token.node == node && token.is_good(now)) token.expires = std::min(token.expires, until);
    }
    return {};
  }
  Result<bool> take_use(std::string_view id) override {
    const auto found = s_.tokens.find(std::string(id));
    if (found == s_.tokens.end() || found->second.uses_left == 0) return false;
    --found->second.uses_left;
    return true;
  }
  Result<std::uint64_t> count_good(const UserId& user, ccm::TokenKind kind, WallTime now) override {
    std::uint64_t count = 0;
    for (const auto& [id, t] : s_.tokens) {
      const bool counts_uses = kind == ccm::TokenKind::kEnroll || kind == ccm::TokenKind::kInvite;
      const bool usable = !counts_uses || t.uses_left > 0;
      if (t.user == user && t.kind == kind && t.is_good(now) && usable) ++count;
    }
    return count;
  }
  Status prune(WallTime before) override {
    std::erase_if(s_.tokens, [&](const auto& entry) {
      const ccm::Token& t = entry.second;
      return t.expires < before || (t.revoked.ms != 0 && t.revoked < before);
    });
    return {};
  }

 private:
  template <class F>
  Status revoke_where(F&& matches, WallTime now) {
    for (auto& [id, token] : s_.tokens) {
      if (matches(token) && token.revoked.ms == 0) token.revoked = now;
    }
    return {};
  }
  MemoryState& s_;
};

class Audit final : public ccm::AuditLog {
 public:
  explicit Audit(MemoryState& state) : s_(state) {}
  Status append(const ccm::AuditRecord& record) override {
    s_.audit.push_back(record);
    s_.audit_chain.extend(record);
    return {};
  }
  Result<ccm::AuditHead> head() override { return s_.audit_chain.head(); }
  Result<ccm::AuditHead> verify() override {
    tracker::store::AuditChain chain;
    for (const ccm::AuditRecord& record : s_.audit) chain.extend(record);
    if (chain.head() != s_.audit_chain.head()) return tracker::store::broken_audit_record(chain.head().records);
    return chain.head();
  }
  Result<std::vector<ccm::NumberedAuditRecord>> select(const ccm::AuditFilter& filter) override {
    std::vector<ccm::NumberedAuditRecord> records;
    for (std::uint64_t number = s_.audit.size(); number > 0 && records.size() < filter.limit; --number) {
      const ccm::AuditRecord& r = s_.audit[number - 1];
      const bool action =
          filter.action.empty() || r.action == filter.action || r.action.starts_with(filter.action + ".");
      const bool actor = filter.actor.empty() || r.actor_name == filter.actor;
      const bool page = filter.below == 0 || number < filter.below;
      if (action && actor && page && r.at >= filter.since) records.push_back({number, ccm::as_listed(r)});
    }
    return records;
  }

 private:
  MemoryState& s_;
};

class Requests final : public ccm::RequestLog {
 public:
  explicit Requests(MemoryState& state) : s_(state) {}
  Result<std::optional<Entry>> find(const UserId& caller, std::string_view request_id) override {
    const auto found = s_.requests.find({caller, std::string(request_id)});
    return found == s_.requests.end() ? std::nullopt : std::optional<Entry>(found->second.first);
  }
  Status put(const UserId& caller, std::string_view request_id, const Entry& entry, WallTime now) override {
    s_.requests[{caller, std::string(request_id)}] = {entry, now};
    return {};
  }
  Status prune(WallTime before) override {
    std::erase_if(s_.requests, [&](const auto& entry) { return entry.second.second < before; });
    return {};
  }

 private:
  MemoryState& s_;
};

}  // namespace gridtorrent::testing_support
