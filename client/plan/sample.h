#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::client {

/// TCP of one connection as one of its ends sees it (Linux: TCP_INFO and TCP_CONGESTION). What it says of losses and of
/// the congestion window concerns what *that* end sends.
struct TcpFigures {
  std::uint32_t srtt_us = 0, min_rtt_us = 0;  ///< microseconds; 0: no sample yet
  std::uint64_t retransmits = 0;              ///< segments, over the connection's life
  std::uint32_t cwnd_segments = 0;
  std::string congestion_control;  ///< "cubic", "bbr", …
  // The rest over the connection's life, 0 where the other end is of an older version.
  std::uint64_t loss_events = 0;    ///< losses of one round trip count once; inferred
  std::uint64_t loss_srtt_us = 0;   ///< sum of the smoothed round trips at these: long where a queue was full
  std::uint64_t sent_segments = 0;  ///< with data, and those sent again
  std::uint64_t sent_bytes = 0, resent_bytes = 0;  ///< of TCP's payload; sent: with those sent again
  std::uint64_t delivery_bytes_per_s = 0;          ///< the kernel's last sample
  std::uint64_t busy_us = 0;                       ///< there was something to send, or to be acknowledged
  std::uint64_t window_limited_us = 0;             ///< of these, the receiver's window let it send no more
  std::uint64_t buffer_limited_us = 0;             ///< of these, the send buffer held too little
  std::uint64_t empty_us = 0;                      ///< nothing waited to be sent, as looks each 250 ms tell
  std::uint64_t paced_bytes_per_s = 0;             ///< as its owner's shares by node pace it now; 0: they do not
  // Of the node at that end, over the last seconds; thousandths of the time.
  std::uint64_t thread_permille = 0;  ///< its network thread ran or waited for a core
  std::uint64_t disk_permille = 0;    ///< blocks that others asked for were being read from its disk
  friend bool operator==(const TcpFigures&, const TcpFigures&) = default;
};

/// One open lane at one moment; a new one each 250 ms while it carries something. Counters run over the lane's life.
struct LaneSample {
  int number = 0;                        ///< tells the lanes of one node apart, while the transfer runs
  MonoTime at{};                         ///< when the engine measured it
  bool outgoing = false;                 ///< this node dialled it
  std::uint64_t received_bytes = 0;      ///< payload
  std::uint64_t receive_bits_per_s = 0;  ///< payload, since the sample before
  int outstanding_blocks = 0;            ///< of 16 KiB, asked for and not yet received
  std::optional<TcpFigures> own;         ///< of our end, which sends the requests
  std::optional<TcpFigures> theirs;      ///< of the other end, which sends the data: its last gt_stats
};

/// One node of the transfer's swarm.
struct PeerSample {
  NodeId node;
  bool complete = false;              ///< it has all of the content
  bool fetches = false;               ///< it still fetches; what it has got so far it gives
  bool has_data = false;              ///< some of it or all, or soon
  bool stands = false;                ///< a lane to it stands and answers
  int in_vain = 0;                    ///< how often it was planned while nothing came to the transfer
  std::vector<std::string> grants{};  ///< congestion controls that it sends with where asked (PeerShare); "bbr", …
  std::uint64_t receive_bits_per_s = 0;
  std::vector<LaneSample> lanes;  ///< those that are open and answer, the oldest first
  std::string network{};          ///< of this node's end of them, "198.18.0.0/24"; empty: no lane stands
};

}  // namespace gridtorrent::client
