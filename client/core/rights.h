#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/core/audience.h"
#include "common/clock.h"

namespace gridtorrent::client {

/// What the server has told of who may have what, and for how long that counts: a lease (docs/security.md, "How
/// restricted content is guarded"). A node that is cut off from its server goes on for the lifetime of the lists and no
/// longer; past it nobody is let in, until the server confirms them again. By the wall clock, since a lease outlives
/// the process and a sleeping machine; a time that lies ahead counts as past. Thread-safe (private mutex).
class Rights {
 public:
  explicit Rights(std::chrono::milliseconds lifetime) : lifetime_(lifetime) {}

  /// From the store at the start. `heard`: nothing where the server was never heard.
  void restore(std::vector<SavedAudience> lists, std::optional<WallTime> heard);

  /// The server answered something only it can, to a call that was begun `at` this time.
  void hear(WallTime at);
  std::optional<WallTime> heard() const;
  /// A list came; an older version than the one that is known counts for nothing.
  void learn(const AudienceList& list, WallTime now);
  /// The server says that these are right. What it names and is not known in that version is not confirmed.
  void confirm(const std::vector<AudienceRef>& refs, WallTime now);

  /// Who may have the contents that name it; null: unknown, or not confirmed for too long.
  AudiencePtr audience(const std::string& id, WallTime now) const;
  /// Whether public content may be served: the server was heard recently enough.
  bool serves_public(WallTime now) const;

  /// As it should be kept.
  std::optional<SavedAudience> saved(const std::string& id) const;
  std::vector<SavedAudience> all() const;
  /// Drops what is not in use and was not confirmed since `before`; returns the ids.
  std::vector<std::string> keep_only(const std::set<std::string>& used, WallTime before);

 private:
  bool counts(WallTime confirmed, WallTime now) const;

  const std::chrono::milliseconds lifetime_;
  mutable std::mutex mutex_;
  std::optional<WallTime> heard_;
  std::map<std::string, SavedAudience> known_;
};

}  // namespace gridtorrent::client
