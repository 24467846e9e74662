#include "client/app/thread_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>

namespace gridtorrent::client::app {
namespace {

constexpr std::chrono::seconds kOver{5};          // single seconds differ by a third
constexpr std::chrono::milliseconds kEvery{900};  // the transfers' thread asks about once a second

std::uint64_t grown(std::uint64_t before, std::uint64_t after) {
  return after > before ? after - before : 0;
}

/// On Linux the "process" of a thread id is that thread alone.
int nice_of(int thread) {
  return ::getpriority(PRIO_PROCESS, static_cast<id_t>(thread));
}

}  // namespace

Busiest busiest_thread(const Threads& before, const Threads& after, std::chrono::nanoseconds between) {
  Busiest busiest;
  if (between.count() <= 0) return busiest;
  for (const auto& [thread, now] : after) {
    const auto then = before.find(thread);
    if (then == before.end()) continue;
    const std::uint64_t wanted = grown(then->second.ran, now.ran) + grown(then->second.waited, now.waited);
    const double share = std::min(static_cast<double>(wanted) / static_cast<double>(between.count()), 1.0);
    if (share > busiest.share) busiest = {thread, share};
  }
  return busiest;
}

Threads threads_of_this_process() {
  Threads threads;
  const int usual = nice_of(::getpid());
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const std::string name = entry.path().filename().string();
    int thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec != std::errc()) continue;
    if (nice_of(thread) > usual) continue;
    ThreadTimes times;
    std::ifstream file(entry.path() / "schedstat");
    if (file >> times.ran >> times.waited) threads[thread] = times;
  }
  return threads;
}

std::string thread_name(int thread) {
  std::string name;
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/comm");
  std::getline(file, name);
  return name;
}

Busiest ThreadLoad::busiest(MonoTime now) {
  if (!looks_.empty() && now - looks_.back().at < kEvery) return busiest_;
  looks_.push_back({now, threads_of_this_process()});
  while (looks_.size() > 2 && now - looks_.front().at > kOver) looks_.pop_front();
  const Look &first = looks_.front(), &last = looks_.back();
  busiest_ = busiest_thread(first.threads, last.threads, last.at - first.at);
  return busiest_;
}

}  // namespace gridtorrent::client::app
