#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "client/plan/controller.h"
#include "client/tuning/path_meter.h"
#include "client/tuning/start.h"

namespace gridtorrent::client::tuning {

/// What one transfer believes of what is remembered of the path from one source: all of it, until the path shows that
/// it is another one; then nothing, for the rest of the transfer. A value: no thread, no clock.
class Recollection {
 public:
  /// At each look, with what the path has shown so far. The first look takes what is remembered.
  void look(const ControllerInput& input, const PeerSample& source, const Path& path, const PathMeter& meter);

  /// Lanes to begin with, for a transfer with so many sources; 0: nothing is believed. Where fewer or more sources
  /// shared this node's link then, each has more or fewer lanes now.
  int lanes(std::size_t sources) const;
  const std::optional<PathMemory>& memory() const { return memory_; }
  bool refuted() const { return refuted_; }

 private:
  bool looked_ = false, refuted_ = false;
  std::optional<PathMemory> memory_;
};

/// A reason with what is believed of the paths: `lanes_text` with it in brackets, or `otherwise`, which is the reason
/// where nothing is.
std::string with_recollection(const std::vector<const Recollection*>& paths, const std::string& lanes_text,
                              std::string otherwise);

}  // namespace gridtorrent::client::tuning
