#include "common/rng.h"

#include <sys/random.h>

#include "common/check.h"

namespace gridtorrent {

void Rng::fill(std::span<std::uint8_t> out) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < out.size(); ++i, word >>= 8) {
    if (i % 8 == 0) word = next();
    out[i] = static_cast<std::uint8_t>(word);
  }
}

std::uint64_t Rng::below(std::uint64_t bound) {
  GT_CHECK(bound > 0);
  const std::uint64_t limit = ~std::uint64_t{0} - ~std::uint64_t{0} % bound;
  std::uint64_t value = next();
  while (value >= limit) value = next();
  return value % bound;
}

std::uint64_t SystemRng::next() {
  std::uint64_t value = 0;
  GT_CHECK(getrandom(&value, sizeof value, 0) == sizeof value);
  return value;
}

}  // namespace gridtorrent
