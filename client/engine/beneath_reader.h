#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <libtorrent/disk_buffer_holder.hpp>
#include <libtorrent/error_code.hpp>
#include <libtorrent/file_storage.hpp>
#include <libtorrent/io_context.hpp>
#include <libtorrent/peer_request.hpp>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "common/unique_fd.h"

namespace gridtorrent::client::engine {

/// A folder and the files below it that a torrent serves.
struct ServedFiles {
  UniqueFd folder;
  lt::file_storage files;
};

/// Reads blocks of files that others may replace while they are served: every block from the folder's descriptor,
/// never through a symbolic link (open_beneath), so that nothing from outside of it is sent. What libtorrent itself
/// reads by path would be followed out of it. Has one thread, from the first block on; `read` is called in the network
/// thread, and so are the results.
class BeneathReader {
 public:
  using Done = std::function<void(lt::disk_buffer_holder, const lt::storage_error&)>;

  explicit BeneathReader(lt::io_context& network) : network_(network) {}
  BeneathReader(const BeneathReader&) = delete;
  BeneathReader& operator=(const BeneathReader&) = delete;

  void read(std::shared_ptr<const ServedFiles> from, const lt::peer_request& request, Done done);

 private:
  struct Job {
    std::shared_ptr<const ServedFiles> from;
    lt::peer_request request;
    Done done;
    lt::executor_work_guard<lt::io_context::executor_type> network_stays;
  };
  void run(const std::stop_token& stop);

  lt::io_context& network_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> queue_;
  std::jthread thread_;  ///< last: uses all of the above
};

}  // namespace gridtorrent::client::engine
