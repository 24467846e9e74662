#include "base/rpc/certificate_file.h"

#include "base/crypto/keys.h"
#include "base/logging/logging.h"
#include "common/text.h"

namespace gridtorrent::rpc {
namespace {

constexpr std::string_view kHttp2 = "h2";  // RFC 9113, 3.2

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

Result<std::unique_ptr<CertificateFile>> CertificateFile::open(const std::string& path) {
  std::unique_ptr<CertificateFile> file(new CertificateFile(path));
  ::stat(path.c_str(), &file->seen_);
  GT_TRY(file->load());
  return file;
}

std::shared_ptr<const crypto::TlsServerContext> CertificateFile::current() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

void CertificateFile::reload_if_changed() {
  const std::lock_guard one_at_a_time(loading_);
  struct stat now{};
  if (::stat(path_.c_str(), &now) != 0 || same_file(now, seen_)) return;
  // Before it is read: what changes meanwhile is another file again.
  seen_ = now;
  if (const Status loaded = load(); !loaded) {
    logging::error("the server's new certificate is not taken up", {{"reason", loaded.error().message}});
  } else {
    logging::info("new connections get the new certificate");
  }
}

Status CertificateFile::load() {
  GT_ASSIGN(const std::string pem, crypto::read_secret_file(path_));
  auto made = crypto::TlsServerContext::from_pem(pem, kHttp2);
  if (!made) return made.error().with_context(escape_for_display(path_));
  const std::lock_guard lock(mutex_);
  context_ = std::move(*made);
  return {};
}

}  // namespace gridtorrent::rpc
