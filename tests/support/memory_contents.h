#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ccm/domain/names.h"
#include "ccm/domain/policy.h"
#include "tests/support/memory_state.h"

namespace gridtorrent::testing_support {

// A MemoryStore's tables of contents, who holds them, and offers of them.

class Contents final : public ccm::ContentStore {
 public:
  explicit Contents(MemoryState& state) : s_(state) {}
  Status insert(const ccm::Content& content) override {
    const auto taken = by_owner_and_name(content.owner, content.name);
    if (has_name(content) && taken->has_value()) return Error{Code::kConflict, "name " + content.name + " is taken"};
    s_.contents.emplace(content.id, content);
    return {};
  }
  Status update(const ccm::Content& content) override {
    ccm::Content& kept = s_.contents.at(content.id);
    const ccm::Content old = kept;
    const auto taken = by_owner_and_name(old.owner, old.name);
    if (has_name(content) && taken->has_value() && (*taken)->id != content.id)
      return Error{Code::kConflict, "name " + old.name + " is taken"};
    kept = content;
    kept.owner = old.owner;
    kept.owner_name = old.owner_name;
    kept.name = old.name;
    kept.created = old.created;
    return {};
  }
  Status set_owner_and_name(const ContentId& id, const UserId& owner, const std::string& name) override {
    const auto taken = by_owner_and_name(owner, name);
    ccm::Content& kept = s_.contents.at(id);
    if (has_name(kept) && taken->has_value() && (*taken)->id != id)
      return Error{Code::kConflict, "name " + name + " is taken"};
    kept.owner = owner;
    kept.owner_name = s_.user_name(owner);
    kept.name = name;
    return {};
  }
  Result<std::optional<ccm::Content>> by_id(const ContentId& id) override {
    const auto found = s_.contents.find(id);
    return found == s_.contents.end() ? std::nullopt : std::optional<ccm::Content>(found->second);
  }
  Result<std::optional<ccm::Content>> by_owner_and_name(const UserId& owner, std::string_view name) override {
    for (const auto& [id, c] : s_.contents) {
      if (c.owner == owner && c.name == name && has_name(c)) return std::optional(c);
    }
    return std::optional<ccm::Content>();
  }
  Result<std::optional<ccm::Content>> visible_by_id(const UserId& viewer, std::string_view viewer_name,
                                                    const ContentId& id) override {
    const auto found = s_.contents.find(id);
    const bool shown = found != s_.contents.end() && allowed(viewer, viewer_name, ccm::Action::kShow, found->second);
    return shown ? std::optional<ccm::Content>(found->second) : std::nullopt;
  }
  Result<std::vector<ccm::Content>> visible_by_name(const UserId& viewer, std::string_view viewer_name,
                                                    std::string_view owner, std::string_view name,
                                                    std::size_t limit) override {
    std::vector<ccm::Content> found, withdrawn;
    std::map<UserId, std::size_t> looked_at;
    for (const auto& [id, c] : std::views::reverse(s_.contents)) {  // the newest first
      if (c.name != name || (!owner.empty() && c.owner_name != owner)) continue;
      const bool gone = c.state == ccm::ContentState::kWithdrawn;
      if (gone && ++looked_at[c.owner] > limit) continue;
      if (allowed(viewer, viewer_name, ccm::Action::kShow, c)) (gone ? withdrawn : found).push_back(c);
    }
    if (found.empty()) found = std::move(withdrawn);
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      const auto place = [](const ccm::Content& c) {
        return std::tuple(c.state != ccm::ContentState::kPublished, c.owner_name);
      };
      return place(a) < place(b);
    });
    cut(found, limit);
    return found;
  }
  Result<std::vector<ccm::Content>> search(const ccm::SearchFilter& f) override {
    std::vector<ccm::Content> found;
    for (const auto& [id, c] : s_.contents) {
      if (!allowed(f.viewer, f.viewer_name, ccm::Action::kSearch, c)) continue;
      if (f.group && !is_target(c, *f.group)) continue;
      if (ccm::fold_case(c.name).find(f.folded_query) == std::string::npos) continue;
      if (!f.owner.empty() && c.owner_name != f.owner) continue;
      if (!f.tag.empty() && std::find(c.tags.begin(), c.tags.end(), f.tag) == c.tags.end()) continue;
      if (f.access && c.access.level != *f.access) continue;
      if (c.bytes < f.min_bytes || c.published < f.since) continue;
      if (f.after && !(order(c) < std::pair(f.after->published.ms, f.after->id.str()))) continue;
      found.push_back(c);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return order(b) < order(a); });
    cut(found, f.limit);
    return found;
  }
  Result<std::vector<ccm::Content>> shared_with(const UserId& viewer, std::string_view viewer_name,
                                                std::size_t limit) override {
    std::vector<ccm::Content> found;
    for (const auto& [id, c] : s_.contents) {
      if (c.owner == viewer || c.access.level != ccm::AccessLevel::kShared) continue;
      if (allowed(viewer, viewer_name, ccm::Action::kSearch, c)) found.push_back(c);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::pair(a.shared.ms, a.id.str()) > std::pair(b.shared.ms, b.id.str());
    });
    cut(found, limit);
    return found;
  }
  Result<bool> shares_with_buddies(const UserId& owner) override {
    return std::any_of(s_.contents.begin(), s_.contents.end(), [&](const auto& entry) {
      const ccm::Content& c = entry.second;
      return c.owner == owner && c.access.buddies && c.state == ccm::ContentState::kPublished;
    });
  }
  Result<ccm::Audience> audience(const UserId& owner, const ccm::Access& access) override {
    ccm::Audience audience;
    std::map<GroupId, std::uint64_t> members;
    for (const auto& [name, user] : s_.users) {
      if (user.disabled || user.id == owner) continue;
      const bool named = std::count(access.users.begin(), access.users.end(), name) > 0;
      const bool buddy = access.buddies && s_.buddies.contains({owner, user.id});
      bool member = false;
      for (const ccm::GroupTarget& target : access.groups) {
        const auto own = s_.memberships.find({target.id, user.id});
        if (own == s_.memberships.end() || !is_active(own->second.standing)) continue;
        member = true;
        ++members[target.id];
      }
      if (named) audience.users.push_back(name);
      if (buddy) ++audience.buddies;
      if (member) ++audience.group_people;
      if (access.level == ccm::AccessLevel::kPublic || named || buddy || member) ++audience.people;
    }
    for (const ccm::GroupTarget& target : access.groups) audience.groups.push_back({target.name, members[target.id]});
    return audience;
  }
  Result<std::vector<ccm::Content>> stale_drafts(WallTime before, std::size_t limit) override {
    std::vector<ccm::Content> found;
    for (const auto& [id, c] : s_.contents) {
      if (c.state == ccm::ContentState::kDraft && c.touched < before) found.push_back(c);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.touched < b.touched; });
    cut(found, limit);
    return found;
  }
  Result<std::vector<ccm::Content>> before_generation(std::uint32_t generation, std::size_t limit) override {
    std::vector<ccm::Content> found;
    for (const auto& [id, c] : s_.contents) {
      if (c.generation > 0 && c.generation < generation && c.state != ccm::ContentState::kPurged) found.push_back(c);
    }
    cut(found, limit);
    return found;
  }
  Result<std::map<std::uint32_t, std::uint64_t>> count_by_generation() override {
    std::map<std::uint32_t, std::uint64_t> counted;
    for (const auto& [id, c] : s_.contents) {
      if (c.generation > 0 && c.state != ccm::ContentState::kPurged) ++counted[c.generation];
    }
    return counted;
  }
  Result<Usage> usage(const UserId& owner) override {
    Usage usage;
    for (const auto& [id, c] : s_.contents) {
      if (c.owner != owner || c.state == ccm::ContentState::kPurged) continue;
      ++usage.contents;
      usage.metadata_bytes += c.metadata_bytes;
      for (const auto& [key, version] : s_.versions) {
        if (key.first != id) continue;
        ++usage.contents;
        usage.metadata_bytes += version.metadata_bytes;
      }
    }
    return usage;
  }
  Result<std::uint64_t> count_created(const UserId& owner, WallTime since) override {
    std::uint64_t count = 0;
    for (const auto& [id, c] : s_.contents) {
      count += c.owner == owner && c.created >= since && c.state != ccm::ContentState::kPurged ? 1U : 0U;
    }
    return count;
  }

 private:
  static bool has_name(const ccm::Content& c) {
    return c.state == ccm::ContentState::kDraft || c.state == ccm::ContentState::kPublished;
  }
  static std::pair<std::int64_t, std::string> order(const ccm::Content& c) { return {c.published.ms, c.id.str()}; }
  static bool is_target(const ccm::Content& c, const GroupId& group) {
    return std::any_of(c.access.groups.begin(), c.access.groups.end(), [&](const auto& t) { return t.id == group; });
  }
  bool allowed(const UserId& viewer, std::string_view name, ccm::Action action, const ccm::Content& c) const {
    const auto user = s_.users.find(s_.user_name(viewer));
    const ccm::Subject subject{viewer, std::string(name), user == s_.users.end() || user->second.disabled};
    ccm::Grants grants;
    for (const ccm::GroupTarget& target : c.access.groups) {
      const auto found = s_.memberships.find({target.id, viewer});
      if (found != s_.memberships.end() && is_active(found->second.standing)) grants.groups.push_back(target.id);
    }
    grants.buddy = s_.buddies.contains({c.owner, viewer});
    return decide(subject, action, c, grants).allowed;
  }
  MemoryState& s_;
};

class Replicas final : public ccm::ReplicaStore {
 public:
  explicit Replicas(MemoryState& state) : s_(state) {}
  Status put(const ccm::Replica& r) override {
    s_.replicas[{r.content, r.version, r.node}] = r;
    return {};
  }
  Result<std::optional<ccm::Replica>> find(const ContentId& content, std::uint32_t version,
                                           const NodeId& node) override {
    const auto found = s_.replicas.find({content, version, node});
    if (found == s_.replicas.end()) return std::optional<ccm::Replica>();
    return std::optional<ccm::Replica>(named(found->second));
  }
  Result<std::vector<ccm::Replica>> of_content(const ContentId& content, std::uint32_t version) override {
    std::vector<ccm::Replica> found;
    for (const auto& [key, replica] : s_.replicas) {
      if (replica.content == content && replica.version == version) found.push_back(named(replica));
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::tuple(!a.complete, a.node_name, a.node.str()) < std::tuple(!b.complete, b.node_name, b.node.str());
    });
    return found;
  }
  Status remove(const ContentId& content, std::uint32_t version, const NodeId& node) override {
    s_.replicas.erase({content, version, node});
    return {};
  }
  Result<std::vector<NodeId>> holders(const ContentId& content) override {
    std::set<NodeId> nodes;
    for (const auto& [key, replica] : s_.replicas) {
      if (replica.content == content) nodes.insert(replica.node);
    }
    return std::vector<NodeId>(nodes.begin(), nodes.end());
  }
  Result<std::vector<UserId>> people(const ContentId& content) override {
    std::set<UserId> people;
    for (const auto& [key, replica] : s_.replicas) {
      if (replica.content == content) people.insert(s_.nodes.at(replica.node).owner);
    }
    return std::vector<UserId>(people.begin(), people.end());
  }

 private:
  ccm::Replica named(ccm::Replica replica) const {
    const auto node = s_.nodes.find(replica.node);
    if (node == s_.nodes.end()) return replica;
    replica.node_name = node->second.name;
    replica.owner_name = s_.user_name(node->second.owner);
    replica.last_seen = std::max(replica.last_seen, node->second.last_seen);
    return replica;
  }
  MemoryState& s_;
};

class Versions final : public ccm::VersionStore {
 public:
  explicit Versions(MemoryState& state) : s_(state) {}
  Status put(const ccm::VersionRecord& version) override {
    s_.versions[{version.content, version.number}] = version;
    return {};
  }
  Result<std::optional<ccm::VersionRecord>> find(const ContentId& content, std::uint32_t number) override {
    const auto found = s_.versions.find({content, number});
    return found == s_.versions.end() ? std::nullopt : std::optional<ccm::VersionRecord>(found->second);
  }
  Result<std::optional<ccm::VersionRecord>> draft_of(const ContentId& content) override {
    const auto drafts = select([&](const auto& v) { return v.content == content && !v.sealed; }, 1);
    return drafts.empty() ? std::nullopt : std::optional<ccm::VersionRecord>(drafts.front());
  }
  Result<std::vector<ccm::VersionRecord>> sealed_of(const ContentId& content, std::size_t limit) override {
    auto found = select([&](const auto& v) { return v.content == content && v.sealed; }, s_.versions.size());
    std::reverse(found.begin(), found.end());
    cut(found, limit);
    return found;
  }
  Status remove(const ContentId& content, std::uint32_t number) override {
    s_.versions.erase({content, number});
    return {};
  }
  Result<std::vector<ccm::VersionRecord>> stale_drafts(WallTime before, std::size_t limit) override {
    return select([&](const auto& v) { return !v.sealed && v.touched < before; }, limit);
  }
  Result<std::vector<ccm::VersionRecord>> unheld(WallTime before, std::size_t limit) override {
    const auto held = [&](const ccm::VersionRecord& v) {
      return std::any_of(s_.replicas.begin(), s_.replicas.end(), [&](const auto& entry) {
        return entry.second.content == v.content && entry.second.version == v.number;
      });
    };
    return select([&](const auto& v) { return v.sealed && v.touched < before && !held(v); }, limit);
  }

 private:
  template <class F>
  std::vector<ccm::VersionRecord> select(F&& matches, std::size_t limit) const {
    std::vector<ccm::VersionRecord> found;
    for (const auto& [key, version] : s_.versions) {
      if (matches(version)) found.push_back(version);
    }
    cut(found, limit);
    return found;
  }
  MemoryState& s_;
};

class Offers final : public ccm::OfferStore {
 public:
  explicit Offers(MemoryState& state) : s_(state) {}
  Status put(const ccm::Offer& offer) override {
    s_.offers[offer.content] = offer;
    return {};
  }
  Result<std::optional<ccm::Offer>> of_content(const ContentId& content) override {
    const auto found = s_.offers.find(content);
    return found == s_.offers.end() ? std::nullopt : std::optional<ccm::Offer>(named(found->second));
  }
  Result<std::vector<ccm::Offer>> to(const UserId& user, WallTime now, const std::optional<ccm::OfferPlace>& after,
                                     std::size_t limit) override {
    return open([&](const ccm::Offer& o) { return o.to == user; }, now, after, limit);
  }
  Result<std::vector<ccm::Offer>> by(const UserId& user, WallTime now, const std::optional<ccm::OfferPlace>& after,
                                     std::size_t limit) override {
    return open([&](const ccm::Offer& o) { return o.by == user; }, now, after, limit);
  }
  Result<std::uint64_t> count_open(const UserId& by, WallTime now) override {
    std::uint64_t count = 0;
    for (const auto& [id, o] : s_.offers) count += o.by == by && o.is_open(now) ? 1U : 0U;
    return count;
  }
  Status remove(const ContentId& content) override {
    s_.offers.erase(content);
    return {};
  }
  Status prune(WallTime before) override {
    std::erase_if(s_.offers, [&](const auto& one) { return one.second.expires < before; });
    return {};
  }

 private:
  ccm::Offer named(ccm::Offer offer) const {
    const ccm::Content& content = s_.contents.at(offer.content);
    offer.owner_name = content.owner_name;
    offer.content_name = content.name;
    offer.bytes = content.bytes;
    offer.by_name = s_.user_name(offer.by);
    offer.to_name = s_.user_name(offer.to);
    return offer;
  }
  template <class F>
  std::vector<ccm::Offer> open(F&& matches, WallTime now, const std::optional<ccm::OfferPlace>& after,
                               std::size_t limit) const {
    const auto passed = [&after](const ccm::Offer& o) {
      return after && std::tuple(-o.since.ms, o.content.str()) <= std::tuple(-after->since.ms, after->content);
    };
    std::vector<ccm::Offer> found;
    for (const auto& [id, offer] : s_.offers) {
      const bool published = s_.contents.at(id).state == ccm::ContentState::kPublished;
      if (matches(offer) && offer.is_open(now) && published && !passed(offer)) found.push_back(named(offer));
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::tuple(-a.since.ms, a.content.str()) < std::tuple(-b.since.ms, b.content.str());
    });
    cut(found, limit);
    return found;
  }
  MemoryState& s_;
};

}  // namespace gridtorrent::testing_support
