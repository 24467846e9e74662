#pragma once

#include <memory>
#include <string>

#include "client/core/lane_papers.h"

namespace gridtorrent::client::security {

/// This node's certificates in <data dir>/lane-certificate-<generation>.pem (0600), for the key that it enrolled with
/// (<data dir>/node_key.pem). What is there and cannot be used (another key, damaged) counts as not there: it is asked
/// for again. kNotFound, kDenied, kCorrupt: the key's file.
Result<std::unique_ptr<LanePapers>> open_lane_certificates(const std::string& data_dir);

}  // namespace gridtorrent::client::security
