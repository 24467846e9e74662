#pragma once

#include <libtorrent/extensions.hpp>
#include <memory>

#include "client/engine/swarm.h"

namespace gridtorrent::client::engine {

/// Hooks libtorrent's connections of one torrent up to its Swarm. `torrent`: libtorrent's object. All calls are in the
/// network thread.
std::shared_ptr<lt::torrent_plugin> make_torrent_plugin(std::shared_ptr<Swarm> swarm, const void* torrent);

}  // namespace gridtorrent::client::engine
