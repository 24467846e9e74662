#include "bench/storm/fleet.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/rpc/hello.h"
#include "common/clock.h"
#include "gridtorrent/v1/ccm.pb.h"
#include "gridtorrent/v1/tracker.pb.h"

namespace gridtorrent::storm {

namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kFirstSource = 0x7F010001;  // 127.1.0.1
constexpr milliseconds kPatience{15'000};           // as a node waits for the first message
constexpr int kMaxAttempt = 6;                      // 2^6 s: beyond the longest pause

SSL_CTX* make_tls(const std::string& ca_file) {
  SSL_CTX* const tls = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_mode(tls, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, nullptr);
  static constexpr std::array<unsigned char, 3> kH2 = {2, 'h', '2'};
  SSL_CTX_set_alpn_protos(tls, kH2.data(), kH2.size());
  if (SSL_CTX_load_verify_locations(tls, ca_file.c_str(), nullptr) != 1) {
    std::fprintf(stderr, "cannot read %s\n", ca_file.c_str());
    std::exit(2);
  }
  return tls;
}

}  // namespace

struct Fleet::Member final : Reader {
  Member(Arrivals& all, std::string bearer, bool is_a_node)
      : arrivals(all), token(std::move(bearer)), is_node(is_a_node) {}

  Subscription subscription() const {
    const auto hello = rpc::make_hello(SystemClock().wall());
    if (!is_node) {
      v1::GetInboxRequest request;
      *request.mutable_hello() = hello;
      return {"/gridtorrent.v1.Collaboration/WatchInbox", token, request.SerializeAsString()};
    }
    v1::WatchNodeRequest request;
    *request.mutable_hello() = hello;
    request.set_cursor(cursor);
    return {"/gridtorrent.v1.Tasks/WatchNode", token, request.SerializeAsString()};
  }

  void on_message(std::string_view serialized) override {
    if (!is_node) return;
    v1::NodeEvent event;
    if (!event.ParseFromArray(serialized.data(), static_cast<int>(serialized.size())) || !event.has_task()) return;
    cursor = std::max(cursor, event.task().sequence());
    arrivals.note(event.task().task_id());
  }

  Arrivals& arrivals;
  const std::string token;
  const bool is_node;
  std::uint32_t source = 0;
  std::uint64_t cursor = 0;
  Connection connection{*this};
  bool wanted = false, counted = false;
  int attempt = 0;
  Moment due{}, begun{};
  std::uint32_t watched = 0;
};

Fleet::Fleet(const Options& options, Arrivals& arrivals)
    : options_(options), tls_(make_tls(options.ca_file), SSL_CTX_free), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  for (const std::string& token : options.nodes) members_.push_back(std::make_unique<Member>(arrivals, token, true));
  for (const std::string& token : options.people) members_.push_back(std::make_unique<Member>(arrivals, token, false));
  std::uint32_t source = kFirstSource;
  for (const auto& member : members_) member->source = source++;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Fleet::~Fleet() {
  thread_.request_stop();
  thread_.join();
  ::close(epoll_);
}

Fleet::State Fleet::state() const {
  const std::lock_guard lock(mutex_);
  return {nodes_up_, people_up_, losses_};
}

void Fleet::gather() {
  give(Order::kGather);
}
void Fleet::cut() {
  give(Order::kCut);
}
void Fleet::leave() {
  give(Order::kLeave);
}

void Fleet::give(Order order) {
  order_ = order;
  while (order_ != Order::kNone) std::this_thread::sleep_for(milliseconds(1));
}

void Fleet::run(const std::stop_token& stop) {
  std::array<epoll_event, 512> events;
  while (!stop.stop_requested()) {
    const Moment begin_of_round = std::chrono::steady_clock::now();
    obey(order_, begin_of_round);
    order_ = Order::kNone;
    begin_what_is_due(begin_of_round);
    const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 20);
    const Moment now = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
      auto& member = *static_cast<Member*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (member.connection.descriptor() < 0) continue;
      if (!member.connection.advance()) {
        lost(member, now);
        continue;
      }
      if (member.connection.is_up() && !member.counted) {
        member.counted = true;
        member.attempt = 0;
        ++(member.is_node ? nodes_up_ : people_up_);
      }
      watch(member, false);
    }
  }
}

void Fleet::obey(Order order, Moment now) {
  if (order == Order::kNone) return;
  std::size_t place = 0;
  for (const auto& member : members_) {
    if (order != Order::kGather && member->counted) {
      member->counted = false;
      --(member->is_node ? nodes_up_ : people_up_);
    }
    if (order != Order::kGather) member->connection.close();
    member->wanted = order != Order::kLeave;
    member->attempt = 0;
    member->due = now + (order == Order::kGather ? milliseconds(1000 * place++ / options_.per_second)
                                                 : milliseconds(std::uniform_int_distribution<int>(0, 1000)(random_)));
  }
}

void Fleet::begin_what_is_due(Moment now) {
  for (const auto& member : members_) {
    if (!member->wanted || member->counted) continue;
    if (member->connection.descriptor() < 0) {
      if (member->due <= now) begin(*member, now);
    } else if (now - member->begun > kPatience) {
      member->connection.close();
      lost(*member, now);
    }
  }
}

void Fleet::begin(Member& member, Moment now) {
  member.begun = now;
  if (!member.connection.open(tls_.get(), member.source, options_.port, member.subscription()))
    return lost(member, now);
  watch(member, true);
}

void Fleet::lost(Member& member, Moment now) {
  if (member.counted) --(member.is_node ? nodes_up_ : people_up_);
  member.counted = false;
  const int seconds = std::min(60, 1 << std::min(member.attempt++, kMaxAttempt));
  member.due = now + milliseconds(std::uniform_int_distribution<int>(0, 1000 * seconds)(random_));
  const std::lock_guard lock(mutex_);
  ++losses_[member.connection.why().empty() ? "no answer in 15 s" : member.connection.why()];
}

void Fleet::watch(Member& member, bool is_new) {
  const std::uint32_t wanted = EPOLLIN | (member.connection.wants_write() ? EPOLLOUT : 0u);
  if (!is_new && member.watched == wanted) return;
  epoll_event event{};
  event.events = member.watched = wanted;
  event.data.ptr = &member;
  ::epoll_ctl(epoll_, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, member.connection.descriptor(), &event);
}

}  // namespace gridtorrent::storm
