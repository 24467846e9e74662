#pragma once

#include "base/options/options.h"

namespace gridtorrent::gui {

/// The option table of gridtorrent-gui.
options::Program program();

}  // namespace gridtorrent::gui
