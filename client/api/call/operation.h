#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/rpc/channel.h"
#include "client/api/call/call.h"
#include "client/api/call/call_state.h"

namespace gridtorrent::client::api {

/// Of streams: they live until one side ends them.
inline constexpr std::chrono::milliseconds kNoDeadline{0};

/// How an RPC is made, and what is said where it failed.
struct CallTerms {
  std::chrono::milliseconds deadline = kNoDeadline;
  std::string token;  ///< empty: none is shown
  std::function<Error(const grpc::Status&)> explain;
  std::string cancelled = "cancelled";  ///< what an aborted call is told
};

template <class Stub, class Request, class Reply>
using UnaryMethod = std::unique_ptr<grpc::ClientAsyncResponseReader<Reply>> (Stub::*)(grpc::ClientContext*,
                                                                                      const Request&,
                                                                                      grpc::CompletionQueue*);
template <class Stub, class Request, class Reply>
using StreamMethod = std::unique_ptr<grpc::ClientAsyncReader<Reply>> (Stub::*)(grpc::ClientContext*, const Request&,
                                                                               grpc::CompletionQueue*);

/// One RPC, or other work, on a completion queue; its address is the tag. It has one thing asked of the queue at a
/// time, so proceed() is never entered twice at once.
class Operation {
 public:
  Operation(std::shared_ptr<CallState> state, CallTerms terms) : state_(std::move(state)), terms_(std::move(terms)) {
    rpc::prepare(context_, terms_.deadline, terms_.token);
    state_->attach(context_);
  }
  virtual ~Operation() { state_->detach(context_); }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  virtual void start() = 0;
  /// What was asked of the queue is there. False: the RPC has ended, and this can go.
  virtual bool proceed(bool ok) = 0;
  const std::shared_ptr<CallState>& state() const { return state_; }

 protected:
  grpc::ClientContext& context() { return context_; }
  Error explain(const grpc::Status& status) const { return state_->aborted() ? cancelled() : terms_.explain(status); }
  Error cancelled() const { return {Code::kCancelled, terms_.cancelled}; }

 private:
  const std::shared_ptr<CallState> state_;
  const CallTerms terms_;
  grpc::ClientContext context_;
};

template <class Reply>
class UnaryOperation final : public Operation {
 public:
  template <class Stub, class Request>
  UnaryOperation(std::shared_ptr<CallState> state, CallTerms terms, Stub& stub,
                 UnaryMethod<Stub, Request, Reply> method, const Request& request, grpc::CompletionQueue& queue,
                 Answer<Reply> done)
      : Operation(std::move(state), std::move(terms)),
        done_(std::move(done)),
        reader_((stub.*method)(&context(), request, &queue)) {}

  void start() override {
    reader_->StartCall();
    reader_->Finish(&reply_, &status_, this);
  }
  bool proceed(bool) override {
    done_(status_.ok() ? Result<Reply>(std::move(reply_)) : Result<Reply>(explain(status_)));
    return false;
  }

 private:
  const Answer<Reply> done_;
  Reply reply_;
  grpc::Status status_;
  const std::unique_ptr<grpc::ClientAsyncResponseReader<Reply>> reader_;
};

/// Back-pressure: the next message is asked for after the callback of the one before has returned.
template <class Reply>
class StreamOperation final : public Operation {
 public:
  using OnMessage = std::function<bool(Reply&)>;

  template <class Stub, class Request>
  StreamOperation(std::shared_ptr<CallState> state, CallTerms terms, Stub& stub,
                  StreamMethod<Stub, Request, Reply> method, const Request& request, grpc::CompletionQueue& queue,
                  OnMessage on_message, Ended done)
      : Operation(std::move(state), std::move(terms)),
        on_message_(std::move(on_message)),
        done_(std::move(done)),
        reader_((stub.*method)(&context(), request, &queue)) {}

  void start() override { reader_->StartCall(this); }
  bool proceed(bool ok) override {
    if (step_ == Step::kFinish) {
      done_(ended_early_ || status_.ok() ? Status() : Status(explain(status_)));
      return false;
    }
    if (ok && step_ == Step::kRead && !on_message_(reply_)) {
      ended_early_ = true;
      context().TryCancel();
    }
    if (ok && !ended_early_) {
      step_ = Step::kRead;
      reader_->Read(&reply_, this);
    } else {
      step_ = Step::kFinish;
      reader_->Finish(&status_, this);
    }
    return true;
  }

 private:
  enum class Step { kStart, kRead, kFinish };

  const OnMessage on_message_;
  const Ended done_;
  Step step_ = Step::kStart;
  bool ended_early_ = false;
  Reply reply_;
  grpc::Status status_;
  const std::unique_ptr<grpc::ClientAsyncReader<Reply>> reader_;
};

/// What gRPC does not do for us, done where the callbacks come; not begun any more once its call is aborted.
template <class T>
class WorkOperation final : public Operation {
 public:
  WorkOperation(std::shared_ptr<CallState> state, grpc::CompletionQueue& queue, std::function<Result<T>()> work,
                Answer<T> done)
      : Operation(std::move(state), {}), queue_(queue), work_(std::move(work)), done_(std::move(done)) {}

  /// A moment long past, by a clock that nobody sets: by the wall clock "now" may be hours ahead for gRPC.
  void start() override { at_once_.Set(&queue_, gpr_inf_past(GPR_CLOCK_MONOTONIC), this); }
  bool proceed(bool) override {
    done_(state()->aborted() ? Result<T>(cancelled()) : work_());
    return false;
  }

 private:
  grpc::CompletionQueue& queue_;
  const std::function<Result<T>()> work_;
  const Answer<T> done_;
  grpc::Alarm at_once_;
};

}  // namespace gridtorrent::client::api
