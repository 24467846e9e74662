#include "client/api/call/waiting.h"

namespace gridtorrent::client::api {

namespace {
thread_local bool forbidden = false;
}

void forbid_waiting() {
  forbidden = true;
}

bool may_wait() {
  return !forbidden;
}

}  // namespace gridtorrent::client::api
