#include "client/engine/disk_waits.h"

#include <utility>

namespace gridtorrent::client::engine {
namespace {

/// 4 MiB of blocks of 16 KiB; reading stops at 12 to 24 MiB (settings.cc).
constexpr int kManyWrites = 256;

}  // namespace

class DiskWaits::Wait final : public lt::disk_observer, public std::enable_shared_from_this<Wait> {
 public:
  explicit Wait(DiskWaits& waits) : waits_(waits) {}
  void on_disk() override {
    const auto waited = connection.lock();
    waits_.over(shared_from_this());
    if (waited) waited->on_disk();
  }

  std::weak_ptr<lt::disk_observer> connection;
  bool counts = false;

 private:
  DiskWaits& waits_;
};

std::shared_ptr<lt::disk_observer> DiskWaits::in_place_of(const std::shared_ptr<lt::disk_observer>& connection) {
  if (!connection) return nullptr;
  if (!next_) next_ = std::make_shared<Wait>(*this);
  next_->connection = connection;
  return next_;
}

void DiskWaits::full(int writes) {
  if (!next_ || next_->connection.expired()) return;
  next_->counts = writes >= kManyWrites;
  if (next_->counts) times_->held.begin(clock_.mono());
  waiting_.insert(std::exchange(next_, nullptr));
}

void DiskWaits::over(const std::shared_ptr<Wait>& wait) {
  if (waiting_.erase(wait) > 0 && wait->counts) times_->held.end(clock_.mono());
}

}  // namespace gridtorrent::client::engine
