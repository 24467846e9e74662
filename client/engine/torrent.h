#pragma once

#include <array>
#include <cstdint>
#include <libtorrent/add_torrent_params.hpp>
#include <libtorrent/alert_types.hpp>
#include <libtorrent/time.hpp>
#include <libtorrent/torrent_handle.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "client/core/engine.h"
#include "client/engine/held_folders.h"
#include "client/engine/swarm.h"
#include "common/unique_fd.h"

namespace gridtorrent::client::engine {

/// What is fixed about a torrent's bytes: sizes, files, which pieces are wanted.
class Geometry {
 public:
  Geometry() = default;
  Geometry(const lt::torrent_info& info, const std::vector<bool>& wanted_files);

  std::uint32_t pieces() const { return static_cast<std::uint32_t>(wanted_.size()); }
  std::uint64_t piece_bytes(std::uint32_t piece) const;
  bool wanted(std::uint32_t piece) const { return wanted_[piece]; }
  const std::vector<bool>& wanted_pieces() const { return wanted_; }
  /// Pieces without a byte of an unwanted file: what is on disk once the wanted files are whole.
  const std::vector<bool>& whole_pieces() const { return whole_; }
  /// Pieces without a byte of a file that is wanted here and not among `wanted_files` (empty: all), or the other way.
  std::vector<bool> unaffected_by(const std::vector<bool>& wanted_files) const;
  std::uint64_t wanted_bytes() const { return wanted_bytes_; }
  bool everything_wanted() const { return everything_wanted_; }
  /// Indexes of the files that have bytes in any of these pieces.
  std::vector<std::size_t> files_of(const std::vector<bool>& pieces) const;
  std::uint64_t file_bytes(std::size_t file) const { return file_starts_[file + 1] - file_starts_[file]; }
  bool file_wanted(std::size_t file) const { return wanted_files_.empty() || wanted_files_[file]; }
  std::size_t files() const { return file_starts_.size() - 1; }

 private:
  std::uint64_t total_ = 0, piece_length_ = 1, wanted_bytes_ = 0;
  bool everything_wanted_ = true;
  std::vector<std::uint64_t> file_starts_{0};  ///< and the end
  std::vector<bool> wanted_files_, wanted_, whole_;
};

/// One torrent: its state as alerts tell it, and its Swarm. Thread-safe by one private mutex; on_* are called in the
/// alert thread.
class Torrent {
 public:
  /// Refuses malformed info dictionaries, file lists that do not fit them, bad resume data, and for kComplete files
  /// that are missing or have another size.
  static Result<std::shared_ptr<Torrent>> make(const TorrentSpec& spec, const NodeId& self, EngineListener& listener,
                                               const NodeParts& parts);

  /// For lt::session::add_torrent; always paused, so that peers are known before libtorrent starts.
  lt::add_torrent_params parameters();
  void attach(const lt::torrent_handle& handle);
  lt::torrent_handle handle() const;
  const std::shared_ptr<Swarm>& swarm() const { return swarm_; }
  const TransferId& id() const { return id_; }
  const lt::sha1_hash& info_hash() const { return info_hash_; }
  bool tls() const { return tls_; }
  std::uint32_t generation() const { return generation_; }
  void show(const LaneIdentity& identity);

  /// Bytes per second; 0: unlimited. Kept when the torrent is added again.
  void set_rate_limit(int receive, int send);
  void pause();
  void resume();
  bool complete() const;
  void set_plan(const LanePlan& plan);
  /// True where the torrent has to be added again (with `parameters`), since only the wanted files were moved.
  /// `kDenied`, `kDisk`: the folder cannot be opened as it was named.
  Result<bool> move_to(const Place& save_path);
  TorrentSnapshot snapshot() const;
  /// `wanted`: for when these files are wanted from then on, as Engine::resume_data_for; null: the same as now.
  Result<std::string> resume_data(const std::vector<bool>* wanted = nullptr);

  void on_checking();
  void on_checked();
  /// Once a second: starts what has waited long enough for a first plan.
  void on_second();
  void on_piece(std::uint32_t piece);
  void on_progress(const lt::torrent_status& status);
  void on_disk_error(const lt::error_code& error, const std::string& file, lt::operation_t operation,
                     lt::time_point when);
  void on_resume_rejected();
  void on_move_failed(const lt::error_code& error);

 private:
  Torrent(const TorrentSpec& spec, std::shared_ptr<lt::torrent_info> info, const NodeId& self, EngineListener& listener,
          const NodeParts& parts);
  Status check_sizes() const;
  void load_resume(const std::string& bytes);
  std::string path_of(std::size_t file) const { return io_path_ + "/" + file_paths_[file]; }
  Status open_folder(const Place& save_path);
  std::string part_file() const;

  void mark(std::uint32_t piece);
  bool complete_locked() const { return trust_ == DiskTrust::kComplete || verified_bytes_ == geometry_.wanted_bytes(); }
  bool may_run_locked() const { return !checking_ && !paused_ && !failed_; }
  void switch_swarm();
  void start();
  void fail(Error error);
  TorrentState state_locked() const;
  void publish_completeness();

  const TransferId id_;
  const std::vector<std::string> file_paths_;
  const std::vector<bool> wanted_files_;
  EngineListener& listener_;
  Geometry geometry_;
  lt::sha1_hash info_hash_;
  std::array<std::uint8_t, 20> pieces_key_{};
  const bool tls_;
  const std::uint32_t generation_;
  const std::shared_ptr<Swarm> swarm_;

  std::mutex switch_mutex_;  ///< held while the swarm is switched; taken before mutex_
  mutable std::mutex mutex_;
  std::shared_ptr<lt::torrent_info> info_;  ///< until it is libtorrent's
  lt::torrent_handle handle_;
  std::string save_path_;  ///< for people
  std::string io_path_;    ///< what is opened: the same, or a folder that `folders_` holds
  const std::shared_ptr<HeldFolders> folders_ = std::make_shared<HeldFolders>();
  std::shared_ptr<const UniqueFd> disk_;  ///< of `io_path_`, for sync_files; null: nothing more is written
  DiskTrust trust_;
  bool paused_;
  bool checking_ = true, planned_ = false, started_ = false, failed_ = false;
  int seconds_waited_ = 0, receive_limit_ = 0, send_limit_ = 0;
  bool paces_requests_ = false;  ///< to keep to `receive_limit_`; libtorrent's limiter does it otherwise
  std::string warning_;          ///< to be told once it is checked
  Error error_;
  lt::time_point resumed_at_{};  ///< older disk errors are settled
  std::vector<bool> have_, synced_;
  std::uint64_t verified_bytes_ = 0, have_bytes_ = 0, checked_bytes_ = 0, redundant_bytes_ = 0, failed_bytes_ = 0;
};

}  // namespace gridtorrent::client::engine
