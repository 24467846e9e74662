// A slow disk for one program, which loads this before the C library (LD_PRELOAD): each read or write of a block of
// data takes GT_TEST_READ_MS or GT_TEST_WRITE_MS longer. What is smaller, as pages of a database, is as fast as ever.
#include <dlfcn.h>
#include <sys/types.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

constexpr std::size_t kBlock = 16 * 1024;

void take_longer(std::size_t bytes, const char* variable) {
  const char* const value = std::getenv(variable);
  if (value != nullptr && bytes >= kBlock) std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(value)));
}

}  // namespace

extern "C" {

ssize_t pread64(int fd, void* into, std::size_t bytes, off64_t at) {
  using Read = ssize_t (*)(int, void*, std::size_t, off64_t);
  static const auto real = reinterpret_cast<Read>(::dlsym(RTLD_NEXT, "pread64"));
  take_longer(bytes, "GT_TEST_READ_MS");
  return real(fd, into, bytes, at);
}

ssize_t pread(int fd, void* into, std::size_t bytes, off_t at) {
  return pread64(fd, into, bytes, at);
}

ssize_t pwrite64(int fd, const void* from, std::size_t bytes, off64_t at) {
  using Write = ssize_t (*)(int, const void*, std::size_t, off64_t);
  static const auto real = reinterpret_cast<Write>(::dlsym(RTLD_NEXT, "pwrite64"));
  take_longer(bytes, "GT_TEST_WRITE_MS");
  return real(fd, from, bytes, at);
}

ssize_t pwrite(int fd, const void* from, std::size_t bytes, off_t at) {
  return pwrite64(fd, from, bytes, at);
}
}
