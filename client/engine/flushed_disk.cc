#include "client/engine/flushed_disk.h"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <libtorrent/disk_buffer_holder.hpp>
#include <libtorrent/disk_interface.hpp>
#include <libtorrent/disk_observer.hpp>
#include <libtorrent/file_storage.hpp>
#include <libtorrent/io_context.hpp>
#include <libtorrent/mmap_disk_io.hpp>
#include <libtorrent/peer_request.hpp>
#include <libtorrent/storage_defs.hpp>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "client/engine/beneath_reader.h"
#include "client/engine/disk_waits.h"
#include "client/engine/held_folders.h"
#include "client/engine/piece_hasher.h"
#include "common/clock.h"

namespace gridtorrent::client::engine {
namespace {

/// A decorator: forwards all, holds back hash results, and hashes itself what it saw come in whole. Every call and
/// every completion is in the network thread.
class FlushedDisk final : public lt::disk_interface {
 public:
  using HashHandler = std::function<void(lt::piece_index_t, const lt::sha1_hash&, const lt::storage_error&)>;

  FlushedDisk(std::unique_ptr<lt::disk_interface> disk, lt::io_context& network, std::size_t memory_bytes,
              HeldReads* reads, std::shared_ptr<DiskTimes> times)
      : disk_(std::move(disk)),
        reads_(reads),
        times_(std::move(times)),
        waits_(times_, clock_),
        memory_(memory_bytes),
        reader_(network) {
    if (memory_bytes > 0) hasher_.emplace(network);
    if (reads_ != nullptr) reads_->set_submit([this] { disk_->submit_jobs(); });
  }

  lt::storage_holder new_torrent(const lt::storage_params& params, const std::shared_ptr<void>& torrent) override {
    lt::storage_holder inner = disk_->new_torrent(params, torrent);
    const lt::storage_index_t index = inner;
    const auto piece_bytes = static_cast<std::uint64_t>(params.files.piece_length());
    const auto total_bytes = static_cast<std::uint64_t>(params.files.total_size());
    OpenTorrent opened{std::move(inner), torrent.get(), next_serial_++, piece_bytes, total_bytes, {}, {}};
    if (held_descriptor(params.path)) {
      opened.names = std::make_unique<lt::file_storage>(params.mapped_files ? *params.mapped_files : params.files);
      opened.served = served_files(opened, params.path);
    }
    torrents_[index] = std::move(opened);
    return {index, *this};
  }

  void remove_torrent(lt::storage_index_t storage) override {
    let_go_all(storage);
    let_go_reads(storage);
    torrents_.erase(storage);
  }

  bool async_write(lt::storage_index_t storage, const lt::peer_request& request, const char* buffer,
                   std::shared_ptr<lt::disk_observer> observer, std::function<void(const lt::storage_error&)> handler,
                   lt::disk_job_flags_t flags) override {
    const Key key = key_of(storage, request.piece);
    ++writes_;
    const bool full = disk_->async_write(
        storage, request, buffer, waits_.in_place_of(observer),
        [this, key, done = std::move(handler)](const lt::storage_error& error) {
          --writes_;
          done(error);
          written(key, error);
        },
        flags);
    if (full) waits_.full(writes_);
    const auto [found, is_new] = pieces_.try_emplace(key);
    ++found->second.writes;
    if (is_new && hasher_) found->second.kept = memory_.take(piece_bytes(storage, request.piece));
    if (found->second.kept) {
      found->second.kept.put(static_cast<std::size_t>(request.start),
                             {reinterpret_cast<const std::uint8_t*>(buffer), static_cast<std::size_t>(request.length)});
    }
    return full;
  }

  void async_hash(lt::storage_index_t storage, lt::piece_index_t piece, lt::span<lt::sha256_hash> v2,
                  lt::disk_job_flags_t flags, HashHandler handler) override {
    const Key key = key_of(storage, piece);
    const auto found = pieces_.find(key);
    if (found == pieces_.end()) return disk_->async_hash(storage, piece, v2, flags, std::move(handler));
    found->second.hashing = true;
    if (v2.empty() && flags == lt::disk_interface::v1_hash && found->second.kept.whole()) {
      hasher_->hash(std::move(found->second.kept),
                    [this, key, piece, done = std::move(handler)](PieceBuffer buffer, const lt::sha1_hash& hash) {
                      memory_.give_back(std::move(buffer));
                      hashed(key, done, piece, hash, {});
                    });
      return;
    }
    memory_.give_back(std::move(found->second.kept));
    disk_->async_hash(storage, piece, v2, flags,
                      [this, key, done = std::move(handler)](lt::piece_index_t index, const lt::sha1_hash& hash,
                                                             const lt::storage_error& error) mutable {
                        hashed(key, std::move(done), index, hash, error);
                      });
  }

  void async_clear_piece(lt::storage_index_t storage, lt::piece_index_t piece,
                         std::function<void(lt::piece_index_t)> handler) override {
    disk_->async_clear_piece(storage, piece,
                             [this, key = key_of(storage, piece), done = std::move(handler)](lt::piece_index_t index) {
                               cleared(key, [done, index] { done(index); });
                             });
  }

  void async_stop_torrent(lt::storage_index_t storage, std::function<void()> handler) override {
    let_go_all(storage);
    let_go_reads(storage);
    disk_->async_stop_torrent(storage, std::move(handler));
  }

  void async_read(lt::storage_index_t storage, const lt::peer_request& request,
                  std::function<void(lt::disk_buffer_holder, const lt::storage_error&)> handler,
                  lt::disk_job_flags_t flags) override {
    const auto found = torrents_.find(storage);
    if (reads_ == nullptr || !reads_->concerns() || found == torrents_.end())
      return read_now(storage, request, std::move(handler), flags);
    reads_->read(
        found->second.torrent, {static_cast<int>(request.piece), request.start, request.length},
        [this, storage, request, done = std::move(handler), flags] { read_now(storage, request, done, flags); },
        std::chrono::steady_clock::now());
  }

  void async_move_storage(
      lt::storage_index_t storage, std::string path, lt::move_flags_t flags,
      std::function<void(lt::status_t, const std::string&, const lt::storage_error&)> handler) override {
    // From here on: the files are in the new place already.
    if (const auto found = torrents_.find(storage); found != torrents_.end()) {
      found->second.served = served_files(found->second, path);
    }
    disk_->async_move_storage(storage, std::move(path), flags, std::move(handler));
  }

  void abort(bool wait) override {
    if (reads_ != nullptr) {
      reads_->let_go_all();
      reads_->set_submit({});
      reads_ = nullptr;
    }
    disk_->abort(wait);
  }

  // What follows only forwards.
  void async_hash2(
      lt::storage_index_t storage, lt::piece_index_t piece, int offset, lt::disk_job_flags_t flags,
      std::function<void(lt::piece_index_t, const lt::sha256_hash&, const lt::storage_error&)> handler) override {
    disk_->async_hash2(storage, piece, offset, flags, std::move(handler));
  }
  void async_release_files(lt::storage_index_t storage, std::function<void()> handler) override {
    disk_->async_release_files(storage, std::move(handler));
  }
  void async_check_files(lt::storage_index_t storage, const lt::add_torrent_params* resume_data,
                         lt::aux::vector<std::string, lt::file_index_t> links,
                         std::function<void(lt::status_t, const lt::storage_error&)> handler) override {
    disk_->async_check_files(storage, resume_data, std::move(links), std::move(handler));
  }
  void async_rename_file(
      lt::storage_index_t storage, lt::file_index_t file, std::string name,
      std::function<void(const std::string&, lt::file_index_t, const lt::storage_error&)> handler) override {
    disk_->async_rename_file(storage, file, std::move(name), std::move(handler));
  }
  void async_delete_files(lt::storage_index_t storage, lt::remove_flags_t options,
                          std::function<void(const lt::storage_error&)> handler) override {
    disk_->async_delete_files(storage, options, std::move(handler));
  }
  void async_set_file_priority(
      lt::storage_index_t storage, lt::aux::vector<lt::download_priority_t, lt::file_index_t> priorities,
      std::function<void(const lt::storage_error&, lt::aux::vector<lt::download_priority_t, lt::file_index_t>)> handler)
      override {
    disk_->async_set_file_priority(storage, std::move(priorities), std::move(handler));
  }
  void update_stats_counters(lt::counters& counters) const override { disk_->update_stats_counters(counters); }
  std::vector<lt::open_file_state> get_status(lt::storage_index_t storage) const override {
    return disk_->get_status(storage);
  }
  void submit_jobs() override { disk_->submit_jobs(); }
  void settings_updated() override { disk_->settings_updated(); }

 private:
  /// A storage index is used again by the next torrent; a serial number is not.
  struct Key {
    std::uint32_t serial;
    int piece;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::uint64_t>()((std::uint64_t{key.serial} << 32) | static_cast<std::uint32_t>(key.piece));
    }
  };
  void read_now(lt::storage_index_t storage, const lt::peer_request& request,
                std::function<void(lt::disk_buffer_holder, const lt::storage_error&)> handler,
                lt::disk_job_flags_t flags) {
    times_->reads.begin(std::chrono::steady_clock::now());
    auto timed = [times = times_, done = std::move(handler)](lt::disk_buffer_holder block,
                                                             const lt::storage_error& error) {
      times->reads.end(std::chrono::steady_clock::now());
      done(std::move(block), error);
    };
    const auto found = torrents_.find(storage);
    if (found != torrents_.end() && found->second.served) {
      return reader_.read(found->second.served, request, std::move(timed));
    }
    disk_->async_read(storage, request, std::move(timed), flags);
  }

  struct OpenTorrent {
    lt::storage_holder storage;
    HeldReads::TorrentKey torrent;
    std::uint32_t serial;
    std::uint64_t piece_bytes, total_bytes;
    std::unique_ptr<const lt::file_storage> names;  ///< of a torrent in a held folder
    std::shared_ptr<const ServedFiles> served;      ///< where others can replace files: we read them ourselves
  };
  /// From the first block of a piece until its hash was delivered, or libtorrent has lost interest.
  struct Piece {
    int writes = 0;  ///< blocks on their way to the disk
    bool hashing = false;
    bool let_go = false;  ///< forgotten once nothing is under way
    lt::storage_error failure;
    PieceBuffer kept;                                         ///< what came so far, where memory allows
    std::function<void(const lt::storage_error&)> held_back;  ///< delivers the hash, given the writes' failure
    std::function<void()> begin_anew;                         ///< libtorrent wants the piece again after the hash
  };
  using Pieces = std::unordered_map<Key, Piece, KeyHash>;

  Key key_of(lt::storage_index_t storage, lt::piece_index_t piece) const {
    const auto found = torrents_.find(storage);
    return {found == torrents_.end() ? 0 : found->second.serial, static_cast<int>(piece)};
  }

  /// Null where libtorrent may read by path: a person named it, or nobody else can get there.
  static std::shared_ptr<const ServedFiles> served_files(const OpenTorrent& torrent, const std::string& path) {
    const auto held = held_descriptor(path);
    if (!held || !torrent.names || is_out_of_reach(*held)) return nullptr;
    UniqueFd own(::fcntl(*held, F_DUPFD_CLOEXEC, 0));
    return std::make_shared<const ServedFiles>(std::move(own), *torrent.names);
  }

  std::size_t piece_bytes(lt::storage_index_t storage, lt::piece_index_t piece) const {
    const OpenTorrent& torrent = torrents_.at(storage);
    const std::uint64_t start = static_cast<std::uint64_t>(static_cast<int>(piece)) * torrent.piece_bytes;
    return std::min(torrent.piece_bytes, torrent.total_bytes - start);
  }

  Pieces::iterator let_go(Pieces::iterator found) {
    Piece& piece = found->second;
    piece.let_go = true;
    memory_.give_back(std::exchange(piece.kept, {}));
    return piece.writes == 0 && !piece.hashing ? pieces_.erase(found) : std::next(found);
  }

  void let_go_all(lt::storage_index_t storage) {
    const auto torrent = torrents_.find(storage);
    if (torrent == torrents_.end()) return;
    for (auto it = pieces_.begin(); it != pieces_.end();) {
      it = it->first.serial == torrent->second.serial ? let_go(it) : std::next(it);
    }
  }

  void let_go_reads(lt::storage_index_t storage) {
    const auto torrent = torrents_.find(storage);
    if (reads_ != nullptr && torrent != torrents_.end()) reads_->let_go(torrent->second.torrent);
  }

  void written(const Key& key, const lt::storage_error& error) {
    const auto found = pieces_.find(key);
    if (found == pieces_.end()) return;
    Piece& piece = found->second;
    if (error && !piece.failure) piece.failure = error;
    --piece.writes;
    if (piece.writes == 0 && piece.held_back) return deliver(found);
    if (error || piece.let_go) let_go(found);
  }

  void hashed(const Key& key, HashHandler done, lt::piece_index_t index, const lt::sha1_hash& hash,
              const lt::storage_error& error) {
    const auto found = pieces_.find(key);
    if (found == pieces_.end()) return done(index, hash, error);
    Piece& piece = found->second;
    piece.held_back = [done = std::move(done), index, hash, error](const lt::storage_error& failure) {
      done(index, hash, error ? error : failure);
    };
    if (piece.begin_anew) {
      begin_anew(found, std::exchange(piece.begin_anew, {}));
    } else if (piece.writes == 0) {
      deliver(found);
    }
  }

  void deliver(Pieces::iterator found) {
    const auto tell = std::move(found->second.held_back);
    const lt::storage_error failure = found->second.failure;
    memory_.give_back(std::move(found->second.kept));
    pieces_.erase(found);
    tell(failure);
  }

  /// What the disk had under way for a failed piece is done, and libtorrent is about to fetch it again. A hash of ours
  /// is still waited for, so that it is never taken for the next one.
  void cleared(const Key& key, std::function<void()> done) {
    const auto found = pieces_.find(key);
    if (found == pieces_.end()) return done();
    if (found->second.hashing && !found->second.held_back) {
      // One question for each block that could not be written.
      found->second.begin_anew = [earlier = std::move(found->second.begin_anew), done = std::move(done)] {
        if (earlier) earlier();
        done();
      };
    } else {
      begin_anew(found, done);
    }
  }

  /// Blocks that came meanwhile still count their way to the disk, but the failure is not theirs.
  void begin_anew(Pieces::iterator found, const std::function<void()>& done) {
    const auto tell = std::exchange(found->second.held_back, {});
    const lt::storage_error failure = std::exchange(found->second.failure, {});
    found->second.hashing = false;
    let_go(found);
    if (tell) tell(failure);
    done();
  }

  const std::unique_ptr<lt::disk_interface> disk_;
  HeldReads* reads_;  ///< null: none, or over
  const SystemClock clock_;
  const std::shared_ptr<DiskTimes> times_;
  DiskWaits waits_;
  int writes_ = 0;  ///< blocks on their way to the disk
  PieceMemory memory_;
  std::uint32_t next_serial_ = 1;
  std::unordered_map<lt::storage_index_t, OpenTorrent> torrents_;
  Pieces pieces_;
  std::optional<PieceHasher> hasher_;
  BeneathReader reader_;  ///< last, as the hasher: their threads end first
};

}  // namespace

std::unique_ptr<lt::disk_interface> flush_before_hash(std::unique_ptr<lt::disk_interface> disk, lt::io_context& network,
                                                      std::size_t memory_bytes, HeldReads* reads,
                                                      std::shared_ptr<DiskTimes> times) {
  return std::make_unique<FlushedDisk>(std::move(disk), network, memory_bytes, reads, std::move(times));
}

lt::disk_io_constructor_type flushed_disk_io(std::size_t memory_bytes, HeldReads& reads,
                                             std::shared_ptr<DiskTimes> times,
                                             std::function<void(lt::io_context&)> on_loop) {
  return [memory_bytes, &reads, times = std::move(times), on_loop = std::move(on_loop)](
             lt::io_context& network, const lt::settings_interface& settings, lt::counters& counters) {
    on_loop(network);
    return flush_before_hash(lt::mmap_disk_io_constructor(network, settings, counters), network,
                             PieceHasher::worthwhile() ? memory_bytes : 0, &reads, times);
  };
}

}  // namespace gridtorrent::client::engine
