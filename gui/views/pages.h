#pragma once

#include <QString>
#include <array>
#include <optional>
#include <string_view>

#include "gui/models/connection.h"
#include "gui/views/command_page.h"

namespace gridtorrent::gui {

/// The pages of the window, in the order of the rail; Ctrl+1 shows the first.
enum class Page : std::uint8_t { kFind, kTransfers, kInbox, kPeople, kNodes, kActivity, kSettings };
inline constexpr std::array kPages{Page::kFind,  Page::kTransfers, Page::kInbox,   Page::kPeople,
                                   Page::kNodes, Page::kActivity,  Page::kSettings};

QString page_title(Page page);
/// Its name in what is saved; never translated.
std::string_view page_key(Page page);
/// The page of a key; nothing: there is none.
std::optional<Page> page_of(std::string_view key);

/// What stands on the page instead of its content: what is missing for it, or the command that does what the page
/// cannot do yet. Nothing where the page shows its content. Pure, translated.
std::optional<Guidance> page_guidance(Page page, const Connections& connections);

}  // namespace gridtorrent::gui
