#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gridtorrent::ccm {

/// Who could find and fetch a content with some access, beside its owner: enabled accounts, now.
struct Audience {
  struct Group {
    std::string name;
    std::uint64_t members = 0;
    friend bool operator==(const Group&, const Group&) = default;
  };
  std::uint64_t people = 0;        ///< each counted once over all that follows; of a public content: all accounts
  std::uint64_t group_people = 0;  ///< each counted once over all groups
  std::vector<Group> groups;       ///< by name, those without such members included
  std::uint64_t buddies = 0;       ///< of the owner's list, where the access names it
  std::vector<std::string> users;  ///< named by the access; by name
  friend bool operator==(const Audience&, const Audience&) = default;
};

enum class AccessLevel : std::uint8_t;

/// "42 people of 1 group and carol can find and fetch this. Nobody else sees that it exists."
std::string to_text(AccessLevel level, const Audience& audience);

}  // namespace gridtorrent::ccm
