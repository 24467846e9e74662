#include "common/interruptible.h"

#include <utility>

namespace gridtorrent {

namespace {
thread_local const Interruptible* innermost = nullptr;
}

Interruptible::Interruptible(Stop stop) : stop_(std::move(stop)), outer_(innermost) {
  innermost = this;
}
Interruptible::~Interruptible() {
  innermost = outer_;
}

std::optional<Error> Interruptible::reason() {
  return innermost == nullptr ? std::nullopt : innermost->stop_();
}

}  // namespace gridtorrent
