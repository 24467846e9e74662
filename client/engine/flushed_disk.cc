#include "client/engine/flushed_disk.h"

#include <cstdint>
#include <functional>
#include <libtorrent/disk_buffer_holder.hpp>
#include <libtorrent/disk_interface.hpp>
#include <libtorrent/disk_observer.hpp>
#include <libtorrent/io_context.hpp>
#include <libtorrent/mmap_disk_io.hpp>
#include <libtorrent/peer_request.hpp>
#include <libtorrent/storage_defs.hpp>
#include <memory>
#include <unordered_map>
#include <utility>

namespace gridtorrent::client::engine {
namespace {

/// A decorator: forwards all, and holds back hash results. Every call and every completion is in the network thread.
class FlushedDisk final : public lt::disk_interface {
 public:
  using HashHandler = std::function<void(lt::piece_index_t, const lt::sha1_hash&, const lt::storage_error&)>;

  explicit FlushedDisk(std::unique_ptr<lt::disk_interface> disk) : disk_(std::move(disk)) {}

  bool async_write(lt::storage_index_t storage, const lt::peer_request& request, const char* buffer,
                   std::shared_ptr<lt::disk_observer> observer, std::function<void(const lt::storage_error&)> handler,
                   lt::disk_job_flags_t flags) override {
    const Key key = key_of(storage, request.piece);
    ++pieces_[key].writes;
    return disk_->async_write(
        storage, request, buffer, std::move(observer),
        [this, key, done = std::move(handler)](const lt::storage_error& error) {
          done(error);
          written(key, error);
        },
        flags);
  }

  void async_hash(lt::storage_index_t storage, lt::piece_index_t piece, lt::span<lt::sha256_hash> v2,
                  lt::disk_job_flags_t flags, HashHandler handler) override {
    const Key key = key_of(storage, piece);
    const auto found = pieces_.find(key);
    if (found == pieces_.end()) return disk_->async_hash(storage, piece, v2, flags, std::move(handler));
    found->second.hashing = true;
    disk_->async_hash(storage, piece, v2, flags,
                      [this, key, done = std::move(handler)](lt::piece_index_t index, const lt::sha1_hash& hash,
                                                             const lt::storage_error& error) mutable {
                        hashed(key, std::move(done), index, hash, error);
                      });
  }

  // What follows only forwards.
  lt::storage_holder new_torrent(const lt::storage_params& params, const std::shared_ptr<void>& torrent) override {
    return disk_->new_torrent(params, torrent);
  }
  void remove_torrent(lt::storage_index_t storage) override { disk_->remove_torrent(storage); }
  void async_read(lt::storage_index_t storage, const lt::peer_request& request,
                  std::function<void(lt::disk_buffer_holder, const lt::storage_error&)> handler,
                  lt::disk_job_flags_t flags) override {
    disk_->async_read(storage, request, std::move(handler), flags);
  }
  void async_hash2(
      lt::storage_index_t storage, lt::piece_index_t piece, int offset, lt::disk_job_flags_t flags,
      std::function<void(lt::piece_index_t, const lt::sha256_hash&, const lt::storage_error&)> handler) override {
    disk_->async_hash2(storage, piece, offset, flags, std::move(handler));
  }
  void async_move_storage(
      lt::storage_index_t storage, std::string path, lt::move_flags_t flags,
      std::function<void(lt::status_t, const std::string&, const lt::storage_error&)> handler) override {
    disk_->async_move_storage(storage, std::move(path), flags, std::move(handler));
  }
  void async_release_files(lt::storage_index_t storage, std::function<void()> handler) override {
    disk_->async_release_files(storage, std::move(handler));
  }
  void async_check_files(lt::storage_index_t storage, const lt::add_torrent_params* resume_data,
                         lt::aux::vector<std::string, lt::file_index_t> links,
                         std::function<void(lt::status_t, const lt::storage_error&)> handler) override {
    disk_->async_check_files(storage, resume_data, std::move(links), std::move(handler));
  }
  void async_stop_torrent(lt::storage_index_t storage, std::function<void()> handler) override {
    disk_->async_stop_torrent(storage, std::move(handler));
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
  void async_clear_piece(lt::storage_index_t storage, lt::piece_index_t piece,
                         std::function<void(lt::piece_index_t)> handler) override {
    disk_->async_clear_piece(storage, piece, std::move(handler));
  }
  void update_stats_counters(lt::counters& counters) const override { disk_->update_stats_counters(counters); }
  std::vector<lt::open_file_state> get_status(lt::storage_index_t storage) const override {
    return disk_->get_status(storage);
  }
  void abort(bool wait) override { disk_->abort(wait); }
  void submit_jobs() override { disk_->submit_jobs(); }
  void settings_updated() override { disk_->settings_updated(); }

 private:
  using Key = std::uint64_t;
  struct Piece {
    int writes = 0;  ///< blocks on their way to the disk
    bool hashing = false;
    lt::storage_error failure;
    std::function<void(const lt::storage_error&)> held_back;  ///< delivers the hash, given the writes' failure
  };

  static Key key_of(lt::storage_index_t storage, lt::piece_index_t piece) {
    return (Key{static_cast<std::uint32_t>(storage)} << 32) | static_cast<std::uint32_t>(static_cast<int>(piece));
  }

  void written(Key key, const lt::storage_error& error) {
    const auto found = pieces_.find(key);
    Piece& piece = found->second;
    if (error && !piece.failure) piece.failure = error;
    if (--piece.writes > 0) return;
    if (piece.held_back) {
      const auto deliver = std::move(piece.held_back);
      const lt::storage_error failure = piece.failure;
      pieces_.erase(found);
      deliver(failure);
    } else if (!piece.hashing) {
      pieces_.erase(found);
    }
  }

  void hashed(Key key, HashHandler done, lt::piece_index_t index, const lt::sha1_hash& hash,
              const lt::storage_error& error) {
    const auto found = pieces_.find(key);
    Piece& piece = found->second;
    auto deliver = [done = std::move(done), index, hash, error](const lt::storage_error& failure) {
      done(index, hash, error ? error : failure);
    };
    if (piece.writes > 0) {
      piece.held_back = std::move(deliver);
      return;
    }
    const lt::storage_error failure = piece.failure;
    pieces_.erase(found);
    deliver(failure);
  }

  std::unique_ptr<lt::disk_interface> disk_;
  std::unordered_map<Key, Piece> pieces_;  ///< with writes or a hash under way
};

}  // namespace

lt::disk_io_constructor_type flushed_disk_io() {
  return [](lt::io_context& context, const lt::settings_interface& settings, lt::counters& counters) {
    return std::make_unique<FlushedDisk>(lt::mmap_disk_io_constructor(context, settings, counters));
  };
}

}  // namespace gridtorrent::client::engine
