#pragma once

#include <cstdio>
#include <cstdlib>

namespace gridtorrent::detail {
[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s (a bug of ours; please report it)\n", file, line, condition);
  std::abort();
}
}  // namespace gridtorrent::detail

/// Guards against our own bugs, in every build. Never for input from outside: that gets an Error.
#define GT_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::gridtorrent::detail::check_failed(#condition, __FILE__, __LINE__))
