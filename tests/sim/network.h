#pragma once

#include "client/plan/sample.h"

namespace gridtorrent::sim {

/// What one lane has carried, and what its sender's kernel would say of it.
struct LaneFigures {
  double received_bytes = 0;
  client::TcpFigures tcp;
};

/// Lanes over a World that others may edit between two calls. Deterministic: the same calls and seed, the same figures.
class Network {
 public:
  virtual ~Network() = default;
  /// A lane from that seeder begins to send, to the transfer of that number. Numbers of lanes are never used twice.
  virtual int open(int seeder, int transfer) = 0;
  virtual void close(int lane) = 0;
  /// A transfer asks for no more than that from now on, over all of its lanes; bits a second, 0: as much as they carry.
  virtual void limit(int transfer, double bits_per_s) = 0;
  virtual void advance(double seconds) = 0;
  /// Of an open lane.
  virtual LaneFigures figures(int lane) const = 0;
};

}  // namespace gridtorrent::sim
