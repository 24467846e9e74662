#pragma once

#include <cstddef>
#include <functional>
#include <libtorrent/disk_interface.hpp>
#include <libtorrent/io_context.hpp>
#include <libtorrent/session_params.hpp>
#include <memory>

#include "client/engine/busy_time.h"
#include "client/engine/held_reads.h"

namespace gridtorrent::client::engine {

/// A disk back end with one promise more: a piece passes its hash only after all of its blocks are written, and never
/// if writing one of them failed. (As it is, libtorrent hashes blocks that are still queued in memory, so a piece could
/// be announced, read for its Merkle root, or named in resume data before it can be read, or when the disk was full.)
///
/// A piece that came in whole while it was watched is hashed from memory, many at a time (PieceHasher). `memory_bytes`
/// bounds what is kept for that; other pieces, and all at 0, are hashed by `disk`, which reads them back.
/// What is read goes through `reads`, where that is given, which may hold it back.
/// What lies in a held folder (HeldFolders) that others can get at is read by a BeneathReader instead of `disk`.
/// How long connections and readers wait is noted in `times`.
/// Every call and every completion is in the network thread, whose loop `network` is.
std::unique_ptr<lt::disk_interface> flush_before_hash(std::unique_ptr<lt::disk_interface> disk, lt::io_context& network,
                                                      std::size_t memory_bytes, HeldReads* reads = nullptr,
                                                      std::shared_ptr<DiskTimes> times = std::make_shared<DiskTimes>());

/// That around libtorrent 2.0's own back end; hashes from memory only where the CPU gains by it. `on_loop`: called
/// once, before the network thread runs, with its loop, which libtorrent shows to disk back ends alone.
/// `reads` outlives the disk.
lt::disk_io_constructor_type flushed_disk_io(std::size_t memory_bytes, HeldReads& reads,
                                             std::shared_ptr<DiskTimes> times,
                                             std::function<void(lt::io_context&)> on_loop);

}  // namespace gridtorrent::client::engine
