#include "base/net/connection_limits.h"

#include <utility>

namespace gridtorrent::net {

ConnectionLimits::Place::Place(Place&& other) noexcept
    : limits_(std::exchange(other.limits_, nullptr)), bucket_(std::move(other.bucket_)) {}

ConnectionLimits::Place& ConnectionLimits::Place::operator=(Place&& other) noexcept {
  std::swap(limits_, other.limits_);
  std::swap(bucket_, other.bucket_);
  return *this;
}

ConnectionLimits::Place::~Place() {
  if (limits_ != nullptr) limits_->give_back(bucket_);
}

Result<ConnectionLimits::Place> ConnectionLimits::take(const std::string& bucket) {
  const std::lock_guard lock(mutex_);
  if (all_ >= limits_.in_all) return Error{Code::kExhausted, "all"};
  const auto [it, fresh] = by_address_.try_emplace(bucket, 0);
  if (it->second >= limits_.by_address) return Error{Code::kExhausted, "address"};
  ++it->second;
  ++all_;
  return Place(this, bucket);
}

std::size_t ConnectionLimits::taken() const {
  const std::lock_guard lock(mutex_);
  return all_;
}

void ConnectionLimits::give_back(const std::string& bucket) {
  const std::lock_guard lock(mutex_);
  const auto it = by_address_.find(bucket);
  if (--it->second == 0) by_address_.erase(it);
  --all_;
}

}  // namespace gridtorrent::net
