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

/// Property Default_Ignorable_Code_Point: shown as nothing at all. Source: DerivedCoreProperties.txt of Unicode 14.0.
bool is_default_ignorable(std::int32_t code_point);

}  // namespace gridtorrent::ccm
