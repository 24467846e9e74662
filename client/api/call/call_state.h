#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace gridtorrent::client::api {

/// What a handle and the RPCs of its call share: a call can be several RPCs, one after the other. Thread-safe.
class CallState {
 public:
  /// The RPC that is about to begin. Once the call is aborted, it ends with CANCELLED as soon as it begins.
  void attach(grpc::ClientContext& context);
  /// Before that RPC's context goes.
  void detach(const grpc::ClientContext& context);
  /// Ends the RPC under way and all later ones. Waits for nothing; the callback still comes.
  void abort();
  bool aborted() const;
  /// abort(), and no callback any more. Waits for one that runs on another thread.
  void silence();
  /// Runs `callback`, on this thread, unless silenced.
  void deliver(const std::function<void()>& callback);

 private:
  void abort_locked();

  mutable std::mutex mutex_;
  std::condition_variable returned_;
  grpc::ClientContext* context_ = nullptr;
  bool aborted_ = false, silent_ = false;
  std::thread::id runs_on_;  ///< while a callback runs
};

}  // namespace gridtorrent::client::api
