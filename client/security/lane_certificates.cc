#include "client/security/lane_certificates.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "base/crypto/certificate_request.h"
#include "base/crypto/certificates.h"
#include "base/crypto/keys.h"
#include "common/text.h"

namespace gridtorrent::client::security {
namespace {

constexpr std::string_view kPrefix = "lane-certificate-", kSuffix = ".pem";

std::optional<std::uint32_t> generation_of(const std::string& file_name) {
  if (!file_name.starts_with(kPrefix) || !file_name.ends_with(kSuffix)) return std::nullopt;
  const char* const first = file_name.data() + kPrefix.size();
  const char* const last = file_name.data() + file_name.size() - kSuffix.size();
  std::uint32_t generation = 0;
  if (first >= last) return std::nullopt;
  const auto [end, failed] = std::from_chars(first, last, generation);
  if (failed != std::errc() || end != last || generation == 0) return std::nullopt;
  return generation;
}

class LaneCertificates final : public LanePapers {
 public:
  LaneCertificates(std::string data_dir, crypto::EcKey key)
      : data_dir_(std::move(data_dir)), key_(std::move(key)), key_pem_(key_.private_pem()) {
    std::error_code failed;
    for (const auto& file : std::filesystem::directory_iterator(data_dir_, failed)) {
      const auto generation = generation_of(file.path().filename().native());
      if (!generation) continue;
      const auto pem = crypto::read_secret_file(file.path().native());
      if (!pem) continue;
      if (auto paper = read(*generation, *pem)) papers_[*generation] = std::move(*paper);
    }
  }

  Result<std::string> request() const override { return crypto::make_certificate_request(key_); }

  Status keep(const std::vector<IssuedCertificate>& certificates) override {
    std::map<std::uint32_t, Paper> fresh;
    for (const IssuedCertificate& one : certificates) {
      const std::string name = "the certificate of generation " + std::to_string(one.generation);
      auto paper = read(one.generation, one.certificate_pem);
      if (!paper) return paper.error().with_context(name);
      const auto is_signed = crypto::is_signed_by(one.certificate_pem, one.ca_pem);
      if (!is_signed) return is_signed.error().with_context(name);
      if (!*is_signed) return Error{Code::kCorrupt, name + " was not signed by the data CA that it came with"};
      fresh[one.generation] = std::move(*paper);
    }
    const std::lock_guard lock(mutex_);
    for (const auto& [generation, paper] : fresh) {
      GT_TRY(crypto::write_secret_file(path_of(generation), paper.identity.certificate_pem));
    }
    for (const auto& [generation, paper] : papers_) {
      if (!fresh.contains(generation)) ::unlink(path_of(generation).c_str());
    }
    papers_ = std::move(fresh);
    return {};
  }

  std::vector<Paper> papers() const override {
    const std::lock_guard lock(mutex_);
    std::vector<Paper> papers;
    for (const auto& [generation, paper] : papers_) papers.push_back(paper);
    return papers;
  }

 private:
  std::string path_of(std::uint32_t generation) const {
    return data_dir_ + "/" + std::string(kPrefix) + std::to_string(generation) + std::string(kSuffix);
  }
  Result<Paper> read(std::uint32_t generation, const std::string& pem) const {
    GT_ASSIGN(const crypto::CertificateFacts facts, crypto::read_certificate(pem));
    if (facts.public_der != key_.public_der()) return Error{Code::kCorrupt, "it is for another key than this node's"};
    return Paper{generation, {pem, key_pem_}, facts.not_before + crypto::kBackDating, facts.not_after};
  }

  const std::string data_dir_;
  const crypto::EcKey key_;
  const std::string key_pem_;
  mutable std::mutex mutex_;
  std::map<std::uint32_t, Paper> papers_;
};

}  // namespace

Result<std::unique_ptr<LanePapers>> open_lane_certificates(const std::string& data_dir) {
  const std::string path = data_dir + "/node_key.pem";
  const auto pem = crypto::read_secret_file(path);
  if (!pem) return pem.error().with_context("this node's key");
  const auto key = crypto::EcKey::from_pem(*pem);
  if (!key) return key.error().with_context(escape_for_display(path));
  return std::unique_ptr<LanePapers>(std::make_unique<LaneCertificates>(data_dir, *key));
}

}  // namespace gridtorrent::client::security
