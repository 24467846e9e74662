#include "client/engine/congestion_grants.h"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace gridtorrent::client::engine {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::vector<std::string> granted_congestion_controls(const std::vector<std::string>& owners, std::string_view allowed) {
  std::istringstream text{std::string(allowed)};
  const std::vector<std::string> kernels{std::istream_iterator<std::string>(text), {}};
  std::vector<std::string> granted;
  std::ranges::copy_if(owners, std::back_inserter(granted), [&](const auto& name) { return has(kernels, name); });
  return granted;
}

std::optional<std::string> congestion_change(const std::string& wish, const std::vector<std::string>& granted,
                                             const std::string& last) {
  const std::string next = has(granted, wish) ? wish : std::string();
  return next == last ? std::nullopt : std::optional(next);
}

}  // namespace gridtorrent::client::engine
