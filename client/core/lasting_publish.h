#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/core/node_context.h"
#include "client/core/publish_job.h"

namespace gridtorrent::client {

/// How a request to publish stands to those that this node knows.
struct PublishMatch {
  enum class Relation : std::uint8_t { kNew, kSameRequest, kSameWork, kSameName };
  Relation relation = Relation::kNew;
  std::size_t row = 0;  ///< of all but kNew
};
/// The same request id; else the same path, name, access and rules; else another one of that name that is not done.
/// Pure.
PublishMatch match_publish(const std::vector<PublishRow>& known, const PublishJob& job);

/// Whether `job` asks for just what `row` does: then what failed is tried again. Pure.
bool asks_the_same(const PublishRow& row, const PublishJob& job);

/// Publishes that go on without their caller: each is a transfer of kind publish in the step kHash until the server has
/// its metadata, and then one that holds. Request and transfer are written down before the server hears of it and
/// before the caller is answered. After an end of the process the work goes on: hashing from its checkpoint, sending
/// from the metadata that was hashed, where the files are as they were. A call of the server that may succeed later is
/// made again after growing pauses; any other error is kFailed, and `resume` tries again.
///
/// Stateless but for the context; `start` is called by people, `restore` before the threads begin, the rest by the
/// transfers' thread with the book's lock held.
class LastingPublishFlow {
 public:
  LastingPublishFlow(NodeContext& context, PublishFlow& publishes) : c_(context), publishes_(publishes) {}

  /// Asks the server at once for the name, where there is a connection: what it refuses is the answer, and is not kept.
  /// Repeated with the same request id, or for the same path, name and access, it answers with the transfer that does
  /// it, which goes on if it was paused or had failed. kConflict: a Publish call does it, or one of the name is under
  /// way from another path. Blocks for the server.
  Result<TransferView> start(const PublishJob& job);

  /// After the transfers were restored: what each of them was asked for.
  Status restore();

  // Lock held.
  void step(Transfer& transfer, MonoTime now);            ///< kHash: begins, or tries again, when it is its turn
  void step_cancelled(Transfer& transfer, MonoTime now);  ///< kCancel, unpublished: gives it up at the server

 private:
  struct Work {
    TransferRow transfer;
    PublishRow publish;
    std::optional<PublishTicket> ticket;
  };
  /// What failed under this name gives it up where it is asked for in another way now.
  Status make_room(const PublishJob& job);
  Result<std::optional<TransferView>> join(const std::vector<PublishRow>& known, const PublishJob& job,
                                           PublishRow& row);
  Result<TransferView> join_lasting(const PublishRow& row, PublishMatch::Relation relation);
  Status keep_request(const PublishJob& job, PublishRow& row);
  Status ask_at_once(const PublishRow& row);

  std::optional<PublishRow> row_of(const TransferId& id);
  std::optional<Work> work_of(const TransferId& id);
  NodeContext::Conclusion run(const TransferId& id, const std::stop_token& stop);
  Status publish(Work& work, const std::stop_token& stop);
  Result<PublishTicket> begin(const PublishRow& row);
  bool shares_draft(const TransferId& id) const;
  Status check_alone(const PublishRow& row, const ContentId& content) const;
  Result<ContentInfo> finish(const Work& work, const HashedTree& tree);
  /// What was hashed before, if the files are still the same; else hashes, and keeps the result.
  Result<HashedTree> tree_of(Work& work, const std::stop_token& stop);
  std::optional<HashedTree> hashed_before(const Work& work);
  Result<HashedTree> hash(Work& work, const std::stop_token& stop);
  Status keep_hashed(Work& work, const HashedTree& tree);
  /// Under the lock it takes: changes the transfer where it is still at work.
  void edit(const TransferId& id, const std::function<void(Transfer&)>& change);
  /// Lock held.
  void not_done(Transfer& transfer, const Error& error, bool stopped);
  void give_up(const TransferId& id);
  void erase(const TransferId& id, const std::string& request_id);

  NodeContext& c_;
  PublishFlow& publishes_;
};

}  // namespace gridtorrent::client
