#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ccm/domain/content.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"
#include "common/rng.h"
#include "tracker/core/hub.h"
#include "tracker/core/node.h"
#include "tracker/core/ports.h"

namespace gridtorrent::tracker {

KeyPrint key_print(const std::string& public_key);

/// Whose nodes may have some content now, as nodes are told: keys, never names of people (docs/security.md, "How
/// restricted content is guarded"). Contents with the same owner and access share one, so that a change in a group is
/// one update.
struct Audience {
  std::string id;             ///< opaque
  std::uint64_t version = 0;  ///< grows with each change
  std::map<KeyPrint, NodeId> members;
};
using AudiencePtr = std::shared_ptr<const Audience>;

/// The audiences of restricted contents that nodes hold or fetch right now: derived from the store, soft state like the
/// swarms. Whoever changes who is entitled rings; `refresh` then reads anew and tells the nodes that follow.
/// Thread-safe (private mutexes); follow and refresh block on the store.
class Audiences {
 public:
  struct Deps {
    Store& store;
    NodeHub& hub;
    const Clock& clock;
    Rng& rng;
  };
  explicit Audiences(Deps deps) : d_(deps) {}

  /// The audience of a content which `node` holds or wants, and which it is told of from now on. The caller has decided
  /// that it may.
  Result<AudiencePtr> follow(const NodeId& node, const ccm::Content& content);
  void leave(const NodeId& node, const ContentId& content);
  void forget(const NodeId& node);
  /// What a node follows, for its stream.
  std::vector<AudiencePtr> of_node(const NodeId& node) const;

  /// `bell` is called after each ring, from any thread; it must not block.
  void set_bell(std::function<void()> bell);
  /// This person's nodes or account changed.
  void ring(const UserId& person);
  /// This person came to the group, or left it.
  void ring(const GroupId& group, const UserId& person);
  /// This person came to the owner's list of buddies, or left it.
  void ring(const UserId& owner, const UserId& buddy);
  /// Anything may have changed.
  void ring_all();
  /// Reads anew as many audiences as are rung for when it begins, each once however often it was, and owners in turn:
  /// many of one person hold up nobody else's. What is rung for meanwhile takes its turn among them; what remains is
  /// rung for. Nodes that follow are told of changes; those that are out, of each content that they followed; those of
  /// people who may have come in somewhere, to look at all that they were refused. An error leaves it rung for.
  Status refresh();

  /// The node's stream keeps a list back until it is read: it is woken then.
  void note_withheld(const NodeId& node);

  /// Ids of those that the node follows and of which nothing is rung for: what `of_node` says of them next is right.
  std::set<std::string> current(const NodeId& node) const;

  std::size_t count() const;

 private:
  struct Entry {
    ccm::Content like;  ///< owner and access count
    AudiencePtr audience;
    std::set<UserId> people;  ///< who might be entitled: what about them changes is looked at
    std::map<NodeId, std::set<ContentId>> followers;
    bool due = false;  ///< rung for, and in `due_`
  };
  struct Reading {
    std::map<KeyPrint, NodeId> members;
    std::set<UserId> people;
  };
  /// Who is rung for.
  struct Rung {
    std::set<UserId> people;
    std::set<GroupId> groups;
    std::set<UserId> lists;      ///< owners of lists of buddies
    std::set<UserId> newcomers;  ///< whose nodes are told to look again
    bool all = false;
    bool concerns(const Entry& entry) const;
    void merge(Rung other);
    /// But for newcomers, whom no list has yet.
    bool empty() const { return people.empty() && groups.empty() && lists.empty() && !all; }
  };
  Result<Reading> read(Tx& tx, const ccm::Content& like) const;
  void ring(Rung rung);
  std::size_t mark_due();
  std::optional<std::string> next_due();
  Status refresh_next();
  Status tell_newcomers();
  struct Attached {
    AudiencePtr audience;
    bool is_new = false;  ///< the node did not follow it for any content
  };
  Attached attach(const std::string& key, const NodeId& node, const ContentId& content);
  void detach(const NodeId& node, const ContentId& content);
  void replace_members(Entry& entry, std::map<KeyPrint, NodeId> members, std::vector<NodeId>& tell,
                       std::vector<std::pair<NodeId, ContentId>>& out) const;
  void apply(const std::string& key, Reading reading);

  Deps d_;
  std::mutex reading_;  ///< held from reading the store to noting the answer: the later answer is the newer
  mutable std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;            ///< by owner and access
  std::map<NodeId, std::map<ContentId, std::string>> followed_;  ///< keys of entries_
  Rung rung_;                                                    ///< since the last mark_due
  std::map<UserId, std::deque<std::string>> due_;                ///< keys of entries_, some gone since, by owner
  UserId turn_;                                                  ///< the owner whose turn was last
  std::set<NodeId> withheld_;                                    ///< noted, until one of their lists was read
  std::set<UserId> newcomers_;                                   ///< to be told
  std::function<void()> bell_;
};

}  // namespace gridtorrent::tracker
