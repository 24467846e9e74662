#include "tracker/authority/throttle.h"

#include <algorithm>

#include "common/units.h"

namespace gridtorrent::tracker::authority {

namespace {

Error come_back(std::chrono::nanoseconds wait) {
  const auto rounded = std::max(std::chrono::ceil<std::chrono::seconds>(wait), std::chrono::seconds(1));
  return {Code::kExhausted, "too many login attempts: try again in " + format_duration(rounded)};
}

}  // namespace

Status LoginThrottle::admit(const std::string& account, const std::string& address, MonoTime now) {
  const std::lock_guard lock(mutex_);
  if (addresses_.size() >= kMaxEntries) {
    std::erase_if(addresses_, [&](const auto& e) { return now - e.second.back() > std::chrono::minutes(1); });
  }
  if (const auto it = accounts_.find(account); it != accounts_.end() && now < it->second.not_before) {
    return come_back(it->second.not_before - now);
  }
  std::deque<MonoTime>& attempts = addresses_[address];
  while (!attempts.empty() && now - attempts.front() > std::chrono::minutes(1)) attempts.pop_front();
  if (attempts.size() >= kAttemptsPerMinute) return come_back(std::chrono::minutes(1) - (now - attempts.front()));
  attempts.push_back(now);
  return {};
}

void LoginThrottle::failed(const std::string& account, MonoTime now) {
  const std::lock_guard lock(mutex_);
  if (accounts_.size() >= kMaxEntries && !accounts_.contains(account)) {
    const auto oldest = std::min_element(accounts_.begin(), accounts_.end(),
                                         [](const auto& a, const auto& b) { return a.second.last < b.second.last; });
    accounts_.erase(oldest);
  }
  Account& entry = accounts_[account];
  entry.last = now;
  if (++entry.failures < kFreeFailures) return;
  const int doublings = std::min(entry.failures - kFreeFailures, 20);
  entry.not_before = now + std::min<std::chrono::seconds>(kFirstDelay * (std::int64_t{1} << doublings), kLongestDelay);
}

void LoginThrottle::succeeded(const std::string& account) {
  const std::lock_guard lock(mutex_);
  accounts_.erase(account);
}

}  // namespace gridtorrent::tracker::authority
