#pragma once

#include <libtorrent/session_params.hpp>

namespace gridtorrent::client::engine {

/// libtorrent 2.0's disk back end, with one promise more: a piece passes its hash only after all of its blocks are
/// written, and never if writing one of them failed. (As it is, blocks still queued are hashed in memory, so a piece
/// could be announced, read for its Merkle root, or named in resume data before it can be read, or when the disk was
/// full.)
lt::disk_io_constructor_type flushed_disk_io();

}  // namespace gridtorrent::client::engine
