#pragma once

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

namespace gridtorrent::test {

/// This process's time zone as long as it lives, and the one before afterwards. For one test at a time.
class InZone {
 public:
  explicit InZone(const char* zone) {
    if (const char* before = std::getenv("TZ")) before_ = before;
    ::setenv("TZ", zone, 1);
    ::tzset();
  }
  ~InZone() {
    if (before_) {
      ::setenv("TZ", before_->c_str(), 1);
    } else {
      ::unsetenv("TZ");
    }
    ::tzset();
  }
  InZone(const InZone&) = delete;
  InZone& operator=(const InZone&) = delete;

 private:
  std::optional<std::string> before_;
};

/// Central Europe by its rule, so that no zone data needs to be installed.
inline constexpr char kCentralEurope[] = "CET-1CEST,M3.5.0,M10.5.0/3";

}  // namespace gridtorrent::test
