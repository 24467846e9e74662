#include "gui/models/transfer_row.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>

#include "gui/models/text.h"

namespace gridtorrent::gui {

namespace {

struct Word {
  std::string_view wire;
  const char* text;
};

constexpr std::array<Word, 9> kStates{{{"fetching", QT_TRANSLATE_NOOP("TransferState", "fetching")},
                                       {"verifying", QT_TRANSLATE_NOOP("TransferState", "verifying")},
                                       {"hashing", QT_TRANSLATE_NOOP("TransferState", "hashing")},
                                       {"queued", QT_TRANSLATE_NOOP("TransferState", "queued")},
                                       {"seeding", QT_TRANSLATE_NOOP("TransferState", "seeding")},
                                       {"paused", QT_TRANSLATE_NOOP("TransferState", "paused")},
                                       {"complete", QT_TRANSLATE_NOOP("TransferState", "complete")},
                                       {"failed", QT_TRANSLATE_NOOP("TransferState", "failed")},
                                       {"cancelled", QT_TRANSLATE_NOOP("TransferState", "cancelled")}}};

constexpr std::array<Word, 9> kLimits{{{"window", QT_TRANSLATE_NOOP("LimitWord", "window")},
                                       {"loss", QT_TRANSLATE_NOOP("LimitWord", "loss")},
                                       {"seeder", QT_TRANSLATE_NOOP("LimitWord", "seeder")},
                                       {"path", QT_TRANSLATE_NOOP("LimitWord", "path")},
                                       {"receiver-cpu", QT_TRANSLATE_NOOP("LimitWord", "CPU here")},
                                       {"disk", QT_TRANSLATE_NOOP("LimitWord", "disk here")},
                                       {"target", QT_TRANSLATE_NOOP("LimitWord", "target rate")},
                                       {"cap", QT_TRANSLATE_NOOP("LimitWord", "settings here")},
                                       {"unknown", QT_TRANSLATE_NOOP("LimitWord", "unknown")}}};

}  // namespace

TransferState transfer_state(std::string_view word) {
  const auto found = std::ranges::find(kStates, word, &Word::wire);
  return static_cast<TransferState>(found - kStates.begin());
}

QString state_text(TransferState state) {
  const auto at = static_cast<std::size_t>(state);
  return at < kStates.size() ? QCoreApplication::translate("TransferState", kStates[at].text)
                             : QCoreApplication::translate("TransferState", "unknown state");
}

std::size_t limit_rank(std::string_view word) {
  const auto at = static_cast<std::size_t>(std::ranges::find(kLimits, word, &Word::wire) - kLimits.begin());
  return word.empty() ? at + 1 : at;
}

QString limit_text(std::string_view word) {
  const auto found = std::ranges::find(kLimits, word, &Word::wire);
  return found == kLimits.end() ? shown(word) : QCoreApplication::translate("LimitWord", found->text);
}

}  // namespace gridtorrent::gui
