#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/clock.h"
#include "gridtorrent/v1/ccm.grpc.pb.h"
#include "gridtorrent/v1/tracker.grpc.pb.h"

namespace gridtorrent::testing {

/// A CA made for one test, and leaves of it.
class TestCa {
 public:
  TestCa();
  ~TestCa();
  const std::string& pem() const { return pem_; }
  struct Leaf {
    std::string certificate_pem, key_pem;
  };
  /// For the given names ("IP:127.0.0.1", "DNS:localhost"), valid from `from` to `until`.
  Leaf issue(const std::string& names, WallTime from, WallTime until) const;
  /// Valid now, for 127.0.0.1 and localhost.
  Leaf issue() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string pem_;
};

/// What the fake services were asked and what they answer. Own mutex; read through `with`.
struct FakeState {
  v1::Hello hello;
  std::string metadata, metadata_sha256, checksums;
  std::string checksums_sha256;                          ///< as GetChecksums announces it
  std::map<std::string, v1::ListFilesReply> file_pages;  ///< by the page that is asked for; none: an older server
  std::vector<v1::ListFilesRequest> file_requests;
  std::vector<std::string> authorizations;  ///< of every call, in order
  std::vector<v1::WatchNodeRequest> watches;
  std::vector<v1::NodeEvent> events;  ///< sent to each new stream after the greeting
  bool end_streams = false;           ///< streams end after the events, else they stay open
  bool mute = false;                  ///< streams send nothing
  bool removed = false;               ///< streams are refused: there is no such node any more
  std::vector<std::uint64_t> acked;
  std::vector<v1::ReportTaskRequest> reports;
  std::string pushback;  ///< unless empty, acknowledgements are refused as too many, with this trailer
  v1::FinishPublishChunk first_chunk;
  std::string uploaded;
  v1::BeginPublishRequest begun;
  std::string given_up;  ///< the last publish that was
  v1::AnnounceRequest announced;
  v1::UpdateEndpointsRequest endpoints;
  v1::EnrollRequest enrolled;
  v1::RenewNodeReply renewal;
  int renewals = 0;
  std::function<void()> while_renewing;  ///< before the answer
  v1::Content content;
  bool hold = false;                  ///< GetContent answers once this is no longer so, or the call is cancelled
  int cancelled = 0;                  ///< such calls that were cancelled
  std::vector<v1::Task> task_states;  ///< what WatchTask streams
  std::vector<std::string> request_ids;
  std::map<std::string, v1::ListOffersReply> offers;  ///< by the page that is asked for
};

/// The server's services over TLS, on a free port of 127.0.0.1; can go down and come back on the same port.
class FakeServer {
 public:
  explicit FakeServer(const TestCa::Leaf& leaf);
  ~FakeServer();
  void start();
  void stop();
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  template <class Use>
  auto with(Use use) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return use(state_);
  }
  /// Waits until `ready(state)`; false after 20 s.
  bool wait(const std::function<bool(const FakeState&)>& ready) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return ready(state_); });
  }

 private:
  struct Services;
  std::unique_ptr<grpc::Server> built();

  const TestCa::Leaf leaf_;
  int port_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  FakeState state_;
  std::unique_ptr<Services> services_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace gridtorrent::testing
