#pragma once

#include "client/core/node_context.h"

namespace gridtorrent::client {

/// What was refused or cancelled is kept so long for those who watch it; lists leave it out.
inline constexpr std::chrono::minutes kRefusedStays{1};

/// What is to be fetched waits for a seeder; with --if-seeded it does not: kUnreachable.
Status check_seeded(const ContentInfo& content, const GetJob& job);

/// kConflict: what lies there is not what was published.
Error differs_there(const Place& parent, const EntryFault& fault);

/// The ways of a get: from the request to files under their final name. Stateless but for the context; `get` is called
/// by people and tasks, the rest by the transfers' thread (with the book's lock held) or on pool threads, as said.
class GetFlow {
 public:
  explicit GetFlow(NodeContext& context) : c_(context) {}

  /// Any thread; blocks for the server and the target's disk.
  Result<TransferView> get(const GetJob& job, bool& joined);

  /// Any thread; blocks for the disk. As Node::choose_files. `further`: patterns of files beside those that are chosen.
  Result<TransferView> choose(const TransferId& id, const FileChoice& choice, bool further = false);
  /// Any thread. As Node::chosen_files.
  Result<std::vector<std::uint32_t>> chosen(const TransferId& id);

  // Lock held: start the job that a step needs.
  void start_check_local(Transfer& transfer);
  void start_prepare(Transfer& transfer);
  void start_begin(Transfer& transfer);
  void start_finish(Transfer& transfer);
  void start_discard(Transfer& transfer);
  void start_save(Transfer& transfer);
  void start_touch(Transfer& transfer);
  void start_move(Transfer& transfer);

  /// Pool thread or shutdown: what the engine has verified is written down. `clean`: nothing comes after it.
  void save_resume(const TransferId& id, bool clean);

  /// A transfer's disk against what is still to come. Pool thread, without the lock: looks at the disk. Nothing where
  /// the transfer is gone, or its folder is not made yet or cannot say.
  struct SpaceCheck {
    std::string target;
    DiskSpace space;
    std::uint64_t missing = 0;
    bool staged = false;  ///< something of it is there
    DiskVerdict verdict = DiskVerdict::kEnough;
    std::optional<Error> away;  ///< what is staged is not there
    Error error() const { return away ? *away : space_error(target, space, missing, verdict == DiskVerdict::kNever); }
  };
  std::optional<SpaceCheck> look_at_space(const TransferId& id);

  /// Pool thread, kFetch: whether its staging folder is not there; then it waits for it.
  bool hold_back_if_away(const TransferId& id);

  /// Lock held: a person says that what was there is gone for good.
  void begin_anew(Transfer& transfer);

  /// Any thread: what would be removed with the transfer. kConflict as `may_remove`.
  Result<RemovedFiles> removable(const TransferId& id);
  /// Any thread: kConflict where it is held, and not there.
  Status are_placed(const TransferRow& row);

  /// The staging plan of a row.
  static StagingPlan staging_of(const TransferRow& row, const std::vector<bool>& wanted);

 private:
  struct Request {
    GetJob job;
    TuningWish wish;
    ContentInfo content;
    MetadataPtr metadata;  ///< with the name that BASE is to have
    std::vector<bool> wanted;
    std::vector<std::string> unmatched;
    TransferId replaces;  ///< whose files give way to this version; nil: none
    TransferId part;      ///< what an earlier transfer brought to the wished place, if any
    bool part_is_whole = false, part_is_gone = false;
    bool part_came = false;               ///< all of it with gets of this node
    std::vector<std::string> part_globs;  ///< of the part
    std::vector<bool> part_lost;
    std::optional<PlaceReport> found;  ///< wanted files that lie at the wished place and came with no transfer
    const std::string& base_name() const { return metadata->manifest.base_name; }
  };
  Result<Request> make_request(const GetJob& job);
  Status check_hidden(const Request& request);
  Status look_for_others(Request& request);
  Status nothing_foreign(const Request& request, const TransferRow& row);
  bool is_empty_folder(const Request& request, const TransferRow& row);
  bool is_under_way_at(const Request& request);
  /// The same version of the same content, at that place.
  static bool is_same_there(const TransferRow& row, const ContentInfo& content, const std::string& target,
                            const std::string& base_name) {
    return row.content.id == content.id && row.content.version == content.version && lies_at(row, target, base_name);
  }
  Status nobody_elses(const TransferRow& row);
  Result<TransferRow> earlier_at(const Request& request);
  Status widen(const Request& request);
  Status find_replaced(Request& request, const metainfo::Manifest& published);
  Result<TransferView> decide_update(const Request& request, bool& joined);
  Result<TransferView> decide(const Request& request, bool& joined, bool& prepare, TransferId& id);
  Result<std::optional<TransferView>> join_or_refuse(const Request& request, bool& joined);
  const Transfer* held_at(const ContentInfo& content, const std::string& target, const std::string& base_name,
                          const TransferId& except);
  /// The same place as the row's.
  const Transfer* held_beside(const TransferRow& row) {
    return held_at(row.content, row.target, row.base_name, row.id);
  }
  bool is_known_at(const Request& request);
  void look_at_part(Request& request);
  bool kept_is_untouched(const TransferId& id, const metainfo::Manifest& manifest);
  TransferRow new_row(const Request& request) const;
  /// Of who asks, where they said it, else the node's.
  std::uint32_t umask_of(const GetJob& job) const;
  void forget_superseded(const Transfer& transfer);
  Status prepare(const TransferId& id, std::optional<std::uint32_t> folder_mode = {});

  void check_local(const TransferId& id, std::stop_token stop);
  void copy_from_old(const TransferId& id, const TransferRow& old, const std::string& stamp, WallTime verified,
                     std::stop_token stop);
  void fetch_instead(const TransferId& id, const std::string& why);
  void begin(const TransferId& id);
  /// Why it cannot go on with what was staged; nothing where that is there.
  std::optional<Error> staging_away(const TransferRow& row);
  void hold_back(const TransferId& id, const Error& away);
  std::optional<Error> commit_away(const TransferRow& row);
  void finish(const TransferId& id, std::stop_token stop);
  bool verify_roots(const TransferId& id, std::stop_token stop);
  void roots_differ(const TransferId& id, const VerifyReport& report);
  void commit(const TransferId& id, const std::stop_token& stop);
  /// The next round of its fetch looks at what is on the disk.
  void fetch_again(const TransferId& id);
  void note_lost_writes(const TransferId& id);
  void note_arrival(Transfer& transfer);
  void discard(const TransferId& id);
  Result<RemovedFiles> remove_placed(const TransferRow& row, bool look_only);
  static void note_adopted(TransferRow& row, const TransferRow& part, const metainfo::Manifest& manifest);
  static void note_owner(TransferRow& row, const TransferRow& earlier);
  void fail(const TransferId& id, const Error& error);
  /// As fail, of what was never more than looked at: nothing of it stays in the list.
  void refuse(const TransferId& id, const Error& error);
  void refuse_locked(Transfer& transfer, const Error& error);

  /// What a choice of files comes to.
  struct Choice {
    std::vector<std::string> globs;
    MetadataPtr metadata;
    std::vector<bool> wanted;
    std::uint64_t bytes = 0;  ///< of these
  };
  Result<TransferRow> row_of(const TransferId& id);
  Result<Choice> choice_of(const TransferRow& row, const FileChoice& wish);
  /// False: its choice is not as in `seen` any more.
  Result<bool> claim(const TransferId& id, const TransferRow& seen);
  Status take_choice(const TransferId& id, const Choice& choice);
  Result<bool> keep_for(const TransferId& id, const Choice& choice);

  /// What a job needs of its transfer, copied under the lock; nothing where it is gone.
  struct Copy {
    TransferRow row;
    MetadataPtr metadata;
    std::vector<bool> wanted;
    std::shared_ptr<RootVerifier> verifier;
    bool in_engine = false, discarded = false, fresh = false, recheck = false, lost_writes = false;
    bool copied = false, asked = false;
  };
  std::optional<Copy> copy_of(const TransferId& id);
  /// As copy_of, with the metadata loaded; a failure to do so fails the transfer.
  std::optional<Copy> loaded(const TransferId& id);
  ProgressFn job_progress(const TransferId& id);

  /// An earlier version that gives way, as it lies here.
  struct Earlier {
    TransferRow row;
    MetadataPtr metadata;
    std::vector<bool> held;
  };
  Result<Earlier> earlier_of(const TransferRow& row);
  std::optional<Error> local_change(const TransferId& id, const Copy& copy, const Earlier& earlier, const Place& place,
                                    const std::stop_token& stop);
  void stage_update(const TransferId& id, const Copy& copy, const std::stop_token& stop);
  void replace_nothing(const TransferId& id);
  void end_exchange(const TransferId& id);
  void rest_others(const Transfer& transfer);
  /// While it stands, nobody ends the update or the transfer that gives way to it, and that one is not seeded: whose
  /// files lie there is known once the update's row says so.
  class Exchange {
   public:
    Exchange(TransferBook& book, const TransferRow& update);
    ~Exchange();
    /// Under the book's lock: what happens next is one step with it.
    void end();
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    /// False: it was given up before.
    explicit operator bool() const { return begun_; }

   private:
    void mark(bool exchanges);
    TransferBook& book_;
    const TransferId update_, earlier_;
    bool begun_ = false;
  };
  void settle_earlier(const TransferRow& update);
  Status exchange_update(const TransferId& id, const Copy& copy, const std::stop_token& stop);

  std::optional<Error> check_away(const Copy& copy);
  std::optional<VerifyReport> verify_at(const TransferId& id, const Place& parent, const metainfo::Manifest& manifest,
                                        const std::vector<bool>& wanted, const std::stop_token& stop);
  void check_same_place(const TransferId& id, const Copy& copy, const std::stop_token& stop);
  Status keep_part(const Transfer& transfer, const metainfo::Manifest& manifest, const std::vector<bool>& lost,
                   const std::string& stamp);
  void fetch_lost(const TransferId& id, const Copy& copy, const std::vector<bool>& lost, const std::string& stamp);

  NodeContext& c_;
};

}  // namespace gridtorrent::client
