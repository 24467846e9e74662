#include "client/engine/piece_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/check.h"

namespace gridtorrent::client::engine {
namespace {

constexpr std::size_t kBlock = 16 * 1024;

}  // namespace

PieceBuffer::PieceBuffer(std::unique_ptr<std::uint8_t[]> memory, std::size_t capacity, std::size_t size)
    : memory_(std::move(memory)),
      capacity_(capacity),
      size_(size),
      missing_((size + kBlock - 1) / kBlock),
      there_(missing_, false) {}

void PieceBuffer::put(std::size_t offset, std::span<const std::uint8_t> block) {
  GT_CHECK(offset % kBlock == 0 && offset < size_ && block.size() <= size_ - offset);
  std::memcpy(memory_.get() + offset, block.data(), block.size());
  // A block in parts is no block: such a piece never becomes whole.
  if (block.size() != std::min(kBlock, size_ - offset) || there_[offset / kBlock]) return;
  there_[offset / kBlock] = true;
  --missing_;
}

PieceBuffer PieceMemory::take(std::size_t size) {
  const auto fits = std::ranges::find(spare_, size, &Spare::capacity);
  if (in_use_ + size > budget_) return {};
  in_use_ += size;
  if (fits != spare_.end()) {
    spare_bytes_ -= size;
    std::swap(*fits, spare_.back());
    PieceBuffer buffer(std::move(spare_.back().memory), size, size);
    spare_.pop_back();
    return buffer;
  }
  if (in_use_ + spare_bytes_ > budget_) {
    spare_.clear();
    spare_bytes_ = 0;
  }
  return PieceBuffer(std::make_unique_for_overwrite<std::uint8_t[]>(size), size, size);
}

void PieceMemory::give_back(PieceBuffer buffer) {
  if (!buffer) return;
  in_use_ -= buffer.capacity_;
  if (in_use_ == 0) {
    spare_.clear();
    spare_bytes_ = 0;
    return;
  }
  spare_bytes_ += buffer.capacity_;
  spare_.push_back({std::move(buffer.memory_), buffer.capacity_});
}

}  // namespace gridtorrent::client::engine
