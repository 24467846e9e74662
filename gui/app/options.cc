#include "gui/app/options.h"

namespace gridtorrent::gui {

options::Program program() {
  return {.name = "gridtorrent-gui",
          .summary = "the desktop application of GridTorrent",
          .description =
              "The window of what the node on this computer fetches and seeds, and why it is as fast as it is. It uses "
              "the login that 'gridtorrent join' or 'gridtorrent login' made, and says what is missing where there is "
              "none.\n\n"
              "Qt's own settings are taken from the environment: QT_QPA_PLATFORM, QT_SCALE_FACTOR and others.",
          .options = {{.name = "profile", .value = "NAME", .help = "which login to use", .default_value = "default"},
                      {.name = "socket",
                       .value = "PATH",
                       .help = "the local node's control socket (default: "
                               "$XDG_RUNTIME_DIR/gridtorrent/control.sock, or control.sock in the data folder of "
                               "'gridtorrent node start' where one answers there)"}},
          .exit_codes = {{"0", "the window was closed"},
                         {"1", "there is no screen to show it on"},
                         {"2", "the command line is wrong"}},
          .see_also = {"gridtorrent(1)", "gridtorrentd(8)"}};
}

}  // namespace gridtorrent::gui
