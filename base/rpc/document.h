#pragma once

#include <string>
#include <utility>

#include "base/rpc/limits.h"
#include "common/result.h"

namespace gridtorrent::rpc {

/// A document that arrives in chunks, held in memory within a shared budget, which it gives back at the end. One thread
/// at a time; the budget must outlive it.
class ReceivedDocument {
 public:
  /// `holder`: whose share of the budget it takes.
  ReceivedDocument(MemoryBudget& budget, std::string holder) : budget_(budget), holder_(std::move(holder)) {}
  ~ReceivedDocument();
  ReceivedDocument(const ReceivedDocument&) = delete;
  ReceivedDocument& operator=(const ReceivedDocument&) = delete;

  /// kBusy: uploads hold the whole budget, or the holder's have their share.
  Status append(const std::string& data);
  const std::string& bytes() const { return bytes_; }
  std::string sha256_hex() const;

 private:
  MemoryBudget& budget_;
  const std::string holder_;
  std::string bytes_;
};

}  // namespace gridtorrent::rpc
