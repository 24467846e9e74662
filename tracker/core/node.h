#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::tracker {

/// SHA-256 of a node's public key (SubjectPublicKeyInfo, DER).
using KeyPrint = std::array<std::uint8_t, 32>;

enum class Reachability : std::uint8_t { kUnknown, kReachable, kUnreachable };

/// One listening socket of a node.
struct Endpoint {
  std::string address;  ///< numeric IPv4 or IPv6, without zone
  std::uint16_t port = 0;
  bool tls = false;
  std::string path;  ///< label of a network
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

struct NodeEndpoint {
  Endpoint endpoint;
  Reachability reachability = Reachability::kUnknown;
  bool declared = false;  ///< given with --address, not observed
  friend bool operator==(const NodeEndpoint&, const NodeEndpoint&) = default;
};

/// Names of the folders that tasks may touch, in the node's order.
struct NodeRoots {
  std::vector<std::string> shares, downloads;
  friend bool operator==(const NodeRoots&, const NodeRoots&) = default;
};

/// One verdict for a node: reachable if any endpoint is, unreachable if all were tried in vain, unknown otherwise.
Reachability overall_reachability(const std::vector<NodeEndpoint>& endpoints);

/// A node as it is enrolled: durable.
struct NodeRecord {
  NodeId id;
  UserId owner;
  std::string owner_name;  ///< filled on reading
  std::string name;        ///< unique per owner
  std::string public_key;  ///< SubjectPublicKeyInfo, DER bytes; unique
  bool ephemeral = false;
  WallTime created;
  WallTime last_seen;  ///< the last sign of life; five minutes older at most where the server was killed
  std::string program_version;
  std::vector<NodeEndpoint> endpoints;
  std::optional<NodeRoots> roots;   ///< nothing: an older node, which does not tell
  std::uint64_t last_sequence = 0;  ///< of its task list
  std::uint64_t acked_sequence = 0;
  friend bool operator==(const NodeRecord&, const NodeRecord&) = default;
};

struct NodeView {
  NodeRecord record;
  bool online = false;
};

inline constexpr std::size_t kMaxEndpoints = 64;
inline constexpr std::size_t kMaxRoots = 32, kMaxRootBytes = 64;  ///< roots of a kind; bytes of a name

/// kInvalid: too many roots, or a name that is empty, too long, or has control characters.
Status check_roots(const NodeRoots& roots);

/// The endpoints of an update as they are kept: "" becomes the observed address; addresses are made canonical, an
/// IPv4-mapped one IPv4; duplicates go. kInvalid: no address, unspecified or multicast, loopback or link-local where
/// the node is not seen at such an address itself, port 0, too many, a path label over 64 bytes.
Result<std::vector<Endpoint>> normalize_endpoints(const std::vector<Endpoint>& endpoints,
                                                  std::string_view observed_address);

}  // namespace gridtorrent::tracker
