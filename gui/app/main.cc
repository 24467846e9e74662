#include <QApplication>
#include <QIcon>
#include <QThreadPool>
#include <QTranslator>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "client/api/call/waiting.h"
#include "common/clock.h"
#include "common/codes.h"
#include "common/version.h"
#include "gui/app/end_signals.h"
#include "gui/app/options.h"
#include "gui/app/publish_control.h"
#include "gui/app/settings_store.h"
#include "gui/app/timed_application.h"
#include "gui/app/window_control.h"
#include "gui/views/dark_style.h"
#include "gui/views/main_window.h"

namespace gridtorrent::gui {

namespace {

constexpr int kWorkers = 4;

/// Qt would end the program with a core file where there is no screen.
bool has_screen() {
  return qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY") ||
         qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
}

QIcon icon() {
  QIcon icon;
  for (const int size : {16, 32, 48, 128}) icon.addFile(QStringLiteral(":/icon-%1.png").arg(size));
  return icon;
}

/// The texts in the user's language, where somebody has installed them; else they are English.
void install_translation(QTranslator& translator) {
  const QString folder = QCoreApplication::applicationDirPath() + QStringLiteral("/../share/gridtorrent/translations");
  if (translator.load(QLocale(), QStringLiteral("gridtorrent"), QStringLiteral("_"), folder))
    QCoreApplication::installTranslator(&translator);
}

std::unique_ptr<QApplication> make_application(int& argc, char** argv) {
  const QByteArray times = qgetenv("GRIDTORRENT_EVENT_TIMES");
  if (times.isEmpty()) return std::make_unique<QApplication>(argc, argv);
  return std::make_unique<TimedApplication>(argc, argv, times.toStdString());
}

int show_window(const options::Parsed& options, int argc, char** argv) {
  if (!has_screen()) {
    std::fputs(
        "gridtorrent-gui: there is no screen: neither DISPLAY nor WAYLAND_DISPLAY is set; "
        "start it in a desktop session, or use the command line: gridtorrent --help\n",
        stderr);
    return static_cast<int>(Exit::kOther);
  }
  const std::unique_ptr<QApplication> application = make_application(argc, argv);
  const EndSignals end_signals;
  QCoreApplication::setApplicationName(QStringLiteral("gridtorrent-gui"));
  QGuiApplication::setApplicationDisplayName(QStringLiteral("GridTorrent"));
  QGuiApplication::setDesktopFileName(QStringLiteral("gridtorrent-gui"));
  QGuiApplication::setWindowIcon(icon());
  QApplication::setStyle(new DarkStyle);
  QTranslator translator;
  install_translation(translator);
  QCoreApplication::setApplicationVersion(QString::fromLatin1(kVersion));
  client::api::forbid_waiting();
  const SystemClock clock;
  const Format format;
  QThreadPool pool;
  pool.setMaxThreadCount(kWorkers);
  TransfersModel transfers(format);
  SearchModel found(format);
  MainWindow window(transfers, found, format);
  NodeSession node({.profile = options.str("profile"), .socket = options.str("socket")}, pool, clock);
  ServerSession server(options.str("profile"), pool, clock);
  const WindowControl control({window, transfers, found, node, server, pool, clock, options.str("profile")});
  const PublishControl publishing(window, node, server, clock);
  SettingsFile settings(SettingsFile::usual_path());
  window.apply(read_settings(settings.load()));
  node.start();
  server.start();
  window.show();
  const int code = QApplication::exec();
  if (const QString problem = settings.save(write_settings(window.settings())); !problem.isEmpty())
    std::fprintf(stderr, "gridtorrent-gui: %s was not written: %s\n", qPrintable(SettingsFile::usual_path()),
                 qPrintable(problem));
  return code;
}

}  // namespace

}  // namespace gridtorrent::gui

int main(int argc, char** argv) {
  // gRPC would write lines of its own; who debugs it sets the variable.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  return gridtorrent::options::run(gridtorrent::gui::program(), argc, argv,
                                   [argv](const gridtorrent::options::Parsed& options) {
                                     int own_name_only = 1;
                                     return gridtorrent::gui::show_window(options, own_name_only, argv);
                                   });
}
