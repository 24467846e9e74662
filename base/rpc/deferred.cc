#include "base/rpc/deferred.h"

namespace gridtorrent::rpc {

void run_deferred(Door& door, grpc::CallbackServerContext* context, const Method& method,
                  std::function<Status(const Call&, EndCall)> begin, std::function<void(const grpc::Status&)> finish) {
  auto arrival = std::make_shared<Door::Arrival>(door.arrive(context, method));
  const EndCall end = [&door, arrival, finish = std::move(finish)](const Status& status) {
    finish(door.conclude(*arrival, status));
  };
  if (arrival->trouble) return end(*arrival->trouble);
  const auto job = [&door, arrival, begin = std::move(begin), end] {
    if (const auto reason = door.given_up(*arrival)) return end(*reason);
    Status status = door.admit(*arrival);
    if (status.ok()) status = door.charge(*arrival);
    if (status.ok()) status = door.guard(arrival->call, [&] { return begin(arrival->call, end); });
    if (!status.ok()) end(status);
  };
  if (!door.executor().post(job)) {
    end(Error{Code::kBusy, "the server is overloaded; try again in a few seconds"});
  }
}

}  // namespace gridtorrent::rpc
