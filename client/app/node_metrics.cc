#include "client/app/node_metrics.h"

#include <array>

namespace gridtorrent::client::app {
namespace {

template <class F>
double sum(Node& node, F&& of) {
  double total = 0;
  for (const auto& view : node.transfers()) total += static_cast<double>(of(view));
  return total;
}

constexpr std::array kStates{TransferState::kQueued,    TransferState::kHashing, TransferState::kFetching,
                             TransferState::kVerifying, TransferState::kPaused,  TransferState::kSeeding,
                             TransferState::kComplete,  TransferState::kFailed};

constexpr std::array kLimits{Limit::kUnknown,     Limit::kWindow, Limit::kLoss,   Limit::kSeeder, Limit::kPath,
                             Limit::kReceiverCpu, Limit::kDisk,   Limit::kTarget, Limit::kCap};

}  // namespace

void register_node_metrics(metrics::Registry& registry, Node& node) {
  for (const auto state : kStates) {
    registry.gauge_callback(
        "gridtorrent_node_transfers", "transfers by state", {{"state", std::string(transfer_state_name(state))}},
        [&node, state] { return sum(node, [&](const auto& view) { return view.state == state ? 1 : 0; }); });
  }
  for (const auto limit : kLimits) {
    registry.gauge_callback(
        "gridtorrent_node_transfers_limited", "transfers that fetch, by what limits them",
        {{"by", std::string(limit_word(limit))}}, [&node, limit] {
          return sum(node, [&](const auto& view) { return view.findings && view.findings->limit == limit ? 1 : 0; });
        });
  }
  registry.gauge_callback("gridtorrent_node_tuning_decisions", "decisions on lanes, of transfers that fetch", {},
                          [&node] {
                            double total = 0;
                            for (const auto& record : node.tunings()) {
                              if (record.running && !record.decisions.empty())
                                total += static_cast<double>(record.decisions.back().number);
                            }
                            return total;
                          });
  registry.gauge_callback("gridtorrent_node_received_bytes", "payload received by the transfers there are", {},
                          [&node] { return sum(node, [](const auto& view) { return view.received_bytes; }); });
  registry.gauge_callback("gridtorrent_node_sent_bytes", "payload sent by the transfers there are", {},
                          [&node] { return sum(node, [](const auto& view) { return view.sent_bytes; }); });
  registry.gauge_callback("gridtorrent_node_redundant_bytes", "payload received twice", {},
                          [&node] { return sum(node, [](const auto& view) { return view.redundant_bytes; }); });
  registry.gauge_callback("gridtorrent_node_receive_bits_per_s", "payload rate", {},
                          [&node] { return sum(node, [](const auto& view) { return view.receive_bits_per_s; }); });
  registry.gauge_callback("gridtorrent_node_send_bits_per_s", "payload rate", {},
                          [&node] { return sum(node, [](const auto& view) { return view.send_bits_per_s; }); });
  registry.gauge_callback("gridtorrent_node_send_limit_bits_per_s", "upload limit of the node; 0: none", {},
                          [&node] { return static_cast<double>(node.status().limits.send_bits_per_s); });
  registry.gauge_callback("gridtorrent_node_receive_limit_bits_per_s", "download limit of the node; 0: none", {},
                          [&node] { return static_cast<double>(node.status().limits.receive_bits_per_s); });
  registry.gauge_callback("gridtorrent_node_lanes", "open lanes", {},
                          [&node] { return sum(node, [](const auto& view) { return view.lanes; }); });
  registry.gauge_callback("gridtorrent_node_server_connected", "1 while the server's stream stands", {},
                          [&node] { return node.status().server_connected ? 1.0 : 0.0; });
  registry.gauge_callback("gridtorrent_node_clock_offset_seconds", "server's clock minus the node's", {},
                          [&node] { return static_cast<double>(node.status().clock_offset.count()) / 1000.0; });
}

}  // namespace gridtorrent::client::app
