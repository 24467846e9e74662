#pragma once

#include "client/core/node_context.h"

namespace gridtorrent::client {

/// What this node holds: files of a publish, a finished get or a `seed --from`, given to the engine as whole after a
/// look at their sizes and times, and hashed where these changed. Stateless but for the context.
class SeedingFlow {
 public:
  explicit SeedingFlow(NodeContext& context) : c_(context) {}

  /// Any thread; blocks for the server. The transfer starts in kVerifying.
  Result<TransferView> seed(const std::string& content, const Place& from);
  /// Any thread; blocks until everything is hashed.
  Result<VerifyOutcome> verify(const std::string& content, const std::string& path, bool sha256,
                               const ProgressFn& progress, std::stop_token stop);

  // Lock held.
  void start_hold(Transfer& transfer);    ///< kHold, not in the engine: add it, or verify first
  void start_attach(Transfer& transfer);  ///< kAttach: verify
  void start_look(Transfer& transfer);    ///< kHold, but BASE was not there: whether it is now
  /// The engine cannot read the files: verify them.
  void doubt(Transfer& transfer, const std::string& why);

 private:
  void hold(const TransferId& id);
  /// Lock held: a job works on another transfer of the content.
  void look(const TransferId& id);
  bool is_still_away(const TransferRow& row);
  /// Lock held: held, but not to be seeded until its files are there again.
  void wait_for_files(Transfer& transfer);
  /// The same of what is in doubt.
  void wait_to_verify(const TransferId& id);
  /// Takes the mark away.
  bool has_lost_writes(const TransferId& id);
  bool sibling_is_busy(const TransferId& id, const ContentId& content);
  void attach(const TransferId& id, std::stop_token stop);
  void fail(const TransferId& id, const Error& error);
  std::optional<TransferRow> row_of(const TransferId& id);
  /// Where the files of a `seed --from` are.
  struct Found {
    Place parent;
    std::string base_name;
  };
  Result<Found> find_files(const metainfo::Manifest& manifest, const Place& place);
  Result<std::optional<bool>> lie_behind_links(const metainfo::Manifest& manifest, const Found& found);
  struct Held {
    ContentInfo content;
    Place parent;
    std::string base_name;  ///< there
  };
  Result<Held> what_to_verify(const std::string& content, const std::string& path);
  /// What is held there was hashed just now, and is as it was published.
  void note_verified(const Held& held);

  NodeContext& c_;
};

}  // namespace gridtorrent::client
