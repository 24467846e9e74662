#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"

namespace gridtorrent::crypto {

/// Seals secrets that lie at rest with AES-256-GCM under a key that lies elsewhere. Immutable;
/// safe to use from several threads.
class SealingKey {
 public:
  static constexpr std::size_t kBytes = 32;

  /// Reads the key's file (64 hex digits); where there is none, makes it, 0600 and synced. kDenied: others may read
  /// it. kCorrupt: it holds something else; it is never replaced, since what it sealed would be lost.
  static Result<SealingKey> load_or_make(const std::string& path);
  /// Reads it; kNotFound where there is none.
  static Result<SealingKey> load(const std::string& path);

  SealingKey(const SealingKey&) = default;
  SealingKey& operator=(const SealingKey&) = default;
  ~SealingKey();

  /// Tells keys apart and says nothing of them: twelve hex digits.
  const std::string& id() const { return id_; }

  /// `context` says what the secret is for ("data-ca 3"); it is not kept, and has to be given again to open.
  std::string seal(std::string_view secret, std::string_view context) const;
  /// kCorrupt: sealed by another key or for another purpose, or altered.
  Result<std::string> open(std::string_view sealed, std::string_view context) const;

 private:
  explicit SealingKey(const std::array<std::uint8_t, kBytes>& key);

  std::array<std::uint8_t, kBytes> key_;
  std::string id_;
};

}  // namespace gridtorrent::crypto
