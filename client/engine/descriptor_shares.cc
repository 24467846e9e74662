#include "client/engine/descriptor_shares.h"

#include <sys/resource.h>

#include <algorithm>

namespace gridtorrent::client::engine {
namespace {

/// A node that does nothing has some 35 open beside its lane sockets; jobs and control calls open a few more each, and
/// so many connections may come in before the oldest are ended (half_open.h).
constexpr std::uint64_t kOthers = 72;
/// Beyond these nothing gets better.
constexpr std::uint64_t kMostConnections = 4'000, kMostFiles = 500;
/// With fewer no transfer gets on.
constexpr std::uint64_t kLeastConnections = 40, kLeastFiles = 8, kLeastHalfOpen = 8;

}  // namespace

std::uint64_t most_descriptors() {
  rlimit files{};
  return ::getrlimit(RLIMIT_NOFILE, &files) == 0 ? static_cast<std::uint64_t>(files.rlim_cur) : 1'024;
}

DescriptorShares share_descriptors(std::uint64_t limit, std::size_t listening) {
  const std::uint64_t taken = kOthers + listening;
  const std::uint64_t rest = limit > taken ? limit - taken : 0;
  const HalfOpenLimits most;
  DescriptorShares shares;
  shares.half_open.in_all = std::clamp<std::uint64_t>(rest / 4, kLeastHalfOpen, most.in_all);
  shares.half_open.of_address = shares.half_open.in_all * most.of_address / most.in_all;
  shares.open_files = static_cast<int>(std::clamp(rest / 8, kLeastFiles, kMostFiles));
  const std::uint64_t others = shares.half_open.in_all + static_cast<std::uint64_t>(shares.open_files);
  shares.connections =
      static_cast<int>(std::clamp(rest > others ? rest - others : 0, kLeastConnections, kMostConnections));
  return shares;
}

}  // namespace gridtorrent::client::engine
