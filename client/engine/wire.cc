#include "client/engine/wire.h"

#include <algorithm>
#include <libtorrent/bdecode.hpp>
#include <limits>

#include "common/hex.h"

namespace gridtorrent::client::engine {
namespace {

std::string integer(std::int64_t value) {
  return "i" + std::to_string(value) + "e";
}
std::string text(std::string_view value) {
  return std::to_string(value.size()) + ":" + std::string(value);
}

/// No true figure is larger, and the bits of so many bytes, of 32 lanes together, still fit into 64 bits.
constexpr std::int64_t kLargestFigure = std::int64_t{1} << 55;

/// Bencode nests; ours does not. A low limit keeps hostile input cheap.
constexpr int kMaxDepth = 4, kMaxTokens = 100;

std::optional<lt::bdecode_node> dictionary(std::string_view bytes) {
  if (bytes.size() > kMaxMessageBytes) return std::nullopt;
  lt::error_code error;
  lt::bdecode_node node =
      lt::bdecode({bytes.data(), static_cast<std::ptrdiff_t>(bytes.size())}, error, nullptr, kMaxDepth, kMaxTokens);
  if (error || node.type() != lt::bdecode_node::dict_t) return std::nullopt;
  return node;
}

std::optional<std::int64_t> number(const lt::bdecode_node& dict, const char* key, std::int64_t low, std::int64_t high) {
  const lt::bdecode_node found = dict.dict_find_int(key);
  if (!found) return std::nullopt;
  const std::int64_t value = found.int_value();
  return value < low || value > high ? std::nullopt : std::optional(value);
}

/// Later programs may know more lanes than we do.
std::optional<int> lanes_in(const lt::bdecode_node& dict, const char* key) {
  constexpr std::int64_t kAnyMore = std::numeric_limits<std::uint16_t>::max();
  const auto usual = number(dict, key, 0, kUsualLanes);
  const bool has_more = dict.dict_find("more").type() != lt::bdecode_node::none_t;
  const auto more = has_more ? number(dict, "more", 0, kAnyMore) : std::optional<std::int64_t>(0);
  if (!usual || !more) return std::nullopt;
  return static_cast<int>(std::min<std::int64_t>(*usual + *more, kMaxLanes));
}

std::optional<int> lanes_in(std::string_view bytes, const char* key) {
  const auto dict = dictionary(bytes);
  return dict ? lanes_in(*dict, key) : std::nullopt;
}

int usual_part(int lanes) {
  return std::min(lanes, kUsualLanes);
}
/// The key sorts behind `lanes` and before `node` and `want`.
std::string further_part(int lanes) {
  return lanes > kUsualLanes ? "4:more" + integer(lanes - kUsualLanes) : "";
}

/// A list of congestion controls, or nothing there; false: malformed.
bool read_names(const lt::bdecode_node& list, std::vector<std::string>& names) {
  if (list.type() == lt::bdecode_node::none_t) return true;
  if (list.type() != lt::bdecode_node::list_t || list.list_size() > static_cast<int>(kMostCongestionNames))
    return false;
  for (int i = 0; i < list.list_size(); ++i) {
    const lt::string_view name = list.list_string_value_at(i);
    if (name.empty() || !is_congestion_name({name.data(), name.size()})) return false;
    names.emplace_back(name.data(), name.size());
  }
  return true;
}

}  // namespace

bool is_congestion_name(std::string_view name) {
  return name.size() < 16 &&
         std::ranges::all_of(
             name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

std::string encode_hello(const Hello& hello) {
  std::string names;
  for (const auto& name : hello.congestion_controls) names += text(name);
  return "d" + (names.empty() ? "" : "2:ccl" + names + "e") + "5:grant" + integer(usual_part(hello.grant)) + "4:lane" +
         integer(hello.lane) + further_part(hello.grant) + "4:node" + text(as_chars(hello.node.bytes())) +
         (hello.nonce ? "5:nonce" + text(as_chars(*hello.nonce)) : "") + "1:v" + integer(kWireVersion) + "e";
}

std::optional<Hello> decode_hello(std::string_view bytes) {
  const auto dict = dictionary(bytes);
  if (!dict || !number(*dict, "v", kWireVersion, kWireVersion)) return std::nullopt;
  const auto grant = lanes_in(*dict, "grant");
  const auto lane = number(*dict, "lane", 0, std::numeric_limits<std::uint16_t>::max());
  const lt::string_view node = dict->dict_find_string_value("node");
  NodeId::Bytes id{};
  if (!grant || !lane || node.size() != id.size()) return std::nullopt;
  std::ranges::transform(node, id.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
  if (NodeId(id).is_nil()) return std::nullopt;
  Hello hello{NodeId(id), static_cast<int>(*lane), *grant, std::nullopt};
  if (!read_names(dict->dict_find("cc"), hello.congestion_controls)) return std::nullopt;
  if (const lt::bdecode_node nonce = dict->dict_find("nonce")) {
    if (nonce.type() != lt::bdecode_node::string_t || nonce.string_length() != static_cast<int>(Nonce{}.size()))
      return std::nullopt;
    std::copy_n(nonce.string_ptr(), Nonce{}.size(), hello.nonce.emplace().begin());
  }
  return hello;
}

std::vector<char> frame(int message_id, const std::string& body) {
  const std::uint32_t length = static_cast<std::uint32_t>(body.size()) + 2;
  std::vector<char> bytes;
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>((length >> shift) & 0xFF));
  bytes.push_back(20);  // BEP 10: an extended message
  bytes.push_back(static_cast<char>(message_id));
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

std::string encode_lanes(int want) {
  return "d" + further_part(want) + "4:want" + integer(usual_part(want)) + "e";
}
std::optional<int> decode_lanes(std::string_view bytes) {
  return lanes_in(bytes, "want");
}
std::string encode_grant(int lanes) {
  return "d5:lanes" + integer(usual_part(lanes)) + further_part(lanes) + "e";
}
std::optional<int> decode_grant(std::string_view bytes) {
  return lanes_in(bytes, "lanes");
}

std::string encode_proof(const LaneProof& proof) {
  return "d3:key" + text(proof.public_key) + "3:sig" + text(proof.signature) + "e";
}

std::optional<LaneProof> decode_proof(std::string_view bytes) {
  constexpr std::size_t kMostKeyBytes = 128, kMostSignatureBytes = 80;
  const auto dict = dictionary(bytes);
  if (!dict) return std::nullopt;
  const lt::string_view key = dict->dict_find_string_value("key"), signature = dict->dict_find_string_value("sig");
  if (key.empty() || key.size() > kMostKeyBytes || signature.empty() || signature.size() > kMostSignatureBytes)
    return std::nullopt;
  return LaneProof{std::string(key.data(), key.size()), std::string(signature.data(), signature.size())};
}

std::string encode_congestion(std::string_view name) {
  return "d2:cc" + text(name) + "e";
}

std::optional<std::string> decode_congestion(std::string_view bytes) {
  const auto dict = dictionary(bytes);
  if (!dict) return std::nullopt;
  const lt::bdecode_node name = dict->dict_find("cc");
  if (name.type() == lt::bdecode_node::none_t) return std::string();
  if (name.type() != lt::bdecode_node::string_t) return std::nullopt;
  std::string value(name.string_ptr(), static_cast<std::size_t>(name.string_length()));
  return is_congestion_name(value) ? std::optional(std::move(value)) : std::nullopt;
}

std::string encode_stats(const TcpFigures& figures) {
  const auto counter = [](std::uint64_t value) { return integer(static_cast<std::int64_t>(value)); };
  return "d3:buf" + counter(figures.buffer_limited_us) + "4:busy" + counter(figures.busy_us) + "2:cc" +
         text(figures.congestion_control) + "3:cpu" + counter(figures.thread_permille) + "4:cwnd" +
         integer(figures.cwnd_segments) + "4:disk" + counter(figures.disk_permille) + "5:drate" +
         counter(figures.delivery_bytes_per_s) + "5:empty" + counter(figures.empty_us) + "4:lost" +
         counter(figures.loss_events) + "4:lrtt" + counter(figures.loss_srtt_us) + "6:minrtt" +
         integer(figures.min_rtt_us) + "4:pace" + counter(figures.paced_bytes_per_s) + "6:resent" +
         counter(figures.resent_bytes) + "4:retr" + counter(figures.retransmits) + "4:segs" +
         counter(figures.sent_segments) + "4:sent" + counter(figures.sent_bytes) + "4:srtt" + integer(figures.srtt_us) +
         "3:win" + counter(figures.window_limited_us) + "e";
}

std::optional<TcpFigures> decode_stats(std::string_view bytes) {
  const auto dict = dictionary(bytes);
  if (!dict) return std::nullopt;
  constexpr std::int64_t k32 = std::numeric_limits<std::uint32_t>::max();
  const auto cwnd = number(*dict, "cwnd", 0, k32), min_rtt = number(*dict, "minrtt", 0, k32),
             srtt = number(*dict, "srtt", 0, k32),
             retransmits = number(*dict, "retr", 0, std::numeric_limits<std::int64_t>::max());
  const lt::string_view algorithm = dict->dict_find_string_value("cc");
  if (!cwnd || !min_rtt || !srtt || !retransmits || !is_congestion_name({algorithm.data(), algorithm.size()})) {
    return std::nullopt;
  }
  TcpFigures figures{static_cast<std::uint32_t>(*srtt), static_cast<std::uint32_t>(*min_rtt),
                     static_cast<std::uint64_t>(*retransmits), static_cast<std::uint32_t>(*cwnd),
                     std::string(algorithm.data(), algorithm.size())};
  const std::pair<const char*, std::uint64_t*> later[] = {
      {"buf", &figures.buffer_limited_us},      {"busy", &figures.busy_us},
      {"cpu", &figures.thread_permille},        {"disk", &figures.disk_permille},
      {"drate", &figures.delivery_bytes_per_s}, {"empty", &figures.empty_us},
      {"lost", &figures.loss_events},           {"lrtt", &figures.loss_srtt_us},
      {"pace", &figures.paced_bytes_per_s},     {"resent", &figures.resent_bytes},
      {"segs", &figures.sent_segments},         {"sent", &figures.sent_bytes},
      {"win", &figures.window_limited_us}};
  for (const auto& [key, into] : later) {
    if (dict->dict_find(key).type() == lt::bdecode_node::none_t) continue;
    const auto value = number(*dict, key, 0, std::numeric_limits<std::int64_t>::max());
    if (!value) return std::nullopt;
    *into = static_cast<std::uint64_t>(std::min(*value, kLargestFigure));
  }
  return figures;
}

}  // namespace gridtorrent::client::engine
