#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "client/api/call/call_loop.h"
#include "client/api/server/server_channel.h"

namespace gridtorrent::client::api {

/// The three shapes that calls of the server have, on one loop. A value; channel and loop outlive each call.
class ServerCalls {
 public:
  ServerCalls(ServerChannel& channel, CallLoop& loop) : channel_(channel), loop_(loop) {}

  ServerChannel& channel() const { return channel_; }
  CallLoop& loop() const { return loop_; }

  /// One RPC, whose reply is the answer.
  template <class Stub, class Request, class Reply>
  Call one(Stub& stub, UnaryMethod<Stub, Request, Reply> method, const Request& request,
           const std::type_identity_t<Answer<Reply>>& done) const {
    return loop_.call(channel_.terms(), stub, method, request, done);
  }
  /// One RPC; `convert` makes the answer of its reply, or a Result of it.
  template <class T, class Stub, class Request, class Reply, class Convert>
  Call one(Stub& stub, UnaryMethod<Stub, Request, Reply> method, const Request& request, const Answer<T>& done,
           Convert convert) const {
    return loop_.call(channel_.terms(), stub, method, request, done, std::move(convert));
  }

  /// RPC after RPC. `take(T& all, Reply& page, Request& request)` adds a page and readies the next request; false: that
  /// was the last.
  template <class T, class Stub, class Request, class Reply, class Take>
  Call gather(Stub& stub, UnaryMethod<Stub, Request, Reply> method, Request request, const Answer<T>& done,
              Take take) const {
    auto state = std::make_shared<CallState>();
    auto gathered = std::make_shared<Gathered<T, Request>>(Gathered<T, Request>{T(), std::move(request)});
    next(state, stub, method, std::move(gathered), CallLoop::delivered(state, done), std::move(take));
    return Call(std::move(state));
  }
  /// Every page of a list until `limit` items (0: all). `items` gives the reply's repeated field.
  template <class Item, class Stub, class Request, class Reply>
  Call list(Stub& stub, UnaryMethod<Stub, Request, Reply> method, Request request, std::size_t limit,
            const Answer<Listed<Item>>& done, google::protobuf::RepeatedPtrField<Item>* (Reply::*items)()) const {
    if (limit > 0) request.set_limit(static_cast<std::uint32_t>(limit));
    const auto take = [limit, items, address = channel_.options().address](Listed<Item>& all, Reply& reply,
                                                                           Request& next) -> Result<bool> {
      for (Item& item : *(reply.*items)()) all.items.push_back(std::move(item));
      const bool last = reply.next_page().empty();
      all.cut = limit > 0 && (all.items.size() > limit || (all.items.size() == limit && !last));
      // An older server knows no limit.
      if (limit > 0 && all.items.size() > limit) all.items.resize(limit);
      if (last || all.cut) return false;
      if (reply.next_page() == next.page())
        return Error{Code::kInternal, "the server " + address + " gave the same page of a list twice"};
      next.set_page(reply.next_page());
      if (limit > 0) next.set_limit(static_cast<std::uint32_t>(limit - all.items.size()));
      return true;
    };
    return gather(stub, method, std::move(request), done, take);
  }

  /// A list as it changes. `what` it is of, for the error where the call is cancelled; `items` gives the reply's
  /// repeated field.
  template <class Item, class Stub, class Request, class Reply>
  Call watch(Stub& stub, StreamMethod<Stub, Request, Reply> method, const Request& request, const std::string& what,
             const google::protobuf::RepeatedPtrField<Item>& (Reply::*items)() const,
             std::type_identity_t<std::function<bool(const Listed<Item>&)>> on_list, const Ended& on_end) const {
    CallTerms terms = channel_.terms(kNoDeadline);
    terms.cancelled = "watching " + what + " was cancelled";
    return loop_.watch(
        std::move(terms), stub, method, request,
        [items, on_list = std::move(on_list)](const Reply& reply) {
          const auto& listed = (reply.*items)();
          return on_list({{listed.begin(), listed.end()}, !reply.next_page().empty()});
        },
        on_end);
  }

 private:
  template <class T, class Request>
  struct Gathered {
    T all;
    Request request;
  };

  template <class T, class Stub, class Request, class Reply, class Take>
  void next(const std::shared_ptr<CallState>& state, Stub& stub, UnaryMethod<Stub, Request, Reply> method,
            std::shared_ptr<Gathered<T, Request>> gathered, Answer<T> done, Take take) const {
    const Request& request = gathered->request;
    loop_.begin(state, channel_.terms(), stub, method, request,
                [calls = *this, state, &stub, method, gathered, done, take](Result<Reply> reply) {
                  if (!reply) return done(reply.error());
                  const Result<bool> more = take(gathered->all, *reply, gathered->request);
                  if (!more) return done(more.error());
                  if (!*more) return done(std::move(gathered->all));
                  calls.next(state, stub, method, gathered, done, take);
                });
  }

  ServerChannel& channel_;
  CallLoop& loop_;
};

/// Converts a reply that says nothing.
inline constexpr auto kNothing = [](auto&&) { return Status(); };

/// Converts a reply to the message in it: inner(&v1::GetTaskReply::mutable_task).
template <class Reply, class Inner>
auto inner(Inner* (Reply::*mutable_inner)()) {
  return [mutable_inner](Reply&& reply) { return std::move(*(reply.*mutable_inner)()); };
}

}  // namespace gridtorrent::client::api
