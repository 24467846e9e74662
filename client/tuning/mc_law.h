#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// The laws of MC (multi-chunk): section 4.2 of PCP's paper, and Arslan, Ross and Kosar, Euro-Par 2013; the borders are
/// those of the authors' client. Pure; sizes in bytes.
namespace gridtorrent::client::tuning {

enum class SizeClass : std::uint8_t { kSmall, kMiddle, kLarge, kHuge };
std::string_view class_name(SizeClass kind);
/// By the time that a file takes over the whole link: up to 0.05, 0.2 and 2 s.
SizeClass size_class(double file_bytes, double link_bits_per_s);

/// Files of about one size, which are fetched at the same time as those of other sizes.
struct MixChunk {
  SizeClass kind = SizeClass::kSmall;
  std::size_t files = 0;
  double bytes = 0;
  double mean() const { return files > 0 ? bytes / static_cast<double>(files) : 0; }
  friend bool operator==(const MixChunk&, const MixChunk&) = default;
};

/// A chunk for each class that has files. One with fewer than two files or less than five BDPs joins the one of the
/// nearest mean size, as long as there are two.
std::vector<MixChunk> divide_by_class(std::span<const std::uint64_t> sizes, double link_bits_per_s, double bdp);

/// Deals channels one by one to Huge, Small, Large, Middle, Huge, …; a chunk with as many channels as `places` says is
/// passed over. In the chunks' order.
std::vector<int> deal_channels(const std::vector<MixChunk>& chunks, const std::vector<double>& places, int channels);

/// One chunk's rate and when it will be done: 0.6 · what it was + 0.4 · the last three seconds.
class ChunkEta {
 public:
  void look(double bits_per_s);
  /// Seconds; infinite without a channel or a rate.
  double seconds(double bytes_left, int channels) const;

 private:
  double bits_per_s_ = 0;
  bool seen_ = false;
};

/// The chunk to which the channels of a finished one move: with bytes left, the one that will be done last. Nothing
/// where none has bytes left.
std::optional<std::size_t> slowest_chunk(const std::vector<double>& left, const std::vector<double>& eta_s);

}  // namespace gridtorrent::client::tuning
