#include "client/engine/torrent.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <libtorrent/hasher.hpp>
#include <libtorrent/load_torrent.hpp>
#include <libtorrent/torrent_flags.hpp>
#include <libtorrent/torrent_info.hpp>
#include <libtorrent/torrent_status.hpp>

#include "client/engine/lane_plugin.h"
#include "client/engine/resume.h"
#include "common/hex.h"
#include "common/text.h"
#include "common/unique_fd.h"
#include "common/units.h"

namespace gridtorrent::client::engine {
namespace {

/// Null where it cannot be opened.
std::shared_ptr<const UniqueFd> opened_folder(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd ? std::make_shared<const UniqueFd>(std::move(fd)) : nullptr;
}

/// A write that failed before room was made may be told after the resume; a disk that is full again says so later, too.
constexpr lt::seconds kLateErrors{10};
/// A first plan later than this starts over the slower way: libtorrent's one-second round.
constexpr int kSecondsForPlan = 2;

Result<std::shared_ptr<lt::torrent_info>> parse_info(const TorrentSpec& spec) {
  const Error malformed{Code::kInvalid, "the torrent's info dictionary is malformed"};
  if (!spec.info_dict.starts_with('d') || !spec.info_dict.ends_with('e')) return malformed;
  const std::string file = "d4:info" + spec.info_dict + "e";
  lt::load_torrent_limits limits;
  limits.max_buffer_size = 256 << 20;
  limits.max_decode_tokens = 32'000'000;
  limits.max_decode_depth = 16;
  try {
    const lt::add_torrent_params loaded = lt::load_torrent_buffer(file, limits);
    const auto info = loaded.ti;
    if (!info->v1() || info->num_pieces() == 0) return malformed;
    if (static_cast<std::size_t>(info->num_files()) != spec.file_paths.size()) {
      return Error{Code::kInvalid, "the torrent has " + std::to_string(info->num_files()) + " files, but " +
                                       std::to_string(spec.file_paths.size()) + " names were given"};
    }
    return info;
  } catch (const lt::system_error& e) {
    return malformed.with_context(e.code().message());
  }
}

bool stays_below(const std::string& path) {
  if (path.empty() || path.front() == '/' || path.back() == '/' || path.find('\0') != std::string::npos) return false;
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view component = std::string_view(path).substr(start, end - start);
    if (component.empty() || component == "." || component == "..") return false;
    start = end + 1;
  }
  return true;
}

Status check_paths(const TorrentSpec& spec) {
  if (!spec.save_path.path.starts_with('/')) {
    return Error{Code::kInvalid, "the folder " + escape_for_display(spec.save_path.path) + " is no absolute path"};
  }
  for (const auto& path : spec.file_paths) {
    if (!stays_below(path))
      return Error{Code::kInvalid, "the file name " + escape_for_display(path) + " leaves its folder"};
  }
  if (!spec.wanted.empty() && spec.wanted.size() != spec.file_paths.size()) {
    return Error{Code::kInvalid, "the list of wanted files does not fit the list of files"};
  }
  return {};
}

/// libtorrent wants some; TLS 1.3 never uses them. RFC 7919's group ffdhe2048.
constexpr char kDhParameters[] =
    "-----BEGIN DH PARAMETERS-----\n"
    "MIIBCAKCAQEA//////////+t+FRYortKmq/cViAnPTzx2LnFg84tNpWp4TZBFGQz\n"
    "+8yTnc4kmz75fS/jY2MMddj2gbICrsRhetPfHtXV/WVhJDP1H18GbtCFY2VVPe0a\n"
    "87VXE15/V8k1mE8McODmi3fipona8+/och3xWKE2rec1MKzKT0g6eXq8CrGCsyT7\n"
    "YdEIqUuyyOP7uWrat2DX9GgdT0Kj3jlN9K5W7edjcrsZCwenyO4KbXCeAvzhzffi\n"
    "7MA0BM0oNC9hkXL+nOmFg/+OTxIy7vKBg8P+OxtMb61zO7X8vC7CIAXFjvGDfRaD\n"
    "ssbzSibBsu/6iGtCOGEoXJf//////////wIBAg==\n"
    "-----END DH PARAMETERS-----\n";

lt::sha1_hash key_of_pieces(const lt::torrent_info& info) {
  lt::hasher hasher;
  for (const lt::piece_index_t piece : info.piece_range()) {
    hasher.update({info.hash_for_piece_ptr(piece), lt::sha1_hash::size()});
  }
  return hasher.final();
}

}  // namespace

Geometry::Geometry(const lt::torrent_info& info, const std::vector<bool>& wanted_files)
    : total_(static_cast<std::uint64_t>(info.total_size())),
      piece_length_(static_cast<std::uint64_t>(info.piece_length())),
      wanted_files_(wanted_files) {
  const auto count = static_cast<std::size_t>(info.num_pieces());
  wanted_.assign(count, false);
  whole_.assign(count, true);
  for (const lt::file_index_t file : info.files().file_range()) {
    file_starts_.push_back(static_cast<std::uint64_t>(info.files().file_offset(file) + info.files().file_size(file)));
  }
  for (std::size_t file = 0; file < files(); ++file) {
    if (file_bytes(file) == 0) continue;
    const std::uint64_t first = file_starts_[file] / piece_length_, last = (file_starts_[file + 1] - 1) / piece_length_;
    const bool want = file_wanted(file);
    everything_wanted_ = everything_wanted_ && want;
    for (std::uint64_t piece = first; piece <= last; ++piece) {
      if (want) {
        wanted_[piece] = true;
      } else {
        whole_[piece] = false;
      }
    }
  }
  for (std::uint32_t piece = 0; piece < count; ++piece) {
    if (wanted_[piece]) wanted_bytes_ += piece_bytes(piece);
  }
}

std::uint64_t Geometry::piece_bytes(std::uint32_t piece) const {
  const std::uint64_t start = piece * piece_length_;
  return std::min(piece_length_, total_ - start);
}

std::vector<bool> Geometry::unaffected_by(const std::vector<bool>& wanted_files) const {
  std::vector<bool> unaffected(wanted_.size(), true);
  for (std::size_t file = 0; file < files(); ++file) {
    const bool want = wanted_files.empty() || wanted_files[file];
    if (file_bytes(file) == 0 || want == file_wanted(file)) continue;
    const std::uint64_t last = (file_starts_[file + 1] - 1) / piece_length_;
    for (std::uint64_t piece = file_starts_[file] / piece_length_; piece <= last; ++piece) unaffected[piece] = false;
  }
  return unaffected;
}

std::vector<std::size_t> Geometry::files_of(const std::vector<bool>& pieces) const {
  std::vector<std::size_t> found;
  for (std::size_t file = 0; file < files(); ++file) {
    if (file_bytes(file) == 0) continue;
    const auto first = static_cast<std::ptrdiff_t>(file_starts_[file] / piece_length_);
    const auto last = static_cast<std::ptrdiff_t>((file_starts_[file + 1] - 1) / piece_length_);
    if (std::find(pieces.begin() + first, pieces.begin() + last + 1, true) != pieces.begin() + last + 1)
      found.push_back(file);
  }
  return found;
}

Torrent::Torrent(const TorrentSpec& spec, std::shared_ptr<lt::torrent_info> info, const NodeId& self,
                 EngineListener& listener, const NodeParts& parts)
    : id_(spec.id),
      file_paths_(spec.file_paths),
      wanted_files_(spec.wanted),
      listener_(listener),
      geometry_(*info, spec.wanted),
      info_hash_(info->info_hashes().v1),
      tls_(!info->ssl_cert().empty()),
      generation_(spec.generation),
      swarm_(std::make_shared<Swarm>(spec.id, self, info_hash_, tls_, listener, parts)),
      info_(std::move(info)),
      save_path_(spec.save_path.path),
      trust_(spec.trust),
      paused_(spec.paused) {
  const lt::sha1_hash key = key_of_pieces(*info_);
  std::ranges::transform(key, pieces_key_.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
  for (std::size_t file = 0; file < file_paths_.size(); ++file) {
    info_->rename_file(lt::file_index_t(static_cast<int>(file)), file_paths_[file]);
  }
  have_.assign(geometry_.pieces(), false);
  synced_ = have_;
  swarm_->set_audience(spec.audience);
  swarm_->set_wanted(geometry_.wanted_pieces());
}

Result<std::shared_ptr<Torrent>> Torrent::make(const TorrentSpec& spec, const NodeId& self, EngineListener& listener,
                                               const NodeParts& parts) {
  GT_TRY(check_paths(spec));
  GT_ASSIGN(auto info, parse_info(spec));
  auto torrent = std::shared_ptr<Torrent>(new Torrent(spec, std::move(info), self, listener, parts));
  GT_TRY(torrent->open_folder(spec.save_path));
  if (spec.trust == DiskTrust::kComplete) {
    GT_TRY(torrent->check_sizes());
    torrent->have_ = torrent->synced_ = torrent->geometry_.whole_pieces();
  }
  if (spec.trust == DiskTrust::kResumeData) torrent->load_resume(spec.resume_data);
  return torrent;
}

Status Torrent::open_folder(const Place& save_path) {
  const bool for_writing = trust_ != DiskTrust::kComplete;
  GT_ASSIGN(io_path_, folders_->path_for(save_path, for_writing));
  if (for_writing) disk_ = opened_folder(io_path_);
  return {};
}

Status Torrent::check_sizes() const {
  for (std::size_t file = 0; file < geometry_.files(); ++file) {
    if (!geometry_.file_wanted(file)) continue;
    struct stat info{};
    const std::string path = path_of(file);
    if (::stat(path.c_str(), &info) != 0) {
      return Error{Code::kCorrupt, "cannot seed " + escape_for_display(path) + ": " + errno_text(errno)};
    }
    if (static_cast<std::uint64_t>(info.st_size) != geometry_.file_bytes(file)) {
      return Error{Code::kCorrupt, "cannot seed " + escape_for_display(path) + ": it has " +
                                       std::to_string(info.st_size) + " bytes, not the published " +
                                       std::to_string(geometry_.file_bytes(file))};
    }
  }
  return {};
}

/// Where libtorrent keeps blocks of unwanted files that share a piece with wanted ones; named by the info-hash, and so
/// by the edition.
std::string Torrent::part_file() const {
  return io_path_ + "/." + hex_encode(as_bytes({info_hash_.data(), static_cast<std::size_t>(lt::sha1_hash::size())})) +
         ".parts";
}

void Torrent::load_resume(const std::string& bytes) {
  const auto resume = decode_resume(bytes);
  if (resume && resume->pieces_key == pieces_key_ && resume->have.size() == have_.size()) {
    have_ = resume->have;
    if (!geometry_.everything_wanted() && ::access(part_file().c_str(), F_OK) != 0) {
      for (std::size_t i = 0; i < have_.size(); ++i) have_[i] = have_[i] && geometry_.whole_pieces()[i];
    }
    synced_ = have_;
    return;
  }
  trust_ = DiskTrust::kRecheck;
  warning_ =
      resume ? "the resume data belongs to other data; what is on disk was checked again" : resume.error().message;
}

lt::add_torrent_params Torrent::parameters() {
  const std::lock_guard lock(mutex_);
  lt::add_torrent_params p;
  p.ti = std::move(info_);
  p.save_path = io_path_;
  p.download_limit = paces_requests_ ? 0 : receive_limit_;
  p.upload_limit = send_limit_;
  p.flags = lt::torrent_flags::paused | lt::torrent_flags::disable_dht | lt::torrent_flags::disable_lsd |
            lt::torrent_flags::disable_pex | lt::torrent_flags::update_subscribe |
            lt::torrent_flags::duplicate_is_error;
  // A published file must never be written to, whatever is found wrong with it.
  if (trust_ == DiskTrust::kComplete) p.flags |= lt::torrent_flags::upload_mode;
  for (std::size_t file = 0; file < wanted_files_.size(); ++file) {
    p.file_priorities.push_back(wanted_files_[file] ? lt::default_priority : lt::dont_download);
  }
  if (trust_ == DiskTrust::kComplete || trust_ == DiskTrust::kResumeData) {
    p.have_pieces.resize(static_cast<int>(have_.size()), false);
    for (std::size_t i = 0; i < have_.size(); ++i) {
      if (have_[i]) p.have_pieces.set_bit(lt::piece_index_t(static_cast<int>(i)));
    }
  }
  p.extensions.emplace_back([swarm = swarm_](const lt::torrent_handle& handle, lt::client_data_t) {
    return make_torrent_plugin(swarm, handle.native_handle().get());
  });
  p.extensions.emplace_back([folders = folders_](const lt::torrent_handle&, lt::client_data_t) { return folders; });
  return p;
}

void Torrent::attach(const lt::torrent_handle& handle) {
  swarm_->attach(handle);
  const std::lock_guard lock(mutex_);
  handle_ = handle;
}

lt::torrent_handle Torrent::handle() const {
  const std::lock_guard lock(mutex_);
  return handle_;
}

void Torrent::show(const LaneIdentity& identity) {
  handle().set_ssl_certificate_buffer(identity.certificate_pem, identity.key_pem, kDhParameters);
}

void Torrent::set_rate_limit(int receive, int send) {
  const std::lock_guard lock(mutex_);
  receive_limit_ = receive;
  send_limit_ = send;
  paces_requests_ = paces_requests(receive, paces_requests_);
  swarm_->requests().set_limit(paces_requests_ ? static_cast<std::uint64_t>(receive) : 0);
  handle_.set_download_limit(paces_requests_ ? 0 : receive);
  handle_.set_upload_limit(send);
}

bool Torrent::complete() const {
  const std::lock_guard lock(mutex_);
  return !checking_ && complete_locked();
}

void Torrent::pause() {
  {
    const std::lock_guard lock(mutex_);
    paused_ = true;
    started_ = false;
    if (checking_) return;  // libtorrent checks running torrents only; on_checked pauses it
    handle_.pause();
  }
  switch_swarm();
  listener_.torrent_changed(id_);
}

void Torrent::resume() {
  {
    const std::lock_guard lock(mutex_);
    paused_ = false;
    if (!disk_ && !complete_locked()) disk_ = opened_folder(io_path_);
    const bool retries = std::exchange(failed_, false);
    error_ = {};
    resumed_at_ = lt::clock_type::now();
    handle_.clear_error();
    if (trust_ != DiskTrust::kComplete) handle_.unset_flags(lt::torrent_flags::upload_mode);
    if (checking_) {
      if (retries) handle_.resume();  // an error paused it, and libtorrent checks running torrents only
      return;
    }
  }
  start();
  listener_.torrent_changed(id_);
}

void Torrent::set_plan(const LanePlan& plan) {
  bool begin = false;
  {
    const std::lock_guard lock(mutex_);
    planned_ = planned_ || !plan.peers.empty();  // one without peers is made before the tracker has answered
    begin = planned_ && !checking_ && !started_ && !paused_ && !failed_;
  }
  if (begin) switch_swarm();
  swarm_->set_plan(plan);
  if (begin) start();
}

/// Whoever comes last switches it to what holds then: a failure that another thread saw meanwhile is not overruled.
void Torrent::switch_swarm() {
  const std::lock_guard order(switch_mutex_);
  bool runs = false;
  {
    const std::lock_guard lock(mutex_);
    runs = may_run_locked();
  }
  swarm_->set_active(runs);
}

/// Peers first, then `resume`: so libtorrent dials at once, and not in its next one-second round.
void Torrent::start() {
  switch_swarm();
  const std::lock_guard lock(mutex_);
  if (started_ || !may_run_locked()) return;
  started_ = true;
  handle_.resume();
}

void Torrent::on_second() {
  {
    const std::lock_guard lock(mutex_);
    if (checking_ || started_ || paused_ || failed_) return;
    if (++seconds_waited_ < kSecondsForPlan) return;
  }
  start();
}

Result<bool> Torrent::move_to(const Place& save_path) {
  GT_ASSIGN(const std::string io_path, folders_->path_for(save_path, /*for_writing=*/false));
  const std::lock_guard lock(mutex_);
  save_path_ = save_path.path;
  disk_.reset();  // or its file system could not be unmounted
  io_path_ = io_path;
  failed_ = false;
  error_ = {};
  resumed_at_ = lt::clock_type::now();
  if (geometry_.everything_wanted()) {
    // The files are gone from the old place, so there is nothing that libtorrent could move; it takes the new one, with
    // peers and all.
    handle_.move_storage(io_path, lt::move_flags_t::always_replace_files);
    if (!paused_) {
      handle_.clear_error();
      handle_.resume();
    }
    return false;
  }
  // Parts of unwanted files lie in libtorrent's own part file, which stays behind: from here on only whole pieces are
  // offered.
  info_ = std::make_shared<lt::torrent_info>(*handle_.torrent_file());
  if (complete_locked()) trust_ = DiskTrust::kComplete;
  std::vector<bool> kept = geometry_.whole_pieces();
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = kept[i] && have_[i];
  have_ = kept;
  if (trust_ != DiskTrust::kComplete) trust_ = DiskTrust::kResumeData;
  verified_bytes_ = have_bytes_ = 0;
  checking_ = true;
  started_ = false;
  return true;
}

TorrentState Torrent::state_locked() const {
  if (failed_) return TorrentState::kError;
  if (checking_) return TorrentState::kChecking;
  if (paused_) return TorrentState::kPaused;
  if (!complete_locked()) return TorrentState::kFetching;
  return geometry_.everything_wanted() ? TorrentState::kSeeding : TorrentState::kComplete;
}

TorrentSnapshot Torrent::snapshot() const {
  SwarmReport report = swarm_->report();
  const std::lock_guard lock(mutex_);
  TorrentSnapshot s;
  s.state = state_locked();
  s.error = error_;
  s.wanted_bytes = geometry_.wanted_bytes();
  s.verified_bytes = !checking_ && complete_locked() ? s.wanted_bytes : verified_bytes_;
  s.checked_bytes = checked_bytes_;
  s.redundant_bytes = redundant_bytes_;
  s.failed_bytes = failed_bytes_;
  s.received_payload_bytes = report.received_bytes;
  s.sent_payload_bytes = report.sent_bytes;
  s.receive_bits_per_s = report.receive_bits_per_s;
  s.send_bits_per_s = report.send_bits_per_s;
  s.refused_lanes = report.refused_lanes;
  s.plan_revision = report.plan_revision;
  s.peers = std::move(report.peers);
  s.problems = std::move(report.problems);
  return s;
}

Result<std::string> Torrent::resume_data(const std::vector<bool>* wanted) {
  // First the bitmap, then the sync: what is verified meanwhile is not named.
  std::vector<bool> have, fresh;
  std::vector<std::string> paths;
  std::string root;
  std::shared_ptr<const UniqueFd> disk;
  {
    const std::lock_guard lock(mutex_);
    if (checking_) return Error{Code::kConflict, "what is on disk is still being checked"};
    root = io_path_;
    disk = disk_;
    have = fresh = have_;
    for (std::size_t i = 0; i < fresh.size(); ++i) fresh[i] = fresh[i] && !synced_[i];
    for (const std::size_t file : geometry_.files_of(fresh)) {
      if (geometry_.file_wanted(file)) paths.push_back(path_of(file));
    }
    const std::string parts = part_file();
    if (!geometry_.everything_wanted() && ::access(parts.c_str(), F_OK) == 0) paths.push_back(parts);
  }
  if (!disk) disk = opened_folder(root);
  const UniqueFd none;
  GT_TRY(sync_files(disk ? *disk : none, root, paths));
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < fresh.size(); ++i) synced_[i] = synced_[i] || fresh[i];
    if (paused_) disk_.reset();  // while nothing is written, its file system may be unmounted
  }
  if (wanted != nullptr) {
    const std::vector<bool> unaffected = geometry_.unaffected_by(*wanted);
    for (std::size_t i = 0; i < have.size(); ++i) have[i] = have[i] && unaffected[i];
  }
  return encode_resume({pieces_key_, std::move(have)});
}

void Torrent::mark(std::uint32_t piece) {
  if (have_[piece]) return;
  have_[piece] = true;
  if (geometry_.wanted(piece)) verified_bytes_ += geometry_.piece_bytes(piece);
}

void Torrent::on_checking() {
  const std::lock_guard lock(mutex_);
  if (checking_ && !failed_) handle_.resume();  // only running torrents are checked
}

void Torrent::on_checked() {
  const lt::torrent_status status = handle().status(lt::torrent_handle::query_pieces);
  std::string warning;
  bool begin = false, was_checking = false;
  {
    const std::lock_guard lock(mutex_);
    was_checking = checking_;
    checking_ = false;
    have_.assign(have_.size(), false);
    verified_bytes_ = 0;
    for (std::uint32_t piece = 0; piece < geometry_.pieces(); ++piece) {
      const lt::piece_index_t index(static_cast<int>(piece));
      if (status.pieces.empty() ? status.is_seeding
                                : static_cast<int>(piece) < status.pieces.size() && status.pieces[index]) {
        mark(piece);
      } else {
        synced_[piece] = false;
      }
    }
    warning.swap(warning_);
    begin = !paused_ && !failed_ && (planned_ || complete_locked());
    if (!begin && was_checking) handle_.pause();  // the check had it running; it starts with its first peers (`start`)
  }
  if (!was_checking) return;
  publish_completeness();
  if (begin) start();
  if (!warning.empty()) listener_.warning(id_, warning);
  listener_.torrent_changed(id_);
}

void Torrent::publish_completeness() {
  bool complete = false;
  {
    const std::lock_guard lock(mutex_);
    complete = !checking_ && complete_locked();
  }
  swarm_->set_complete(complete);
}

void Torrent::on_piece(std::uint32_t piece) {
  bool completed = false;
  {
    const std::lock_guard lock(mutex_);
    if (piece >= have_.size() || have_[piece]) return;
    mark(piece);
    completed = !checking_ && complete_locked();
  }
  listener_.piece_verified(id_, piece);
  if (!completed) return;
  on_progress(handle().status({}));  // what came twice is part of the result; the next round would be too late
  publish_completeness();
  listener_.torrent_changed(id_);
}

void Torrent::on_progress(const lt::torrent_status& status) {
  const std::lock_guard lock(mutex_);
  redundant_bytes_ = static_cast<std::uint64_t>(status.total_redundant_bytes);
  failed_bytes_ = static_cast<std::uint64_t>(status.total_failed_bytes);
  if (checking_) {
    checked_bytes_ =
        static_cast<std::uint64_t>(static_cast<double>(geometry_.wanted_bytes()) * status.progress_ppm / 1e6);
  }
}

void Torrent::on_disk_error(const lt::error_code& error, const std::string& file, lt::operation_t operation,
                            lt::time_point when) {
  const bool writing = operation == lt::operation_t::file_write || operation == lt::operation_t::file_fallocate ||
                       operation == lt::operation_t::mkdir ||
                       error == boost::system::errc::read_only_file_system;  // told as the opening that failed
  std::string message;
  {
    const std::lock_guard lock(mutex_);
    const std::string shown = file.starts_with(io_path_) ? save_path_ + file.substr(io_path_.size()) : file;
    message =
        std::string(writing ? "cannot write " : "cannot read ") + escape_for_display(shown) + ": " + error.message();
    // Writes that failed together are told one by one; some of it may arrive after the cause is gone.
    if (failed_ || when < resumed_at_) return;
    struct statvfs space{};
    if (error == boost::system::errc::no_space_on_device && ::statvfs(io_path_.c_str(), &space) == 0) {
      const std::uint64_t free = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
      const std::uint64_t needed = geometry_.wanted_bytes() - verified_bytes_;
      if (free > needed && when < resumed_at_ + kLateErrors) {
        handle_.clear_error();
        handle_.unset_flags(lt::torrent_flags::upload_mode);
        handle_.resume();
        return;
      }
      message = "the disk of " + escape_for_display(save_path_) + " is full: " + format_bytes(needed) +
                " are still needed, " + format_bytes(free) + " are free; make room, then resume";
    }
  }
  fail({Code::kDisk, std::move(message)});
}

void Torrent::on_resume_rejected() {
  {
    const std::lock_guard lock(mutex_);
    if (trust_ != DiskTrust::kComplete) {
      warning_ = "the files are not as the resume data left them; what is on disk was checked again";
      return;
    }
  }
  fail({Code::kCorrupt,
        "the files under " + escape_for_display(save_path_) + " are no longer those that were published"});
}

void Torrent::on_move_failed(const lt::error_code& error) {
  fail({Code::kDisk, "cannot go on in " + escape_for_display(save_path_) + ": " + error.message()});
}

void Torrent::fail(Error error) {
  {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    started_ = false;
    error_ = std::move(error);
    handle_.pause();
  }
  switch_swarm();
  listener_.torrent_changed(id_);
}

}  // namespace gridtorrent::client::engine
