#include "gui/models/ending.h"

#include <QCoreApplication>

namespace gridtorrent::gui {

namespace {

QString say(const char* text) {
  return QCoreApplication::translate("Ending", text);
}

}  // namespace

std::optional<Ending> ending_of(TransferState state) {
  switch (state) {
    case TransferState::kFetching:
    case TransferState::kVerifying:
    case TransferState::kHashing:
    case TransferState::kQueued:
    case TransferState::kPaused:
      return Ending::kCancel;
    case TransferState::kSeeding:
      return Ending::kStopSeeding;
    case TransferState::kComplete:
    case TransferState::kFailed:
    case TransferState::kCancelled:
      return Ending::kForget;
    case TransferState::kOther:
      break;
  }
  return std::nullopt;
}

QString ending_title(Ending ending) {
  switch (ending) {
    case Ending::kCancel:
      return say(QT_TRANSLATE_NOOP("Ending", "Cancel transfer"));
    case Ending::kStopSeeding:
      return say(QT_TRANSLATE_NOOP("Ending", "Stop seeding"));
    case Ending::kForget:
      return say(QT_TRANSLATE_NOOP("Ending", "Forget"));
  }
  return {};
}

QString ending_question(Ending ending, std::size_t transfers) {
  const auto question = [transfers](const char* text) { return say(text).arg(transfers); };
  switch (ending) {
    case Ending::kCancel:
      return question(
          QT_TRANSLATE_NOOP("Ending",
                            "Cancel the selected transfers (%1)? Data sets that are not complete are removed from this "
                            "node, with what has come of them. Complete ones and files that are published stay. Pause "
                            "keeps everything."));
    case Ending::kStopSeeding:
      return question(
          QT_TRANSLATE_NOOP("Ending",
                            "Stop seeding the selected data sets (%1)? Others can no longer get them from this node. "
                            "The files stay where they are."));
    case Ending::kForget:
      return question(
          QT_TRANSLATE_NOOP("Ending",
                            "Forget the selected transfers (%1)? They leave this list. Complete files stay where they "
                            "are; what has come of a failed one is removed."));
  }
  return {};
}

}  // namespace gridtorrent::gui
