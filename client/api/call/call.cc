#include "client/api/call/call.h"

#include <utility>

#include "client/api/call/call_state.h"

namespace gridtorrent::client::api {

Call& Call::operator=(Call&& other) noexcept {
  if (this == &other) return *this;
  cancel();
  state_ = std::move(other.state_);
  return *this;
}

void Call::cancel() {
  // Taken out first: the callback that cancel() waits for, or runs in, may destroy or use this handle.
  if (const auto state = std::exchange(state_, nullptr)) state->silence();
}

}  // namespace gridtorrent::client::api
