#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ccm/domain/content.h"
#include "ccm/domain/user.h"
#include "common/ids.h"

namespace gridtorrent::ccm {

enum class Action : std::uint8_t {
  kSearch,        ///< to find it in a listing
  kShow,          ///< its description, manifest, checksums
  kTransfer,      ///< fetch or seed: peers, announces
  kListReplicas,  ///< who holds it
  kFinish,        ///< upload its metadata
  kAddChecksums,
  kSetAccess,
  kUnpublish,
  kRestore,   ///< publish again what was withdrawn
  kDescribe,  ///< change what is said of it: name, description, tags, license
  kExplain,   ///< why somebody may or may not
  kUpdate,    ///< to publish a new version
};
std::string_view action_name(Action action);

/// Who asks, as far as access goes.
struct Subject {
  UserId user;
  std::string name;
  bool disabled = false;
};

/// What the subject has been granted by others, as far as it concerns one content.
struct Grants {
  std::vector<GroupId>
      groups;          ///< that the content is shared with and the subject is a member of, both having accepted
  bool buddy = false;  ///< is on the owner's list
};

enum class Denial : std::uint8_t {
  kNone,
  kHidden,     ///< must look like something that is missing
  kForbidden,  ///< may see it, may not do this
  kState,      ///< draft, withdrawn or purged: nobody can do this now
};

struct AccessDecision {
  bool allowed = false;
  Denial denial = Denial::kHidden;
  std::string reason;  ///< for people: "public: every logged-in user may"
};

/// The one answer to "may this subject do this with that content". Pure; deny by default. Everything that shows, lists,
/// hands out or changes content asks here, but for the search, whose SQL says the same (a property test compares them).
AccessDecision decide(const Subject& subject, Action action, const Content& content, const Grants& grants);

/// A denied decision as an error: kNotFound with `missing` for kHidden, else kDenied or kConflict.
Error denial_error(const AccessDecision& decision, const Content& content, const Error& missing);

inline constexpr std::size_t kMaxAccessTargets = 1000;
/// Whether it says who: targets if and only if it is shared, and not too many. kInvalid.
Status check_access_form(const Access& access);

/// The access as this subject may know it: its owner all of it, others only what concerns themselves. Others' names,
/// the groups that they are not in and the owner's use of the buddy list are not theirs to know.
Access access_as_seen(const Subject& subject, const Content& content, const Grants& grants);

/// "no content "x", or not yours to see": the one text for what is hidden and what is missing.
Error missing_content(std::string_view reference);

Subject subject_of(const Actor& actor);

}  // namespace gridtorrent::ccm
