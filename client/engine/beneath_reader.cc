#include "client/engine/beneath_reader.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <libtorrent/error_code.hpp>
#include <utility>

#include "common/place.h"

namespace gridtorrent::client::engine {
namespace {

class Buffers final : public lt::buffer_allocator_interface {
 public:
  void free_disk_buffer(char* buffer) override { delete[] buffer; }
};
Buffers g_buffers;  // without state, and there as long as any connection holds a buffer

lt::storage_error read_slice(const ServedFiles& from, const lt::file_slice& slice, char* into) {
  const auto failed = [&](int reason, lt::operation_t what) {
    return lt::storage_error(lt::error_code(reason, lt::system_category()), slice.file_index, what);
  };
  const UniqueFd file = open_beneath(from.folder.get(), from.files.file_path(slice.file_index),
                                     O_RDONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
  if (!file) return failed(errno, lt::operation_t::file_open);
  for (std::int64_t done = 0; done < slice.size;) {
    const ssize_t got =
        ::pread(file.get(), into + done, static_cast<std::size_t>(slice.size - done), slice.offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(errno, lt::operation_t::file_read);
    if (got == 0) return failed(ENODATA, lt::operation_t::file_read);  // it was cut off
    done += got;
  }
  return {};
}

lt::storage_error read_block(const ServedFiles& from, const lt::peer_request& request, char* into) {
  for (const auto& slice : from.files.map_block(request.piece, request.start, request.length)) {
    if (lt::storage_error error = read_slice(from, slice, into)) return error;
    into += slice.size;
  }
  return {};
}

}  // namespace

void BeneathReader::read(std::shared_ptr<const ServedFiles> from, const lt::peer_request& request, Done done) {
  const std::lock_guard lock(mutex_);
  queue_.push_back({std::move(from), request, std::move(done), lt::make_work_guard(network_)});
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  changed_.notify_one();
}

void BeneathReader::run(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "gt-reads");
  while (true) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return !queue_.empty(); }) || stop.stop_requested()) return;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    lt::disk_buffer_holder buffer(g_buffers, new char[static_cast<std::size_t>(job.request.length)],
                                  job.request.length);
    const lt::storage_error error = read_block(*job.from, job.request, buffer.data());
    if (error) buffer.reset();
    lt::post(network_, [job = std::move(job), buffer = std::move(buffer), error]() mutable {
      job.done(std::move(buffer), error);
    });
  }
}

}  // namespace gridtorrent::client::engine
