#pragma once

#include <string>
#include <vector>

#include "gui/models/rate_history.h"

namespace gridtorrent::gui {

/// Why a transfer is as fast as it is. Strings are bytes that the node wrote; empty where it has nothing to say.
struct Explanation {
  std::string limit_word;
  std::string limit_detail;    ///< a sentence with the figures behind the word
  std::string advice;          ///< what a person can do
  std::string advice_command;  ///< a line to type
  std::string plan;            ///< the tuner's own reason for what it does now
  LanesCurve curve;
};

}  // namespace gridtorrent::gui
