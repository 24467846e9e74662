#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The laws of PCP: Yildirim, Arslan, Kim and Kosar, "Application-Level Optimization of Big Data Transfers Through
/// Pipelining, Parallelism and Concurrency", IEEE TCC 2016, equation 4 and algorithms 1 and 2. Pure; sizes in bytes.
namespace gridtorrent::client::tuning {

/// The longest queue of file commands, GridFTP's default.
inline constexpr int kMostPipelining = 20;
/// Chunks of small files, so that each concurrency of 1, 2, 4, 8, 16 and 32 has one. The paper names no number.
inline constexpr std::size_t kLeastChunks = 6;
/// More than 5 % less than before ends a search.
inline constexpr double kPcpDrop = 0.95;
/// The most parallelism and the most concurrency: the paper's runs of MC had 32 channels.
inline constexpr int kMostPcp = 32;

/// ⌈BDP / file⌉ − 1 commands beside the one under way. From 1 (also for files of a BDP and more) to `most` (also for
/// empty files).
int optimal_pipelining(double bdp, double file_bytes, int most = kMostPipelining);

/// Files that follow one another by size and are fetched with one pipelining.
struct FileChunk {
  std::size_t first = 0, last = 0;  ///< of the sorted files, both inclusive
  double bytes = 0;
  int pipelining = 1;
  friend bool operator==(const FileChunk&, const FileChunk&) = default;
};

/// Recursive chunk division (algorithm 1). `sizes` rise; no sizes, no chunks. A chunk that is not divided keeps the
/// pipelining that its parent would have had, as the paper says; what is never divided has its own.
std::vector<FileChunk> divide_recursively(std::span<const std::uint64_t> sizes, double bdp, double least_bytes,
                                          int most = kMostPipelining);

/// A chunk as a span of bytes.
struct ChunkSpan {
  double bytes = 0;
  double mean_file = 0;
  int pipelining = 1;
  friend bool operator==(const ChunkSpan&, const ChunkSpan&) = default;
};

/// What algorithm 2 does to the chunks of small files: those of less than `least_bytes` join a neighbour (and get the
/// pipelining of the larger one), then the largest is halved until there are `least_count`, as long as the halves are
/// no smaller than `least_bytes`.
std::vector<ChunkSpan> revise_chunks(const std::vector<FileChunk>& chunks, double least_bytes,
                                     std::size_t least_count = kLeastChunks);
/// One chunk of two.
ChunkSpan joined(const ChunkSpan& one, const ChunkSpan& other);
/// Chunks of equal pipelining that follow one another become one.
std::vector<ChunkSpan> join_equal(const std::vector<ChunkSpan>& chunks);

/// 1, 2, 4, …: doubles until a chunk brings more than 5 % less than the one before, or `most` is reached.
class Doubling {
 public:
  int value() const { return value_; }  ///< to be tried; once `over`, the best: the last one before the fall
  bool over() const { return over_; }
  double brought_last() const { return last_; }  ///< by the last value tried, bits a second
  double brought_before() const { return before_; }
  int tried() const { return tried_; }  ///< the last one that was measured; 0: none
  /// What a chunk with `value` brought.
  void brought(double bits_per_s, int most);

 private:
  int value_ = 1, tried_ = 0;
  bool over_ = false;
  double last_ = 0, before_ = 0;
};

}  // namespace gridtorrent::client::tuning
