#pragma once

#include <QString>
#include <string>
#include <string_view>

namespace gridtorrent::gui {

/// Where the window's settings lie between two starts.
class SettingsStore {
 public:
  virtual ~SettingsStore() = default;
  /// Empty: there are none, or they cannot be read; the window then starts with its own.
  virtual std::string load() const = 0;
  /// Empty: they are kept; else why not, in the system's words.
  virtual QString save(std::string_view text) = 0;
};

/// A file, which is replaced in one step. Waits for the disk.
class SettingsFile final : public SettingsStore {
 public:
  explicit SettingsFile(QString path) : path_(std::move(path)) {}
  /// In the user's folder for configuration ($XDG_CONFIG_HOME).
  static QString usual_path();
  std::string load() const override;
  QString save(std::string_view text) override;

 private:
  QString path_;
};

}  // namespace gridtorrent::gui
