#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/engine.h"
#include "client/core/server_link.h"
#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::client {

/// What this node shows on TLS lanes: its certificates, one of each generation of the data CA, for the key that never
/// leaves it. Implemented in client/security. Thread-safe.
class LanePapers {
 public:
  virtual ~LanePapers() = default;

  struct Paper {
    std::uint32_t generation = 0;
    LaneIdentity identity;
    WallTime issued, expires;
  };
  /// A certificate request (PKCS#10, DER) for the node's key.
  virtual Result<std::string> request() const = 0;
  /// Takes the place of what was there, on disk too. kCorrupt: one is for another key, or not signed by the CA that it
  /// came with; then all stays. kDisk.
  virtual Status keep(const std::vector<IssuedCertificate>& certificates) = 0;
  virtual std::vector<Paper> papers() const = 0;
};

/// Whether to ask for certificates: there are none, one of these generations is missing, or one has lived for half of
/// its life.
bool papers_due(const std::vector<LanePapers::Paper>& papers, const std::vector<std::uint32_t>& generations,
                WallTime now);

}  // namespace gridtorrent::client
