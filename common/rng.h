#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <span>

namespace gridtorrent {

/// Where randomness comes from. Passed in, so that a test replays from its seed. Implementations are thread-safe.
/// Secrets do not come from here but from base/crypto.
class Rng {
 public:
  virtual ~Rng() = default;
  virtual std::uint64_t next() = 0;
  void fill(std::span<std::uint8_t> out);
  /// Uniform in [0, bound); bound must be positive.
  std::uint64_t below(std::uint64_t bound);
};

/// The kernel's getrandom(2).
class SystemRng final : public Rng {
 public:
  std::uint64_t next() override;
};

/// Deterministic; for tests and simulations, which print the seed.
class SeededRng final : public Rng {
 public:
  explicit SeededRng(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t next() override {
    const std::lock_guard lock(mutex_);
    return engine_();
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_;
};

}  // namespace gridtorrent
