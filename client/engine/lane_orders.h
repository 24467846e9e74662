#pragma once

#include <libtorrent/socket.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/engine/lane.h"
#include "client/engine/turns.h"

namespace gridtorrent::client::engine {

/// What a round of decisions asks of libtorrent. A plain value: the parts of a Swarm add to it with its mutex held, and
/// Swarm carries it out without. In the order of its members.
struct Orders {
  /// Whether libtorrent may choose further blocks for these lanes. Network thread.
  std::vector<std::pair<std::shared_ptr<Lane>, bool>> asks;
  std::vector<std::shared_ptr<Lane>> close;                               ///< network thread
  std::vector<std::pair<std::shared_ptr<Lane>, std::vector<char>>> send;  ///< as it travels; network thread
  std::optional<std::pair<Turns, Turns>> turns;                           ///< before and from now on
  std::vector<lt::tcp::endpoint> dial;
  std::vector<std::string> warnings;  ///< for people
};

}  // namespace gridtorrent::client::engine
