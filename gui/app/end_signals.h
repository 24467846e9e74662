#pragma once

#include <QObject>

namespace gridtorrent::gui {

/// Ends the application in order, as Ctrl+Q does, where SIGTERM, SIGINT or SIGHUP asks for it: a session that ends
/// loses no settings. One at a time, made in the GUI thread once there is an application. A second signal ends it at
/// once.
class EndSignals final : public QObject {
  Q_OBJECT

 public:
  EndSignals();
  ~EndSignals() override;
};

}  // namespace gridtorrent::gui
