#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/server_world.h"

// One suite, every store: what the ports promise, the fake in memory and SQLite both keep.

namespace gridtorrent::contract {

template <class T>
T value_of(Result<T> result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? std::move(*result) : T{};
}

inline ccm::SearchFilter search_by(const ccm::User& viewer) {
  ccm::SearchFilter filter;
  filter.viewer = viewer.id;
  filter.viewer_name = viewer.name;
  return filter;
}

class Stores : public testing::TestWithParam<const char*> {
 protected:
  Status write(const std::function<Status(tracker::Tx&)>& work) { return store_.tracker().write(work); }
  void must(const std::function<Status(tracker::Tx&)>& work) {
    const Status done = write(work);
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
  }
  void look(const std::function<void(tracker::Tx&)>& work) {
    const Status done = store_.tracker().read([&](tracker::Tx& tx) -> Status {
      work(tx);
      return {};
    });
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
  }

  ccm::User user(const std::string& name) {
    const ccm::User made{UserId::make(now_, rng_), name, false, false, now_, "hash of " + name};
    must([&](tracker::Tx& tx) { return tx.users.insert(made); });
    return made;
  }
  tracker::NodeRecord node(const ccm::User& owner, const std::string& name, bool ephemeral = false) {
    tracker::NodeRecord made;
    made.id = NodeId::make(now_, rng_);
    made.owner = owner.id;
    made.owner_name = owner.name;
    made.name = name;
    made.public_key = std::string("\0key ", 5) + owner.name + name;
    made.ephemeral = ephemeral;
    made.created = now_;
    made.last_seen = now_;
    made.program_version = "1";
    made.endpoints = {{{"198.18.0.1", 50000, false, "lan"}, tracker::Reachability::kReachable, true},
                      {{"::1", 50001, true, ""}, tracker::Reachability::kUnreachable, false}};
    must([&](tracker::Tx& tx) { return tx.nodes.insert(made); });
    return made;
  }
  ccm::Content content(const ccm::User& owner, const std::string& name,
                       ccm::ContentState state = ccm::ContentState::kPublished,
                       ccm::AccessLevel level = ccm::AccessLevel::kPublic) {
    ccm::Content made;
    made.id = ContentId::make(now_, rng_);
    made.owner = owner.id;
    made.owner_name = owner.name;
    made.name = name;
    made.access.level = level;
    made.state = state;
    made.bytes = 1000;
    made.files = 2;
    made.description = "about\nit";
    made.license = "CC0";
    made.tags = {"z", "a"};
    made.created = now_;
    made.published = state == ccm::ContentState::kDraft ? WallTime{} : now_;
    made.metadata_sha256 = std::string(64, 'a');
    made.metadata_bytes = 77;
    made.piece_bytes = 4096;
    made.checksums_sha256 = std::string(64, 'b');
    made.checksums_bytes = 32;
    made.touched = now_;
    must([&](tracker::Tx& tx) { return tx.contents.insert(made); });
    return made;
  }
  ccm::Group group(const std::string& name, bool hidden = false) {
    const ccm::Group made{GroupId::make(now_, rng_), name, "about " + name, hidden, now_};
    must([&](tracker::Tx& tx) { return tx.groups.insert(made); });
    return made;
  }
  ccm::Membership membership(const ccm::Group& group, const ccm::User& person, ccm::Standing standing,
                             const ccm::User& asked_by) {
    ccm::Membership made;
    made.group = group.id;
    made.user = person.id;
    made.standing = standing;
    made.asked_by = asked_by.id;
    made.since = now_;
    if (is_pending(standing)) made.expires = now_ + std::chrono::hours(1);
    made.message = "hello\n" + person.name;
    must([&](tracker::Tx& tx) { return tx.groups.put(made); });
    made.group_name = group.name;
    made.user_name = person.name;
    made.asked_by_name = asked_by.name;
    return made;
  }
  tracker::Task task(const tracker::NodeRecord& on, const ccm::User& by,
                     tracker::TaskWork work = tracker::ListFolderTask{"data:sub"}) {
    tracker::Task made;
    made.id = TaskId::make(now_, rng_);
    made.node = on.id;
    made.work = std::move(work);
    made.created_by = by.id;
    made.created_by_name = by.name;
    made.created = now_;
    made.updated = now_;
    must([&](tracker::Tx& tx) -> Status {
      GT_ASSIGN(made.sequence, tx.tasks.append(made));
      return {};
    });
    return made;
  }

  testing_support::AnyStore store_{GetParam()};
  SeededRng rng_{1};
  WallTime now_{1'700'000'000'000};
};

}  // namespace gridtorrent::contract
