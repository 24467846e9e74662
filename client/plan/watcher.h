#pragma once

#include "client/plan/controller.h"
#include "client/plan/findings.h"

namespace gridtorrent::client {

/// Says what limits each transfer, whichever controller it has. Threads and calls are those of TransferController: it
/// is given what the controller is given. It neither blocks nor throws.
class TransferWatcher {
 public:
  virtual ~TransferWatcher() = default;
  virtual Findings look(const ControllerInput& input) = 0;
  /// The transfer no longer fetches: what was remembered of it is forgotten.
  virtual void removed(const TransferId& transfer) = 0;
};

}  // namespace gridtorrent::client
