#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "client/engine/lane_socket.h"

namespace gridtorrent::client::engine {

/// A socket of a kernel that has some congestion controls, below which nothing is.
class FakeSocket final : public LaneSocket {
 public:
  explicit FakeSocket(std::vector<std::string> offers = {"cubic"}) : offers_(std::move(offers)) {
    now_.congestion_control = "cubic";
  }
  std::optional<TcpFigures> figures() const override { return now_; }
  std::optional<LossFacts> loss_facts() const override { return std::nullopt; }
  std::optional<TcpLiveness> liveness() const override { return std::nullopt; }
  bool connecting() const override { return false; }
  std::size_t unsent_bytes() const override { return 0; }
  void set_no_delay(bool) override {}
  void set_pacing(std::uint64_t) override {}
  void set_receive_buffer(int bytes) override { receive_buffer = bytes; }
  bool set_congestion_control(const std::string& name) override {
    ++calls;
    if (std::ranges::find(offers_, name) == offers_.end()) return false;
    now_.congestion_control = name;
    return true;
  }
  void end() override {}
  int descriptor() const override { return -1; }
  int calls = 0;
  int receive_buffer = 0;  ///< as last set; 0: never

 private:
  TcpFigures now_;
  const std::vector<std::string> offers_;
};

}  // namespace gridtorrent::client::engine
