#pragma once

#include <QString>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/format.h"

namespace gridtorrent::gui {

/// Who may get what is published.
enum class Audience : std::uint8_t { kOnlyMe, kChosen, kEveryone };

/// What a person has entered of a data set that is not published yet. Strings are bytes.
struct PublishDraft {
  std::string path;  ///< absolute; of a file or a folder
  std::string name;
  std::string description;
  std::vector<std::string> tags;
  std::string license;
  Audience audience = Audience::kOnlyMe;  ///< public only where somebody says so
  std::vector<std::string> groups;        ///< names, for kChosen
  std::vector<std::string> people;        ///< names, for kChosen
  bool buddies = false;                   ///< for kChosen
  bool strict = false;                    ///< refuse links and devices instead of skipping them
  friend bool operator==(const PublishDraft&, const PublishDraft&) = default;
};

/// The words of a line: parts between commas without the space around them; empty ones and repetitions are left out.
/// Pure.
std::vector<std::string> words_of(const QString& line);

/// The access in the words of the node's API: "private", "public" or "group:lab,user:mia,buddies". Pure.
std::string access_of(const PublishDraft& draft);

/// What keeps a draft from being published.
enum class DraftFault : std::uint8_t {
  kNoPath,
  kRelativePath,
  kPathNotText,  ///< bytes that are no UTF-8, which Qt cannot pass on
  kNoName,
  kSlashInName,
  kLongName,
  kTooManyTags,
  kLongTag,
  kNobodyChosen,
};

/// The first thing that keeps it, in the order of the form; nothing: it can be published. Pure.
std::optional<DraftFault> fault_of(const PublishDraft& draft);
/// What to do about it, in a sentence. Translated.
QString fault_text(DraftFault fault);

/// Who will be able to get it, in a sentence that needs no server. Translated.
QString audience_text(const PublishDraft& draft);

/// What lies below a path that is to be published. Strings are bytes that the node wrote.
struct PublishScan {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t skipped = 0;
  std::vector<std::string> warnings;  ///< what is skipped and why; the first hundred
  std::string name;                   ///< that the data set gets where none is entered
  bool complete = false;              ///< false: these are the figures so far
};

/// "8,412 files, 1.20 TB". Translated.
QString scan_text(const PublishScan& scan, const Format& format);

}  // namespace gridtorrent::gui
