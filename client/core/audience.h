#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::client {

/// SHA-256 of a node's public key (SubjectPublicKeyInfo in DER form).
using KeyPrint = std::array<std::uint8_t, 32>;
/// Who may have a content now: keys, and the nodes that they belong to. Shared by all contents with the same right.
using Audience = std::map<KeyPrint, NodeId>;
using AudiencePtr = std::shared_ptr<const Audience>;

struct AudienceRef {
  std::string id;
  std::uint64_t version = 0;
  friend bool operator==(const AudienceRef&, const AudienceRef&) = default;
};

/// An audience as the server tells it.
struct AudienceList {
  AudienceRef ref;
  AudiencePtr members;
};

/// As it survives the process: with the time at which the server last said that it is right, by this node's clock.
struct SavedAudience {
  AudienceList list;
  WallTime confirmed;
};

}  // namespace gridtorrent::client
