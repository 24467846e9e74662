#include "base/rpc/deferred.h"

namespace gridtorrent::rpc {

namespace {

Status still_wanted(const Door& door, const Door::Arrival& arrival) {
  if (arrival.context->IsCancelled()) return Error{Code::kCancelled, "the caller is gone"};
  if (door.clock().mono() - arrival.at > Door::kMaxUnaryTime || std::chrono::system_clock::now() > arrival.deadline) {
    return Error{Code::kTimeout, "the server did not get to this in time; try again"};
  }
  return {};
}

}  // namespace

void run_deferred(Door& door, grpc::CallbackServerContext* context, const Method& method,
                  std::function<Status(const Call&, EndCall)> begin, std::function<void(const grpc::Status&)> finish) {
  auto arrival = std::make_shared<Door::Arrival>(door.arrive(context, method));
  const EndCall end = [&door, arrival, finish = std::move(finish)](const Status& status) {
    finish(door.conclude(*arrival, status));
  };
  const auto job = [&door, arrival, begin = std::move(begin), end] {
    Status status = still_wanted(door, *arrival);
    if (status.ok()) status = door.admit(*arrival);
    if (status.ok()) status = door.guard(arrival->call, [&] { return begin(arrival->call, end); });
    if (!status.ok()) end(status);
  };
  if (!door.executor().post(job)) {
    end(Error{Code::kBusy, "the server is overloaded; try again in a few seconds"});
  }
}

}  // namespace gridtorrent::rpc
