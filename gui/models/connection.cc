#include "gui/models/connection.h"

#include <QCoreApplication>

#include "gui/models/text.h"

namespace gridtorrent::gui {

namespace {

QString say(const char* text) {
  return QCoreApplication::translate("Connection", text);
}

QString again_text(const Link& link, const Format& format) {
  if (!link.again) return {};
  return u' ' + say(QT_TRANSLATE_NOOP("Connection", "Trying again in %1.")).arg(format.duration(link.again));
}

/// An error's line as a sentence of its own.
QString sentence(const std::string& line) {
  if (line.empty()) return {};
  QString text = shown(line);
  text[0] = text[0].toUpper();
  return u' ' + text + u'.';
}

QString since_text(const Link& link, const Format& format) {
  return link.since_ms > 0 ? format.time_of_day(link.since_ms) : Format::unknown();
}

}  // namespace

QString node_text(const Connections& connections) {
  switch (connections.node.state) {
    case LinkState::kNone:
      return say(QT_TRANSLATE_NOOP("Connection", "○ No node"));
    case LinkState::kConnecting:
      return say(QT_TRANSLATE_NOOP("Connection", "◌ Asking the node"));
    case LinkState::kSilent:
      return say(QT_TRANSLATE_NOOP("Connection", "⚠ Node does not answer"));
    case LinkState::kConnected:
      break;
  }
  if (!connections.reachable) return say(QT_TRANSLATE_NOOP("Connection", "● Node running"));
  return *connections.reachable ? say(QT_TRANSLATE_NOOP("Connection", "● Node running · reachable"))
                                : say(QT_TRANSLATE_NOOP("Connection", "⚠ Node running · not reachable from outside"));
}

QString server_text(const Connections& connections) {
  if (!connections.login_command.empty()) return say(QT_TRANSLATE_NOOP("Connection", "⚠ Login has ended"));
  switch (connections.server.state) {
    case LinkState::kNone:
      return say(QT_TRANSLATE_NOOP("Connection", "○ Not logged in"));
    case LinkState::kConnecting:
      return say(QT_TRANSLATE_NOOP("Connection", "◌ Asking the server"));
    case LinkState::kSilent:
      return say(QT_TRANSLATE_NOOP("Connection", "⚠ Server does not answer"));
    case LinkState::kConnected:
      break;
  }
  return say(QT_TRANSLATE_NOOP("Connection", "● Server connected"));
}

QString notice_text(const Connections& connections, const Format& format) {
  const QString why = sentence(connections.problem);
  if (connections.node.state == LinkState::kSilent)
    return say(QT_TRANSLATE_NOOP("Connection", "The node does not answer since %1. What is shown is as it was then."))
               .arg(since_text(connections.node, format)) +
           why + again_text(connections.node, format);
  if (!connections.login_command.empty())
    return say(QT_TRANSLATE_NOOP("Connection",
                                 "Your login has ended. Transfers go on. Log in again with this command, and the "
                                 "window goes on by itself: %1"))
        .arg(shown(connections.login_command));
  if (connections.server.state == LinkState::kSilent)
    return say(QT_TRANSLATE_NOOP("Connection", "The server does not answer since %1. Transfers go on."))
               .arg(since_text(connections.server, format)) +
           why + again_text(connections.server, format);
  return {};
}

Missing missing(const Connections& connections) {
  if (connections.server.state == LinkState::kNone) return Missing::kLogin;
  return connections.node.state == LinkState::kNone ? Missing::kNode : Missing::kNothing;
}

}  // namespace gridtorrent::gui
