#pragma once

#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "client/core/node_context.h"

namespace gridtorrent::client {

/// What the row becomes by a change, or why not. Pure. `usual_tuner`: of transfers that ask for none. kInvalid for
/// settings out of range; kConflict where the step does not allow it.
Result<TransferRow> row_after(const TransferRow& row, const TransferChange& change, std::string_view usual_tuner);

/// Whether its files may be removed with it, and why not. Pure.
Status may_remove(const TransferRow& row);

/// Whether other files can be chosen for it, and why not. Pure.
Status may_choose(const TransferRow& row);

/// Changes that people ask of transfers: pause, resume, set, and the ways to end. A change is on disk before anything
/// of it takes effect. Any thread; takes the book's lock.
class NodeSteps {
 public:
  explicit NodeSteps(NodeContext& context) : c_(context) {}

  Result<TransferView> change(const TransferId& id, const TransferChange& change);
  /// In parts of some hundred, each of which is one transaction and holds the lock as long as that.
  ChangeOutcome change_all(std::span<const TransferId> ids, const TransferChange& change);

 private:
  /// Book locked. A result for each id.
  std::vector<Status> apply(std::span<const TransferId> ids, const TransferChange& change, bool alone);
  Result<TransferRow> next_row(const TransferId& id, const TransferChange& change);
  /// `alone`: a person named this one.
  void take_effect(Transfer& transfer, TransferRow after, ChangeKind kind, bool alone);
  void resumed(Transfer& transfer, TransferStep before);
  void cancelled(Transfer& transfer, TransferStep before);
  void set_limit(Transfer& transfer);

  NodeContext& c_;
};

/// Its files are on a disk that is not there.
Error not_there(const TransferRow& row);
/// kNotFound, with the command that lists what there is.
Error unknown_transfer(const TransferId& id);

}  // namespace gridtorrent::client
