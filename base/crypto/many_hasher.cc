#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/crypto/digest.h"
#include "common/check.h"

#if GT_HAVE_IPSEC_MB
#include <intel-ipsec-mb.h>
#endif

namespace gridtorrent::crypto {

namespace {

using Message = std::span<const std::uint8_t>;

template <class Digest>
Digest openssl_digest(Message message) {
  if constexpr (sizeof(Digest) == sizeof(Sha1Digest)) {
    return sha1(message);
  } else {
    return sha256(message);
  }
}

template <class Digest>
void openssl_many(std::span<const Message> messages, std::span<Digest> out) {
  for (std::size_t i = 0; i < messages.size(); ++i) out[i] = openssl_digest<Digest>(messages[i]);
}

#if GT_HAVE_IPSEC_MB

// The lanes count 64-byte blocks in 32 bits and were tried up to 16 MiB on every code path; what is longer than any
// batch that fits our memory goes to OpenSSL.
constexpr std::size_t kMaxLaneBytes = std::size_t{64} << 20;

/// One libipsec-mb manager. Not thread-safe.
class MultiBuffer {
 public:
  MultiBuffer() : manager_(alloc_mb_mgr(0)) {
    if (manager_ != nullptr) {
      init_mb_mgr_auto(manager_, &arch_);
      if (imb_get_errno(manager_) != 0) release();
    }
  }
  ~MultiBuffer() { release(); }
  MultiBuffer(const MultiBuffer&) = delete;
  MultiBuffer& operator=(const MultiBuffer&) = delete;

  bool usable() const { return manager_ != nullptr; }

  /// Messages hashed side by side at most.
  std::size_t lanes() const {
    switch (arch_) {
      case IMB_ARCH_AVX2:
        return 8;
      case IMB_ARCH_AVX512:
        return 16;
      default:
        return 4;
    }
  }

  std::string name() const {
    switch (arch_) {
      case IMB_ARCH_SSE:
        return "ipsec-mb SSE";
      case IMB_ARCH_AVX:
        return "ipsec-mb AVX";
      case IMB_ARCH_AVX2:
        return "ipsec-mb AVX2";
      case IMB_ARCH_AVX512:
        return "ipsec-mb AVX512";
      default:
        return "ipsec-mb";
    }
  }

  template <class Digest>
  void hash(std::span<const Message> messages, std::span<Digest> out) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].empty() || messages[i].size() > kMaxLaneBytes) {
        out[i] = openssl_digest<Digest>(messages[i]);
        continue;
      }
      IMB_JOB* job = IMB_GET_NEXT_JOB(manager_);
      fill(*job, messages[i], out[i]);
      // The checked call refuses messages over 65534 bytes, a limit of other algorithms that version 1.3 applies to
      // all.
      for (job = IMB_SUBMIT_JOB_NOCHECK(manager_); job != nullptr; job = IMB_GET_COMPLETED_JOB(manager_)) check(*job);
    }
    while (const IMB_JOB* job = IMB_FLUSH_JOB(manager_)) check(*job);
  }

 private:
  template <class Digest>
  static void fill(IMB_JOB& job, Message message, Digest& out) {
    job.cipher_mode = IMB_CIPHER_NULL;
    job.cipher_direction = IMB_DIR_ENCRYPT;
    job.chain_order = IMB_ORDER_HASH_CIPHER;
    job.hash_alg = sizeof(Digest) == sizeof(Sha1Digest) ? IMB_AUTH_SHA_1 : IMB_AUTH_SHA_256;
    job.src = message.data();
    job.dst = nullptr;
    job.hash_start_src_offset_in_bytes = 0;
    job.msg_len_to_hash_in_bytes = message.size();
    job.msg_len_to_cipher_in_bytes = 0;
    job.auth_tag_output = out.data();
    job.auth_tag_output_len_in_bytes = out.size();
  }

  static void check(const IMB_JOB& job) { GT_CHECK(job.status == IMB_STATUS_COMPLETED); }

  void release() {
    if (manager_ != nullptr) free_mb_mgr(manager_);
    manager_ = nullptr;
  }

  IMB_MGR* manager_ = nullptr;
  IMB_ARCH arch_ = IMB_ARCH_NONE;
};

/// Seconds for 32 blocks of 16 KiB, the best of a few rounds.
template <class Digest, class Hash>
double trial(const std::vector<std::uint8_t>& buffer, Hash&& hash) {
  constexpr std::size_t kBlock = 16 * 1024;
  std::vector<Message> messages;
  for (std::size_t at = 0; at + kBlock <= buffer.size(); at += kBlock) messages.emplace_back(&buffer[at], kBlock);
  std::vector<Digest> out(messages.size());
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    const auto start = std::chrono::steady_clock::now();
    hash(std::span<const Message>(messages), std::span<Digest>(out));
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

/// From how many messages on several lanes at once are faster than one after the other.
struct Choice {
  static constexpr std::size_t kNever = SIZE_MAX;
  std::size_t sha1_from = kNever;
  std::size_t sha256_from = kNever;
};

template <class Digest>
std::size_t worth_it_from(MultiBuffer& multi_buffer, const std::vector<std::uint8_t>& buffer) {
  const double many = trial<Digest>(buffer, [&](auto in, auto out) { multi_buffer.hash<Digest>(in, out); });
  const double single = trial<Digest>(buffer, [](auto in, auto out) { openssl_many<Digest>(in, out); });
  if (many >= single) return Choice::kNever;
  // A round of all lanes takes the same time, however few of them are in use.
  return static_cast<std::size_t>(std::ceil(static_cast<double>(multi_buffer.lanes()) * many / single));
}

// CPU flags alone do not tell: OpenSSL with SHA-NI and 16 lanes of AVX-512 come out differently on different cores.
const Choice& measured_choice() {
  static const Choice choice = [] {
    MultiBuffer multi_buffer;
    if (!multi_buffer.usable()) return Choice{};
    const std::vector<std::uint8_t> buffer(512 * 1024, 0x5A);
    return Choice{worth_it_from<Sha1Digest>(multi_buffer, buffer), worth_it_from<Sha256Digest>(multi_buffer, buffer)};
  }();
  return choice;
}

#endif

}  // namespace

struct ManyHasher::Impl {
  std::string name = "OpenSSL";
#if GT_HAVE_IPSEC_MB
  std::unique_ptr<MultiBuffer> multi_buffer;
  Choice choice;

  explicit Impl(HashBackend backend) {
    if (backend == HashBackend::kAuto) choice = measured_choice();
    if (backend == HashBackend::kMultiBuffer) choice = {1, 1};
    const bool for_sha1 = choice.sha1_from != Choice::kNever;
    const bool for_sha256 = choice.sha256_from != Choice::kNever;
    if (!for_sha1 && !for_sha256) return;
    multi_buffer = std::make_unique<MultiBuffer>();
    if (!multi_buffer->usable()) {
      choice = {};
    } else if (for_sha1 && for_sha256) {
      name = multi_buffer->name();
    } else {
      name = "SHA-256 " + (for_sha256 ? multi_buffer->name() : name) + ", SHA-1 " +
             (for_sha1 ? multi_buffer->name() : "OpenSSL");
    }
  }
#else
  explicit Impl(HashBackend) {}
#endif
};

ManyHasher::ManyHasher(HashBackend backend) : impl_(std::make_unique<Impl>(backend)) {}
ManyHasher::~ManyHasher() = default;

void ManyHasher::sha1(std::span<const Message> messages, std::span<Sha1Digest> out) {
  GT_CHECK(messages.size() == out.size());
#if GT_HAVE_IPSEC_MB
  if (messages.size() >= impl_->choice.sha1_from) return impl_->multi_buffer->hash<Sha1Digest>(messages, out);
#endif
  openssl_many<Sha1Digest>(messages, out);
}

void ManyHasher::sha256(std::span<const Message> messages, std::span<Sha256Digest> out) {
  GT_CHECK(messages.size() == out.size());
#if GT_HAVE_IPSEC_MB
  if (messages.size() >= impl_->choice.sha256_from) return impl_->multi_buffer->hash<Sha256Digest>(messages, out);
#endif
  openssl_many<Sha256Digest>(messages, out);
}

bool ManyHasher::sha1_side_by_side() const {
#if GT_HAVE_IPSEC_MB
  return impl_->multi_buffer != nullptr && impl_->choice.sha1_from != Choice::kNever;
#else
  return false;
#endif
}

std::string_view ManyHasher::backend() const {
  return impl_->name;
}

}  // namespace gridtorrent::crypto
