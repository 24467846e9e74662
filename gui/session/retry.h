#pragma once

#include <chrono>
#include <cstdint>

#include "gui/models/connection.h"

namespace gridtorrent::gui {

/// One other side is asked this often how it is.
inline constexpr std::chrono::seconds kAskEach{2};
/// What has not answered for so long counts as silent, though nothing has failed. Told within 10 s, since it is looked
/// at once a second, and takes a moment to be drawn.
inline constexpr std::chrono::seconds kSilence{8};

/// How long to wait before the next attempt, after so many that failed one after the other: 1, 2, 4, then 8 s. Pure.
std::chrono::seconds pause_after(int failures);

/// How it stands with one other side, and when to try it again. A value, without clock or timer; times are milliseconds
/// since 1970.
class Attempts {
 public:
  const Link& link() const { return link_; }
  /// An attempt is under way. Before the first answer, that is what is told.
  void begin();
  void answered(std::int64_t now_ms);
  /// It does not answer. Where it never did, it may be that there is none: `absent`.
  void failed(std::int64_t now_ms, bool absent);
  /// It answered before, nothing has failed, and no answer has come since.
  void silent(std::int64_t since_ms);
  /// Another second has gone. True: it is time for another attempt.
  bool second();

 private:
  void be(LinkState state, std::int64_t since_ms);

  Link link_;
  int failures_ = 0;
};

}  // namespace gridtorrent::gui
