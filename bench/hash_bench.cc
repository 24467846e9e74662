// Publishing rates against one core of OpenSSL's SHA-256, from the page cache:
//   hash_bench FOLDER [GIGABYTES]
// Makes the data below FOLDER (one file; 64 files; 10,000 small ones), hashes each three times, removes it.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/crypto/digest.h"
#include "client/files/file_work.h"
#include "common/rng.h"

namespace {

using namespace gridtorrent;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

/// MB per CPU second (so that a busy machine does not count) of one thread over 16 KiB messages, as `openssl speed -evp
/// sha256` measures.
double one_core_rate(crypto::HashBackend backend) {
  const std::vector<std::uint8_t> buffer(std::size_t{1} << 20, 0x5A);
  std::vector<std::span<const std::uint8_t>> blocks;
  for (std::size_t at = 0; at < buffer.size(); at += 16384) blocks.emplace_back(&buffer[at], 16384U);
  std::vector<crypto::Sha256Digest> out(blocks.size());
  crypto::ManyHasher hasher(backend);
  std::uint64_t bytes = 0;
  const double start = cpu_seconds();
  double now = start;
  for (; now - start < 1.0; now = cpu_seconds()) {
    hasher.sha256(blocks, out);
    bytes += buffer.size();
  }
  return static_cast<double>(bytes) / 1e6 / (now - start);
}

void write_file(const std::string& path, std::uint64_t size, SeededRng& rng) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) std::exit((std::perror(path.c_str()), 1));
  std::vector<std::uint8_t> block(std::size_t{4} << 20);
  while (size > 0) {
    const std::size_t part = std::min<std::uint64_t>(block.size(), size);
    rng.fill(std::span(block).first(std::min<std::size_t>(part, 65536)));
    if (::write(fd, block.data(), part) != static_cast<ssize_t>(part)) std::exit((std::perror(path.c_str()), 1));
    size -= part;
  }
  ::close(fd);
}

void make_set(const std::string& folder, std::uint64_t files, std::uint64_t bytes_each) {
  SeededRng rng(1);
  for (std::uint64_t i = 0; i < files; ++i) {
    const std::string sub = folder + "/" + std::to_string(i / 100);
    std::filesystem::create_directories(sub);
    write_file(sub + "/" + std::to_string(i), bytes_each, rng);
  }
}

void measure(const std::string& what, const std::string& folder, double one_core) {
  const auto work = client::files::make_file_work();
  double best = 1e9, verify_best = 1e9, cpu_best = 1e9;
  std::uint64_t bytes = 0;
  for (int round = 0; round < 3; ++round) {
    const double start = seconds();
    const double cpu_start = cpu_seconds();
    const auto tree =
        work->hash_tree({.path = folder, .strict = false, .checkpoint_file = folder + ".checkpoint"}, {}, {});
    best = std::min(best, seconds() - start);
    cpu_best = std::min(cpu_best, cpu_seconds() - cpu_start);
    if (!tree) std::exit((std::fprintf(stderr, "%s\n", tree.error().message.c_str()), 1));
    bytes = tree->metadata.manifest.total_bytes();
    const double verify_start = seconds();
    const auto report = work->verify(tree->parent, tree->metadata.manifest, {}, {}, {});
    verify_best = std::min(verify_best, seconds() - verify_start);
    if (!report || report->fault_count > 0) std::exit((std::fprintf(stderr, "verify failed\n"), 1));
  }
  const double rate = static_cast<double>(bytes) / 1e6 / best;
  const double megabytes = static_cast<double>(bytes) / 1e6;
  std::printf("%-22s %6.2f s %6.0f MB/s %5.2f x one core | %6.0f MB per CPU second, %5.2f x | verify %6.0f MB/s\n",
              what.c_str(), best, rate, rate / one_core, megabytes / cpu_best, megabytes / cpu_best / one_core,
              megabytes / verify_best);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: hash_bench FOLDER [GIGABYTES]\n"), 2;
  const std::string top = std::string(argv[1]) + "/gridtorrent-hash-bench";
  const std::uint64_t total = static_cast<std::uint64_t>((argc > 2 ? std::atof(argv[2]) : 4.0) * 1e9);
  const double one_core = one_core_rate(crypto::HashBackend::kOpenSsl);
  std::printf("cores: %u; one core SHA-256: OpenSSL %.0f MB/s, chosen %.0f MB/s (%s)\n",
              std::thread::hardware_concurrency(), one_core, one_core_rate(crypto::HashBackend::kAuto),
              std::string(crypto::ManyHasher().backend()).c_str());
  struct Set {
    std::string name;
    std::uint64_t files, bytes_each;
  };
  for (const Set& set :
       {Set{"one file", 1, total}, Set{"64 files", 64, total / 64}, Set{"10,000 files of 10 KB", 10'000, 10'000}}) {
    make_set(top, set.files, set.bytes_each);
    measure(set.name, top, one_core);
    std::filesystem::remove_all(top);
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("peak resident: %ld MB\n", usage.ru_maxrss / 1024);
  return 0;
}
