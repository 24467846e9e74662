#include "client/engine/libtorrent_engine.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <libtorrent/alert_types.hpp>
#include <libtorrent/extensions.hpp>
#include <libtorrent/session.hpp>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>

#include "client/engine/byte_paths.h"
#include "client/engine/descriptor_shares.h"
#include "client/engine/flushed_disk.h"
#include "client/engine/half_open.h"
#include "client/engine/internals.h"
#include "client/engine/lane_proof.h"
#include "client/engine/listen.h"
#include "client/engine/settings.h"
#include "client/engine/torrent.h"
#include "client/engine/uplink.h"
#include "common/clock.h"
#include "common/text.h"

namespace gridtorrent::client::engine {
namespace {

/// Between two attempts at a port that is taken.
constexpr auto kPortPause = std::chrono::milliseconds(250);
/// A renewed certificate is shown to so many torrents each kShowPause, so that others are served meanwhile: 20,000
/// torrents take 200 s.
constexpr int kShownAtOnce = 20;
constexpr auto kShowPause = std::chrono::milliseconds(200);
/// At the end, open handshakes get so much time, and so many rounds.
constexpr auto kHandshakesEnd = std::chrono::seconds(1);
constexpr int kRoundsToEnd = 20;

/// All swarms, for the network thread's round. Thread-safe by its own mutex.
class SwarmList {
 public:
  std::shared_ptr<NodeRates> rates;            ///< this and the next are set before the session starts
  std::unique_ptr<HandshakeGuard> handshakes;  ///< network thread

  /// What was held back and is due. Network thread.
  void go_on() {
    for (const auto& swarm : all()) swarm->requests().go_on();
    rates->sending.go_on(SystemClock().mono());
    if (std::exchange(many_connected, false)) look_at_handshakes();
  }
  /// Looks at what lanes carry; false where none does. Network thread.
  bool sample() {
    bool flows = false;
    for (const auto& swarm : all()) flows = swarm->sample() || flows;
    return flows;
  }
  /// Ends connections that are too many, or too old, and have not become lanes. Network thread.
  void look_at_handshakes() { ended_handshakes += handshakes->tick(sockets(), SystemClock().mono()); }
  /// Of all lanes.
  std::set<int> sockets() const {
    std::set<int> sockets;
    for (const auto& swarm : all()) swarm->add_sockets(sockets);
    return sockets;
  }

  bool many_connected = false;  ///< since the last look; network thread
  /// Connections that never became lanes, since somebody last asked.
  std::atomic<std::size_t> ended_handshakes = 0;

  void add(const std::shared_ptr<Swarm>& swarm) {
    const std::lock_guard lock(mutex_);
    swarms_.push_back(swarm);
  }
  void remove(const std::shared_ptr<Swarm>& swarm) {
    const std::lock_guard lock(mutex_);
    std::erase(swarms_, swarm);
  }
  std::vector<std::shared_ptr<Swarm>> all() const {
    const std::lock_guard lock(mutex_);
    return swarms_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Swarm>> swarms_;
};

/// libtorrent's once-a-second call in the network thread, just before it dials.
class RoundPlugin final : public lt::plugin {
 public:
  RoundPlugin(std::shared_ptr<SwarmList> swarms, std::shared_ptr<NetworkLoop> loop)
      : swarms_(std::move(swarms)), loop_(std::move(loop)), on_connection_([this] { connected(); }) {}
  void added(const lt::session_handle& session) override {
    session_ = session;
    tell_of_tls_connections(session_, &on_connection_);
  }
  void abort() override {
    tell_of_tls_connections(session_, nullptr);
    loop_->stop();
    end_handshakes();
  }
  lt::feature_flags_t implemented_features() override { return tick_feature | alert_feature; }
  /// In the network thread as well, and under libtorrent's lock of its alerts: does no more than take note.
  void on_alert(const lt::alert* alert) override {
    if (lt::alert_cast<lt::incoming_connection_alert>(alert) != nullptr) connected();
  }
  void on_tick() override {
    if (!named_) ::pthread_setname_np(::pthread_self(), "gt-network");
    named_ = true;
    const auto swarms = swarms_->all();
    for (const auto& swarm : swarms) swarm->tick();
    loop_->sample();
    swarms_->rates->sending.go_on(SystemClock().mono());
    uplink_.tick(SystemClock().mono(), swarms);
    swarms_->rates->load.tick(SystemClock().mono());
    swarms_->look_at_handshakes();
    close_udp(session_);
  }

 private:
  void connected() {
    if (!swarms_->handshakes->connected()) return;
    swarms_->many_connected = true;
    loop_->tick_soon();
  }

  /// What libtorrent does next (session_impl::abort) frees the sockets of handshakes that are under way, and these go
  /// on to use them. So first nobody comes any more, and all who came are through.
  void end_handshakes() {
    lt::settings_pack deaf;
    deaf.set_str(lt::settings_pack::listen_interfaces, "");
    session_.apply_settings(deaf);
    const auto patient_until = std::chrono::steady_clock::now() + kHandshakesEnd;
    for (int round = 0; round < kRoundsToEnd || std::chrono::steady_clock::now() < patient_until; ++round) {
      if (swarms_->handshakes->end_all(swarms_->sockets()) == 0) return;
      if (loop_->handle_ready() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  const std::shared_ptr<SwarmList> swarms_;
  const std::shared_ptr<NetworkLoop> loop_;
  const std::function<void()> on_connection_;
  bool named_ = false;  ///< the network thread
  lt::session_handle session_;
  Uplink uplink_;
};

struct Opened {
  std::unique_ptr<lt::session> session;
  std::vector<ListenSocket> sockets;
  std::shared_ptr<NetworkLoop> loop;
  int connections_limit = 0;
};

/// One attempt to start a session on the wanted ports. The first alerts are consumed: they say what listens.
Result<Opened> open_session(const EngineOptions& options, const std::shared_ptr<SwarmList>& swarms) {
  GT_ASSIGN(auto sockets, choose_listen_sockets(options));
  const auto loop = std::make_shared<NetworkLoop>([weak = std::weak_ptr(swarms)] {
    if (const auto all = weak.lock()) all->go_on();
  });
  loop->set_sampler([weak = std::weak_ptr(swarms)] {
    const auto all = weak.lock();
    return all && all->sample();
  });
  swarms->rates = std::make_shared<NodeRates>(loop);
  const DescriptorShares shares = share_descriptors(most_descriptors(), sockets.size());
  std::set<std::uint16_t> ports;
  for (const ListenSocket& socket : sockets) ports.insert(socket.port);
  swarms->handshakes = std::make_unique<HandshakeGuard>(std::move(ports), shares.half_open);
  lt::settings_pack settings = make_settings(this_machine(), to_listen_interfaces(sockets));
  settings.set_int(lt::settings_pack::connections_limit, shares.connections);
  settings.set_int(lt::settings_pack::file_pool_size, shares.open_files);
  const auto rounds = std::make_shared<RoundPlugin>(swarms, loop);
  lt::session_params params(std::move(settings), std::vector<std::shared_ptr<lt::plugin>>{rounds});
  params.disk_io_constructor =
      flushed_disk_io(piece_memory_bytes(this_machine()), swarms->rates->sending, swarms->rates->disk,
                      [loop](lt::io_context& network) { loop->attach(network); });
  Opened opened{std::make_unique<lt::session>(std::move(params)), std::move(sockets), loop, shares.connections};
  const bool listening =
      opened.session->is_listening();  // waits for the network thread, which has tried them all by then
  std::vector<lt::alert*> alerts;
  opened.session->pop_alerts(&alerts);
  for (const lt::alert* alert : alerts) {
    if (const auto* failed = lt::alert_cast<lt::listen_failed_alert>(alert)) {
      const bool in_use = failed->error == boost::system::errc::address_in_use;
      return Error{in_use ? Code::kConflict : Code::kInvalid,
                   "cannot listen on " + failed->address.to_string() + " port " + std::to_string(failed->port) + ": " +
                       failed->error.message() + "; choose another --lane-ports range or --address"};
    }
  }
  if (!listening) return Error{Code::kInvalid, "no lane port could be opened; check --address and --lane-ports"};
  return opened;
}

Result<std::shared_ptr<LaneProver>> make_prover(const EngineOptions& options) {
  if (options.key_pem.empty()) return std::make_shared<LaneProver>(std::nullopt);
  auto key = crypto::EcKey::from_pem(options.key_pem);
  if (!key) return key.error().with_context("this node's key");
  return std::make_shared<LaneProver>(std::move(*key));
}

/// The adapter. Calls may come from any thread: `torrents_` is guarded by `mutex_`, each Torrent by its own. Alerts are
/// handled in one thread, "gt-engine".
class LibtorrentEngine final : public LaneEngine {
 public:
  LibtorrentEngine(const EngineOptions& options, EngineListener& listener, Opened opened,
                   std::shared_ptr<SwarmList> swarms, std::shared_ptr<LaneProver> prover)
      : options_(options),
        node_(options.node),
        listener_(listener),
        swarms_(std::move(swarms)),
        sockets_(std::move(opened.sockets)),
        loop_(std::move(opened.loop)),
        connections_limit_(opened.connections_limit),
        prover_(std::move(prover)),
        session_(std::move(opened.session)),
        alert_thread_([this](const std::stop_token& stop) { run(stop); }) {}
  ~LibtorrentEngine() override { stop(); }

  void set_node(const NodeId& node) override {
    const std::lock_guard lock(mutex_);
    node_ = node;
  }

  std::vector<LaneEndpoint> listening() const override {
    std::vector<LaneEndpoint> endpoints;
    const std::lock_guard lock(mutex_);
    for (const auto& socket : sockets_)
      endpoints.push_back({socket.address, socket.port, socket.tls, options_.advertised_path});
    return endpoints;
  }

  void listen_on(const std::vector<std::string>& addresses) override {
    const std::lock_guard lock(mutex_);
    sockets_ = on_addresses(sockets_, addresses);
    lt::settings_pack settings;
    settings.set_str(lt::settings_pack::listen_interfaces, to_listen_interfaces(sockets_));
    session_->apply_settings(std::move(settings));
  }

  Status add(const TorrentSpec& spec) override {
    {
      const std::lock_guard lock(mutex_);
      if (by_id_.contains(spec.id) || !adding_.insert(spec.id).second)
        return Error{Code::kConflict, "transfer " + spec.id.str() + " is already in the engine"};
    }
    const Status added = add_new(spec);
    const std::lock_guard lock(mutex_);
    adding_.erase(spec.id);
    return added;
  }

  void remove(const TransferId& id) override {
    const auto torrent = find(id);
    if (!torrent) return;
    const std::lock_guard lock(mutex_);
    swarms_->remove(torrent->swarm());
    by_id_.erase(id);
    by_handle_.erase(torrent->handle());
    // An unfinished transfer may come back, and then needs what its part file holds.
    session_->remove_torrent(torrent->handle(),
                             torrent->complete() ? lt::session::delete_partfile : lt::remove_flags_t{});
  }

  Status set_save_path(const TransferId& id, const Place& save_path) override {
    const auto torrent = find(id);
    if (!torrent) return Error{Code::kNotFound, "transfer " + id.str() + " is not in the engine"};
    if (!save_path.path.starts_with('/')) {
      return Error{Code::kInvalid, "the folder " + escape_for_display(save_path.path) + " is no absolute path"};
    }
    const lt::torrent_handle before = torrent->handle();
    GT_ASSIGN(const bool add_again, torrent->move_to(save_path));
    if (!add_again) return {};
    {
      const std::lock_guard lock(mutex_);
      by_handle_.erase(before);
      session_->remove_torrent(before, lt::session::delete_partfile);
    }
    return insert(torrent);
  }

  void set_plan(const TransferId& id, const LanePlan& plan) override {
    if (const auto torrent = find(id)) torrent->set_plan(plan);
  }

  void set_identity(std::uint32_t generation, const LaneIdentity& identity) override {
    {
      const std::lock_guard lock(mutex_);
      identities_[generation] = identity;
    }
    std::vector<std::shared_ptr<Torrent>> due;
    for (const auto& torrent : all()) {
      if (torrent->tls() && torrent->generation() == generation) due.push_back(torrent);
    }
    std::ranges::stable_partition(due, [](const auto& torrent) { return !torrent->swarm()->report().peers.empty(); });
    const std::lock_guard lock(mutex_);
    std::erase_if(to_show_, [&](const auto& waiting) { return waiting.second == generation; });
    for (const auto& torrent : due) to_show_.emplace_back(torrent->id(), generation);
  }

  void set_audience(const TransferId& id, std::shared_ptr<const Audience> audience) override {
    if (const auto torrent = find(id)) torrent->swarm()->set_audience(std::move(audience));
  }

  void set_rate_limit(const TransferId& id, std::uint64_t receive_bits_per_s, std::uint64_t send_bits_per_s) override {
    const auto to_bytes = [](std::uint64_t bits) {
      return static_cast<int>(std::min<std::uint64_t>((bits + 7) / 8, std::numeric_limits<int>::max()));
    };
    if (const auto torrent = find(id)) torrent->set_rate_limit(to_bytes(receive_bits_per_s), to_bytes(send_bits_per_s));
  }

  void set_node_limit(std::uint64_t receive_bits_per_s, std::uint64_t send_bits_per_s) override {
    swarms_->rates->set((receive_bits_per_s + 7) / 8, (send_bits_per_s + 7) / 8);
  }

  void pause(const TransferId& id) override {
    if (const auto torrent = find(id)) torrent->pause();
  }
  void resume(const TransferId& id) override {
    if (const auto torrent = find(id)) torrent->resume();
  }

  std::optional<TorrentSnapshot> snapshot(const TransferId& id) const override {
    const auto torrent = find(id);
    return torrent ? std::optional(torrent->snapshot()) : std::nullopt;
  }

  EngineLoad load() const override { return swarms_->rates->load.load(); }
  std::uint64_t refused_handshakes() const override { return refused_handshakes_; }

  Result<std::string> resume_data(const TransferId& id) override {
    const auto torrent = find(id);
    if (!torrent) return Error{Code::kNotFound, "transfer " + id.str() + " is not in the engine"};
    return torrent->resume_data();
  }

  Result<std::string> resume_data_for(const TransferId& id, const std::vector<bool>& wanted) override {
    const auto torrent = find(id);
    if (!torrent) return Error{Code::kNotFound, "transfer " + id.str() + " is not in the engine"};
    return torrent->resume_data(&wanted);
  }

  void stop() override {
    if (!alert_thread_.joinable()) return;
    alert_thread_.request_stop();
    alert_thread_.join();
    {
      const std::lock_guard lock(mutex_);
      by_id_.clear();
      by_handle_.clear();
    }
    session_.reset();  // joins libtorrent's threads
  }

 private:
  std::shared_ptr<Torrent> find(const TransferId& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
  }

  std::optional<LaneIdentity> identity_of(std::uint32_t generation) const {
    const std::lock_guard lock(mutex_);
    const auto found = identities_.find(generation);
    return found == identities_.end() ? std::nullopt : std::optional(found->second);
  }

  NodeId node() const {
    const std::lock_guard lock(mutex_);
    return node_;
  }

  NodeParts parts() const { return {loop_, prover_, swarms_->rates, options_.congestion_controls}; }

  Status add_new(const TorrentSpec& spec) {
    GT_ASSIGN(const auto torrent, Torrent::make(spec, node(), listener_, parts()));
    const std::optional<LaneIdentity> before = identity_of(torrent->generation());
    GT_TRY(insert(torrent));
    const std::lock_guard lock(mutex_);
    by_id_[spec.id] = torrent;
    swarms_->add(torrent->swarm());
    // A certificate that came while it was being added was shown to those in `by_id_` alone.
    const auto identity = identities_.find(torrent->generation());
    const bool is_new =
        identity != identities_.end() && (!before || identity->second.certificate_pem != before->certificate_pem);
    if (torrent->tls() && is_new) to_show_.emplace_back(spec.id, torrent->generation());
    return {};
  }

  /// Hands a torrent to libtorrent. `mutex_` is free meanwhile: the network thread may be busy with others for long. It
  /// is that thread which notes the handle, before the torrent's first alert.
  Status insert(const std::shared_ptr<Torrent>& torrent) {
    lt::add_torrent_params parameters = torrent->parameters();
    const auto note = [this, torrent](const lt::torrent_handle& handle, lt::client_data_t) {
      torrent->attach(handle);
      const std::lock_guard lock(mutex_);
      by_handle_[handle] = torrent;
      // libtorrent has made the torrent's TLS context by now: before, a certificate would be lost.
      const auto identity = identities_.find(torrent->generation());
      if (torrent->tls() && identity != identities_.end()) torrent->show(identity->second);
      return std::shared_ptr<lt::torrent_plugin>();
    };
    parameters.extensions.insert(parameters.extensions.begin(), note);
    lt::error_code error;
    session_->add_torrent(std::move(parameters), error);
    if (!error) return {};
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(by_handle_, [&](const auto& one) { return one.second == torrent; });
    }
    if (error == lt::errors::duplicate_torrent) {
      return Error{Code::kConflict, "the same data is already in the engine under another transfer"};
    }
    return Error{Code::kInvalid, "libtorrent refuses the torrent: " + error.message()};
  }

  void run(const std::stop_token& stop) {
    ::pthread_setname_np(::pthread_self(), "gt-engine");
    auto last_second = std::chrono::steady_clock::now();
    auto last_warning = last_second - std::chrono::minutes(1);
    while (!stop.stop_requested()) {
      session_->wait_for_alert(std::chrono::milliseconds(200));
      std::vector<lt::alert*> alerts;
      session_->pop_alerts(&alerts);
      for (const lt::alert* alert : alerts) handle(*alert);
      show_some();
      const auto now = std::chrono::steady_clock::now();
      if (now - last_second < std::chrono::seconds(1)) continue;
      last_second = now;
      session_->post_torrent_updates();
      for (const auto& torrent : all()) torrent->on_second();
      if (std::exchange(may_accept_less_, false)) restore_connections_limit();
      if (now - last_warning < std::chrono::minutes(1)) continue;
      if (warn_of_strangers()) last_warning = now;
    }
  }

  /// Where it has no descriptor to accept a connection, libtorrent lowers its limit to what it has then, for good.
  void restore_connections_limit() {
    lt::settings_pack settings;
    settings.set_int(lt::settings_pack::connections_limit, connections_limit_);
    session_->apply_settings(std::move(settings));
  }

  bool warn_of_strangers() {
    const std::uint64_t failed = std::exchange(failed_accepts_, 0);
    if (failed > 0) {
      listener_.warning({}, "could not accept connections to lane ports " + std::to_string(failed) +
                                " times: " + last_failure_ + "; descriptors: " + std::to_string(most_descriptors()) +
                                " (ulimit -n, LimitNOFILE=); lane ports listen all the same");
    }
    const std::size_t ended = swarms_->ended_handshakes.exchange(0);
    if (ended > 0) {
      listener_.warning({}, "ended " + std::to_string(ended) +
                                " connections to lane ports whose handshake did not get on: a scanner, an attack, or "
                                "a path that loses packets");
    }
    const std::uint64_t refused = refused_handshakes_ - told_of_refused_;
    if (refused > 0) {
      told_of_refused_ += refused;
      listener_.warning({}, "refused " + std::to_string(refused) +
                                " connections to TLS lane ports in their handshake; the last, from " + last_refused_);
    }
    return failed + ended + refused > 0;
  }

  std::vector<std::shared_ptr<Torrent>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Torrent>> torrents;
    for (const auto& [id, torrent] : by_id_) torrents.push_back(torrent);
    return torrents;
  }

  std::shared_ptr<Torrent> of(const lt::torrent_handle& handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_handle_.find(handle);
    return found == by_handle_.end() ? nullptr : found->second;
  }

  void handle(const lt::alert& alert) {
    if (const auto* update = lt::alert_cast<lt::state_update_alert>(&alert)) {
      for (const auto& status : update->status) {
        if (const auto torrent = of(status.handle)) torrent->on_progress(status);
      }
    } else if (const auto* dead = lt::alert_cast<lt::listen_failed_alert>(&alert)) {
      if (dead->op == lt::operation_t::sock_accept) return failed_to_accept(dead->error);
      listener_.warning({}, "the lane port " + std::to_string(dead->port) + " on " + dead->address.to_string() +
                                " does not listen: " + dead->error.message());
    } else if (const auto* refused = lt::alert_cast<lt::peer_error_alert>(&alert)) {
      // What ended otherwise (closed, timed out) is no refusal; what belongs to a torrent was dialled by us.
      if (refused->op != lt::operation_t::ssl_handshake || refused->handle.is_valid() ||
          refused->error.category() != boost::asio::error::get_ssl_category())
        return;
      ++refused_handshakes_;
      last_refused_ = refused->endpoint.address().to_string() + ": " + refused->error.message();
    } else if (const auto* about = dynamic_cast<const lt::torrent_alert*>(&alert)) {
      if (const auto torrent = of(about->handle)) handle_torrent(*torrent, alert);
    }
  }

  void failed_to_accept(const lt::error_code& error) {
    ++failed_accepts_;
    last_failure_ = error.message();
    may_accept_less_ = true;
  }

  /// A renewed certificate: the network thread is busy with each for a millisecond.
  void show_some() {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (to_show_.empty() || now - shown_at_ < kShowPause) return;
    shown_at_ = now;
    for (int i = 0; i < kShownAtOnce && !to_show_.empty(); ++i) {
      const auto found = by_id_.find(to_show_.front().first);
      to_show_.pop_front();
      if (found == by_id_.end()) continue;
      const auto identity = identities_.find(found->second->generation());
      if (identity != identities_.end()) found->second->show(identity->second);
    }
  }

  void handle_torrent(Torrent& torrent, const lt::alert& alert) {
    if (const auto* piece = lt::alert_cast<lt::piece_finished_alert>(&alert)) {
      torrent.on_piece(static_cast<std::uint32_t>(static_cast<int>(piece->piece_index)));
    } else if (const auto* changed = lt::alert_cast<lt::state_changed_alert>(&alert)) {
      if (changed->state == lt::torrent_status::checking_files) torrent.on_checking();
    } else if (lt::alert_cast<lt::torrent_checked_alert>(&alert) != nullptr) {
      torrent.on_checked();
    } else if (const auto* file = lt::alert_cast<lt::file_error_alert>(&alert)) {
      torrent.on_disk_error(file->error, file->filename(), file->op, alert.timestamp());
    } else if (const auto* error = lt::alert_cast<lt::torrent_error_alert>(&alert)) {
      torrent.on_disk_error(error->error, error->filename(), lt::operation_t::unknown, alert.timestamp());
    } else if (lt::alert_cast<lt::fastresume_rejected_alert>(&alert) != nullptr) {
      torrent.on_resume_rejected();
    } else if (const auto* stuck = lt::alert_cast<lt::storage_moved_failed_alert>(&alert)) {
      torrent.on_move_failed(stuck->error);
    }
  }

  const EngineOptions options_;
  NodeId node_;
  EngineListener& listener_;
  const std::shared_ptr<SwarmList> swarms_;
  std::vector<ListenSocket> sockets_;
  const std::shared_ptr<NetworkLoop> loop_;
  const int connections_limit_;
  const std::shared_ptr<LaneProver> prover_;
  mutable std::mutex mutex_;
  std::unordered_map<TransferId, std::shared_ptr<Torrent>> by_id_;
  std::map<lt::torrent_handle, std::shared_ptr<Torrent>> by_handle_;
  std::set<TransferId> adding_;                               ///< handed to libtorrent, and not in `by_id_` yet
  std::map<std::uint32_t, LaneIdentity> identities_;          ///< by generation
  std::deque<std::pair<TransferId, std::uint32_t>> to_show_;  ///< those that have an older one, and its generation
  std::chrono::steady_clock::time_point shown_at_{};
  std::atomic<std::uint64_t> refused_handshakes_ = 0;
  std::uint64_t told_of_refused_ = 0;  ///< this and the next: alert thread only
  std::string last_refused_;
  std::uint64_t failed_accepts_ = 0;  ///< since somebody was told
  std::string last_failure_;
  bool may_accept_less_ = false;
  std::unique_ptr<lt::session> session_;
  std::jthread alert_thread_;  ///< last: uses all of the above
};

}  // namespace

Result<std::unique_ptr<LaneEngine>> make_libtorrent_engine(const EngineOptions& options, EngineListener& listener,
                                                           std::chrono::milliseconds port_patience) {
  if (!paths_are_bytes())
    return Error{Code::kInternal, "the environment is full: LANG could not be set for libtorrent"};
  const auto deadline = std::chrono::steady_clock::now() + port_patience;
  try {
    const auto swarms = std::make_shared<SwarmList>();
    GT_ASSIGN(const auto prover, make_prover(options));
    while (true) {
      auto opened = open_session(options, swarms);
      if (opened) {
        return std::unique_ptr<LaneEngine>(
            std::make_unique<LibtorrentEngine>(options, listener, std::move(opened).value(), swarms, prover));
      }
      if (opened.error().code != Code::kConflict || std::chrono::steady_clock::now() >= deadline) return opened.error();
      std::this_thread::sleep_for(kPortPause);  // another program's outgoing connection may hold the port for a moment
    }
  } catch (const std::exception& e) {
    return Error{Code::kInternal, std::string("libtorrent did not start: ") + e.what()};
  }
}

}  // namespace gridtorrent::client::engine
