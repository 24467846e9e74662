#include "client/core/rights_keeper.h"

#include <algorithm>
#include <utility>

namespace gridtorrent::client {
namespace {

constexpr std::chrono::seconds kLookAtPapers{1}, kSaveAudiences{1};
constexpr std::chrono::minutes kWriteDown{10}, kPrune{10};
/// Refused for a reason that does not pass by itself: the server's operator may mend it.
constexpr std::chrono::minutes kAfterRefusal{1};

}  // namespace

bool papers_due(const std::vector<LanePapers::Paper>& papers, const std::vector<std::uint32_t>& generations,
                WallTime now) {
  if (papers.empty()) return true;
  for (const auto& paper : papers) {
    if (now - paper.issued >= (paper.expires - paper.issued) / 2) return true;
  }
  // All that live are answered together: one that is missing beside a newer one has ended.
  std::uint32_t newest = 0;
  for (const auto& paper : papers) newest = std::max(newest, paper.generation);
  return std::any_of(generations.begin(), generations.end(), [&](std::uint32_t wanted) { return wanted > newest; });
}

Status RightsKeeper::restore() {
  GT_ASSIGN(std::vector<SavedAudience> lists, c_.ports.store.audiences());
  GT_ASSIGN(const std::optional<WallTime> heard, c_.ports.store.heard());
  c_.rights.restore(std::move(lists), heard);
  show_papers();
  return {};
}

void RightsKeeper::show_papers() {
  std::set<std::uint32_t> shown;
  for (const auto& paper : c_.ports.papers.papers()) {
    c_.ports.engine.set_identity(paper.generation, paper.identity);
    shown.insert(paper.generation);
  }
  const std::lock_guard lock(mutex_);
  shown_ = std::move(shown);
}

void RightsKeeper::learn(const AudienceList& list) {
  c_.rights.learn(list, c_.ports.clock.wall());
  const auto known = c_.rights.saved(list.ref.id);
  if (known) {
    if (const auto saved = c_.ports.store.put_audience(*known); !saved) {
      c_.log(NodeLogLevel::kError, "the list of who may have content cannot be kept: " + saved.error().message);
    }
  }
  c_.wake();
}

void RightsKeeper::confirm(const std::vector<AudienceRef>& refs) {
  c_.rights.confirm(refs, c_.ports.clock.wall());
  c_.wake();
}

std::vector<std::uint32_t> RightsKeeper::generations_in_use() {
  std::vector<std::uint32_t> used;  // a handful, of many thousands of transfers
  {
    const auto lock = c_.book.lock();
    for (const auto& [id, transfer] : c_.book.all()) {
      const std::uint32_t generation = transfer->row.content.generation;
      if (generation != 0 && std::ranges::find(used, generation) == used.end()) used.push_back(generation);
    }
  }
  std::ranges::sort(used);
  return used;
}

void RightsKeeper::step(MonoTime now) {
  if (now >= papers_due_ && !asking_ && !c_.server_lost) {
    papers_due_ = now + kLookAtPapers;
    const std::vector<std::uint32_t> used = generations_in_use();
    bool may_ask = false;
    {
      const std::lock_guard lock(mutex_);
      // A generation is new to this node after a rotation: that is no reason to wait.
      may_ask = now >= not_before_ || (failures_ == 0 && !std::ranges::includes(asked_for_, used));
    }
    if (may_ask && papers_due(c_.ports.papers.papers(), used, c_.ports.clock.wall())) {
      asking_ = true;
      {
        const std::lock_guard lock(mutex_);
        asked_for_ = used;
      }
      if (!c_.calls.post([this] { ask(); })) asking_ = false;
    }
  }
  if (now - saved_ >= kSaveAudiences) {
    saved_ = now;
    save_audiences();
  }
  write_down(now);
}

void RightsKeeper::save_audiences() {
  std::vector<std::pair<TransferId, std::string>> changed;
  const auto lock = c_.book.lock();  // over the write, too: a list that was taken away meanwhile must not come back
  for (const TransferId& id : c_.audiences_unsaved) {
    if (const auto* transfer = c_.book.find(id)) changed.emplace_back(id, transfer->row.content.audience);
  }
  if (changed.empty()) return c_.audiences_unsaved.clear();
  if (const auto saved = c_.ports.store.set_audiences(changed); !saved) {
    return c_.log(NodeLogLevel::kError, "cannot note who may have content: " + saved.error().message);
  }
  c_.audiences_unsaved.clear();
}

void RightsKeeper::ask() {
  const auto issued = [this]() -> Result<std::vector<IssuedCertificate>> {
    GT_ASSIGN(const std::string request, c_.ports.papers.request());
    return c_.ports.link.certify(request);
  }();
  const Status kept = issued ? c_.ports.papers.keep(*issued) : Status(issued.error());
  if (kept) show_papers();
  {
    const std::lock_guard lock(mutex_);
    const auto now = c_.ports.clock.mono();
    if (kept) {
      failures_ = 0;
      trouble_.clear();
      // A generation that the server does not certify for stays missing: no reason to ask each second.
      not_before_ = now + kAfterRefusal;
    } else {
      ++failures_;
      const bool passes = may_pass(kept.error());
      not_before_ = now + (passes ? c_.retry_pause(failures_) : std::chrono::milliseconds(kAfterRefusal));
      if (trouble_ != kept.error().message) {
        trouble_ = kept.error().message;
        c_.log(NodeLogLevel::kWarning, "no certificate for encrypted lanes: " + trouble_ + "; trying again");
      }
    }
  }
  asking_ = false;
  c_.wake();
}

void RightsKeeper::write_down(MonoTime now) {
  const auto every = std::min<std::chrono::milliseconds>(kWriteDown, c_.options.list_lifetime / 4);
  if (written_ == MonoTime{} || now - written_ >= every) {
    if (const auto heard = c_.rights.heard()) {
      written_ = now;
      if (const auto saved = c_.ports.store.note_confirmed(*heard, c_.rights.all()); !saved) {
        c_.log(NodeLogLevel::kError, "cannot note what the server confirmed: " + saved.error().message);
      }
    }
  }
  if (now - pruned_ < kPrune) return;
  pruned_ = now;
  std::set<std::string> used;
  {
    const auto lock = c_.book.lock();
    for (const auto& [id, transfer] : c_.book.all()) used.insert(transfer->row.content.audience);
  }
  for (const std::string& id : c_.rights.keep_only(used, c_.ports.clock.wall() - kPrune)) {
    if (const auto erased = c_.ports.store.erase_audience(id); !erased) {
      c_.log(NodeLogLevel::kError, "cannot forget a list: " + erased.error().message);
    }
  }
}

void RightsKeeper::apply(Transfer& transfer) {
  if (!transfer.in_engine || transfer.row.content.generation == 0) return;
  AudiencePtr now = c_.rights.audience(transfer.row.content.audience, c_.ports.clock.wall());
  if (now == transfer.audience_shown) return;
  c_.ports.engine.set_audience(transfer.row.id, now);
  transfer.audience_shown = std::move(now);
  c_.book.touch(transfer);
}

std::string RightsKeeper::missing_paper(std::uint32_t generation) const {
  const std::lock_guard lock(mutex_);
  if (generation == 0 || shown_.contains(generation)) return {};
  return trouble_.empty() ? "waits for this node's certificate" : "waits for this node's certificate: " + trouble_;
}

}  // namespace gridtorrent::client
