#include "client/core/rate_keeper.h"

#include <utility>

#include "client/core/node_steps.h"

namespace gridtorrent::client {
namespace {

constexpr std::chrono::seconds kPassEvery{30};
constexpr std::size_t kTransfersAtOnce = 200;

/// By the wall clock; a node from before decisions had a time does not say when its own were made.
void add_decisions(RateHistory& history, const TuningRecord& record, WallTime from) {
  for (const TuningDecision& decision : record.decisions) {
    if (decision.decided <= from || decision.decided == WallTime{}) continue;
    if (history.decisions.empty()) history.decisions_from = decision.decided;
    history.decisions.push_back(decision);
    history.decisions.back().at = decision.decided - history.decisions_from;
  }
}

}  // namespace

void RateKeeper::begin_pass(Moment now) {
  next_pass_ = now.mono + kPassEvery;
  c_.rates.let_go(now);
  to_write_.assign(c_.rates.unsaved().begin(), c_.rates.unsaved().end());
}

std::vector<RateBlock> RateKeeper::next_blocks() {
  std::vector<RateBlock> blocks;
  for (std::size_t i = 0; i < kTransfersAtOnce && !to_write_.empty(); ++i) {
    for (auto& block : c_.rates.blocks_to_save(to_write_.back())) blocks.push_back(std::move(block));
    to_write_.pop_back();
  }
  return blocks;
}

void RateKeeper::step(Moment now) {
  if (writing_) return;
  if (to_write_.empty() && now.mono >= next_pass_) begin_pass(now);
  if (to_write_.empty()) return;
  writing_ = c_.quick.post([this, blocks = next_blocks()] { write(blocks); });
}

void RateKeeper::finish() {
  {
    const auto lock = c_.book.lock();
    begin_pass({c_.ports.clock.mono(), c_.ports.clock.wall()});
  }
  for (;;) {
    std::vector<RateBlock> blocks;
    {
      const auto lock = c_.book.lock();
      blocks = next_blocks();
    }
    if (blocks.empty()) return;
    write(blocks);
  }
}

void RateKeeper::write(const std::vector<RateBlock>& blocks) {
  const Status written = c_.ports.store.put_rates(blocks, c_.ports.clock.wall());
  const auto lock = c_.book.lock();
  writing_ = false;
  if (written) c_.rates.saved(blocks);
  if (!written) to_write_.clear();  // again in the next pass
  const std::string trouble = written ? "" : written.error().message;
  if (!written && trouble != trouble_) {
    c_.log(NodeLogLevel::kWarning, "what transfers received and sent over time is not written down: " + trouble);
  }
  trouble_ = trouble;
}

Result<RateHistory> RateKeeper::history(const TransferId& id, WallTime from) {
  RateHistory history;
  std::vector<RateBlock> held;
  const Moment now{c_.ports.clock.mono(), c_.ports.clock.wall()};
  {
    const auto lock = c_.book.lock();
    const auto* transfer = c_.book.find(id);
    if (transfer == nullptr || transfer->row.step == TransferStep::kForgotten) return unknown_transfer(id);
    held = c_.rates.held(id, transfer->row.created, now);
    if (const auto tuning = c_.tuning.find(id)) add_decisions(history, *tuning, from);
  }
  GT_ASSIGN(std::vector<RateBlock> kept, c_.ports.store.rates(id, from));
  history.points = joined_points(std::move(kept), std::move(held), from, now.wall);
  return history;
}

}  // namespace gridtorrent::client
