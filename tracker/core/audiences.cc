#include "tracker/core/audiences.h"

#include <algorithm>
#include <utility>

#include "ccm/domain/policy.h"
#include "common/hex.h"
#include "metainfo/metadata.h"

namespace gridtorrent::tracker {

namespace {

/// Contents of the same key have the same audience.
std::string key_of(const ccm::Content& content) {
  return content.owner.str() + " " + ccm::to_text(content.access);
}

KeyPrint print_of(const std::string& public_key) {
  return crypto::sha256(as_bytes(public_key));
}

}  // namespace

Result<Audiences::Reading> Audiences::read(Tx& tx, const ccm::Content& like) const {
  std::vector<ccm::User> people;
  GT_ASSIGN(const auto owner, tx.users.by_id(like.owner));
  if (owner) people.push_back(*owner);
  for (const std::string& name : like.access.users) {
    GT_ASSIGN(const auto user, tx.users.by_name(name));
    if (user) people.push_back(*user);
  }
  Reading reading;
  for (const ccm::User& person : people) {
    if (!reading.people.insert(person.id).second) continue;
    const ccm::Subject subject{person.id, person.name, person.disabled};
    if (!ccm::decide(subject, ccm::Action::kTransfer, like).allowed) continue;
    GT_ASSIGN(const auto keys, tx.nodes.keys_of_owner(person.id, d_.clock.wall()));
    for (const auto& [node, public_key] : keys) reading.members[print_of(public_key)] = node;
  }
  return reading;
}

Audiences::Attached Audiences::attach(const std::string& key, const NodeId& node, const ContentId& content) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return {};
  const bool is_new = !entry->second.followers.contains(node);
  entry->second.followers[node].insert(content);
  std::string& known = followed_[node][content];
  if (known == key) return {entry->second.audience, is_new};
  if (!known.empty()) {
    detach(node, content);
    entry->second.followers[node].insert(content);
  }
  followed_[node][content] = key;
  return {entry->second.audience, is_new};
}

void Audiences::detach(const NodeId& node, const ContentId& content) {
  const auto contents = followed_.find(node);
  if (contents == followed_.end()) return;
  const auto found = contents->second.find(content);
  if (found == contents->second.end()) return;
  const auto entry = entries_.find(found->second);
  auto& followers = entry->second.followers;
  followers[node].erase(content);
  if (followers[node].empty()) followers.erase(node);
  if (followers.empty()) entries_.erase(entry);
  contents->second.erase(found);
  if (contents->second.empty()) followed_.erase(contents);
}

Result<AudiencePtr> Audiences::follow(const NodeId& node, const ccm::Content& content) {
  const std::string key = key_of(content);
  {
    const std::lock_guard lock(mutex_);
    if (const Attached known = attach(key, node, content.id); known.audience) {
      if (known.is_new) d_.hub.audiences_waiting(node);
      return known.audience;
    }
  }
  ccm::Content like;
  like.owner = content.owner;
  like.access = content.access;
  like.state = ccm::ContentState::kPublished;
  like.generation = content.generation;
  const std::lock_guard reading_lock(reading_);
  Reading reading;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(reading, read(tx, like));
    return {};
  }));
  Attached made;
  {
    const std::lock_guard lock(mutex_);
    if (!entries_.contains(key)) {
      auto audience = std::make_shared<Audience>();
      audience->id = make_request_id(d_.clock.wall(), d_.rng);
      audience->version = static_cast<std::uint64_t>(d_.clock.wall().ms);
      audience->members = std::move(reading.members);
      entries_[key] = Entry{std::move(like), std::move(audience), std::move(reading.people), {}};
    }
    made = attach(key, node, content.id);
  }
  if (made.is_new) d_.hub.audiences_waiting(node);
  return made.audience;
}

void Audiences::leave(const NodeId& node, const ContentId& content) {
  const std::lock_guard lock(mutex_);
  detach(node, content);
}

void Audiences::forget(const NodeId& node) {
  const std::lock_guard lock(mutex_);
  while (followed_.contains(node)) detach(node, followed_.at(node).begin()->first);
}

std::vector<AudiencePtr> Audiences::of_node(const NodeId& node) const {
  const std::lock_guard lock(mutex_);
  std::set<AudiencePtr> audiences;
  if (const auto contents = followed_.find(node); contents != followed_.end()) {
    for (const auto& [content, key] : contents->second) audiences.insert(entries_.at(key).audience);
  }
  return {audiences.begin(), audiences.end()};
}

void Audiences::set_bell(std::function<void()> bell) {
  const std::lock_guard lock(mutex_);
  bell_ = std::move(bell);
}

void Audiences::ring(const UserId& person) {
  const std::lock_guard lock(mutex_);
  rung_.insert(person);
  if (bell_) bell_();
}

void Audiences::ring_all() {
  const std::lock_guard lock(mutex_);
  rung_all_ = true;
  if (bell_) bell_();
}

Status Audiences::refresh() {
  const std::lock_guard reading_lock(reading_);
  std::vector<std::pair<std::string, ccm::Content>> due;
  std::set<UserId> rung;
  bool all = false;
  {
    const std::lock_guard lock(mutex_);
    rung = std::exchange(rung_, {});
    all = std::exchange(rung_all_, false);
    for (const auto& [key, entry] : entries_) {
      const auto concerns = [&](const UserId& person) { return entry.people.contains(person); };
      if (all || std::any_of(rung.begin(), rung.end(), concerns)) due.emplace_back(key, entry.like);
    }
  }
  for (auto& [key, like] : due) {
    Reading reading;
    const Status done = d_.store.read([&](Tx& tx) -> Status {
      GT_ASSIGN(reading, read(tx, like));
      return {};
    });
    if (!done) {
      const std::lock_guard lock(mutex_);
      rung_.merge(rung);
      rung_all_ = rung_all_ || all;
      return done;
    }
    apply(key, std::move(reading));
  }
  return {};
}

void Audiences::apply(const std::string& key, Reading reading) {
  std::vector<NodeId> tell;
  std::vector<std::pair<NodeId, ContentId>> out;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    Entry& entry = found->second;
    entry.people = std::move(reading.people);
    if (entry.audience->members == reading.members) return;
    std::set<NodeId> entitled;
    for (const auto& [print, node] : reading.members) entitled.insert(node);
    auto audience = std::make_shared<Audience>(*entry.audience);
    audience->version = std::max(audience->version + 1, static_cast<std::uint64_t>(d_.clock.wall().ms));
    audience->members = std::move(reading.members);
    entry.audience = std::move(audience);
    for (const auto& [node, contents] : entry.followers) {
      tell.push_back(node);
      if (entitled.contains(node)) continue;
      for (const ContentId& content : contents) out.emplace_back(node, content);
    }
  }
  for (const NodeId& node : tell) d_.hub.audiences_waiting(node);
  for (const auto& [node, content] : out) d_.hub.push(node, ContentChanged{content});
}

bool Audiences::settled() const {
  const std::lock_guard lock(mutex_);
  return !rung_all_ && rung_.empty();
}

std::size_t Audiences::count() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace gridtorrent::tracker
