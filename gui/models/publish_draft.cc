#include "gui/models/publish_draft.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "gui/models/text.h"

namespace gridtorrent::gui {

namespace {

// As the server has them; its own answer names the rule, these save the way there.
constexpr qsizetype kLongestName = 128;
constexpr std::size_t kMostTags = 32;
constexpr qsizetype kLongestTag = 64;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // that Qt puts in place of what is no UTF-8

QString say(const char* text) {
  return QCoreApplication::translate("Publish", text);
}

qsizetype characters(const std::string& text) {
  return QString::fromStdString(text).toUcs4().size();
}

QString joined(const std::vector<std::string>& names) {
  QStringList all;
  for (const std::string& name : names) all.append(shown(name));
  return all.join(QStringLiteral(", "));
}

}  // namespace

std::vector<std::string> words_of(const QString& line) {
  std::vector<std::string> words;
  for (const QString& part : line.split(u',')) {
    const std::string word = part.trimmed().toStdString();
    if (!word.empty() && std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  return words;
}

std::string access_of(const PublishDraft& draft) {
  if (draft.audience == Audience::kOnlyMe) return "private";
  if (draft.audience == Audience::kEveryone) return "public";
  std::string access;
  const auto add = [&access](const std::string& target) { access += (access.empty() ? "" : ",") + target; };
  for (const std::string& group : draft.groups) add("group:" + group);
  for (const std::string& person : draft.people) add("user:" + person);
  if (draft.buddies) add("buddies");
  return access.empty() ? "private" : access;
}

std::optional<DraftFault> fault_of(const PublishDraft& draft) {
  if (draft.path.empty()) return DraftFault::kNoPath;
  if (!draft.path.starts_with('/')) return DraftFault::kRelativePath;
  if (draft.path.find(kReplacement) != std::string::npos) return DraftFault::kPathNotText;
  if (draft.name.empty()) return DraftFault::kNoName;
  if (draft.name.find('/') != std::string::npos) return DraftFault::kSlashInName;
  if (characters(draft.name) > kLongestName) return DraftFault::kLongName;
  if (draft.tags.size() > kMostTags) return DraftFault::kTooManyTags;
  if (std::ranges::any_of(draft.tags, [](const std::string& tag) { return characters(tag) > kLongestTag; }))
    return DraftFault::kLongTag;
  const bool nobody = draft.groups.empty() && draft.people.empty() && !draft.buddies;
  if (draft.audience == Audience::kChosen && nobody) return DraftFault::kNobodyChosen;
  return std::nullopt;
}

QString fault_text(DraftFault fault) {
  switch (fault) {
    case DraftFault::kNoPath:
      return say(QT_TRANSLATE_NOOP("Publish", "Choose the file or folder to publish."));
    case DraftFault::kRelativePath:
      return say(QT_TRANSLATE_NOOP("Publish", "Enter the whole path, from \"/\" on."));
    case DraftFault::kPathNotText:
      return say(QT_TRANSLATE_NOOP("Publish",
                                   "This path is not UTF-8, and the window cannot pass it on. Use this command: "
                                   "gridtorrent publish PATH --name NAME"));
    case DraftFault::kNoName:
      return say(QT_TRANSLATE_NOOP("Publish", "Enter a name for the data set."));
    case DraftFault::kLongName:
      return say(QT_TRANSLATE_NOOP("Publish", "The name is too long: 128 characters at most."));
    case DraftFault::kSlashInName:
      return say(QT_TRANSLATE_NOOP("Publish", "The name has a \"/\": take another character."));
    case DraftFault::kNobodyChosen:
      return say(QT_TRANSLATE_NOOP("Publish", "Enter a group or a person, or tick your buddies."));
    case DraftFault::kLongTag:
      return say(QT_TRANSLATE_NOOP("Publish", "A tag is too long: 64 characters at most."));
    case DraftFault::kTooManyTags:
      return say(QT_TRANSLATE_NOOP("Publish", "There are too many tags: 32 at most."));
  }
  return {};
}

QString audience_text(const PublishDraft& draft) {
  if (draft.audience == Audience::kOnlyMe)
    return say(QT_TRANSLATE_NOOP("Publish", "Only you can find and get it, on your own nodes."));
  if (draft.audience == Audience::kEveryone)
    return say(QT_TRANSLATE_NOOP("Publish", "Everyone who has an account on this server can find and get it."));
  QStringList who;
  if (!draft.groups.empty()) who.append(say(QT_TRANSLATE_NOOP("Publish", "members of %1")).arg(joined(draft.groups)));
  if (!draft.people.empty()) who.append(joined(draft.people));
  if (draft.buddies) who.append(say(QT_TRANSLATE_NOOP("Publish", "your buddies")));
  if (who.isEmpty()) return say(QT_TRANSLATE_NOOP("Publish", "Nobody is chosen yet."));
  return say(QT_TRANSLATE_NOOP("Publish", "These can find and get it: %1. Nobody else sees that it exists."))
      .arg(who.join(QStringLiteral("; ")));
}

QString scan_text(const PublishScan& scan, const Format& format) {
  const QString text = scan.complete ? say(QT_TRANSLATE_NOOP("Publish", "Files: %1, size: %2"))
                                     : say(QT_TRANSLATE_NOOP("Publish", "Files so far: %1, size: %2"));
  return text.arg(format.count(scan.files), format.bytes(scan.bytes));
}

}  // namespace gridtorrent::gui
