#include "tracker/authority/generation_mover.h"

#include <string>
#include <utility>
#include <vector>

namespace gridtorrent::tracker::authority {
namespace {

ccm::AuditRecord moved(std::size_t contents, std::uint32_t generation, WallTime now) {
  ccm::AuditRecord record;
  record.at = now;
  record.action = "data-ca.move";
  record.object = "generation " + std::to_string(generation);
  record.outcome = "ok: " + std::to_string(contents) + (contents == 1 ? " content" : " contents");
  return record;
}

}  // namespace

Result<std::size_t> GenerationMover::step() {
  const auto current = d_.data_ca.restricted();
  if (!current) return std::size_t{0};
  std::vector<ccm::Content> due;
  std::vector<std::vector<NodeId>> holders;
  const auto look = [&](Tx& tx) -> Status {
    GT_ASSIGN(due, tx.contents.before_generation(*current, kBatch));
    return {};
  };
  GT_TRY(d_.store.read(look));
  if (due.empty()) {
    GT_TRY(end_unused());
    return std::size_t{0};
  }
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_TRY(look(tx));
    holders.clear();
    for (ccm::Content& content : due) {
      content.generation = *current;
      GT_TRY(tx.contents.update(content));
      GT_ASSIGN(std::vector<NodeId> nodes, tx.replicas.holders(content.id));
      holders.push_back(std::move(nodes));
    }
    return due.empty() ? Status() : tx.audit.append(moved(due.size(), *current, d_.clock.wall()));
  }));
  for (std::size_t i = 0; i < due.size(); ++i) d_.nodes.content_changed(due[i].id, holders[i]);
  return due.size();
}

Status GenerationMover::end_unused() {
  const std::vector<std::uint32_t> replaced = d_.data_ca.replaced();
  for (const std::uint32_t generation : replaced) {
    const Status ended = d_.data_ca.retire(generation);
    if (!ended && ended.error().code != Code::kConflict) return ended;  // in use again: the next round moves that
  }
  return {};
}

}  // namespace gridtorrent::tracker::authority
