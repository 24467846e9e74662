#include "tracker/authority/throttle.h"

#include <algorithm>

#include "common/units.h"

namespace gridtorrent::tracker::authority {

namespace {

constexpr std::chrono::minutes kWindow{1};
constexpr std::chrono::seconds kSweepPause{1};

Error come_back(std::chrono::nanoseconds wait) {
  const auto rounded = std::max(std::chrono::ceil<std::chrono::seconds>(wait), std::chrono::seconds(1));
  return {Code::kBusy, "too many login attempts: try again in " + format_duration(rounded)};
}

/// What an attempt is counted under besides its account. The prefixes keep devices and addresses apart.
std::string source(const ccm::LoginAttempt& attempt) {
  return attempt.is_known() ? "device " + attempt.account + " " + attempt.proof : "address " + attempt.address;
}

}  // namespace

Status LoginThrottle::admit(const ccm::LoginAttempt& attempt, MonoTime now) {
  const std::lock_guard lock(mutex_);
  make_room(now);
  GT_TRY(take_rate(attempt, now));
  const Key own{attempt.account, source(attempt)}, anywhere{attempt.account, ""};
  if (const auto wait = wait_of(own, now)) return come_back(*wait);
  if (attempt.is_known()) {
    count_failure(own, {kFreeFailures, kLongestDelay}, now);
    return {};
  }
  if (const auto wait = wait_of(anywhere, now)) return come_back(*wait);
  count_failure(own, {kFreeFailures, kLongestDelay}, now);
  count_failure(anywhere, {kFreeAccountFailures, kLongestAccountDelay}, now);
  return {};
}

Status LoginThrottle::take_rate(const ccm::LoginAttempt& attempt, MonoTime now) {
  const std::string key = source(attempt);
  // Devices are few: each was let in by a password once.
  if (!attempt.is_known() && rates_.size() >= kMaxEntries && !rates_.contains(key)) return come_back(kWindow);
  Rate& rate = rates_.try_emplace(key, Rate{.left = kAttemptsPerMinute, .at = now, .noted = {}}).first->second;
  const double passed_s = std::chrono::duration<double>(now - rate.at).count();
  rate.left = std::min(kAttemptsPerMinute, rate.left + std::max(0.0, passed_s) * kAttemptsPerMinute / 60);
  rate.at = now;
  if (rate.left < 1) {
    return come_back(
        std::chrono::milliseconds(static_cast<std::int64_t>((1 - rate.left) * 60'000 / kAttemptsPerMinute)));
  }
  rate.left -= 1;
  return {};
}

std::optional<std::chrono::nanoseconds> LoginThrottle::wait_of(const Key& key, MonoTime now) {
  const auto it = failures_.find(key);
  if (it == failures_.end()) return std::nullopt;
  if (now - it->second.last > kForgetAfter) {
    failures_.erase(it);
    return std::nullopt;
  }
  if (now >= it->second.not_before) return std::nullopt;
  return it->second.not_before - now;
}

void LoginThrottle::count_failure(const Key& key, Delays delays, MonoTime now) {
  Failures& entry = failures_[key];
  entry.last = now;
  if (++entry.count < delays.free) return;
  const int doublings = std::min(entry.count - delays.free, 20);
  entry.not_before = now + std::min<std::chrono::seconds>(kFirstDelay * (std::int64_t{1} << doublings), delays.longest);
}

/// One failure less; `now`: another may be tried at once.
void LoginThrottle::take_back(const Key& key, std::optional<MonoTime> now) {
  const auto it = failures_.find(key);
  if (it == failures_.end()) return;
  if (--it->second.count <= 0) {
    failures_.erase(it);
  } else if (now) {
    it->second.not_before = *now;
  }
}

void LoginThrottle::succeeded(const ccm::LoginAttempt& attempt) {
  const std::lock_guard lock(mutex_);
  failures_.erase({attempt.account, source(attempt)});
  // Others' failures stay: whoever logs in each day would give a guesser twenty free ones each day.
  if (!attempt.is_known()) take_back({attempt.account, ""}, std::nullopt);
}

void LoginThrottle::withdrawn(const ccm::LoginAttempt& attempt, MonoTime now) {
  const std::lock_guard lock(mutex_);
  take_back({attempt.account, source(attempt)}, now);
  if (!attempt.is_known()) take_back({attempt.account, ""}, now);
}

bool LoginThrottle::is_noteworthy(const ccm::LoginAttempt& attempt, MonoTime now) {
  const std::lock_guard lock(mutex_);
  if (now - notes_since_ > kWindow) {
    notes_since_ = now;
    notes_ = 0;
  }
  const auto it = rates_.find(source(attempt));
  if (notes_ >= kNotesPerMinute || it == rates_.end()) return false;
  if (it->second.noted && now - *it->second.noted <= kWindow) return false;
  it->second.noted = now;
  ++notes_;
  return true;
}

/// Looks through the tables at most once a second, and only where one is full.
void LoginThrottle::make_room(MonoTime now) {
  if ((rates_.size() < kMaxEntries && failures_.size() < kMaxEntries) || now - last_sweep_ < kSweepPause) return;
  last_sweep_ = now;
  std::erase_if(rates_, [&](const auto& entry) { return now - entry.second.at > kWindow; });
  std::erase_if(failures_, [&](const auto& entry) { return now - entry.second.last > kForgetAfter; });
  while (failures_.size() >= kMaxEntries) {
    failures_.erase(std::min_element(failures_.begin(), failures_.end(),
                                     [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
  }
}

}  // namespace gridtorrent::tracker::authority
