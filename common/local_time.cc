#include "common/local_time.h"

#include <array>
#include <ctime>

namespace gridtorrent {

std::string local_time_text(WallTime t) {
  const std::time_t time = t.ms / 1000;
  std::tm parts{};
  if (localtime_r(&time, &parts) == nullptr) return "an unknown time";
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M %Z", &parts);
  return text.data();
}

}  // namespace gridtorrent
