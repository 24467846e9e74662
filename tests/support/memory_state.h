#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ccm/domain/ports.h"
#include "tracker/core/ports.h"
#include "tracker/store/audit_chain.h"

namespace gridtorrent::testing_support {

/// All that a MemoryStore holds.
struct MemoryState {
  std::map<std::string, ccm::User> users;    // by name
  std::map<std::string, ccm::Token> tokens;  // by id
  std::map<ContentId, ccm::Content> contents;
  std::map<std::tuple<ContentId, std::uint32_t, NodeId>, ccm::Replica> replicas;
  std::map<std::pair<ContentId, std::uint32_t>, ccm::VersionRecord> versions;
  std::vector<ccm::AuditRecord> audit;
  tracker::store::AuditChain audit_chain;
  std::map<std::pair<UserId, std::string>, std::pair<ccm::RequestLog::Entry, WallTime>> requests;
  std::map<NodeId, tracker::NodeRecord> nodes;
  std::map<TaskId, tracker::Task> tasks;
  std::map<std::uint32_t, tracker::DataCaRecord> data_cas;
  std::map<GroupId, ccm::Group> groups;
  std::map<std::pair<GroupId, UserId>, ccm::Membership> memberships;
  std::map<std::pair<GroupId, UserId>, WallTime> removals;
  std::map<std::pair<UserId, UserId>, WallTime> buddies;  // owner, buddy
  std::vector<ccm::Notice> notices;
  std::map<UserId, WallTime> read_until;
  std::map<std::pair<UserId, ccm::Quota>, std::uint64_t> quotas;
  std::map<ContentId, ccm::Offer> offers;

  std::string user_name(const UserId& id) const {
    for (const auto& [name, user] : users) {
      if (user.id == id) return name;
    }
    return "";
  }
};

template <class T>
void cut(std::vector<T>& list, std::size_t limit) {
  if (list.size() > limit) list.erase(list.begin() + static_cast<std::ptrdiff_t>(limit), list.end());
}

}  // namespace gridtorrent::testing_support
