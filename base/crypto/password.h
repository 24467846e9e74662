#pragma once

#include <string>
#include <string_view>

#include "common/result.h"

namespace gridtorrent::crypto {

/// Cost of scrypt (RFC 7914): N = 2^log_n, block size r, parallelism p. The default takes 32 MiB and a third of a
/// second on a core of 2026, equal in strength to OWASP's N=2^17, r=8, p=1 at a quarter of the memory.
struct ScryptCost {
  int log_n = 15;
  int r = 8;
  int p = 3;
  friend bool operator==(const ScryptCost&, const ScryptCost&) = default;
};

/// "$scrypt$ln=15,r=8,p=3$<salt>$<hash>" with a fresh 16-byte salt. Slow on purpose: see the cost.
Result<std::string> hash_password(std::string_view password, ScryptCost cost = {});

/// Whether the password fits the hash; compares in constant time. kCorrupt: the text is no such hash, or costs absurdly
/// much.
Result<bool> verify_password(std::string_view password, std::string_view phc);

/// Whether the hash was made with another cost than `cost`: then hash anew at the next login.
bool needs_rehash(std::string_view phc, ScryptCost cost = {});

/// A hash of nobody's password with the same cost, to spend the same time on users that do not exist.
std::string_view dummy_hash();

}  // namespace gridtorrent::crypto
