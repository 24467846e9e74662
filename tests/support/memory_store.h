#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "ccm/domain/ports.h"
#include "common/rng.h"
#include "tracker/core/ports.h"

namespace gridtorrent::testing_support {

struct MemoryState;

/// The server's store in memory, for tests of the use cases: passes the same contract suite as the real one. An error
/// of a write's work puts everything back. Thread-safe (one mutex around each transaction).
class MemoryStore final : public ccm::Store, public tracker::Store {
 public:
  MemoryStore();
  ~MemoryStore() override;
  Status write(const std::function<Status(ccm::Tx&)>& work) override;
  Status read(const std::function<Status(ccm::Tx&)>& work) override;
  Status write(const std::function<Status(tracker::Tx&)>& work) override;
  Status read(const std::function<Status(tracker::Tx&)>& work) override;

 private:
  std::mutex mutex_;
  SeededRng rng_{7};
  std::unique_ptr<MemoryState> state_;
};

/// Documents in memory.
class MemoryFiles final : public ccm::MetadataFiles {
 public:
  Status put(const std::string& sha256_hex, std::string_view bytes) override {
    if (before_put) std::exchange(before_put, nullptr)();
    if (full) return Error{Code::kDisk, "the disk is full"};
    files[sha256_hex] = std::string(bytes);
    return {};
  }
  Result<std::uint64_t> size(const std::string& sha256_hex) override { return files.at(sha256_hex).size(); }
  Result<std::string> read(const std::string& sha256_hex, std::uint64_t offset, std::size_t max_bytes) override {
    return files.at(sha256_hex).substr(static_cast<std::size_t>(offset), max_bytes);
  }
  std::map<std::string, std::string> files;
  bool full = false;
  std::function<void()> before_put;  ///< called once, as somebody else who calls meanwhile
};

}  // namespace gridtorrent::testing_support
