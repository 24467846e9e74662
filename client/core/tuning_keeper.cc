#include "client/core/tuning_keeper.h"

namespace gridtorrent::client {
namespace {

constexpr std::chrono::seconds kRetry{10};  // after a write that failed

}  // namespace

void TuningKeeper::restore() {
  auto records = c_.ports.store.tunings();
  if (!records) {
    c_.log(NodeLogLevel::kWarning, "earlier transfers cannot be explained: " + records.error().message);
    return;
  }
  const auto lock = c_.book.lock();
  c_.tuning.restore(std::move(*records), [this](const TransferId& id) {
    const auto* transfer = c_.book.find(id);
    return transfer != nullptr && transfer->row.step == TransferStep::kFetch;
  });
}

void TuningKeeper::step(MonoTime now) {
  if (writing_ || now < not_before_) return;
  auto records = c_.tuning.unsaved(now);
  if (records.empty()) return;
  writing_ = c_.quick.post([this, now, records = std::move(records)] { write(records, now); });
}

void TuningKeeper::finish() {
  const auto now = c_.ports.clock.mono();
  std::vector<TuningRecord> records;
  {
    const auto lock = c_.book.lock();
    records = c_.tuning.unsaved(now, true);
  }
  write(records, now);
}

void TuningKeeper::write(const std::vector<TuningRecord>& records, MonoTime asked_at) {
  Status written;
  std::size_t done = 0;
  for (; done < records.size() && written; ++done) written = c_.ports.store.put_tuning(records[done]);
  if (!written) --done;

  const auto lock = c_.book.lock();
  writing_ = false;
  for (std::size_t i = 0; i < done; ++i) c_.tuning.saved(records[i], asked_at);
  const std::string trouble = written ? "" : written.error().message;
  if (!written) not_before_ = asked_at + kRetry;
  if (!written && trouble != trouble_) {
    c_.log(NodeLogLevel::kWarning, "how transfers were tuned is not written down: " + trouble);
  }
  trouble_ = trouble;
}

}  // namespace gridtorrent::client
