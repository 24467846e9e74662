#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/core/engine.h"
#include "client/core/file_work.h"

namespace gridtorrent::client {

/// Takes what the engine tells unasked and keeps it until the transfers' thread collects it: changes are merged per
/// transfer, warnings bounded. Verified pieces go straight to the transfer's RootVerifier. Made before the engine,
/// outlives it. Thread-safe; one private mutex; `wake` is called under it and must not call back.
class EngineEvents final : public EngineListener {
 public:
  void torrent_changed(const TransferId& id) override;
  void piece_verified(const TransferId& id, std::uint32_t piece) override;
  void warning(const TransferId& id, const std::string& message) override;

  /// Called after each event, on the engine's thread; cheap. Empty: nobody listens.
  void set_wake(std::function<void()> wake);
  void set_verifier(const TransferId& id, std::shared_ptr<RootVerifier> verifier);

  struct Batch {
    std::set<TransferId> changed;
    std::vector<std::pair<TransferId, std::string>> warnings;
  };
  Batch take();

 private:
  void wake_up();

  std::mutex mutex_;
  std::function<void()> wake_;
  std::set<TransferId> changed_;
  std::deque<std::pair<TransferId, std::string>> warnings_;
  std::map<TransferId, std::shared_ptr<RootVerifier>> verifiers_;
};

}  // namespace gridtorrent::client
