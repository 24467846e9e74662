#include "client/engine/piece_hasher.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "base/crypto/digest.h"

namespace gridtorrent::client::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// As many as the widest vector unit hashes side by side.
constexpr std::size_t kMostPieces = 16;
constexpr std::size_t kMostBytes = std::size_t{32} << 20;
/// After a pause like this nothing more is on its way: the end of a transfer, or a slow one, is not held up.
constexpr milliseconds kPause{8}, kLongestWait{30};

lt::sha1_hash to_libtorrent(const crypto::Sha1Digest& digest) {
  lt::sha1_hash hash;
  std::ranges::transform(digest, hash.begin(), [](std::uint8_t byte) { return static_cast<char>(byte); });
  return hash;
}

}  // namespace

bool PieceHasher::worthwhile() {
  return crypto::ManyHasher().sha1_side_by_side();
}

PieceHasher::PieceHasher(lt::io_context& network)
    : network_(network), thread_([this](const std::stop_token& stop) { run(stop); }) {}

PieceHasher::~PieceHasher() = default;

void PieceHasher::hash(PieceBuffer piece, Done done) {
  const std::lock_guard lock(mutex_);
  queue_.push_back({std::move(piece), std::move(done), lt::make_work_guard(network_)});
  changed_.notify_one();
}

bool PieceHasher::batch_is_full() const {
  std::size_t bytes = 0;
  for (const Job& job : queue_) bytes += job.piece.bytes().size();
  return queue_.size() >= kMostPieces || bytes >= kMostBytes;
}

std::vector<PieceHasher::Job> PieceHasher::next_batch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [this] { return !queue_.empty(); })) return {};
  const auto deadline = steady_clock::now() + kLongestWait;
  while (!batch_is_full() && !stop.stop_requested() && steady_clock::now() < deadline) {
    const std::size_t before = queue_.size();
    if (!changed_.wait_until(lock, stop, std::min(deadline, steady_clock::now() + kPause),
                             [&] { return queue_.size() > before; })) {
      break;
    }
  }
  std::vector<Job> batch;
  batch.reserve(kMostPieces);
  for (; !queue_.empty() && batch.size() < kMostPieces; queue_.pop_front()) batch.push_back(std::move(queue_.front()));
  return batch;
}

void PieceHasher::run(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "gt-pieces");
  crypto::ManyHasher hasher;
  while (!stop.stop_requested()) {
    std::vector<Job> batch = next_batch(stop);
    if (batch.empty()) continue;
    std::vector<std::span<const std::uint8_t>> pieces;
    for (const Job& job : batch) pieces.push_back(job.piece.bytes());
    std::vector<crypto::Sha1Digest> digests(pieces.size());
    hasher.sha1(pieces, digests);
    lt::post(network_, [jobs = std::move(batch), digests = std::move(digests)]() mutable {
      for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].done(std::move(jobs[i].piece), to_libtorrent(digests[i]));
    });
  }
}

}  // namespace gridtorrent::client::engine
