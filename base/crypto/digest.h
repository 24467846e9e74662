#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace gridtorrent::crypto {

using Sha1Digest = std::array<std::uint8_t, 20>;
using Sha256Digest = std::array<std::uint8_t, 32>;

/// One-shot digests (OpenSSL).
Sha1Digest sha1(std::span<const std::uint8_t> data);
Sha256Digest sha256(std::span<const std::uint8_t> data);

/// A SHA-256 that takes its input in parts. Not thread-safe.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  void update(std::span<const std::uint8_t> data);
  /// Ends the stream; call once.
  Sha256Digest finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Which code a ManyHasher uses; all but kAuto are for tests and measurements.
enum class HashBackend : std::uint8_t {
  kAuto,         ///< whichever is faster for the algorithm on this CPU, measured once a process (some milliseconds)
  kMultiBuffer,  ///< libipsec-mb; OpenSSL where package or CPU lacks it
  kOpenSsl,
};

/// Hashes many independent messages at once: libipsec-mb's multi-buffer code where package and CPU offer it and it is
/// the faster choice, OpenSSL otherwise. One object a thread; not thread-safe.
class ManyHasher {
 public:
  explicit ManyHasher(HashBackend backend = HashBackend::kAuto);
  ~ManyHasher();
  ManyHasher(const ManyHasher&) = delete;
  ManyHasher& operator=(const ManyHasher&) = delete;

  /// out[i] = digest of messages[i]. Sizes may differ; equal ones are fastest. out.size() == messages.size().
  void sha1(std::span<const std::span<const std::uint8_t>> messages, std::span<Sha1Digest> out);
  void sha256(std::span<const std::span<const std::uint8_t>> messages, std::span<Sha256Digest> out);

  /// Whether enough messages at a time are hashed side by side, and not one after the other.
  bool sha1_side_by_side() const;

  /// What does the work, for `doctor` and reports: "ipsec-mb AVX512", "OpenSSL (SHA-NI)".
  std::string_view backend() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gridtorrent::crypto
