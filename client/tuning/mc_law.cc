#include "client/tuning/mc_law.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gridtorrent::client::tuning {

std::string_view class_name(SizeClass kind) {
  switch (kind) {
    case SizeClass::kSmall:
      return "small";
    case SizeClass::kMiddle:
      return "middle";
    case SizeClass::kLarge:
      return "large";
    case SizeClass::kHuge:
      return "huge";
  }
  return "huge";
}

SizeClass size_class(double file_bytes, double link_bits_per_s) {
  const double second = link_bits_per_s / 8;
  if (file_bytes <= second / 20) return SizeClass::kSmall;
  if (file_bytes <= second / 5) return SizeClass::kMiddle;
  return file_bytes <= 2 * second ? SizeClass::kLarge : SizeClass::kHuge;
}

std::vector<MixChunk> divide_by_class(std::span<const std::uint64_t> sizes, double link_bits_per_s, double bdp) {
  std::vector<MixChunk> chunks;
  for (const std::uint64_t size : sizes) {
    const SizeClass kind = size_class(static_cast<double>(size), link_bits_per_s);
    auto chunk = std::ranges::find(chunks, kind, &MixChunk::kind);
    if (chunk == chunks.end()) chunk = chunks.insert(chunk, MixChunk{kind, 0, 0});
    ++chunk->files;
    chunk->bytes += static_cast<double>(size);
  }
  while (chunks.size() > 1) {
    const auto little =
        std::ranges::find_if(chunks, [&](const MixChunk& chunk) { return chunk.files < 2 || chunk.bytes < 5 * bdp; });
    if (little == chunks.end()) break;
    const MixChunk joins = *little;
    chunks.erase(little);
    const auto nearest = std::ranges::min_element(
        chunks, {}, [&](const MixChunk& chunk) { return std::abs(chunk.mean() - joins.mean()); });
    nearest->files += joins.files;
    nearest->bytes += joins.bytes;
  }
  return chunks;
}

std::vector<int> deal_channels(const std::vector<MixChunk>& chunks, const std::vector<double>& places, int channels) {
  constexpr std::array kOrder{SizeClass::kHuge, SizeClass::kSmall, SizeClass::kLarge, SizeClass::kMiddle};
  std::vector<int> dealt(chunks.size(), 0);
  for (bool any = true; any && channels > 0;) {
    any = false;
    for (const SizeClass kind : kOrder) {
      const auto chunk = std::ranges::find(chunks, kind, &MixChunk::kind);
      if (chunk == chunks.end() || channels == 0) continue;
      const auto i = static_cast<std::size_t>(chunk - chunks.begin());
      if (dealt[i] >= places[i]) continue;
      ++dealt[i];
      --channels;
      any = true;
    }
  }
  return dealt;
}

void ChunkEta::look(double bits_per_s) {
  constexpr double kOfBefore = 0.6;
  bits_per_s_ = seen_ ? kOfBefore * bits_per_s_ + (1 - kOfBefore) * bits_per_s : bits_per_s;
  seen_ = true;
}

double ChunkEta::seconds(double bytes_left, int channels) const {
  if (channels == 0 || bits_per_s_ <= 0) return std::numeric_limits<double>::infinity();
  return 8 * bytes_left / bits_per_s_;
}

std::optional<std::size_t> slowest_chunk(const std::vector<double>& left, const std::vector<double>& eta_s) {
  std::optional<std::size_t> slowest;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] > 0 && (!slowest || eta_s[i] > eta_s[*slowest])) slowest = i;
  }
  return slowest;
}

}  // namespace gridtorrent::client::tuning
