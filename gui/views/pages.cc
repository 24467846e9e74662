#include "gui/views/pages.h"

#include <QCoreApplication>

namespace gridtorrent::gui {

namespace {

QString say(const char* text) {
  return QCoreApplication::translate("Pages", text);
}

Guidance login_guidance() {
  return {
      say(QT_TRANSLATE_NOOP("Pages", "Join a server first")),
      say(QT_TRANSLATE_NOOP("Pages",
                            "This window has no session with a server. Whoever invited you sent a link. The command "
                            "checks the server, makes your account, and starts a node on this computer. The window "
                            "goes on by itself then. Who has an account logs in instead: "
                            "gridtorrent login --server HOST:PORT --ca ca.pem --user NAME")),
      QStringLiteral("gridtorrent join 'LINK'")};
}

Guidance node_guidance() {
  return {say(QT_TRANSLATE_NOOP("Pages", "Start a node on this computer")),
          say(QT_TRANSLATE_NOOP("Pages",
                                "The node sends and receives the data, also while this window is closed. None answers "
                                "here. The command starts the one that you have, or makes one.")),
          QStringLiteral("gridtorrent node start")};
}

Guidance later(const char* heading, const char* command) {
  return {say(heading), say(QT_TRANSLATE_NOOP("Pages", "This window does not show it yet. The command does:")),
          QString::fromLatin1(command)};
}

}  // namespace

QString page_title(Page page) {
  switch (page) {
    case Page::kFind:
      return say(QT_TRANSLATE_NOOP("Pages", "Find"));
    case Page::kTransfers:
      return say(QT_TRANSLATE_NOOP("Pages", "Transfers"));
    case Page::kInbox:
      return say(QT_TRANSLATE_NOOP("Pages", "Inbox"));
    case Page::kPeople:
      return say(QT_TRANSLATE_NOOP("Pages", "People"));
    case Page::kNodes:
      return say(QT_TRANSLATE_NOOP("Pages", "Nodes"));
    case Page::kActivity:
      return say(QT_TRANSLATE_NOOP("Pages", "Activity"));
    case Page::kSettings:
      return say(QT_TRANSLATE_NOOP("Pages", "Settings"));
  }
  return {};
}

std::string_view page_key(Page page) {
  constexpr std::array<std::string_view, kPages.size()> kKeys{"find",  "transfers", "inbox",   "people",
                                                              "nodes", "activity",  "settings"};
  return kKeys[static_cast<std::size_t>(page)];
}

std::optional<Page> page_of(std::string_view key) {
  for (const Page page : kPages)
    if (page_key(page) == key) return page;
  return std::nullopt;
}

std::optional<Guidance> page_guidance(Page page, const Connections& connections) {
  const Missing lacks = missing(connections);
  switch (page) {
    case Page::kFind:
      return lacks == Missing::kLogin ? std::optional(login_guidance()) : std::nullopt;
    case Page::kTransfers:
      if (lacks == Missing::kLogin) return login_guidance();
      return lacks == Missing::kNode ? std::optional(node_guidance()) : std::nullopt;
    case Page::kInbox:
      return later(QT_TRANSLATE_NOOP("Pages", "What waits for you"), "gridtorrent inbox");
    case Page::kPeople:
      return later(QT_TRANSLATE_NOOP("Pages", "Groups and buddies"), "gridtorrent group list");
    case Page::kNodes:
      return later(QT_TRANSLATE_NOOP("Pages", "Your nodes"), "gridtorrent node list");
    case Page::kActivity:
      return later(QT_TRANSLATE_NOOP("Pages", "Tasks of your nodes"), "gridtorrent task list");
    case Page::kSettings:
      return later(QT_TRANSLATE_NOOP("Pages", "Limits of this node"), "gridtorrent node limit");
  }
  return std::nullopt;
}

}  // namespace gridtorrent::gui
