#pragma once

#include <string>

#include "gui/models/rate_history.h"

namespace gridtorrent::gui {

/// Points and decisions as CSV (RFC 4180), one line each in the order of time, in the same units whatever the locale:
/// `kind,time,bits_per_s,lanes,lanes_before,reason,sent_bits_per_s` with RFC 3339 times in UTC; bits_per_s is what was
/// received, of a decision what it brought. Reasons are escaped as on a terminal, and never begin as a spreadsheet's
/// formula does. Pure.
std::string rate_csv(const RateHistory& history);

/// `lanes,seconds,least_bits_per_s,median_bits_per_s,most_bits_per_s`. Pure.
std::string lanes_csv(const LanesCurve& curve);

}  // namespace gridtorrent::gui
