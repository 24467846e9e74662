#pragma once

#include <cstdint>

namespace gridtorrent::ccm {

/// The scripts whose letters are easily taken for each other (UTS #39); every other script, digits, punctuation and
/// mathematical letters are kOther.
enum class Script : std::uint8_t { kOther, kLatin, kCyrillic, kArmenian, kCherokee };

/// Source: Scripts.txt of Unicode 14.0. utf8proc has no script property.
Script script_of(std::int32_t code_point);
/// "Latin" and so on.
const char* script_name(Script script);

}  // namespace gridtorrent::ccm
