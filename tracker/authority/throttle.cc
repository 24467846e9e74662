#include "tracker/authority/throttle.h"

#include <algorithm>

#include "common/units.h"

namespace gridtorrent::tracker::authority {

namespace {

constexpr std::chrono::minutes kWindow{1};

Error come_back(std::chrono::nanoseconds wait) {
  const auto rounded = std::max(std::chrono::ceil<std::chrono::seconds>(wait), std::chrono::seconds(1));
  return {Code::kBusy, "too many login attempts: try again in " + format_duration(rounded)};
}

}  // namespace

void LoginThrottle::make_room(const std::string& address, MonoTime now) {
  if (addresses_.size() < kMaxEntries || addresses_.contains(address)) return;
  std::erase_if(addresses_, [&](const auto& e) { return now - e.second.attempts.back() > kWindow; });
  if (addresses_.size() < kMaxEntries) return;
  addresses_.erase(std::min_element(addresses_.begin(), addresses_.end(), [](const auto& a, const auto& b) {
    return a.second.attempts.back() < b.second.attempts.back();
  }));
}

Status LoginThrottle::admit(const std::string& account, const std::string& address, MonoTime now) {
  const std::lock_guard lock(mutex_);
  make_room(address, now);
  std::deque<MonoTime>& attempts = addresses_[address].attempts;
  while (!attempts.empty() && now - attempts.front() > kWindow) attempts.pop_front();
  if (attempts.size() >= kAttemptsPerMinute) return come_back(kWindow - (now - attempts.front()));
  attempts.push_back(now);
  if (const auto it = accounts_.find(account); it != accounts_.end() && now < it->second.not_before) {
    return come_back(it->second.not_before - now);
  }
  return {};
}

bool LoginThrottle::is_noteworthy(const std::string& address, MonoTime now) {
  const std::lock_guard lock(mutex_);
  const auto it = addresses_.find(address);
  if (it == addresses_.end() || (it->second.noted && now - *it->second.noted <= kWindow)) return false;
  it->second.noted = now;
  return true;
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
