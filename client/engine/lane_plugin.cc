#include "client/engine/lane_plugin.h"

#include <chrono>
#include <libtorrent/bdecode.hpp>
#include <libtorrent/entry.hpp>
#include <libtorrent/error_code.hpp>
#include <libtorrent/operations.hpp>
#include <libtorrent/peer_request.hpp>
#include <string_view>

#include "client/engine/internals.h"

namespace gridtorrent::client::engine {
namespace {

std::string_view view(lt::span<const char> bytes) {
  return {bytes.data(), static_cast<std::size_t>(bytes.size())};
}

Block block_of(const lt::peer_request& request) {
  return {static_cast<int>(request.piece), request.start, request.length};
}

/// One connection's side of the gt extension.
class LanePlugin final : public lt::peer_plugin {
 public:
  LanePlugin(std::shared_ptr<Swarm> swarm, const void* torrent, const lt::peer_connection_handle& peer)
      : swarm_(std::move(swarm)), torrent_(torrent), lane_(swarm_->lane_opened(peer)) {}

  lt::string_view type() const override { return "gt"; }

  void add_handshake(lt::entry& handshake) override {
    // With our listening port in the handshake the other side would take all lanes for one peer and close all but one.
    handshake.dict().erase("p");
    handshake.dict().erase("complete_ago");
    lt::entry& messages = handshake["m"];
    messages[kLanesMessage] = kLanesNumber;
    messages[kGrantMessage] = kGrantNumber;
    messages[kStatsMessage] = kStatsNumber;
    messages[kProofMessage] = kProofNumber;
    messages[kCongestionMessage] = kCongestionNumber;
    const std::string hello = encode_hello(swarm_->hello_for(*lane_));
    handshake["gt"] = lt::entry(lt::entry::preformatted_type(hello.begin(), hello.end()));
  }

  /// Outbound: TLS is done, nothing of ours was sent.
  void on_connected() override {
    swarm_->lane_connected(*lane_);
    if (!swarm_->lane_admitted(*lane_)) end();
  }

  /// Inbound too: the other end's first bytes are here, our bitfield is not out.
  bool on_handshake(lt::span<const char>) override {
    if (!swarm_->lane_admitted(*lane_)) {
      end();
      return true;
    }
    swarm_->lane_established(*lane_);
    return true;
  }

  bool on_extension_handshake(const lt::bdecode_node& handshake) override {
    std::optional<Hello> hello;
    if (const auto gt = handshake.dict_find_dict("gt")) hello = decode_hello(view(gt.data_section()));
    if (const auto messages = handshake.dict_find_dict("m"); messages && hello) {
      lane_->lanes_id = message_id(messages, kLanesMessage);
      lane_->grant_id = message_id(messages, kGrantMessage);
      lane_->stats_id = message_id(messages, kStatsMessage);
      lane_->proof_id = message_id(messages, kProofMessage);
      lane_->congestion_id = message_id(messages, kCongestionMessage);
    }
    switch (swarm_->lane_greeted(*lane_, hello)) {
      case Greeting::kFirst:
        swarm_->tell_tcp(lane_);
        swarm_->prove(lane_);
        break;
      case Greeting::kRepeated:
        // Each would have libtorrent list it under that port anew, and keep us from dialling it.
        if (handshake.dict_find_int("p")) end();
        break;
      case Greeting::kRefused:
        end();
        break;
    }
    return true;  // false would end the measuring, too
  }

  bool on_extended(int length, int number, lt::span<const char> body) override {
    if (number < kLanesNumber || number > kCongestionNumber) return false;
    if (length < 0 || static_cast<std::size_t>(length) > kMaxMessageBytes)
      return false;                         // libtorrent ends the connection
    if (body.size() < length) return true;  // more is to come
    if (number == kLanesNumber) {
      if (const auto want = decode_lanes(view(body))) swarm_->lane_wants(*lane_, *want);
    } else if (number == kGrantNumber) {
      if (const auto lanes = decode_grant(view(body))) swarm_->lane_grants(*lane_, *lanes);
    } else if (number == kStatsNumber) {
      if (const auto figures = decode_stats(view(body))) swarm_->lane_stats(*lane_, *figures);
    } else if (number == kCongestionNumber) {
      if (auto name = decode_congestion(view(body))) swarm_->lane_wants_congestion(*lane_, std::move(*name));
    } else if (auto proof = decode_proof(view(body)); !proof || !swarm_->lane_proof(*lane_, std::move(*proof))) {
      end();
    }
    return true;
  }

  bool on_unchoke() override {
    if (lane_->peer.is_disconnecting()) return false;
    swarm_->lane_unchoked(lane_);
    set_asks(lane_->peer, lane_->is_asked());
    swarm_->requests().lane_ready(*lane_);
    set_request_depth(lane_->peer, swarm_->requests().depth(*lane_));
    return false;
  }

  bool on_piece(const lt::peer_request& request, lt::span<const char>) override {
    if (!lane_->is_asked()) set_asks(lane_->peer, false);
    swarm_->data_comes(*lane_);
    swarm_->requests().arrived(*lane_, block_of(request));
    const int depth = swarm_->requests().depth(*lane_);
    set_request_depth_at_arrival(lane_->peer, depth, RequestDepth::at_once(depth));
    return false;
  }

  bool on_request(const lt::peer_request& request) override {
    swarm_->data_goes(*lane_);
    lane_->look_for_losses(std::chrono::steady_clock::now());
    swarm_->asked_of_us(*lane_, torrent_, block_of(request));
    return false;
  }
  /// Where the other end does not speak BEP 6, libtorrent tells it, and us, nothing more of the request.
  bool on_cancel(const lt::peer_request& request) override {
    swarm_->refused_by_us(*lane_, torrent_, block_of(request));
    return false;
  }
  void sent_reject_request(const lt::peer_request& request) override {
    swarm_->refused_by_us(*lane_, torrent_, block_of(request));
  }

  bool write_request(const lt::peer_request& request) override {
    return !swarm_->requests().may_ask(*lane_, block_of(request));
  }
  void sent_cancel(const lt::peer_request& request) override {
    swarm_->requests().cancelled(*lane_, block_of(request));
  }
  bool on_reject(const lt::peer_request& request) override {
    swarm_->requests().rejected(*lane_, block_of(request));
    return false;
  }

  void sent_have(lt::piece_index_t) override { lane_->told_of_piece(std::chrono::steady_clock::now()); }
  void sent_interested() override { lane_->hurry(std::chrono::steady_clock::now()); }
  void sent_unchoke() override { lane_->hurry(std::chrono::steady_clock::now()); }

  void on_piece_failed(lt::piece_index_t piece) override {
    swarm_->lane_sent_bad_data(*lane_, static_cast<std::uint32_t>(static_cast<int>(piece)));
  }

  void on_disconnect(const lt::error_code& reason) override {
    forbid_redial(lane_->peer);
    swarm_->lane_closed(*lane_, reason);
  }

 private:
  void end() {
    forbid_redial(lane_->peer);
    lane_->peer.disconnect(lt::error_code(lt::errors::no_error), lt::operation_t::bittorrent);
  }

  static int message_id(const lt::bdecode_node& messages, const char* name) {
    const auto id = messages.dict_find_int_value(name, 0);
    return id > 0 && id < 256 ? static_cast<int>(id) : 0;
  }

  const std::shared_ptr<Swarm> swarm_;
  const void* const torrent_;
  const std::shared_ptr<Lane> lane_;
};

class TorrentPlugin final : public lt::torrent_plugin {
 public:
  TorrentPlugin(std::shared_ptr<Swarm> swarm, const void* torrent) : swarm_(std::move(swarm)), torrent_(torrent) {}
  std::shared_ptr<lt::peer_plugin> new_connection(const lt::peer_connection_handle& peer) override {
    return std::make_shared<LanePlugin>(swarm_, torrent_, peer);
  }
  void on_state(lt::torrent_status::state_t state) override {
    if (state == lt::torrent_status::seeding) swarm_->tell_of_completion();
    swarm_->refresh();
  }

 private:
  const std::shared_ptr<Swarm> swarm_;
  const void* const torrent_;
};

}  // namespace

std::shared_ptr<lt::torrent_plugin> make_torrent_plugin(std::shared_ptr<Swarm> swarm, const void* torrent) {
  return std::make_shared<TorrentPlugin>(std::move(swarm), torrent);
}

}  // namespace gridtorrent::client::engine
