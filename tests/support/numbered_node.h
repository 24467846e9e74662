#pragma once

#include <cstdint>

#include "common/ids.h"

namespace gridtorrent::testing {

/// A node id that sorts by its number and is the same in every run.
inline NodeId numbered_node(std::uint8_t number) {
  NodeId::Bytes bytes{};
  bytes.back() = number;
  return NodeId(bytes);
}

}  // namespace gridtorrent::testing
