#include "tests/support/memory_store.h"

#include "tests/support/memory_accounts.h"
#include "tests/support/memory_contents.h"
#include "tests/support/memory_groups.h"
#include "tests/support/memory_nodes.h"

namespace gridtorrent::testing_support {
namespace {

Status run(MemoryState& state, Rng& rng, const std::function<Status(tracker::Tx&)>& work) {
  Users users(state);
  Tokens tokens(state);
  Contents contents(state);
  Replicas replicas(state);
  Versions versions(state);
  Audit audit(state);
  Requests requests(state);
  Nodes nodes(state);
  Tasks tasks(state);
  Effects effects(state, tasks, rng);
  Groups groups(state);
  Buddies buddies(state);
  Notices notices(state);
  Offers offers(state);
  DataCas data_cas(state);
  tracker::Tx tx{
      {users, tokens, contents, replicas, versions, audit, requests, effects, groups, buddies, notices, offers},
      nodes,
      tasks,
      data_cas};
  return work(tx);
}

}  // namespace

MemoryStore::MemoryStore() : state_(std::make_unique<MemoryState>()) {}
MemoryStore::~MemoryStore() = default;

Status MemoryStore::write(const std::function<Status(tracker::Tx&)>& work) {
  const std::lock_guard lock(mutex_);
  MemoryState before = *state_;
  Status done = run(*state_, rng_, work);
  if (!done) *state_ = std::move(before);
  return done;
}

Status MemoryStore::read(const std::function<Status(tracker::Tx&)>& work) {
  const std::lock_guard lock(mutex_);
  MemoryState copy = *state_;
  return run(copy, rng_, work);
}

Status MemoryStore::write(const std::function<Status(ccm::Tx&)>& work) {
  return write(std::function<Status(tracker::Tx&)>([&](tracker::Tx& tx) { return work(tx); }));
}
Status MemoryStore::read(const std::function<Status(ccm::Tx&)>& work) {
  return read(std::function<Status(tracker::Tx&)>([&](tracker::Tx& tx) { return work(tx); }));
}

}  // namespace gridtorrent::testing_support
