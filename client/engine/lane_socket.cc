#include "client/engine/lane_socket.h"

#include <utility>

#include "client/engine/internals.h"
#include "client/engine/tcp_info.h"

namespace gridtorrent::client::engine {
namespace {

/// Asks libtorrent each time: its connection may close, and another one get the descriptor.
class KernelSocket final : public LaneSocket {
 public:
  explicit KernelSocket(lt::peer_connection_handle peer) : peer_(std::move(peer)) {}

  std::optional<TcpFigures> figures() const override { return read_tcp_figures(descriptor()); }
  std::optional<LossFacts> loss_facts() const override { return read_loss_facts(descriptor()); }
  std::optional<TcpLiveness> liveness() const override { return read_tcp_liveness(descriptor()); }
  bool connecting() const override { return is_connecting(descriptor()); }
  std::size_t unsent_bytes() const override { return engine::unsent_bytes(descriptor()); }
  void set_no_delay(bool on) override { engine::set_no_delay(descriptor(), on); }
  void set_pacing(std::uint64_t bytes_per_s) override { engine::set_pacing(descriptor(), bytes_per_s); }
  void set_receive_buffer(int bytes) override { engine::set_receive_buffer(descriptor(), bytes); }
  bool set_congestion_control(const std::string& name) override {
    return engine::set_congestion_control(descriptor(), name);
  }
  void end() override { end_connection(descriptor()); }
  int descriptor() const override { return socket_of(peer_); }

 private:
  const lt::peer_connection_handle peer_;
};

}  // namespace

std::unique_ptr<LaneSocket> socket_below(const lt::peer_connection_handle& peer) {
  return std::make_unique<KernelSocket>(peer);
}

}  // namespace gridtorrent::client::engine
