#include "base/net/connection_limits.h"

#include <utility>

namespace gridtorrent::net {

ConnectionLimits::Place::Place(Place&& other) noexcept
    : limits_(std::exchange(other.limits_, nullptr)), id_(other.id_) {}

ConnectionLimits::Place& ConnectionLimits::Place::operator=(Place&& other) noexcept {
  std::swap(limits_, other.limits_);
  std::swap(id_, other.id_);
  return *this;
}

ConnectionLimits::Place::~Place() {
  if (limits_ == nullptr) return;
  const std::lock_guard lock(limits_->mutex_);
  limits_->remove(id_);
}

void ConnectionLimits::Place::wait(std::function<void()> end) {
  const std::lock_guard lock(limits_->mutex_);
  const auto found = limits_->connections_.find(id_);
  if (found == limits_->connections_.end()) return;
  found->second.end = std::move(end);
  limits_->set_waiting(id_, true);
}

bool ConnectionLimits::Place::stay() {
  const std::lock_guard lock(limits_->mutex_);
  const auto found = limits_->connections_.find(id_);
  if (found == limits_->connections_.end()) return false;
  limits_->set_waiting(id_, false);
  found->second.end = nullptr;
  return true;
}

Result<ConnectionLimits::Place> ConnectionLimits::take(const std::string& bucket) {
  std::function<void()> end;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_address_.find(bucket);
    const std::size_t connections = found == by_address_.end() ? 0 : found->second.connections;
    if (connections >= limits_.by_address) return Error{Code::kExhausted, "address"};
    if (connections_.size() >= limits_.in_all) {
      end = end_for(connections);
      if (!end) return Error{Code::kExhausted, "all"};
    }
    id = ++last_id_;
    connections_[id] = {bucket, nullptr};
    ++by_address_[bucket].connections;
  }
  if (end) end();
  return Place(this, id);
}

std::size_t ConnectionLimits::taken() const {
  const std::lock_guard lock(mutex_);
  return connections_.size();
}

void ConnectionLimits::set_waiting(std::uint64_t id, bool waiting) {
  const std::string& bucket = connections_.at(id).bucket;
  std::set<std::uint64_t>& of_address = by_address_.at(bucket).waiting;
  by_waiting_.erase({of_address.size(), bucket});
  if (waiting) {
    of_address.insert(id);
  } else {
    of_address.erase(id);
  }
  if (!of_address.empty()) by_waiting_.insert({of_address.size(), bucket});
}

/// Takes the place of the connection that began to wait last at the address where most wait, if one of an address with
/// so many connections has fewer even with it. Its `end`; nothing: there is none.
std::function<void()> ConnectionLimits::end_for(std::size_t connections) {
  if (by_waiting_.empty()) return nullptr;
  const auto& [most, bucket] = *by_waiting_.rbegin();
  if (most < connections + 2) return nullptr;
  const std::uint64_t id = *by_address_.at(bucket).waiting.rbegin();
  std::function<void()> end = std::move(connections_.at(id).end);
  remove(id);
  return end;
}

void ConnectionLimits::remove(std::uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  set_waiting(id, false);
  const auto address = by_address_.find(found->second.bucket);
  if (--address->second.connections == 0) by_address_.erase(address);
  connections_.erase(found);
}

}  // namespace gridtorrent::net
