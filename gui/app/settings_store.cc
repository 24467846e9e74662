#include "gui/app/settings_store.h"

#include <QDir>
#include <QFileInfo>
#include <QSaveFile>
#include <QStandardPaths>

namespace gridtorrent::gui {

namespace {
constexpr qint64 kMostBytes = 64 * 1024;
}

QString SettingsFile::usual_path() {
  return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) +
         QStringLiteral("/gridtorrent/window.conf");
}

std::string SettingsFile::load() const {
  QFile file(path_);
  return file.open(QIODevice::ReadOnly) ? file.read(kMostBytes).toStdString() : std::string();
}

QString SettingsFile::save(std::string_view text) {
  QDir().mkpath(QFileInfo(path_).path());
  QSaveFile file(path_);
  const auto size = static_cast<qint64>(text.size());
  if (file.open(QIODevice::WriteOnly) && file.write(text.data(), size) == size && file.commit()) return {};
  return file.errorString();
}

}  // namespace gridtorrent::gui
