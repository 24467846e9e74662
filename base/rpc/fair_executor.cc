#include "base/rpc/fair_executor.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace gridtorrent::rpc {

namespace {

// A scan takes the CPU that nobody else asks for. 10 is what the node's background threads have, too: a tenth of the
// share of a thread at 0, so that a scan still goes on on a busy machine.
constexpr int kNice = 10;

}  // namespace

FairExecutor::FairExecutor(const std::string& name, std::size_t threads, Queue::Limits limits) : queue_(limits) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { work(); });
    pthread_setname_np(threads_.back().native_handle(), (name.substr(0, 12) + "-" + std::to_string(i % 100)).c_str());
  }
}

FairExecutor::~FairExecutor() {
  stop();
}

FairExecutor::Queue::Put FairExecutor::post(const std::string& key, std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return Queue::Put::kIsFull;
    if (const auto put = queue_.put(key, std::move(job)); put != Queue::Put::kTaken) return put;
  }
  ready_.notify_one();
  return Queue::Put::kTaken;
}

void FairExecutor::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  threads_.clear();
}

std::size_t FairExecutor::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.waiting();
}

void FairExecutor::work() {
  // Linux: of this thread alone. Without it scans are as quick as the rest; that is no reason to fail.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
  std::unique_lock lock(mutex_);
  for (;;) {
    auto turn = queue_.take();
    if (!turn) {
      if (stopping_ && queue_.waiting() == 0) return;
      ready_.wait(lock);
      continue;
    }
    lock.unlock();
    turn->job();
    turn->job = nullptr;  // what it holds may run code of its own on destruction: not under the lock
    lock.lock();
    queue_.done(turn->key);
    // Others of this key, or the end of a stop, may have waited for this.
    ready_.notify_all();
  }
}

}  // namespace gridtorrent::rpc
