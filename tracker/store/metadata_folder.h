#pragma once

#include <memory>
#include <string>

#include "ccm/domain/ports.h"

namespace gridtorrent::tracker::store {

/// Documents as files "<data dir>/metadata/<sha256>", written beside, synced, renamed, folder synced. Thread-safe.
class MetadataFolder final : public ccm::MetadataFiles {
 public:
  /// For the server: makes the folder (0700), and removes what an interrupted put() left. Errors: kDisk.
  static Result<std::unique_ptr<MetadataFolder>> open(const std::string& data_dir);
  /// For subcommands that may run beside a server: makes the folder, touches nothing in it.
  static Result<std::unique_ptr<MetadataFolder>> attach(const std::string& data_dir);

  /// How many documents lie there; 0 where there is no folder. Changes nothing. Errors: kDisk.
  static Result<std::size_t> count(const std::string& data_dir);

  Status put(const std::string& sha256_hex, std::string_view bytes) override;
  Result<std::uint64_t> size(const std::string& sha256_hex) override;
  Result<std::string> read(const std::string& sha256_hex, std::uint64_t offset, std::size_t max_bytes) override;

 private:
  explicit MetadataFolder(std::string folder) : folder_(std::move(folder)) {}
  const std::string folder_;
};

}  // namespace gridtorrent::tracker::store
