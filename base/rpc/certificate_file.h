#pragma once

#include <sys/stat.h>

#include <memory>
#include <mutex>
#include <string>

#include "base/crypto/tls_server.h"
#include "common/result.h"

namespace gridtorrent::rpc {

/// The server's key and chain in one file, which others replace by rename(2). Thread-safe (private mutex).
class CertificateFile {
 public:
  /// kNotFound, kDenied where others may read it, kCorrupt, kDisk.
  static Result<std::unique_ptr<CertificateFile>> open(const std::string& path);

  std::shared_ptr<const crypto::TlsServerContext> current() const;
  /// Reads the file if it is another than before. A file that is not good is logged once, and the certificate stays.
  void reload_if_changed();

 private:
  explicit CertificateFile(std::string path) : path_(std::move(path)) {}
  Status load();

  const std::string path_;
  std::mutex loading_;
  struct stat seen_{};  ///< under loading_
  mutable std::mutex mutex_;
  std::shared_ptr<const crypto::TlsServerContext> context_;
};

}  // namespace gridtorrent::rpc
