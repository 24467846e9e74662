#pragma once

#include <map>
#include <string>
#include <utility>

#include "ccm/domain/group.h"
#include "ccm/domain/ports.h"

namespace gridtorrent::ccm {

/// Memberships as the audit records tell them: the steps of `group.*` taken anew through the state machine. A
/// membership in the database that these do not lead to was not made by two consents. A value; not thread-safe.
class Consents {
 public:
  /// In the order of the records; passes over what is not of groups.
  void follow(const AuditRecord& record);
  /// Whether both sides consented (or the person made the group), and neither has ended it since.
  bool member(const std::string& group, const std::string& user) const;

 private:
  struct Place {
    Standing standing = Standing::kNone;
    WallTime expires;
  };
  std::map<std::pair<std::string, std::string>, Place> places_;  ///< by name of the group and of the user
};

}  // namespace gridtorrent::ccm
