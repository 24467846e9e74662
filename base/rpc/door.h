#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/metrics/metrics.h"
#include "base/rpc/executor.h"
#include "base/rpc/fair_executor.h"
#include "base/rpc/known_connections.h"
#include "base/rpc/limits.h"
#include "base/rpc/method.h"
#include "base/rpc/principal.h"
#include "base/rpc/status.h"
#include "base/rpc/ticker.h"
#include "base/rpc/turns.h"
#include "common/clock.h"
#include "common/request_id.h"
#include "common/rng.h"

namespace gridtorrent::rpc {

template <class Message>
class EventStream;
template <class Chunk, class Reply>
class UploadStream;

/// What a handler is told about its call; a value.
struct Call {
  Principal principal;  ///< default-constructed where the method asks for nobody
  std::string method;
  std::string request_id;  ///< ties log lines and errors together; not the idempotency key in the message
  std::string address;     ///< numeric, of the caller
  std::string token;       ///< as shown; only for methods that ask for nobody (Enroll checks it itself)
};

/// The caller as the domain's value of the same fields (ccm::Actor, which this room does not know).
template <class Actor>
Actor actor_from(const Call& call) {
  Actor actor;
  actor.user = call.principal.user;
  actor.name = call.principal.user_name;
  actor.admin = call.principal.admin;
  actor.node = call.principal.node;
  actor.scopes = decltype(actor.scopes)(call.principal.scopes);
  actor.token_id = call.principal.token_id;
  actor.address = call.address;
  return actor;
}

/// Every message that has a `request_id` goes through this before its handler sees it, since the id is kept for good in
/// audit records. None at all is for the method to judge. Errors: kInvalid.
template <class Request>
Status check_named(const Request& request) {
  if constexpr (requires { request.request_id(); }) {
    if (!request.request_id().empty()) return check_request_id(request.request_id());
  }
  return {};
}

/// The slow part of a call that waits for its turn (see TurnQueue).
struct SlowWork {
  Rank rank = Rank::kStranger;
  std::string key;  ///< whose places it takes
  std::function<Status()> work;
  std::function<void()> no_turn = [] {};  ///< instead of `work`: there was no place, or the caller left
};

/// What an upload does with its chunks; on executor threads, one call at a time.
template <class Chunk, class Reply>
class UploadSink {
 public:
  virtual ~UploadSink() = default;
  virtual Status accept(const Chunk& chunk) = 0;
  /// The client has sent everything.
  virtual Status finish(Reply& reply) = 0;
};

/// Where a download takes its chunks from; on executor threads, one call at a time. False: that was all.
template <class Chunk>
class DownloadSource {
 public:
  virtual ~DownloadSource() = default;
  virtual Result<bool> next(Chunk& chunk) = 0;
};

/// The one door through which every call goes: finds out who calls (exactly one "authorization: Bearer" header), checks
/// what the method needs and how often the caller may, runs the handler on our executor, maps its error, counts it.
/// Unary calls end after 60 s in the queue at the latest, whatever deadline the client set. Thread-safe; must outlive
/// the server.
class Door {
 public:
  struct Deps {
    Authenticator& authenticator;
    Executor& executor;
    Executor& passwords;
    Ticker& ticker;
    const Clock& clock;
    Rng& rng;
    metrics::Registry& metrics;
    FairExecutor& reads;
    OwnRates* own_rates = nullptr;      ///< nothing: the declared rates hold for everybody
    KnownConnections* known = nullptr;  ///< is told over which connections good credentials came
    FairExecutor* documents = nullptr;  ///< ends uploads, which may decode megabytes; nothing: `executor` does
  };
  static constexpr std::chrono::seconds kMaxUnaryTime{60};
  /// A read that scans is interrupted then, in the middle of a query if need be. An absent word among 400,000 contents
  /// takes a second or two; clients give up after 15 s.
  static constexpr std::chrono::seconds kMaxReadTime{10};
  static constexpr std::chrono::seconds kTokenRecheck{60};   ///< silent streams
  static constexpr std::chrono::seconds kMessageRecheck{1};  ///< streams, before a message goes out
  static constexpr std::chrono::seconds kMaxWriteTime{30};   ///< a client that does not read is cut off
  static constexpr std::size_t kMaxStreamsPerCaller = 64;    ///< a user; or a node
  static constexpr std::size_t kMaxNodeStreams = 10'000;
  static constexpr std::size_t kMaxPeopleStreams = 2'000;  ///< watchers, uploads and downloads of all users

  explicit Door(Deps deps) : d_(deps), streams_({kMaxStreamsPerCaller, kMaxNodeStreams, kMaxPeopleStreams}) {}

  /// `handler`: Status(const Call&, const Request&, Reply&).
  template <class Request, class Reply, class Handler>
  grpc::ServerUnaryReactor* unary(grpc::CallbackServerContext* context, const Method& method, const Request* request,
                                  Reply* reply, Handler handler) {
    // Request, reply and context live until Finish.
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    run(
        context, method,
        [request, reply, handler = std::move(handler)](const Call& call) -> Status {
          GT_TRY(check_named(*request));
          return handler(call, *request, *reply);
        },
        [reactor](const grpc::Status& status) { reactor->Finish(status); });
    return reactor;
  }

  /// For what hashes passwords. `handler`: Result<SlowWork>(const Call&, const Request&, Reply&), the quick part, which
  /// decides whether the call may wait for a turn; call, request and reply live until the slow part has run.
  template <class Request, class Reply, class Handler>
  grpc::ServerUnaryReactor* unary_in_turn(grpc::CallbackServerContext* context, const Method& method,
                                          const Request* request, Reply* reply, Handler handler) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    run_in_turn(
        context, method,
        [request, reply, handler = std::move(handler)](const Call& call) -> Result<SlowWork> {
          GT_TRY(check_named(*request));
          return handler(call, *request, *reply);
        },
        [reactor](const grpc::Status& status) { reactor->Finish(status); });
    return reactor;
  }

  /// `opened`: Status(const Call&, const std::shared_ptr<EventStream<Message>>&); an error ends the stream.
  template <class Message, class Opened>
  grpc::ServerWriteReactor<Message>* events(grpc::CallbackServerContext* context, const Method& method, Opened opened) {
    return EventStream<Message>::make(*this, context, method, std::move(opened));
  }

  /// `open`: Result<std::unique_ptr<DownloadSource<Chunk>>>(const Call&).
  template <class Chunk, class Open>
  grpc::ServerWriteReactor<Chunk>* download(grpc::CallbackServerContext* context, const Method& method, Open open);

  /// `open`: Result<std::unique_ptr<UploadSink<Chunk, Reply>>>(const Call&).
  template <class Chunk, class Reply, class Open>
  grpc::ServerReadReactor<Chunk>* upload(grpc::CallbackServerContext* context, const Method& method, Reply* reply,
                                         Open open) {
    return UploadStream<Chunk, Reply>::make(*this, context, method, reply, std::move(open));
  }

  /// Everything that is known of a call before anybody looked at its token. For the streams below.
  struct Arrival {
    std::string token;             ///< empty: none, or not exactly one
    std::uint64_t connection = 0;  ///< its number at the guarded port; 0: it came elsewhere
    Call call;
    MonoTime at;
    std::chrono::system_clock::time_point deadline;
    const Method* method;
    std::optional<Error> trouble = {};     ///< why the message must not be used
    grpc::CallbackServerContext* context;  ///< lives until the call is finished
  };
  /// On the reaction's thread; reads the headers.
  Arrival arrive(grpc::CallbackServerContext* context, const Method& method);
  /// Who it is and whether it may; fills in `call.principal`. Blocks.
  Status admit(Arrival& arrival);
  /// Why the call should not be worked on (any more), if it should not: its caller is gone, or it waited too long.
  std::optional<Error> given_up(const Arrival& arrival) const;
  /// Counts the call against what its caller may do with the method: kBusy beyond. After admit(); may block.
  Status charge(const Arrival& arrival);
  /// `work` with every exception turned into an error.
  Status guard(const Call& call, const std::function<Status()>& work);
  /// Counts and logs the end of a call, and makes the status to finish it with.
  grpc::Status conclude(const Arrival& arrival, const Status& status);

  Executor& executor() { return d_.executor; }
  Ticker& ticker() { return d_.ticker; }
  const Clock& clock() const { return d_.clock; }
  /// Reads for a user in turn with other searches and lists, for kMaxReadTime at most. False: too many wait, and
  /// nothing is done.
  bool read_later(const std::string& user, std::function<void()> read);
  /// Runs what ends an upload of a user, in turn with those of others, so that many large ones hold up no other call.
  /// False: too many wait, and nothing is done.
  bool end_upload(const std::string& user, std::function<void()> end);

  /// A place among the open streams: kMaxStreamsPerCaller of a caller, and so many of all nodes or of all people.
  /// True: give_back_stream is due.
  bool take_stream(const std::string& key);
  void give_back_stream(const std::string& key);
  /// Calls that wait for a turn of the password threads.
  std::size_t turns_waiting() const;

 private:
  struct Unary;
  void run(grpc::CallbackServerContext* context, const Method& method, std::function<Status(const Call&)> work,
           std::function<void(const grpc::Status&)> finish);
  /// On an executor thread: who it is; then the handler, or a place in the line of reads.
  void begin(const std::shared_ptr<Unary>& unary);
  void handle(const std::shared_ptr<Unary>& unary);
  void read_in_turn(const std::shared_ptr<Unary>& unary);
  void end(const Unary& unary, const Status& status);

  void run_in_turn(grpc::CallbackServerContext* context, const Method& method,
                   std::function<Result<SlowWork>(const Call&)> plan, std::function<void(const grpc::Status&)> finish);
  void wait_for_turn(Turn turn);
  std::optional<Turn> next_turn();

  RateLimiter& limiter(const Method& method);

  Deps d_;
  StreamPlaces streams_;
  std::mutex rates_mutex_;
  std::map<std::string_view, std::unique_ptr<RateLimiter>> rates_;  ///< by name of the method
  mutable std::mutex turns_mutex_;
  TurnQueue turns_{{}};  ///< for each turn in it, a job of `passwords` takes one out
};

/// The key under which a caller's streams are counted.
std::string stream_key(const Principal& principal);

}  // namespace gridtorrent::rpc

#include "base/rpc/streams.h"
