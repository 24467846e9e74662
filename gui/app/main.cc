#include <QApplication>
#include <cstdio>

#include "common/codes.h"
#include "common/version.h"
#include "gui/app/options.h"
#include "gui/views/main_window.h"
#include "gui/views/notice_bar.h"

namespace gridtorrent::gui {

namespace {

/// Qt would end the program with a core file where there is no screen.
bool has_screen() {
  return qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY") ||
         qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
}

int show_window(int argc, char** argv) {
  if (!has_screen()) {
    std::fputs(
        "gridtorrent-gui: there is no screen: neither DISPLAY nor WAYLAND_DISPLAY is set; "
        "start it in a desktop session, or use the command line: gridtorrent --help\n",
        stderr);
    return static_cast<int>(Exit::kOther);
  }
  QApplication application(argc, argv);
  QCoreApplication::setApplicationName(QStringLiteral("gridtorrent-gui"));
  QGuiApplication::setApplicationDisplayName(QStringLiteral("GridTorrent"));
  QGuiApplication::setDesktopFileName(QStringLiteral("gridtorrent-gui"));
  QCoreApplication::setApplicationVersion(QString::fromLatin1(kVersion));
  const Format format;
  TransfersModel transfers(format);
  SearchModel found(format);
  MainWindow window(transfers, found, format);
  window.notice_bar().set_notice(
      QCoreApplication::translate("main",
                                  "This version of the window does not connect to server and node yet, also where "
                                  "you are logged in: use the command line, gridtorrent --help."));
  window.show();
  return QApplication::exec();
}

}  // namespace

}  // namespace gridtorrent::gui

int main(int argc, char** argv) {
  return gridtorrent::options::run(gridtorrent::gui::program(), argc, argv,
                                   [argv](const gridtorrent::options::Parsed&) {
                                     int own_name_only = 1;
                                     return gridtorrent::gui::show_window(own_name_only, argv);
                                   });
}
