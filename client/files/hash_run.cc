#include "client/files/hash_run.h"

#include <algorithm>
#include <thread>

namespace gridtorrent::client::files {

namespace {
constexpr std::uint64_t kSmallestBatch = std::uint64_t{4} << 20;
// Multi-buffer SHA-1 hashes up to this many pieces side by side.
constexpr std::uint64_t kLanes = 16;
}  // namespace

HashPlan plan_hash(std::uint64_t total_bytes, std::uint32_t piece_bytes, unsigned threads, std::uint64_t memory_bytes) {
  const std::uint64_t unit = piece_bytes == 0 ? kSmallestBatch : piece_bytes;
  // A thread needs a whole piece in memory, so large pieces mean fewer threads.
  const std::uint64_t most = std::max<std::uint64_t>(1, memory_bytes / unit);
  HashPlan plan;
  plan.threads = static_cast<unsigned>(std::clamp<std::uint64_t>(threads, 1, most));
  const std::uint64_t wanted = std::max(kSmallestBatch, piece_bytes == 0 ? 0 : unit * kLanes);
  const std::uint64_t affordable = std::min(wanted, memory_bytes / plan.threads);
  plan.batch_bytes = std::max<std::uint64_t>(1, affordable / unit) * unit;
  // Small data: rather more threads with fewer pieces each than one thread with all.
  while (plan.batch_bytes > unit && plan.batch_bytes % (2 * unit) == 0 &&
         total_bytes / plan.batch_bytes < 2 * plan.threads)
    plan.batch_bytes /= 2;
  const std::uint64_t batches = total_bytes == 0 ? 1 : (total_bytes - 1) / plan.batch_bytes + 1;
  plan.threads = static_cast<unsigned>(std::min<std::uint64_t>(plan.threads, batches));
  return plan;
}

HashRun::HashRun(BatchContext context, HashPlan plan, HashSink sink, Checkpoint* checkpoint, ProgressMeter& meter,
                 std::vector<Range> parts)
    : context_(std::move(context)),
      plan_(plan),
      sink_(std::move(sink)),
      checkpoint_(checkpoint),
      meter_(meter),
      parts_(std::move(parts)) {
  context_.batch_bytes = plan_.batch_bytes;
}

HashRun::HashRun(BatchContext context, HashPlan plan, HashSink sink, Checkpoint* checkpoint, ProgressMeter& meter)
    : HashRun(context, plan, std::move(sink), checkpoint, meter, {Range{0, context.layout.total_bytes()}}) {}

Status HashRun::run() {
  if (context_.layout.total_bytes() == 0) return {};
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < plan_.threads; ++i)
      threads.emplace_back([this] {
        name_thread("gt-hash");
        work();
      });
  }
  const std::lock_guard lock(mutex_);
  return outcome_;
}

void HashRun::work() {
  BatchWorker worker(context_);
  while (!failed_) {
    const std::optional<Range> batch = next_batch();
    if (!batch) return;
    if (Status status = one_batch(worker, batch->begin, batch->end); !status) {
      const std::lock_guard lock(mutex_);
      if (outcome_) outcome_ = status;
      failed_ = true;
    }
  }
}

std::optional<Range> HashRun::next_batch() {
  const std::lock_guard lock(mutex_);
  while (part_ < parts_.size() && taken_ >= parts_[part_].size()) {
    ++part_;
    taken_ = 0;
  }
  if (part_ == parts_.size()) return std::nullopt;
  const std::uint64_t begin = parts_[part_].begin + taken_;
  const std::uint64_t end = std::min(begin + plan_.batch_bytes, parts_[part_].end);
  taken_ += end - begin;
  return Range{begin, end};
}

Status HashRun::one_batch(BatchWorker& worker, std::uint64_t begin, std::uint64_t end) {
  if (context_.stop.stop_requested()) return Error{Code::kCancelled, "stopped on request"};
  if (checkpoint_ != nullptr) {
    if (const auto known = checkpoint_->find(context_, begin, end)) {
      resumed_bytes_ += end - begin;
      deliver(begin, *known);
      meter_.add(end - begin);
      return {};
    }
  }
  GT_ASSIGN(const BatchOutput output, worker.run(begin, end));
  if (checkpoint_ != nullptr) note(begin, end, output);
  deliver(begin, output);
  meter_.add(end - begin);
  return {};
}

void HashRun::note(std::uint64_t begin, std::uint64_t end, const BatchOutput& output) {
  const Status noted = checkpoint_->append(Checkpoint::key(context_, begin, end), output);
  const std::lock_guard lock(mutex_);
  if (!noted && checkpoint_status_) checkpoint_status_ = noted;
}

void HashRun::deliver(std::uint64_t begin, const BatchOutput& output) {
  const std::lock_guard lock(mutex_);
  if (sink_.on_pieces && !output.pieces.empty()) sink_.on_pieces(begin / context_.piece_bytes, output.pieces);
  for (const SlotFailure& failure : output.failures) sink_.on_failure(failure.slot, failure.error);
  for (const LeafRun& run : output.runs) {
    const TreeShape shape(context_.layout.slots()[run.slot].size);
    if (shape.subtrees() == 1 && run.count == shape.leaves()) {
      sink_.on_root(run.slot, run.nodes.front());
      continue;
    }
    const auto tree = trees_.try_emplace(run.slot, shape).first;
    tree->second.add(run.first_leaf, run.count, run.nodes);
    if (const auto root = tree->second.root()) {
      sink_.on_root(run.slot, *root);
      trees_.erase(tree);
    }
  }
}

}  // namespace gridtorrent::client::files
