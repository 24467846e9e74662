#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/plan/sample.h"
#include "common/ids.h"

namespace gridtorrent::client::engine {

/// What two GridTorrent nodes say to each other beside BitTorrent: the key `gt` of the extended handshake (BEP 10) and
/// five extension messages. All bodies are bencoded dictionaries; unknown keys are ignored, so that later versions
/// can add some. Decoders take anything, never throw, and return nothing for what is malformed or out of range.
inline constexpr int kWireVersion = 1;
/// At most to one peer.
inline constexpr int kMaxLanes = 32;
/// Earlier programs know no more, and refuse a larger number; so what is beyond it travels under a key of its own.
inline constexpr int kUsualLanes = 16;
/// A longer message is no message of ours.
inline constexpr std::size_t kMaxMessageBytes = 1024;

/// Names of the messages in the handshake's `m` dictionary, and the numbers under which we receive them.
inline constexpr char kLanesMessage[] = "gt_lanes";
inline constexpr char kGrantMessage[] = "gt_grant";
inline constexpr char kStatsMessage[] = "gt_stats";
inline constexpr char kProofMessage[] = "gt_proof";
inline constexpr char kCongestionMessage[] = "gt_congestion";
inline constexpr int kLanesNumber = 41, kGrantNumber = 42, kStatsNumber = 43, kProofNumber = 44, kCongestionNumber = 45;

/// BEP 6's HAVE ALL as it travels. There it stands for the first bitfield alone; a GridTorrent node takes it at any
/// time, and sends it to others of its kind when it has got its last piece.
inline constexpr std::array<char, 5> kHaveAll = {0, 0, 0, 1, 14};
/// BEP 3's INTERESTED as it travels. libtorrent answers it with UNCHOKE, also where it had sent that before.
inline constexpr std::array<char, 5> kInterested = {0, 0, 0, 1, 2};
/// BEP 3's NOT INTERESTED as it travels. A seeder of libtorrent ends a connection whose other end says that it is
/// interested and then asks for nothing for 60 s (errors::timed_out_no_request).
inline constexpr std::array<char, 5> kNotInterested = {0, 0, 0, 1, 3};

/// Fresh for each connection and end, so that a proof is good for one connection alone.
using Nonce = std::array<std::uint8_t, 16>;

/// The name of a congestion control as the kernel has it: at most 15 of a-z, 0-9, _ and -. Empty: the kernel's default.
bool is_congestion_name(std::string_view name);
/// No node grants more of them.
inline constexpr std::size_t kMostCongestionNames = 8;

/// The handshake's `gt`: who speaks, on which of its lanes, and what it grants the other.
struct Hello {
  NodeId node;
  int lane = 0;
  int grant = kMaxLanes;       ///< 0 to 32
  std::optional<Nonce> nonce;  ///< what the other end's gt_proof is to be over; nothing: it checks none
  std::vector<std::string> congestion_controls{};  ///< that the other may ask for with gt_congestion
  friend bool operator==(const Hello&, const Hello&) = default;
};
std::string encode_hello(const Hello& hello);
/// Refuses a nil node, a nonce of another size, more or other names than there can be, and versions other than ours.
std::optional<Hello> decode_hello(std::string_view bytes);

/// An extended message (BEP 10) as it travels, under the number that the peer gave it.
std::vector<char> frame(int message_id, const std::string& body);

/// gt_lanes {want: n, more: m} and gt_grant {lanes: n, more: m}: n + m lanes, n of them at most 16; without m, n.
std::string encode_lanes(int want);
std::optional<int> decode_lanes(std::string_view bytes);
std::string encode_grant(int lanes);
std::optional<int> decode_grant(std::string_view bytes);

/// gt_proof {key: SubjectPublicKeyInfo in DER form, sig: ECDSA with SHA-256 over `proof_text`, DER}.
struct LaneProof {
  std::string public_key, signature;
  friend bool operator==(const LaneProof&, const LaneProof&) = default;
};
std::string encode_proof(const LaneProof& proof);
/// Refuses what is longer than a key and a signature with P-256 can be.
std::optional<LaneProof> decode_proof(std::string_view bytes);

/// gt_congestion {cc: name}: please send to me over this lane with that congestion control; empty, or without the key:
/// with your kernel's default.
std::string encode_congestion(std::string_view name);
std::optional<std::string> decode_congestion(std::string_view bytes);

/// gt_stats: TCP as the sender of the data sees it.
std::string encode_stats(const TcpFigures& figures);
/// Refuses negative numbers and a congestion control that is no short lower-case name. What older versions do not send
/// is 0.
std::optional<TcpFigures> decode_stats(std::string_view bytes);

}  // namespace gridtorrent::client::engine
