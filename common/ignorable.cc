#include "common/ignorable.h"

#include <algorithm>
#include <array>

namespace gridtorrent {
namespace {

/// Code points, both ends included.
struct Range {
  std::uint32_t first, last;
};

constexpr std::array<Range, 17> kDefaultIgnorable = {{{0x00AD, 0x00AD},
                                                      {0x034F, 0x034F},
                                                      {0x061C, 0x061C},
                                                      {0x115F, 0x1160},
                                                      {0x17B4, 0x17B5},
                                                      {0x180B, 0x180F},
                                                      {0x200B, 0x200F},
                                                      {0x202A, 0x202E},
                                                      {0x2060, 0x206F},
                                                      {0x3164, 0x3164},
                                                      {0xFE00, 0xFE0F},
                                                      {0xFEFF, 0xFEFF},
                                                      {0xFFA0, 0xFFA0},
                                                      {0xFFF0, 0xFFF8},
                                                      {0x1BCA0, 0x1BCA3},
                                                      {0x1D173, 0x1D17A},
                                                      {0xE0000, 0xE0FFF}}};

}  // namespace

bool is_default_ignorable(std::uint32_t code_point) {
  const auto found =
      std::ranges::find_if(kDefaultIgnorable, [=](const Range& range) { return code_point <= range.last; });
  return found != kDefaultIgnorable.end() && code_point >= found->first;
}

}  // namespace gridtorrent
