#include "client/core/engine_events.h"

namespace gridtorrent::client {
namespace {
constexpr std::size_t kMaxWarnings = 1000;
}

void EngineEvents::torrent_changed(const TransferId& id) {
  {
    const std::lock_guard lock(mutex_);
    changed_.insert(id);
  }
  wake_up();
}

void EngineEvents::piece_verified(const TransferId& id, std::uint32_t piece) {
  std::shared_ptr<RootVerifier> verifier;
  {
    const std::lock_guard lock(mutex_);
    const auto found = verifiers_.find(id);
    if (found == verifiers_.end()) return;
    verifier = found->second;
  }
  verifier->piece_verified(piece);
}

void EngineEvents::warning(const TransferId& id, const std::string& message) {
  {
    const std::lock_guard lock(mutex_);
    warnings_.emplace_back(id, message);
    if (warnings_.size() > kMaxWarnings) warnings_.pop_front();
  }
  wake_up();
}

void EngineEvents::set_wake(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void EngineEvents::set_verifier(const TransferId& id, std::shared_ptr<RootVerifier> verifier) {
  std::shared_ptr<RootVerifier> old;  // ends outside of the lock
  const std::lock_guard lock(mutex_);
  auto& slot = verifiers_[id];
  old = std::exchange(slot, std::move(verifier));
  if (!slot) verifiers_.erase(id);
}

EngineEvents::Batch EngineEvents::take() {
  Batch batch;
  const std::lock_guard lock(mutex_);
  batch.changed.swap(changed_);
  batch.warnings.assign(warnings_.begin(), warnings_.end());
  warnings_.clear();
  return batch;
}

void EngineEvents::wake_up() {
  // Called with the mutex held, so that set_wake({}) is the end of it. The wake itself only sets a flag.
  const std::lock_guard lock(mutex_);
  if (wake_) wake_();
}

}  // namespace gridtorrent::client
