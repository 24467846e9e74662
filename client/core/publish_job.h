#pragma once

#include <set>

#include "client/core/node_context.h"

namespace gridtorrent::client {

/// Publishing: begin at the server (so that a taken name costs no hashing), hash, finish, keep, seed. What was begun is
/// written down first: repeated after a crash of either side, with the same request id or for the same path and name,
/// it goes on where it was and publishes once. Thread-safe; its own state is guarded by the book's mutex.
class PublishFlow {
 public:
  explicit PublishFlow(NodeContext& context) : c_(context) {}

  /// Any thread; blocks until the content is published, waiting for the server where it is away at the end.
  Result<PublishOutcome> publish(const PublishJob& job, const ProgressFn& hashing, std::stop_token stop);

  /// Lock held: a call works on this request.
  bool is_running(const std::string& request_id) const { return running_.contains(request_id); }
  /// What was hashed and the server has is from now on held and seeded; `root`: Place::root of the path. kCancelled
  /// where the transfer is no longer being published.
  Status keep(const std::string& root, PublishRow& row, const ContentInfo& content, const HashedTree& tree,
              WallTime hashed, const std::string& as_hashed);
  /// Of the files as they are now; empty where they cannot be looked at.
  std::string stamp_of(const std::string& root, const PublishRow& row, const HashedTree& tree);
  /// What this node published of the content before need not be read again; and since when files may be relied on
  /// later.
  void note_known(HashRequest& request, const ContentId& content);
  /// What a get's umask took from the modes at this place is no change by `transfer`, which publishes from there; its
  /// row notes that umask.
  void restore_modes(HashedTree& tree, const TransferId& transfer, const ContentId& content);
  /// By which this node published the newest version of the content that it remembers; none where it published none.
  Result<WalkRules> rules_before(const ContentId& content) const;
  /// Those, if there are any, become the row's.
  Status take_rules_before(PublishRow& row, const ContentId& content) const;
  /// Lock held: computes the flat SHA-256 sums of a publish and sends them, in the background, giving way to traffic.
  void start_checksums(Transfer& transfer);

 private:
  /// `runs`: another call works on it.
  Result<PublishRow> begin(const PublishJob& job, bool& runs);
  Result<PublishOutcome> run(const PublishJob& job, PublishRow row, const ProgressFn& hashing, std::stop_token stop);
  Result<PublishTicket> begin_at_server(const PublishJob& job, const PublishRow& row, const std::stop_token& stop);
  Result<ContentInfo> finish_at_server(const PublishRow& row, const PublishTicket& ticket, const HashedTree& tree,
                                       std::stop_token stop);
  std::shared_ptr<const KnownTree> known_tree(const ContentId& content);
  void drop_view(const TransferId& id);
  void checksums(const TransferId& id, std::stop_token stop);
  PublishOutcome outcome_of(const PublishRow& row) const;

  NodeContext& c_;
  std::set<std::string> running_;  ///< request ids
  std::set<TransferId> summing_;
};

/// The name in "name" or "owner/name", as an update may be asked for.
std::string name_in(const std::string& reference);

/// PublishRow::access of a request: empty for an update alone.
std::string kept_access(const PublishRequest& request);

/// Where the progress of hashing is noted. By the node's own id: a request id may come from the server.
std::string checkpoint_file(const std::string& data_dir, const TransferId& transfer);

}  // namespace gridtorrent::client
