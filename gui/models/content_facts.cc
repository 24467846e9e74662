#include "gui/models/content_facts.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <string_view>

#include "gui/models/text.h"

namespace gridtorrent::gui {

namespace {

constexpr std::size_t kNamed = 20;  // replicas

QString say(const char* text) {
  return QCoreApplication::translate("Content", text);
}

/// A description keeps its lines; each of them is made safe.
QString shown_lines(std::string_view text) {
  QStringList lines;
  while (true) {
    const auto end = text.find('\n');
    lines.append(shown(text.substr(0, end)));
    if (end == std::string_view::npos) return lines.join(u'\n');
    text.remove_prefix(end + 1);
  }
}

QString replica_text(const ReplicaFacts& replica) {
  const QString state = replica.served     ? say(QT_TRANSLATE_NOOP("Content", "complete, served now"))
                        : !replica.online  ? say(QT_TRANSLATE_NOOP("Content", "its node is off"))
                        : replica.complete ? say(QT_TRANSLATE_NOOP("Content", "complete, not served"))
                                           : say(QT_TRANSLATE_NOOP("Content", "not complete"));
  return say(QT_TRANSLATE_NOOP("Content", "%1 of %2: %3")).arg(shown(replica.node), shown(replica.owner), state);
}

void add_replicas(const std::vector<ReplicaFacts>& replicas, const Format& format, QStringList& lines) {
  const auto complete = std::ranges::count_if(replicas, &ReplicaFacts::complete);
  lines << QString()
        << say(QT_TRANSLATE_NOOP("Content", "Copies: %1 of %2 complete"))
               .arg(format.count(static_cast<std::uint64_t>(complete)), format.count(replicas.size()));
  for (std::size_t i = 0; i < std::min(kNamed, replicas.size()); ++i) lines << replica_text(replicas[i]);
  if (replicas.size() > kNamed)
    lines << say(QT_TRANSLATE_NOOP("Content", "And more: %1")).arg(format.count(replicas.size() - kNamed));
}

}  // namespace

QString content_text(const ContentFacts& facts, const Format& format) {
  QStringList lines;
  if (!facts.description.empty()) lines << shown_lines(facts.description) << QString();
  QStringList tags;
  for (const std::string& tag : facts.tags) tags << shown(tag);
  if (!tags.isEmpty()) lines << say(QT_TRANSLATE_NOOP("Content", "Tags: %1")).arg(tags.join(QStringLiteral(", ")));
  if (!facts.license.empty()) lines << say(QT_TRANSLATE_NOOP("Content", "Licence: %1")).arg(shown(facts.license));
  lines << say(QT_TRANSLATE_NOOP("Content", "Access: %1")).arg(shown(facts.access));
  lines << say(QT_TRANSLATE_NOOP("Content", "Version: %1")).arg(format.count(facts.version));
  if (facts.replicas) add_replicas(*facts.replicas, format, lines);
  return lines.join(u'\n');
}

}  // namespace gridtorrent::gui
