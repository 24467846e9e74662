#include "ccm/domain/name_characters.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace gridtorrent::ccm {

namespace {

/// Code points, both ends included.
struct Range {
  std::int32_t first, last;
};

constexpr std::array<Range, 38> kLatin = {
    {{0x0041, 0x005A},   {0x0061, 0x007A},  {0x00AA, 0x00AA}, {0x00BA, 0x00BA}, {0x00C0, 0x00D6},   {0x00D8, 0x00F6},
     {0x00F8, 0x02B8},   {0x02E0, 0x02E4},  {0x1D00, 0x1D25}, {0x1D2C, 0x1D5C}, {0x1D62, 0x1D65},   {0x1D6B, 0x1D77},
     {0x1D79, 0x1DBE},   {0x1E00, 0x1EFF},  {0x2071, 0x2071}, {0x207F, 0x207F}, {0x2090, 0x209C},   {0x212A, 0x212B},
     {0x2132, 0x2132},   {0x214E, 0x214E},  {0x2160, 0x2188}, {0x2C60, 0x2C7F}, {0xA722, 0xA787},   {0xA78B, 0xA7CA},
     {0xA7D0, 0xA7D1},   {0xA7D3, 0xA7D3},  {0xA7D5, 0xA7D9}, {0xA7F2, 0xA7FF}, {0xAB30, 0xAB5A},   {0xAB5C, 0xAB64},
     {0xAB66, 0xAB69},   {0xFB00, 0xFB06},  {0xFF21, 0xFF3A}, {0xFF41, 0xFF5A}, {0x10780, 0x10785}, {0x10787, 0x107B0},
     {0x107B2, 0x107BA}, {0x1DF00, 0x1DF1E}}};
constexpr std::array<Range, 8> kCyrillic = {{{0x0400, 0x0484},
                                             {0x0487, 0x052F},
                                             {0x1C80, 0x1C88},
                                             {0x1D2B, 0x1D2B},
                                             {0x1D78, 0x1D78},
                                             {0x2DE0, 0x2DFF},
                                             {0xA640, 0xA69F},
                                             {0xFE2E, 0xFE2F}}};
constexpr std::array<Range, 4> kArmenian = {{{0x0531, 0x0556}, {0x0559, 0x058A}, {0x058D, 0x058F}, {0xFB13, 0xFB17}}};
constexpr std::array<Range, 3> kCherokee = {{{0x13A0, 0x13F5}, {0x13F8, 0x13FD}, {0xAB70, 0xABBF}}};

bool is_in(std::span<const Range> ranges, std::int32_t code_point) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), code_point,
                                      [](std::int32_t value, const Range& range) { return value < range.first; });
  return after != ranges.begin() && code_point <= std::prev(after)->last;
}

}  // namespace

Script script_of(std::int32_t code_point) {
  if (is_in(kLatin, code_point)) return Script::kLatin;
  if (is_in(kCyrillic, code_point)) return Script::kCyrillic;
  if (is_in(kArmenian, code_point)) return Script::kArmenian;
  return is_in(kCherokee, code_point) ? Script::kCherokee : Script::kOther;
}

const char* script_name(Script script) {
  switch (script) {
    case Script::kLatin:
      return "Latin";
    case Script::kCyrillic:
      return "Cyrillic";
    case Script::kArmenian:
      return "Armenian";
    case Script::kCherokee:
      return "Cherokee";
    case Script::kOther:
      break;
  }
  return "other";
}

}  // namespace gridtorrent::ccm
