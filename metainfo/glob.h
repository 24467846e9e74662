#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gridtorrent::metainfo {

/// A `get --file GLOB` pattern, read once and matched against many paths below BASE (BASE's own name for a single
/// file):
/// '*' and '?' do not cross '/', '**' does, a pattern without '/' matches the last component alone. Immutable.
/// A nondeterministic automaton whose states are bits (Baeza-Yates and Gonnet, 1992): time is path times pattern by 64,
/// so that no pattern takes exponential time and a million paths take some tenths of a second.
class Glob {
 public:
  explicit Glob(std::string_view pattern);

  /// Also where the pattern names a folder above the path.
  bool matches(std::string_view path) const;
  bool matches_itself(std::string_view path) const;

 private:
  using Bits = std::vector<std::uint64_t>;  ///< one a state; state i: the tokens before i are matched

  bool run(std::string_view path, bool also_below) const;
  void step(Bits& states, char c) const;
  void skip_optional(Bits& states, bool component_begins) const;
  bool accepted(const Bits& states) const;

  std::size_t tokens_ = 0;  ///< 0: it matches nothing
  Bits one_;                ///< states whose token takes one byte that is no '/'
  Bits stays_;              ///< whose token takes any byte and stays
  Bits stays_inside_;       ///< likewise, but no '/'
  Bits optional_;           ///< whose token may take nothing
  Bits folders_;            ///< likewise, but only where a component begins
  std::vector<Bits> literals_;
  std::array<std::uint16_t, 256> literal_of_{};  ///< per byte: place in `literals_` plus one; 0: no token takes it
};

/// For a single path.
bool glob_matches(std::string_view pattern, std::string_view path);
bool glob_matches_itself(std::string_view pattern, std::string_view path);

}  // namespace gridtorrent::metainfo
