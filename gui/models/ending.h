#pragma once

#include <QString>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "gui/models/transfer_row.h"

namespace gridtorrent::gui {

/// The three words for taking a transfer off the node, by what it does at the moment.
enum class Ending : std::uint8_t {
  kCancel,       ///< it is not done yet, or paused
  kStopSeeding,  ///< it seeds
  kForget,       ///< it has ended
};

/// The one that fits; nothing for a state that this version does not know. Pure.
std::optional<Ending> ending_of(TransferState state);

/// The word, for buttons and titles. Translated.
QString ending_title(Ending ending);
/// What it means for so many transfers and for their files, as a question. Translated.
QString ending_question(Ending ending, std::size_t transfers);

}  // namespace gridtorrent::gui
