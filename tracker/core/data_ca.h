#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/clock.h"

namespace gridtorrent::tracker {

/// One generation of the data CA, which signs nodes' certificates for TLS lanes. Living ones are those not retired: a
/// rotation makes a new one beside the old, contents move, then the old one is retired (docs/security.md).
struct DataCaRecord {
  std::uint32_t generation = 0;  ///< from 1 on; 0 is the plain edition
  std::string certificate_pem;
  std::string sealed_key;      ///< crypto::SealingKey, for "data-ca GENERATION"
  std::string sealing_key_id;  ///< which key it was sealed under
  WallTime created;
  std::optional<WallTime> retired;
  friend bool operator==(const DataCaRecord&, const DataCaRecord&) = default;
};

}  // namespace gridtorrent::tracker
