#include "client/engine/resume.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cerrno>
#include <set>

#include "common/hex.h"
#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::client::engine {
namespace {

constexpr std::string_view kMagic = "gtresume1\n";
constexpr std::size_t kHeaderBytes = kMagic.size() + 20 + 4, kCrcBytes = 4;

void put_u32(std::string& out, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>((value >> shift) & 0xFF);
}
std::uint32_t get_u32(std::string_view in) {
  std::uint32_t value = 0;
  for (const char c : in.substr(0, 4)) value = (value << 8) | static_cast<std::uint8_t>(c);
  return value;
}
/// A sync a file costs some milliseconds; past this many, one for the whole file system is quicker.
constexpr std::size_t kSyncOneByOne = 32;

std::uint32_t crc_of(std::string_view bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

/// Where nothing could be opened for want of descriptors or memory, nothing is known to be lost.
Error sync_error(const std::string& what, int error_number) {
  const bool for_want = error_number == EMFILE || error_number == ENFILE || error_number == ENOMEM;
  return {for_want ? Code::kExhausted : Code::kDisk, what + ": " + errno_text(error_number)};
}

Status sync_path(const std::string& path, int flags) {
  const UniqueFd fd(::open(path.c_str(), flags | O_RDONLY | O_CLOEXEC));
  if (!fd || (flags & O_DIRECTORY ? ::fsync(fd.get()) : ::fdatasync(fd.get())) != 0) {
    return sync_error("cannot sync " + escape_for_display(path), errno);
  }
  return {};
}

}  // namespace

std::string encode_resume(const ResumeData& data) {
  std::string out(kMagic);
  out += as_chars(data.pieces_key);
  put_u32(out, static_cast<std::uint32_t>(data.have.size()));
  std::string bits((data.have.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < data.have.size(); ++i) {
    if (data.have[i]) bits[i / 8] = static_cast<char>(static_cast<std::uint8_t>(bits[i / 8]) | (0x80U >> (i % 8)));
  }
  out += bits;
  put_u32(out, crc_of(out));
  return out;
}

Result<ResumeData> decode_resume(std::string_view bytes) {
  const Error damaged{Code::kCorrupt, "the resume data is damaged; what is on disk has to be checked again"};
  if (bytes.size() < kHeaderBytes + kCrcBytes || !bytes.starts_with(kMagic)) return damaged;
  const std::string_view body = bytes.substr(0, bytes.size() - kCrcBytes);
  if (crc_of(body) != get_u32(bytes.substr(body.size()))) return damaged;
  ResumeData data;
  std::ranges::copy(as_bytes(body.substr(kMagic.size(), 20)), data.pieces_key.begin());
  const std::uint64_t pieces = get_u32(body.substr(kMagic.size() + 20));
  const std::string_view bits = body.substr(kHeaderBytes);
  if (bits.size() != (pieces + 7) / 8) return damaged;
  data.have.resize(pieces);
  for (std::size_t i = 0; i < pieces; ++i) {
    data.have[i] = (static_cast<std::uint8_t>(bits[i / 8]) & (0x80U >> (i % 8))) != 0;
  }
  return data;
}

Status sync_files(const UniqueFd& disk, const std::string& root, const std::vector<std::string>& absolute_paths) {
  if (absolute_paths.size() > kSyncOneByOne) {
    if (disk && ::syncfs(disk.get()) == 0) return {};
    return sync_error("cannot sync the file system of " + escape_for_display(root), errno);
  }
  std::set<std::string> folders;
  for (const auto& path : absolute_paths) {
    if (const Status synced = sync_path(path, 0); !synced) {
      ::syncfs(disk.get());  // it would tell of the same error, once more
      return synced;
    }
    folders.insert(path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)));
  }
  for (const auto& folder : folders) GT_TRY(sync_path(folder, O_DIRECTORY));
  return {};
}

}  // namespace gridtorrent::client::engine
