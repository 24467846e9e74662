#include "base/crypto/keys.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::crypto {

namespace {

using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free_all)>;
using MdContextPtr = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

std::string drain(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

std::string der_of(const EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  std::string out;
  if (size > 0) out.assign(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

bool is_p256(const EVP_PKEY* key) {
  std::array<char, 64> group{};
  std::size_t length = 0;
  return EVP_PKEY_is_a(key, "EC") == 1 && EVP_PKEY_get_group_name(key, group.data(), group.size(), &length) == 1 &&
         std::string_view(group.data(), length) == "prime256v1";
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Error disk_error(const std::string& what, const std::string& path, int error_number) {
  const Code code = error_number == EACCES || error_number == EPERM ? Code::kDenied : Code::kDisk;
  return {code, what + " " + escape_for_display(path) + ": " + errno_text(error_number)};
}

Status write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return disk_error("cannot write", path, errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<EcKey> EcKey::make() {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  if (key == nullptr) return Error{Code::kInternal, "OpenSSL could not make a P-256 key"};
  return EcKey(std::shared_ptr<evp_pkey_st>(key, EVP_PKEY_free));
}

Result<EcKey> EcKey::from_pem(std::string_view pem) {
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free_all);
  // A pass phrase would be asked for at the terminal: the empty one is tried instead.
  char no_phrase[] = "";
  const std::shared_ptr<evp_pkey_st> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, no_phrase),
                                         EVP_PKEY_free);
  if (!key || !is_p256(key.get())) return Error{Code::kCorrupt, "no private key on the curve P-256 in PEM form"};
  return EcKey(key);
}

Result<EcKey> EcKey::load_or_make(const std::string& path) {
  const Result<std::string> pem = read_secret_file(path);
  if (pem) {
    Result<EcKey> key = from_pem(*pem);
    if (!key) return key.error().with_context(escape_for_display(path));
    return key;
  }
  if (pem.error().code != Code::kNotFound) return pem.error();
  GT_ASSIGN(EcKey key, make());
  GT_TRY(write_secret_file(path, key.private_pem()));
  return key;
}

std::string EcKey::private_pem() const {
  const BioPtr bio(BIO_new(BIO_s_secmem()), BIO_free_all);
  GT_CHECK(PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return drain(bio.get());
}

std::string EcKey::public_der() const {
  return der_of(key_.get());
}

Result<std::string> EcKey::sign(std::string_view message) const {
  const MdContextPtr context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::array<unsigned char, 128> signature{};
  std::size_t size = signature.size();
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size, bytes_of(message), message.size()) != 1) {
    return Error{Code::kInternal, "OpenSSL could not sign"};
  }
  return std::string(reinterpret_cast<const char*>(signature.data()), size);
}

std::shared_ptr<evp_pkey_st> read_public_key(std::string_view public_der) {
  // 26 bytes that name algorithm and curve, and a point of 65: a curve given by its parameters is longer.
  constexpr std::size_t kSize = 91;
  if (public_der.size() != kSize) return nullptr;
  const unsigned char* at = bytes_of(public_der);
  std::shared_ptr<evp_pkey_st> key(d2i_PUBKEY(nullptr, &at, static_cast<long>(public_der.size())), EVP_PKEY_free);
  if (!key || !is_p256(key.get()) || der_of(key.get()) != public_der) return nullptr;
  return key;
}

Result<bool> verify_signature(std::string_view public_der, std::string_view message, std::string_view signature) {
  const auto key = read_public_key(public_der);
  if (!key) {
    return Error{Code::kInvalid, "the public key is no P-256 key as SubjectPublicKeyInfo in DER form"};
  }
  const MdContextPtr context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1) {
    return Error{Code::kInternal, "OpenSSL could not verify"};
  }
  return EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message), message.size()) == 1;
}

Status write_secret_file(const std::string& path, std::string_view content) {
  const std::string beside = path + ".new";
  {
    const UniqueFd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return disk_error("cannot write", beside, errno);
    if (::fchmod(file.get(), 0600) != 0) return disk_error("cannot protect", beside, errno);
    GT_TRY(write_all(file.get(), content, beside));
    if (::fsync(file.get()) != 0) return disk_error("cannot sync", beside, errno);
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) return disk_error("cannot replace", path, errno);
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const UniqueFd folder(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) return disk_error("cannot sync the folder of", path, errno);
  return {};
}

Result<std::string> read_secret_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return Error{Code::kNotFound, "there is no file " + escape_for_display(path)};
    return disk_error("cannot read", path, errno);
  }
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return disk_error("cannot read", path, errno);
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Error{Code::kDenied, escape_for_display(path) + " holds a secret and others may read it: chmod 600 it"};
  }
  std::string content;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return disk_error("cannot read", path, errno);
    if (count == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(count));
    if (content.size() > (1u << 20))
      return Error{Code::kInvalid, escape_for_display(path) + " is too large for a secret"};
  }
}

}  // namespace gridtorrent::crypto
