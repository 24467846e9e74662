#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "client/core/disk_guard.h"
#include "client/core/file_work.h"

namespace gridtorrent::testing {

/// A disk of names: what exists is a set of BASE paths with a stamp; a path in `damaged` differs from its manifest.
/// Serves as FileWork and DiskGuard alike. Thread-safe.
class FakeFiles final : public client::FileWork, public client::DiskGuard {
 public:
  // ---- what tests set and see
  struct State {
    client::HashedTree tree;  ///< what hash_tree finds
    std::optional<Error> hash_error, prepare_error, commit_error, remove_error;
    std::map<std::string, int> existing;    ///< BASE path → stamp
    std::set<std::string> damaged;          ///< BASE paths that differ
    std::set<std::string> differing;        ///< BASE paths that differ in size, too
    std::set<std::string> foreign;          ///< BASE paths that hold nothing of what was published
    std::set<std::string> behind_links;     ///< BASE paths that are whole only where links are followed
    std::set<std::string> lying;            ///< BASE paths with further files that came by other means
    std::set<std::string> gone;             ///< paths of entries that were removed from below a BASE
    std::function<void()> while_committed;  ///< before anything is in its place
    std::vector<client::FolderEntry> listed{{"a", metainfo::EntryKind::kFile, 3}};  ///< in any folder
    std::string checkpoint_file;                                                    ///< of the last hash_tree
    bool had_known = false;              ///< likewise: it was told of an earlier version
    client::WalkRules rules;             ///< likewise, and of the last scan_tree
    bool hash_waits = false;             ///< hash_tree goes on only once this is false, or it is asked to stop
    bool verify_waits = false;           ///< likewise verify
    std::vector<std::string> forgotten;  ///< checkpoint files
    int looks = 0;                       ///< calls of look_at
    int roots_wrong = 0;                 ///< so many RootVerifiers find a fault
    client::DiskSpace space{std::uint64_t{1} << 40, std::uint64_t{1} << 41};
    std::uint64_t staged_bytes = 0;
    bool commit_begun = false, replaced = false;
    client::StagingPlan committed;   ///< the last plan of a commit
    std::string added;               ///< what foreign_path finds
    std::string added_late;          ///< likewise, but only once a version was replaced
    std::vector<std::string> calls;  ///< "prepare T", "commit T", "copy P T", "discard T", "verify P", "hash P"
  };
  template <class F>
  auto with(F&& use) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return use(state_);
  }
  int count(const std::string& call) {
    return with([&](State& state) {
      int found = 0;
      for (const auto& one : state.calls) found += one == call ? 1 : 0;
      return found;
    });
  }

  // ---- FileWork
  Result<client::HashedTree> hash_tree(const client::HashRequest& request, const client::ProgressFn& progress,
                                       std::stop_token stop) override {
    note("hash " + request.path.path);
    if (request.counting) request.counting({.files = 2, .bytes = 8, .skipped = 0});
    if (progress) progress(1, 1);
    wait_while(&State::hash_waits, stop);
    if (stop.stop_requested()) return Error{Code::kCancelled, "stopped on request"};
    return with([&](State& state) -> Result<client::HashedTree> {
      state.checkpoint_file = request.checkpoint_file;
      state.had_known = request.known != nullptr;
      state.rules = request.rules;
      if (state.hash_error) return *state.hash_error;
      state.existing.try_emplace(request.path.path, 1);
      return state.tree;
    });
  }
  void forget_hashed(const std::string& checkpoint_file) override {
    with([&](State& state) { state.forgotten.push_back(checkpoint_file); });
  }
  Result<client::ScannedTree> scan_tree(const Place& path, const client::WalkRules& rules,
                                        const client::ScanFn& counting, std::stop_token) override {
    const auto manifest = with([&](State& state) {
      state.rules = rules;
      return state.tree.metadata.manifest;
    });
    const client::ScanFigures figures{manifest.file_count(), manifest.total_bytes()};
    if (counting) counting(figures);
    return client::ScannedTree{figures, path.path, {}, {}};
  }
  Result<client::VerifyReport> verify(const Place& parent, const metainfo::Manifest& manifest,
                                      const std::vector<bool>& wanted, const client::ProgressFn&,
                                      std::stop_token stop) override {
    const auto base = parent.path + "/" + manifest.base_name;
    note("verify " + base);
    wait_while(&State::verify_waits, stop);
    if (stop.stop_requested()) return Error{Code::kCancelled, "stopped on request"};
    return with([&](State& state) -> Result<client::VerifyReport> {
      client::VerifyReport report;
      report.files = manifest.file_count();
      report.bytes = manifest.total_bytes();
      const bool missing = !state.existing.contains(base) || is_hidden(state, parent, base);
      if (missing || state.damaged.contains(base)) {
        report.fault_count = 1;
        report.faults.push_back({manifest.base_name, missing ? "missing" : "differs from byte 0 on"});
      }
      for (const auto& path : gone_of(state, parent.path, manifest, wanted)) {
        ++report.fault_count;
        report.faults.push_back({path, "missing"});
      }
      return report;
    });
  }
  /// What exists is all there, less what is gone; of a selection only what `lying` or `damaged` names. `differing`
  /// tells of a size.
  Result<client::PlaceReport> look_at(const Place& parent, const metainfo::Manifest& manifest,
                                      const std::vector<bool>& wanted) override {
    return with([&](State& state) {
      client::PlaceReport report;
      ++state.looks;
      const auto base = parent.path + "/" + manifest.base_name;
      const bool chosen = wanted.empty() || state.lying.contains(base) || state.damaged.contains(base);
      const bool there = chosen && state.existing.contains(base) && !state.foreign.contains(base);
      if (is_hidden(state, parent, base)) report.difference = {manifest.base_name + "/a", "no regular file"};
      const auto gone = gone_of(state, parent.path, manifest, wanted);
      report.missing = there ? gone.size() : manifest.file_count();
      report.files = manifest.file_count() - report.missing;
      if (state.differing.contains(base)) report.difference = {manifest.base_name + "/a", "size 4, not 3"};
      return report;
    });
  }
  void drop_cached(const Place& parent, const metainfo::Manifest&, const std::vector<bool>&) override {
    note("drop cached " + parent.path);
  }
  Status prepare(const client::StagingPlan& plan, const metainfo::Manifest& manifest) override {
    note("prepare " + plan.target);
    return with([&](State& state) -> Status {
      if (state.prepare_error) return *state.prepare_error;
      const auto base = plan.target + "/" + manifest.base_name;
      if (!plan.beside && !plan.replaces && state.existing.contains(base))
        return Error{Code::kConflict, base + " is in the way"};
      state.existing.try_emplace(plan.staging(), 1);
      return {};
    });
  }
  Status commit(const client::StagingPlan& plan, const metainfo::Manifest& manifest) override {
    note("commit " + plan.target);
    if (const auto meanwhile = with([](State& state) { return state.while_committed; })) meanwhile();
    return with([&](State& state) -> Status {
      state.committed = plan;
      if (state.commit_error) return *state.commit_error;
      if (plan.replaces) {
        state.replaced = true;
        state.existing[plan.staging() + "/" + manifest.base_name] =
            state.existing[plan.target + "/" + manifest.base_name]++;
      }
      state.existing.try_emplace(plan.target + "/" + manifest.base_name, 1);
      if (!plan.replaces) state.existing.erase(plan.staging());
      for (const auto& path : gone_of(state, plan.target, manifest, plan.wanted)) state.gone.erase(path);
      return {};
    });
  }
  bool has_replaced(const client::StagingPlan&, const metainfo::Manifest&) override {
    return with([](State& state) { return state.replaced; });
  }
  Status put_back(const client::StagingPlan& plan, const metainfo::Manifest&) override {
    note("put back " + plan.target);
    with([](State& state) { state.replaced = false; });
    return {};
  }
  Result<std::uint64_t> stage_local(const client::LocalTree& earlier, const client::StagingPlan& plan,
                                    const metainfo::Manifest&, const client::ProgressFn&, std::stop_token) override {
    note("stage local " + earlier.parent.path + " " + plan.target);
    return std::uint64_t{0};
  }
  Result<std::string> foreign_path(const client::LocalTree& tree, bool) override {
    note("foreign " + tree.parent.path);
    return with([&](State& state) {
      const bool foreign = state.foreign.contains(tree.parent.path + "/" + tree.manifest.base_name);
      if (foreign) return Result<std::string>(tree.manifest.base_name + "/other");
      return Result<std::string>(state.replaced ? state.added_late : state.added);
    });
  }
  bool is_own_folder(const Place&, const std::string&) override { return true; }
  bool commit_begun(const client::StagingPlan&, const metainfo::Manifest&) override {
    return with([](State& state) { return state.commit_begun; });
  }
  /// BASE goes where all of it is wanted.
  Result<client::RemovedFiles> remove_placed(const Place& parent, const metainfo::Manifest& manifest,
                                             const std::vector<bool>& wanted, bool look_only) override {
    note((look_only ? "look " : "remove ") + parent.path);
    return with([&](State& state) -> Result<client::RemovedFiles> {
      if (state.remove_error) return *state.remove_error;
      client::RemovedFiles removed;
      for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
        if (!wanted[i] || manifest.entries[i].kind != metainfo::EntryKind::kFile) continue;
        ++removed.files;
        removed.bytes += manifest.entries[i].size;
      }
      if (!look_only && removed.files == manifest.file_count())
        state.existing.erase(parent.path + "/" + manifest.base_name);
      return removed;
    });
  }
  Status discard(const client::StagingPlan& plan) override {
    note("discard " + plan.target);
    return with([&](State& state) -> Status {
      std::erase_if(state.existing, [&](const auto& one) { return one.first.starts_with(plan.staging()); });
      state.replaced = false;
      return {};
    });
  }
  void touch_mark(const client::StagingPlan& plan) override { note("touch " + plan.staging()); }
  Status copy_into_staging(const Place& parent, const client::StagingPlan& plan, const metainfo::Manifest&,
                           const client::ProgressFn&, std::stop_token) override {
    note("copy " + parent.path + " " + plan.target);
    return {};
  }
  std::unique_ptr<client::RootVerifier> make_root_verifier(Place, const metainfo::VersionMetadata&,
                                                           std::vector<bool>) override {
    return std::make_unique<Verifier>(*this);
  }
  Result<std::vector<std::optional<crypto::Sha256Digest>>> flat_sha256(const Place&, const metainfo::Manifest& manifest,
                                                                       const std::string&, const client::ProgressFn&,
                                                                       std::stop_token) override {
    std::vector<std::optional<crypto::Sha256Digest>> digests;
    for (const auto& entry : manifest.entries) {
      digests.emplace_back();
      if (entry.kind == metainfo::EntryKind::kFile) digests.back() = crypto::Sha256Digest{};
    }
    return digests;
  }
  Result<client::DiskSpace> disk_space(const std::string&) override {
    return with([](State& state) { return state.space; });
  }

  std::uint64_t staged_bytes(const client::StagingPlan&) override {
    return with([](State& state) { return state.staged_bytes; });
  }

  // ---- DiskGuard
  Result<Place> resolve_below(const std::string& root, const std::string& relative, bool) override {
    return relative.empty() ? Place{root, root} : Place{root + "/" + relative, root};
  }
  Result<std::vector<client::FolderEntry>> list(const Place&) override {
    return with([](State& state) { return state.listed; });
  }
  Status find(const Place& place) override {
    return exists(place) ? Status() : Status(Error{Code::kNotFound, "'" + place.path + "' does not exist"});
  }
  bool exists(const Place& place) override {
    const std::string& path = place.path;
    return with([&](State& state) {
      if (state.existing.contains(path)) return true;
      return !state.gone.contains(path) && std::ranges::any_of(state.existing, [&](const auto& base) {
        return kEntries.contains(path.substr(std::min(path.size(), base.first.size()))) && path.starts_with(base.first);
      });
    });
  }
  Result<std::string> stamp(const Place& parent, const metainfo::Manifest& manifest,
                            const std::vector<bool>& wanted) override {
    return with([&](State& state) -> Result<std::string> {
      const auto found = state.existing.find(parent.path + "/" + manifest.base_name);
      if (found == state.existing.end() || !gone_of(state, parent.path, manifest, wanted).empty())
        return Error{Code::kNotFound, manifest.base_name + " is missing"};
      return std::to_string(found->second);
    });
  }

 private:
  static bool is_hidden(const State& state, const Place& parent, const std::string& base) {
    return state.behind_links.contains(base) && !parent.follow_links;
  }
  class Verifier final : public client::RootVerifier {
   public:
    explicit Verifier(FakeFiles& files) : files_(files) {}
    void piece_verified(std::uint32_t) override {}
    Result<client::VerifyReport> finish(std::stop_token, const client::ProgressFn&) override {
      return files_.with([](State& state) -> Result<client::VerifyReport> {
        client::VerifyReport report;
        if (state.roots_wrong > 0) {
          --state.roots_wrong;
          report.fault_count = 1;
          report.faults.push_back({"a", "differs from byte 0 on"});
        }
        return report;
      });
    }

   private:
    FakeFiles& files_;
  };
  /// What is below each BASE, as the fixture's manifests have it.
  static inline const std::set<std::string> kEntries{"/a", "/sub", "/sub/b"};

  static std::vector<std::string> gone_of(const State& state, const std::string& parent,
                                          const metainfo::Manifest& manifest, const std::vector<bool>& wanted) {
    std::vector<std::string> gone;
    for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
      const auto path = parent + "/" + metainfo::full_path(manifest, manifest.entries[i]);
      if ((wanted.empty() || wanted[i]) && state.gone.contains(path)) gone.push_back(path);
    }
    return gone;
  }
  void wait_while(bool State::* waits, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return !(state_.*waits); });
  }
  void note(std::string call) {
    const std::lock_guard lock(mutex_);
    state_.calls.push_back(std::move(call));
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;  ///< the state may have changed
  State state_;
};

}  // namespace gridtorrent::testing
