#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/unique_fd.h"

namespace gridtorrent::client::engine {

/// Which pieces are verified and synced: all that is worth keeping of a torrent (names, wanted files and places are the
/// node's to keep). Written as "gtresume1\n", the key, the number of pieces, one bit a piece, and a CRC-32 over it all,
/// numbers in big-endian order.
struct ResumeData {
  std::array<std::uint8_t, 20> pieces_key{};  ///< SHA-1 over the piece hashes: the same in every edition of a segment
  std::vector<bool> have;
  friend bool operator==(const ResumeData&, const ResumeData&) = default;
};
std::string encode_resume(const ResumeData& data);
/// Refuses (kCorrupt) what `encode_resume` did not write.
Result<ResumeData> decode_resume(std::string_view bytes);

/// Forces the data of these files, which lie below `root`, to the disk, and their folders' entries; many files by one
/// sync of their file system, through `disk`: a folder of it that was opened before anything was written. Such a sync
/// tells each descriptor once of what failed since it was opened, and one that is opened later of nothing that another
/// was told of (Linux 5.8, errseq). Files that do not exist are an error.
Status sync_files(const UniqueFd& disk, const std::string& root, const std::vector<std::string>& absolute_paths);

}  // namespace gridtorrent::client::engine
