#include "client/files/checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/hex.h"

namespace gridtorrent::client::files {

namespace {

constexpr std::string_view kMagic = "gridtorrent checkpoint 1\n";
constexpr std::uint32_t kMaxRecordBytes = std::uint32_t{256} << 20;
constexpr std::size_t kChecksumBytes = 8;
constexpr std::size_t kHeadBytes = 16 + 4;

void append_u64(std::string& out, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(value >> shift & 0xFF);
}

template <std::size_t N>
void append_digest(std::string& out, const std::array<std::uint8_t, N>& digest) {
  out.append(reinterpret_cast<const char*>(digest.data()), N);
}

bool read_at(int fd, char* to, std::size_t size, std::uint64_t offset) {
  while (size > 0) {
    const ssize_t got = ::pread(fd, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

Status write_at(int fd, std::string_view data, std::uint64_t offset, const std::string& path) {
  while (!data.empty()) {
    const ssize_t put = ::pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_error(errno, path, "cannot be written");
    data.remove_prefix(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

std::string checksum(std::string_view record) {
  const crypto::Sha256Digest digest = crypto::sha256(as_bytes(record));
  return std::string(reinterpret_cast<const char*>(digest.data()), kChecksumBytes);
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> Checkpoint::open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return errno_error(errno, path, "cannot be opened to note progress");
  std::unique_ptr<Checkpoint> checkpoint(new Checkpoint(path, std::move(fd)));
  GT_TRY(checkpoint->load());
  return checkpoint;
}

Status Checkpoint::load() {
  std::string magic(kMagic.size(), '\0');
  if (!read_at(fd_.get(), magic.data(), magic.size(), 0) || magic != kMagic) {
    if (::ftruncate(fd_.get(), 0) != 0) return errno_error(errno, path_, "cannot be written");
    GT_TRY(write_at(fd_.get(), kMagic, 0, path_));
    end_ = kMagic.size();
    return {};
  }
  end_ = kMagic.size();
  std::string record;
  while (true) {
    record.resize(kHeadBytes);
    if (!read_at(fd_.get(), record.data(), kHeadBytes, end_)) break;
    std::uint32_t length = 0;
    std::memcpy(&length, record.data() + 16, sizeof length);
    if (length > kMaxRecordBytes) break;
    record.resize(kHeadBytes + length + kChecksumBytes);
    if (!read_at(fd_.get(), record.data() + kHeadBytes, length + kChecksumBytes, end_ + kHeadBytes)) break;
    const std::string_view body = std::string_view(record).substr(0, kHeadBytes + length);
    if (record.substr(body.size()) != checksum(body)) break;
    Key key;
    std::memcpy(key.data(), record.data(), key.size());
    records_[key] = {end_ + kHeadBytes, length};
    end_ += record.size();
  }
  if (::ftruncate(fd_.get(), static_cast<off_t>(end_)) != 0) return errno_error(errno, path_, "cannot be written");
  return {};
}

Checkpoint::Key Checkpoint::key(const BatchContext& context, std::uint64_t begin, std::uint64_t end) {
  std::string text("batch");
  append_u64(text, context.piece_bytes);
  append_u64(text, begin % context.piece_bytes);
  append_u64(text, end - begin);
  for (const Extent& extent : context.layout.extents(begin, end)) {
    const FileIdentity& identity = context.identities[extent.slot];
    const std::string path =
        metainfo::full_path(context.manifest, context.manifest.entries[context.layout.slots()[extent.slot].entry]);
    append_u64(text, path.size());
    text += path;
    append_u64(text, identity.inode);
    append_u64(text, identity.size);
    append_u64(text, static_cast<std::uint64_t>(identity.mtime_ns));
    append_u64(text, extent.offset);
    append_u64(text, extent.length);
  }
  const crypto::Sha256Digest digest = crypto::sha256(as_bytes(text));
  Key key;
  std::memcpy(key.data(), digest.data(), key.size());
  return key;
}

std::optional<BatchOutput> Checkpoint::find(const BatchContext& context, std::uint64_t begin, std::uint64_t end) {
  Place place;
  {
    const std::lock_guard lock(mutex_);
    const auto found = records_.find(key(context, begin, end));
    if (found == records_.end()) return std::nullopt;
    place = found->second;
  }
  std::string payload(place.length, '\0');
  if (!read_at(fd_.get(), payload.data(), payload.size(), place.offset)) return std::nullopt;
  BatchOutput output;
  output.runs = leaf_runs(context.layout, begin, end);
  output.pieces.resize((end - begin + context.piece_bytes - 1) / context.piece_bytes);
  std::uint64_t expected = output.pieces.size() * sizeof(crypto::Sha1Digest);
  for (LeafRun& run : output.runs) {
    run.nodes.resize(TreeShape(context.layout.slots()[run.slot].size).reduced_count(run.first_leaf, run.count));
    expected += run.nodes.size() * sizeof(crypto::Sha256Digest);
  }
  if (expected != payload.size()) return std::nullopt;
  const char* at = payload.data();
  for (crypto::Sha1Digest& piece : output.pieces) {
    std::memcpy(piece.data(), at, piece.size());
    at += piece.size();
  }
  for (LeafRun& run : output.runs)
    for (crypto::Sha256Digest& node : run.nodes) {
      std::memcpy(node.data(), at, node.size());
      at += node.size();
    }
  return output;
}

Status Checkpoint::append(const Key& key, const BatchOutput& output) {
  std::string payload;
  for (const crypto::Sha1Digest& piece : output.pieces) append_digest(payload, piece);
  for (const LeafRun& run : output.runs)
    for (const crypto::Sha256Digest& node : run.nodes) append_digest(payload, node);
  const auto length = static_cast<std::uint32_t>(payload.size());
  if (payload.size() > kMaxRecordBytes) return {};
  std::string record;
  append_digest(record, key);
  record.append(reinterpret_cast<const char*>(&length), sizeof length);
  record += payload;
  record += checksum(record);
  const std::lock_guard lock(mutex_);
  GT_TRY(write_at(fd_.get(), record, end_, path_));
  records_[key] = {end_ + kHeadBytes, length};
  end_ += record.size();
  return {};
}

void Checkpoint::remove() {
  ::unlink(path_.c_str());
}

}  // namespace gridtorrent::client::files
