#pragma once

#include <string>

#include "client/api/node/node_api.h"

namespace gridtorrent::client::cli {

/// How a transfer was tuned, as one SVG picture of 960 by 500 pixels on white: rate over time with limit and target,
/// a mark with the number of each decision, and what limited it as a strip of colours; below it lanes over time; at the
/// right rate by lanes (least, median and most of the seconds with so many lanes) with the number that was chosen last.
/// Seconds that nobody measured stay empty. Pure; any message gives a picture.
std::string tuning_svg(const v1::Tuning& tuning);

}  // namespace gridtorrent::client::cli
