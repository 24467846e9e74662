#include "tracker/core/audiences.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "ccm/domain/policy.h"
#include "common/hex.h"
#include "metainfo/metadata.h"

namespace gridtorrent::tracker {

KeyPrint key_print(const std::string& public_key) {
  return crypto::sha256(as_bytes(public_key));
}

namespace {

/// Contents of the same key have the same audience. Groups by id: a name may be another group's one day. Hashed, as it
/// is kept for each content of each node, and access may name a thousand people.
std::string key_of(const ccm::Content& content) {
  std::string key = content.owner.str() + " " + std::string(ccm::access_level_name(content.access.level));
  for (const ccm::GroupTarget& group : content.access.groups) key += " " + group.id.str();
  for (const std::string& user : content.access.users) key += " user:" + user;
  if (content.access.buddies) key += " buddies";
  return std::string(as_chars(crypto::sha256(as_bytes(key))));
}

/// Those who might be entitled, and what they were granted.
using People = std::map<UserId, std::pair<ccm::Subject, ccm::Grants>>;

Result<People> people_of(Tx& tx, const ccm::Content& like) {
  People people;
  const auto add = [&](const ccm::User& user) -> ccm::Grants& {
    auto& [subject, grants] = people[user.id];
    subject = {user.id, user.name, user.disabled};
    return grants;
  };
  GT_ASSIGN(const auto owner, tx.users.by_id(like.owner));
  if (owner) add(*owner);
  for (const std::string& name : like.access.users) {
    GT_ASSIGN(const auto user, tx.users.by_name(name));
    if (user) add(*user);
  }
  for (const ccm::GroupTarget& target : like.access.groups) {
    GT_ASSIGN(const auto members, tx.groups.of_group(target.id));
    for (const ccm::Membership& member : members) {
      if (!is_active(member.standing)) continue;
      auto& [subject, grants] = people[member.user];
      subject = {member.user, member.user_name, member.user_disabled};
      grants.groups.push_back(target.id);
    }
  }
  if (like.access.buddies) {
    GT_ASSIGN(const auto buddies, tx.buddies.of(like.owner));
    for (const ccm::User& buddy : buddies) add(buddy).buddy = true;
  }
  return people;
}

}  // namespace

Result<Audiences::Reading> Audiences::read(Tx& tx, const ccm::Content& like) const {
  GT_ASSIGN(const People people, people_of(tx, like));
  Reading reading;
  std::vector<UserId> entitled;
  for (const auto& [id, person] : people) {
    reading.people.insert(id);
    const auto& [subject, grants] = person;
    if (ccm::decide(subject, ccm::Action::kTransfer, like, grants).allowed) entitled.push_back(id);
  }
  GT_ASSIGN(const auto keys, tx.nodes.keys_of(entitled, d_.clock.wall()));
  for (const auto& [node, public_key] : keys) reading.members[key_print(public_key)] = node;
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
  withheld_.erase(node);
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

namespace {

bool meet(const std::set<UserId>& one, const std::set<UserId>& other) {
  const auto& [few, many] = one.size() < other.size() ? std::tie(one, other) : std::tie(other, one);
  return std::ranges::any_of(few, [&](const UserId& person) { return many.contains(person); });
}

}  // namespace

bool Audiences::Rung::concerns(const Entry& entry) const {
  const auto& targets = entry.like.access.groups;
  return all || (entry.like.access.buddies && lists.contains(entry.like.owner)) || meet(people, entry.people) ||
         std::any_of(targets.begin(), targets.end(), [&](const auto& target) { return groups.contains(target.id); });
}

void Audiences::Rung::merge(Rung other) {
  people.merge(other.people);
  groups.merge(other.groups);
  lists.merge(other.lists);
  newcomers.merge(other.newcomers);
  all = all || other.all;
}

void Audiences::ring(Rung rung) {
  const std::lock_guard lock(mutex_);
  rung_.merge(std::move(rung));
  if (bell_) bell_();
}

void Audiences::ring(const UserId& person) {
  Rung rung;
  rung.people = {person};
  ring(std::move(rung));
}

void Audiences::ring(const GroupId& group, const UserId& person) {
  Rung rung;
  rung.groups = {group};
  rung.newcomers = {person};
  ring(std::move(rung));
}

void Audiences::ring(const UserId& owner, const UserId& buddy) {
  Rung rung;
  rung.lists = {owner};
  rung.newcomers = {buddy};
  ring(std::move(rung));
}

void Audiences::ring_all() {
  Rung rung;
  rung.all = true;
  ring(std::move(rung));
}

Status Audiences::refresh() {
  constexpr std::size_t kReadsPerMark = 16;
  const std::size_t due = mark_due();
  Status first_error;
  for (std::size_t done = 0; done < due; ++done) {
    if (done % kReadsPerMark == kReadsPerMark - 1) mark_due();
    const Status read = refresh_next();  // one that cannot be read keeps none of the others waiting
    if (!read && first_error) first_error = read;
  }
  const Status told = tell_newcomers();
  return first_error ? told : first_error;
}

/// What was rung for becomes marks at audiences. Returns how many are due.
std::size_t Audiences::mark_due() {
  // Who read the store before the change has noted what it said by now, and is marked as well.
  const std::lock_guard reading_lock(reading_);
  const std::lock_guard lock(mutex_);
  Rung rung = std::exchange(rung_, {});
  newcomers_.merge(rung.newcomers);
  for (auto& [key, entry] : entries_) {
    if (rung.empty()) break;
    if (entry.due || !rung.concerns(entry)) continue;
    entry.due = true;
    due_[entry.like.owner].push_back(key);
  }
  std::size_t due = 0;
  for (const auto& [owner, keys] : due_) due += keys.size();
  return due;
}

std::optional<std::string> Audiences::next_due() {
  if (due_.empty()) return std::nullopt;
  auto next = due_.upper_bound(turn_);
  if (next == due_.end()) next = due_.begin();
  turn_ = next->first;
  std::string key = std::move(next->second.front());
  next->second.pop_front();
  if (next->second.empty()) due_.erase(next);
  return key;
}

Status Audiences::refresh_next() {
  const std::lock_guard reading_lock(reading_);  // for each anew: who follows something new waits for one at most
  std::string key;
  ccm::Content like;
  {
    const std::lock_guard lock(mutex_);
    const auto next = next_due();
    const auto found = next ? entries_.find(*next) : entries_.end();
    if (found == entries_.end() || !found->second.due) return {};
    key = found->first;
    like = found->second.like;
  }
  Reading reading;
  const Status done = d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(reading, read(tx, like));
    return {};
  });
  if (done) {
    apply(key, std::move(reading));
    return {};
  }
  const std::lock_guard lock(mutex_);
  due_[like.owner].push_back(key);
  return done;
}

Status Audiences::tell_newcomers() {
  std::vector<UserId> people;
  {
    const std::lock_guard lock(mutex_);
    people.assign(newcomers_.begin(), newcomers_.end());
  }
  if (people.empty()) return {};
  std::vector<NodeId> nodes;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto keys, tx.nodes.keys_of(people, d_.clock.wall()));
    for (const auto& [node, public_key] : keys) nodes.push_back(node);
    return {};
  }));
  {
    const std::lock_guard lock(mutex_);
    for (const UserId& person : people) newcomers_.erase(person);
  }
  for (const NodeId& node : nodes) d_.hub.push(node, ContentChanged{});
  return {};
}

/// `tell`: its followers; `out`: those that are not in it any more, with what they followed.
void Audiences::replace_members(Entry& entry, std::map<KeyPrint, NodeId> members, std::vector<NodeId>& tell,
                                std::vector<std::pair<NodeId, ContentId>>& out) const {
  std::set<NodeId> entitled;
  for (const auto& [print, node] : members) entitled.insert(node);
  auto audience = std::make_shared<Audience>(*entry.audience);
  audience->version = std::max(audience->version + 1, static_cast<std::uint64_t>(d_.clock.wall().ms));
  audience->members = std::move(members);
  entry.audience = std::move(audience);
  for (const auto& [node, contents] : entry.followers) {
    tell.push_back(node);
    if (entitled.contains(node)) continue;
    for (const ContentId& content : contents) out.emplace_back(node, content);
  }
}

void Audiences::note_withheld(const NodeId& node) {
  const std::lock_guard lock(mutex_);
  withheld_.insert(node);
}

void Audiences::apply(const std::string& key, Reading reading) {
  std::vector<NodeId> tell;
  std::vector<std::pair<NodeId, ContentId>> out;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    Entry& entry = found->second;
    entry.due = false;
    entry.people = std::move(reading.people);
    std::erase_if(withheld_, [&](const NodeId& node) {
      const bool follows = entry.followers.contains(node);
      if (follows) tell.push_back(node);
      return follows;
    });
    if (entry.audience->members != reading.members) replace_members(entry, std::move(reading.members), tell, out);
  }
  for (const NodeId& node : tell) d_.hub.audiences_waiting(node);
  for (const auto& [node, content] : out) d_.hub.push(node, ContentChanged{content});
}

std::set<std::string> Audiences::current(const NodeId& node) const {
  const std::lock_guard lock(mutex_);
  const auto contents = followed_.find(node);
  if (contents == followed_.end()) return {};
  std::set<std::string_view> keys;
  for (const auto& [content, key] : contents->second) keys.insert(key);
  std::set<std::string> ids;
  for (const std::string_view key : keys) {
    const Entry& entry = entries_.find(key)->second;
    if (!entry.due && !rung_.concerns(entry)) ids.insert(entry.audience->id);
  }
  return ids;
}

std::size_t Audiences::count() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace gridtorrent::tracker
