#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "client/files/file_system.h"
#include "client/files/file_work.h"
#include "common/hex.h"
#include "common/ids.h"
#include "common/rng.h"
#include "metainfo/merkle.h"

namespace gridtorrent::client::files {

/// A temporary folder, removed with all in it.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = testing::TempDir() + "gt-files-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
    ::chmod(path_.c_str(), 0755);
  }
  ~TempFolder() {
    const SplitPath split = split_path(path_);
    const UniqueFd parent(::open(split.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    EXPECT_TRUE(remove_tree(parent.get(), split.name, path_));
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& below) const { return path_ + "/" + below; }

 private:
  std::string path_;
};

inline void make_folder(const std::string& path, mode_t mode = 0755) {
  ASSERT_EQ(::mkdir(path.c_str(), mode), 0) << path;
  ASSERT_EQ(::chmod(path.c_str(), mode), 0);
}

inline void write_file(const std::string& path, std::string_view content, mode_t mode = 0644) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  ASSERT_TRUE(fd) << path;
  ASSERT_EQ(::write(fd.get(), content.data(), content.size()), static_cast<ssize_t>(content.size()));
  ASSERT_EQ(::fchmod(fd.get(), mode), 0);
}

inline std::string read_file(const std::string& path) {
  std::string content;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(fd) << path;
  std::vector<char> buffer(1 << 20);
  for (ssize_t got = 0; (got = ::read(fd.get(), buffer.data(), buffer.size())) > 0;)
    content.append(buffer.data(), static_cast<std::size_t>(got));
  return content;
}

inline void set_mtime(const std::string& path, std::int64_t ns) {
  const timespec times[2] = {{0, UTIME_OMIT}, to_timespec(ns)};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0) << path;
}

inline bool exists(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

inline mode_t mode_of(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

inline std::string random_bytes(SeededRng& rng, std::size_t size) {
  std::string bytes(size, '\0');
  rng.fill({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
  return bytes;
}

/// A seed from --gtest_random_seed, or a fixed one.
inline std::uint64_t test_seed() {
  const int given = testing::UnitTest::GetInstance()->random_seed();
  return given != 0 ? static_cast<std::uint64_t>(given) : 20261120;
}

inline crypto::Sha256Digest reference_root(std::string_view content) {
  std::vector<crypto::Sha256Digest> leaves;
  for (std::size_t at = 0; at < content.size(); at += metainfo::kBlockBytes)
    leaves.push_back(crypto::sha256(as_bytes(content.substr(at, metainfo::kBlockBytes))));
  return leaves.empty() ? crypto::Sha256Digest{} : metainfo::merkle_root(leaves);
}

/// Piece hashes of all files one after the other, by the plainest way there is.
inline std::string reference_pieces(std::string_view stream, std::size_t piece_bytes) {
  std::string hashes;
  for (std::size_t at = 0; at < stream.size(); at += piece_bytes)
    hashes += as_chars(crypto::sha1(as_bytes(stream.substr(at, piece_bytes))));
  return hashes;
}

inline TransferId transfer_id(std::uint64_t seed = 1) {
  SeededRng rng(seed);
  return TransferId::make({1'700'000'000'000}, rng);
}

/// Acts as another user for the lifetime of the object, where the test runs as root.
class AsNobody {
 public:
  AsNobody() : was_root_(::geteuid() == 0) {
    if (was_root_) {
      EXPECT_EQ(::seteuid(65534), 0);
    }
  }
  ~AsNobody() {
    if (was_root_) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  const bool was_root_;
};

/// Names that other tools stumble over.
inline std::vector<std::string> odd_names() {
  return {"with space",
          "gr\xc3\xbc\xc3\x9f",
          "invalid-\xff\xfe",
          "new\nline",
          ".hidden",
          "...",
          "back\\slash",
          "Case",
          "case",
          "-dash",
          "tab\there",
          "*",
          "\xe2\x80\xae"
          "bidi",
          std::string(255, 'n')};
}

inline Result<HashedTree> hash(FileWork& work, const std::string& path, bool strict = false,
                               const std::string& checkpoint = {}, const ProgressFn& progress = {},
                               std::stop_token stop = {}) {
  return work.hash_tree({.path = path, .strict = strict, .checkpoint_file = checkpoint}, progress, std::move(stop));
}

template <class T>
void expect_error(const Result<T>& result, Code code, std::string_view part) {
  ASSERT_FALSE(result) << "expected " << code_name(code) << " with " << part;
  EXPECT_EQ(result.error().code, code) << result.error().message;
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

}  // namespace gridtorrent::client::files
