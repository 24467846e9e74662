#include "base/rpc/door.h"

#include <algorithm>
#include <exception>

#include "base/logging/logging.h"
#include "base/rpc/backend_name.h"
#include "base/rpc/checked_service.h"
#include "common/interruptible.h"

namespace gridtorrent::rpc {

namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr std::size_t kMaxTokenBytes = 512;
constexpr std::size_t kMaxRequestIdBytes = 64;

std::string_view view(const grpc::string_ref& text) {
  return {text.data(), text.size()};
}

/// The value of a header that came exactly once.
std::optional<std::string_view> only_header(const grpc::CallbackServerContext& context, const char* name) {
  const auto& headers = context.client_metadata();
  const auto [first, last] = headers.equal_range(name);
  if (first == last || std::next(first) != last) return std::nullopt;
  return view(first->second);
}

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxRequestIdBytes && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

/// What the caller did wrong is his to read; what went wrong here is ours.
logging::Level log_level(Code code) {
  if (code == Code::kInternal || code == Code::kDisk) return logging::Level::kError;
  return code == Code::kCorrupt ? logging::Level::kWarning : logging::Level::kDebug;
}

const std::vector<double>& latency_bounds_s() {
  static const std::vector<double> bounds = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60};
  return bounds;
}

}  // namespace

Status check_need(const Principal& principal, const Need& need) {
  if (need.node && principal.node.is_nil()) {
    return Error{Code::kDenied, "only a node's own credential may do this"};
  }
  if (need.person && !principal.node.is_nil()) {
    return Error{Code::kDenied, "a node's own credential may not do this: use your login"};
  }
  if ((principal.scopes & need.scopes) != need.scopes) {
    return Error{Code::kDenied, principal.admin ? "this token's scopes do not allow it: use another"
                                                : "it takes an administrator, or a token of yours with another scope"};
  }
  return {};
}

std::string stream_key(const Principal& principal) {
  return principal.node.is_nil() ? principal.user.str() : principal.node.str();
}

Door::Arrival Door::arrive(grpc::CallbackServerContext* context, const Method& method) {
  Arrival arrival;
  arrival.context = context;
  arrival.method = &method;
  arrival.at = d_.clock.mono();
  arrival.deadline = context->deadline();
  arrival.call.method = method.name;
  const std::string peer = context->peer();
  arrival.call.address = peer_address(peer);
  if (const auto behind_guard = parse_backend_name(peer)) arrival.connection = behind_guard->connection;
  arrival.trouble = message_trouble();
  if (const auto header = only_header(*context, "authorization");
      header && header->starts_with(kBearer) && header->size() <= kMaxTokenBytes) {
    arrival.token = header->substr(kBearer.size());
    if (method.need.anonymous) arrival.call.token = arrival.token;
  }
  const auto given = only_header(*context, "x-request-id");
  arrival.call.request_id =
      given && is_request_id(*given) ? std::string(*given) : make_request_id(d_.clock.wall(), d_.rng);
  context->AddInitialMetadata("x-request-id", arrival.call.request_id);
  return arrival;
}

Status Door::admit(Arrival& arrival) {
  if (arrival.method->need.anonymous) return {};
  if (arrival.token.empty()) return Error{Code::kUnauthenticated, "not logged in: run 'gridtorrent login'"};
  return guard(arrival.call, [&]() -> Status {
    GT_ASSIGN(arrival.call.principal, d_.authenticator.resolve(arrival.token, arrival.call.address));
    if (d_.known != nullptr) d_.known->tell(arrival.connection);
    return check_need(arrival.call.principal, arrival.method->need);
  });
}

RateLimiter& Door::limiter(const Method& method) {
  const std::lock_guard lock(rates_mutex_);
  auto& limiter = rates_[method.name];
  if (!limiter) {
    limiter = std::make_unique<RateLimiter>(
        RateLimiter::Options{.rate_per_s = method.allowance.rate_per_s, .burst = method.allowance.burst});
  }
  return *limiter;
}

Status Door::charge(const Arrival& arrival) {
  const Method& method = *arrival.method;
  const Allowance& allowance = method.allowance;
  if (allowance.burst == 0) return {};
  const Principal& principal = arrival.call.principal;
  std::optional<std::uint64_t> own;
  if (d_.own_rates != nullptr && !allowance.own_rate.empty()) {
    GT_ASSIGN(own, d_.own_rates->calls_per_hour(principal.user, allowance.own_rate));
  }
  const std::string_view name(method.name);
  return limiter(method).take(name.substr(name.find('/') + 1), caller_key(method, principal, arrival.call.address),
                              d_.clock.mono(), rate_of(allowance, own));
}

Status Door::guard(const Call& call, const std::function<Status()>& work) {
  try {
    return work();
  } catch (const std::exception& e) {
    logging::error("a handler failed",
                   {{"method", call.method}, {"request_id", call.request_id}, {"reason", e.what()}});
    return Error{Code::kInternal, "the server failed on this request; its log says more under " + call.request_id};
  }
}

grpc::Status Door::conclude(const Arrival& arrival, const Status& status) {
  // Who is asked for no token shows a password, or a token for enrolment.
  if (status.ok() && arrival.method->need.anonymous && d_.known != nullptr) d_.known->tell(arrival.connection);
  const std::string code(status.ok() ? "ok" : code_name(status.error().code));
  if (!status.ok() && status.error().code == Code::kBusy) {
    arrival.context->AddTrailingMetadata("grpc-retry-pushback-ms", "1000");
  }
  const double seconds = std::chrono::duration<double>(d_.clock.mono() - arrival.at).count();
  d_.metrics
      .counter("gridtorrent_rpc_total", "Calls that ended, by method and outcome.",
               {{"method", arrival.call.method}, {"code", code}})
      .add();
  d_.metrics
      .histogram("gridtorrent_rpc_seconds", "Time from arrival to the end of a call.", latency_bounds_s(),
                 {{"method", arrival.call.method}})
      .observe(seconds);
  const logging::Level level = status.ok() ? logging::Level::kDebug : log_level(status.error().code);
  if (logging::enabled(level)) {
    logging::write(level, "call",
                   {{"method", arrival.call.method},
                    {"code", code},
                    {"request_id", arrival.call.request_id},
                    {"user", arrival.call.principal.user_name},
                    {"address", arrival.call.address},
                    {"seconds", std::to_string(seconds)},
                    {"reason", status.ok() ? "" : status.error().message}});
  }
  return status.ok() ? grpc::Status::OK : to_grpc(status.error(), arrival.call.request_id);
}

bool Door::take_stream(const std::string& key) {
  return streams_.take(key);
}

void Door::give_back_stream(const std::string& key) {
  streams_.give_back(key);
}

struct Door::Unary {
  Arrival arrival;
  std::function<Status(const Call&)> work;
  std::function<void(const grpc::Status&)> finish;
};

void Door::end(const Unary& unary, const Status& status) {
  unary.finish(conclude(unary.arrival, status));
}

std::optional<Error> Door::given_up(const Arrival& arrival) const {
  if (arrival.context->IsCancelled()) return Error{Code::kCancelled, "the caller is gone"};
  if (d_.clock.mono() - arrival.at > kMaxUnaryTime || std::chrono::system_clock::now() > arrival.deadline) {
    return Error{Code::kTimeout, "the server did not get to this in time; try again"};
  }
  return std::nullopt;
}

void Door::run(grpc::CallbackServerContext* context, const Method& method, std::function<Status(const Call&)> work,
               std::function<void(const grpc::Status&)> finish) {
  auto unary = std::make_shared<Unary>(Unary{arrive(context, method), std::move(work), std::move(finish)});
  if (unary->arrival.trouble) return end(*unary, *unary->arrival.trouble);
  // By address, and so before it takes a place in a queue.
  if (method.need.anonymous) {
    if (const Status charged = charge(unary->arrival); !charged.ok()) return end(*unary, charged);
  }
  if (!d_.executor.post([this, unary] { begin(unary); })) {
    end(*unary, Error{Code::kBusy, "the server is overloaded; try again in a few seconds"});
  }
}

void Door::begin(const std::shared_ptr<Unary>& unary) {
  const Method& method = *unary->arrival.method;
  if (const auto reason = given_up(unary->arrival)) return end(*unary, *reason);
  Status status = admit(unary->arrival);
  if (status.ok() && !method.need.anonymous) status = charge(unary->arrival);
  if (!status.ok()) return end(*unary, status);
  method.lane == Lane::kReads ? read_in_turn(unary) : handle(unary);
}

void Door::handle(const std::shared_ptr<Unary>& unary) {
  const Call& call = unary->arrival.call;
  end(*unary, guard(call, [&] { return unary->work(call); }));
}

void Door::read_in_turn(const std::shared_ptr<Unary>& unary) {
  using Put = FairExecutor::Queue::Put;
  const auto job = [this, unary] {
    if (const auto reason = given_up(unary->arrival)) return end(*unary, *reason);
    const MonoTime until = d_.clock.mono() + kMaxReadTime;
    const Interruptible scope([this, &unary, until]() -> std::optional<Error> {
      if (auto reason = given_up(unary->arrival)) return reason;
      if (d_.clock.mono() < until) return std::nullopt;
      return Error{Code::kTimeout, "the server ended this read after " + std::to_string(kMaxReadTime.count()) +
                                       " s: ask for less, by an owner, a tag or a smaller page"};
    });
    handle(unary);
  };
  switch (d_.reads.post(unary->arrival.call.principal.user.str(), job)) {
    case Put::kTaken:
      return;
    case Put::kKeyIsFull:
      return end(*unary, Error{Code::kBusy, "too many of your searches and lists wait already; let some end first"});
    case Put::kIsFull:
      return end(*unary, Error{Code::kBusy, "too many searches and lists wait; try again in a few seconds"});
  }
}

bool Door::read_later(const std::string& user, std::function<void()> read) {
  const auto job = [this, read = std::move(read)] {
    const MonoTime until = d_.clock.mono() + kMaxReadTime;
    const Interruptible scope([this, until]() -> std::optional<Error> {
      if (d_.clock.mono() < until) return std::nullopt;
      return Error{Code::kTimeout, "the server ended this read after " + std::to_string(kMaxReadTime.count()) + " s"};
    });
    read();
  };
  return d_.reads.post(user, job) == FairExecutor::Queue::Put::kTaken;
}

bool Door::end_upload(const std::string& user, std::function<void()> end) {
  if (d_.documents != nullptr) return d_.documents->post(user, std::move(end)) == FairExecutor::Queue::Put::kTaken;
  end();
  return true;
}

void Door::run_in_turn(grpc::CallbackServerContext* context, const Method& method,
                       std::function<Result<SlowWork>(const Call&)> plan,
                       std::function<void(const grpc::Status&)> finish) {
  auto arrival = std::make_shared<Arrival>(arrive(context, method));
  const auto end = [this, arrival, finish = std::move(finish)](const Status& status) {
    finish(conclude(*arrival, status));
  };
  if (arrival->trouble) return end(*arrival->trouble);
  const auto quick = [this, arrival, end, plan = std::move(plan)] {
    if (const auto reason = given_up(*arrival)) return end(*reason);
    SlowWork slow;
    Status status = admit(*arrival);
    if (status.ok() && !arrival->method->need.anonymous) status = charge(*arrival);
    if (status.ok()) {
      status = guard(arrival->call, [&]() -> Status {
        GT_ASSIGN(slow, plan(arrival->call));
        return {};
      });
    }
    if (!status.ok()) return end(status);
    // Known devices are not counted by the address that they may share with whoever guesses passwords.
    if (arrival->method->need.anonymous && slow.rank == Rank::kStranger) status = charge(*arrival);
    if (!status.ok()) {
      slow.no_turn();
      return end(status);
    }
    Turn turn{slow.rank, slow.key, {}, {}};
    turn.work = [this, arrival, end, work = std::move(slow.work), no_turn = slow.no_turn] {
      if (const auto reason = given_up(*arrival)) {
        no_turn();
        return end(*reason);
      }
      end(guard(arrival->call, work));
    };
    turn.refused = [end, no_turn = std::move(slow.no_turn)] {
      no_turn();
      end(Error{Code::kBusy, "too many logins wait for their turn; try again in a few seconds"});
    };
    wait_for_turn(std::move(turn));
  };
  if (!d_.executor.post(quick)) {
    end(Error{Code::kBusy, "the server is overloaded; try again in a few seconds"});
  }
}

void Door::wait_for_turn(Turn turn) {
  std::optional<Turn> without_place;
  {
    const std::lock_guard lock(turns_mutex_);
    without_place = turns_.push(std::move(turn));
  }
  if (without_place) return without_place->refused();
  const bool posted = d_.passwords.post_always([this] {
    if (const auto next = next_turn()) next->work();
  });
  if (posted) return;
  if (const auto stopped = next_turn()) stopped->refused();
}

std::optional<Turn> Door::next_turn() {
  const std::lock_guard lock(turns_mutex_);
  return turns_.pop();
}

std::size_t Door::turns_waiting() const {
  const std::lock_guard lock(turns_mutex_);
  return turns_.size();
}

}  // namespace gridtorrent::rpc
