#include "base/http2/message_budget.h"

#include <utility>

namespace gridtorrent::http2 {

MessageBudget::Share::Share(MessageBudget& budget, std::string address, Evict evict)
    : budget_(budget), holder_([&] {
        const std::lock_guard lock(budget.mutex_);
        return budget.holders_.insert(budget.holders_.end(),
                                      Holder{std::move(address), std::move(evict), 0, {}, std::nullopt});
      }()) {}

MessageBudget::Share::~Share() {
  const std::lock_guard lock(budget_.mutex_);
  budget_.set_bytes(*holder_, 0);
  budget_.holders_.erase(holder_);
}

std::optional<Offence> MessageBudget::Share::update(std::size_t bytes, MonoTime since, MonoTime now) {
  if (bytes == told_) return std::nullopt;
  told_ = bytes;
  std::vector<std::pair<Evict, Offence>> others;
  std::optional<Offence> own;
  {
    const std::lock_guard lock(budget_.mutex_);
    if (holder_->evicted) return holder_->evicted;
    budget_.set_bytes(*holder_, bytes);
    holder_->since = since;
    while (const auto victim = budget_.choose_victim(*holder_, now)) {
      victim->holder->evicted = victim->offence;
      budget_.set_bytes(*victim->holder, 0);
      if (victim->holder == &*holder_) {
        own = victim->offence;
      } else {
        others.emplace_back(victim->holder->evict, victim->offence);
      }
    }
  }
  for (const auto& [evict, offence] : others) evict(offence);
  return own;
}

std::size_t MessageBudget::held_bytes() const {
  const std::lock_guard lock(mutex_);
  return all_;
}

void MessageBudget::set_bytes(Holder& holder, std::size_t bytes) {
  all_ = all_ - holder.bytes + bytes;
  std::size_t& address = by_address_[holder.address];
  address = address - holder.bytes + bytes;
  if (address == 0) by_address_.erase(holder.address);
  holder.bytes = bytes;
}

std::optional<MessageBudget::Victim> MessageBudget::choose_victim(Holder& changed, MonoTime now) {
  if (changed.bytes > limits_.connection_bytes) {
    return Victim{&changed, Offence::kUnfinishedHere};
  }
  const auto address = by_address_.find(changed.address);
  const bool address_full = address != by_address_.end() && address->second > limits_.address_bytes;
  if (!address_full && all_ <= limits_.all_bytes) return std::nullopt;
  const auto weight = [now](const Holder& holder) {
    // A millisecond more, so that bytes that came just now have a weight too.
    const std::chrono::duration<double> held = now - holder.since + std::chrono::milliseconds(1);
    return static_cast<double>(holder.bytes) * held.count();
  };
  Holder* worst = nullptr;
  for (Holder& holder : holders_) {
    if (holder.bytes == 0 || (address_full && holder.address != changed.address)) continue;
    if (worst == nullptr || weight(holder) > weight(*worst)) worst = &holder;
  }
  if (worst == nullptr) return std::nullopt;
  return Victim{worst, address_full ? Offence::kUnfinishedByAddress : Offence::kUnfinishedInAll};
}

}  // namespace gridtorrent::http2
