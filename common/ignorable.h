#pragma once

#include <cstdint>

namespace gridtorrent {

/// Property Default_Ignorable_Code_Point: shown as nothing at all, so that two names which differ in it look alike.
/// Pure. Source: DerivedCoreProperties.txt of Unicode 14.0.
bool is_default_ignorable(std::uint32_t code_point);

}  // namespace gridtorrent
