#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gridtorrent::client::engine {

/// The bytes of one piece as they come in, in blocks of 16 KiB. Not thread-safe; empty until a PieceMemory makes one.
class PieceBuffer {
 public:
  PieceBuffer() = default;
  explicit PieceBuffer(std::unique_ptr<std::uint8_t[]> memory, std::size_t capacity, std::size_t size);

  explicit operator bool() const { return memory_ != nullptr; }
  /// One block, which must lie within the piece and start at a multiple of 16 KiB; a second time replaces the first.
  void put(std::size_t offset, std::span<const std::uint8_t> block);
  /// Every block was put.
  bool whole() const { return memory_ != nullptr && missing_ == 0; }
  std::span<const std::uint8_t> bytes() const { return {memory_.get(), size_}; }

 private:
  friend class PieceMemory;
  std::unique_ptr<std::uint8_t[]> memory_;
  std::size_t capacity_ = 0, size_ = 0, missing_ = 0;
  std::vector<bool> there_;
};

/// Memory for pieces, used again (fresh pages cost as much as hashing them) and bounded. Not thread-safe.
class PieceMemory {
 public:
  explicit PieceMemory(std::size_t budget_bytes) : budget_(budget_bytes) {}

  /// An empty buffer for a piece of `size` bytes, or an empty one where the budget is used up.
  PieceBuffer take(std::size_t size);
  /// An empty one is welcome, too. When nothing is in use any more, all memory goes back to the system.
  void give_back(PieceBuffer buffer);

  std::size_t bytes_in_use() const { return in_use_; }

 private:
  struct Spare {
    std::unique_ptr<std::uint8_t[]> memory;
    std::size_t capacity;
  };
  const std::size_t budget_;
  std::size_t in_use_ = 0, spare_bytes_ = 0;
  std::vector<Spare> spare_;
};

}  // namespace gridtorrent::client::engine
