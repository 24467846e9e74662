#pragma once

#include <QString>
#include <cstdint>
#include <optional>
#include <string>

#include "gui/models/format.h"

namespace gridtorrent::gui {

/// How it stands with one other side.
enum class LinkState : std::uint8_t {
  kNone,        ///< there is no session with it
  kConnecting,  ///< asked for the first time, no answer yet
  kConnected,
  kSilent,  ///< it answered before, and does not now
};

struct Link {
  LinkState state = LinkState::kNone;
  std::int64_t since_ms = 0;                  ///< wall clock; when the state began, 0: not known
  std::optional<std::chrono::seconds> again;  ///< until it is tried again
};

/// What the window says about node and server, whichever page is shown. Strings are bytes that others wrote.
struct Connections {
  Link node;
  Link server;
  std::string account;                      ///< "alice @ data.example.org:7443"; empty: not logged in
  std::string login_command;                ///< that makes a new login; empty: the login is good
  std::string problem;                      ///< why the side that does not answer does not; empty: not known
  std::optional<bool> reachable;            ///< whether others can dial the node; nothing: not known
  std::optional<std::uint64_t> free_bytes;  ///< where the node keeps its data
};

/// "● Node running · reachable". Pure, translated.
QString node_text(const Connections& connections);
/// "● Server connected". Pure, translated.
QString server_text(const Connections& connections);
/// For the bar above the pages: which side does not answer since when, and what goes on. Empty while all is well.
QString notice_text(const Connections& connections, const Format& format);

/// What has to be done outside of the window before it can show anything.
enum class Missing : std::uint8_t { kNothing, kLogin, kNode };
/// A login comes first: without one, no node can be set up. Pure.
Missing missing(const Connections& connections);

}  // namespace gridtorrent::gui
