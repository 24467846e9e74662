#include "gui/app/options.h"

namespace gridtorrent::gui {

options::Program program() {
  return {.name = "gridtorrent-gui",
          .summary = "the desktop application of GridTorrent",
          .description =
              "The window of what the node on this computer fetches and seeds, and why it is as fast as it is. This "
              "version does not connect to server and node yet: use the command line, gridtorrent --help.\n\n"
              "Qt's own settings are taken from the environment: QT_QPA_PLATFORM, QT_SCALE_FACTOR and others.",
          .exit_codes = {{"0", "the window was closed"},
                         {"1", "there is no screen to show it on"},
                         {"2", "the command line is wrong"}},
          .see_also = {"gridtorrent(1)", "gridtorrentd(8)"}};
}

}  // namespace gridtorrent::gui
