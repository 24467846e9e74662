#include "tracker/core/node.h"

#include <algorithm>

#include "common/text.h"
#include "tracker/core/address.h"

namespace gridtorrent::tracker {

namespace {
constexpr std::size_t kMaxPathLabelBytes = 64;
}

Reachability overall_reachability(const std::vector<NodeEndpoint>& endpoints) {
  const auto is = [](Reachability wanted) {
    return [wanted](const NodeEndpoint& endpoint) { return endpoint.reachability == wanted; };
  };
  if (std::any_of(endpoints.begin(), endpoints.end(), is(Reachability::kReachable))) return Reachability::kReachable;
  if (std::all_of(endpoints.begin(), endpoints.end(), is(Reachability::kUnreachable)) && !endpoints.empty()) {
    return Reachability::kUnreachable;
  }
  return Reachability::kUnknown;
}

Status check_roots(const NodeRoots& roots) {
  for (const auto* names : {&roots.shares, &roots.downloads}) {
    if (names->size() > kMaxRoots) {
      return Error{Code::kInvalid, std::to_string(names->size()) +
                                       " roots of a kind are too many: " + std::to_string(kMaxRoots) + " are allowed"};
    }
    for (const std::string& name : *names) {
      const bool good = !name.empty() && name.size() <= kMaxRootBytes && name == escape_for_display(name);
      if (good) continue;
      return Error{Code::kInvalid, "the root name '" + escape_for_display(name.substr(0, 2 * kMaxRootBytes)) +
                                       "' is not 1 to " + std::to_string(kMaxRootBytes) + " bytes of printable text"};
    }
  }
  return {};
}

namespace {

bool is_local_alone(const Address& address) {
  return address.is_loopback() || address.is_link_local();
}

}  // namespace

Result<std::vector<Endpoint>> normalize_endpoints(const std::vector<Endpoint>& endpoints,
                                                  std::string_view observed_address) {
  if (endpoints.size() > kMaxEndpoints) {
    return Error{Code::kInvalid, std::to_string(endpoints.size()) +
                                     " endpoints are too many: " + std::to_string(kMaxEndpoints) + " are allowed"};
  }
  const auto observed = Address::parse(observed_address);
  std::vector<Endpoint> kept;
  for (Endpoint endpoint : endpoints) {
    const std::string_view said = endpoint.address.empty() ? observed_address : std::string_view(endpoint.address);
    const auto address = Address::parse(said);
    if (!address || address->is_unspecified() || address->is_multicast() || address->is_broadcast()) {
      return Error{Code::kInvalid, "endpoint address \"" + escape_for_display(said.substr(0, 100)) +
                                       "\" is no address of a host; give numeric ones with --address"};
    }
    // What others reach at such an address is a host of their own: no user may have their nodes dial it.
    if (is_local_alone(*address) && !(observed && is_local_alone(*observed))) {
      return Error{Code::kInvalid, "endpoint address " + address->str() +
                                       " leads others to their own host or link; give one that they reach with "
                                       "--address"};
    }
    if (endpoint.port == 0) return Error{Code::kInvalid, "endpoint " + address->str() + " has no port"};
    if (endpoint.path.size() > kMaxPathLabelBytes || !is_valid_utf8(endpoint.path)) {
      return Error{Code::kInvalid, "the path label of endpoint " + address->str() + " is longer than 64 bytes"};
    }
    endpoint.address = address->str();
    if (std::find(kept.begin(), kept.end(), endpoint) == kept.end()) kept.push_back(std::move(endpoint));
  }
  return kept;
}

}  // namespace gridtorrent::tracker
