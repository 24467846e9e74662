#pragma once

#include <array>
#include <string>
#include <string_view>

namespace gridtorrent::client {

/// What a tuner heeds of what a person may ask of it beside speed; the rest is refused.
struct Heeds {
  bool mode = false, target = false, floor = false, deadline = false;
};
inline constexpr Heeds kHeedsAll{true, true, true, true}, kHeedsNothing{};

/// A tuner as it is offered to people.
struct TunerChoice {
  std::string_view name;
  std::string_view help;  ///< a line without a full stop: what it decides, by what
  Heeds heeds;
};

/// The tuners that there are, the default one first. client/tuning/registry.cc makes each of them, and does not compile
/// where one lacks.
inline constexpr std::array kTuners{
    TunerChoice{"auto", "measures each path, and finds the lanes that it needs", kHeedsAll},
    TunerChoice{"fixed", "measures nothing: at most 4 lanes to each seeder, 32 in all", kHeedsNothing},
    TunerChoice{"pcp", "published: chunk after chunk with more lanes or seeders, until one brings less", kHeedsNothing},
    TunerChoice{"mc", "published: classes of file sizes at the same time, 32 channels", kHeedsNothing},
    TunerChoice{"e2e", "published: streams, then seeders, by the second-order model", kHeedsNothing},
    TunerChoice{"fstream", "published: as many channels as 80 % of the link or a target takes", {.target = true}},
};

/// Null where none has that name.
constexpr const TunerChoice* find_tuner(std::string_view name) {
  for (const TunerChoice& tuner : kTuners) {
    if (tuner.name == name) return &tuner;
  }
  return nullptr;
}

}  // namespace gridtorrent::client
