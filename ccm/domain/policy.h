#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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
  kExplain,  ///< why somebody may or may not
};
std::string_view action_name(Action action);

/// Who asks, as far as access goes.
struct Subject {
  UserId user;
  std::string name;
  bool disabled = false;
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
AccessDecision decide(const Subject& subject, Action action, const Content& content);

/// A denied decision as an error: kNotFound with `missing` for kHidden, else kDenied or kConflict.
Error denial_error(const AccessDecision& decision, const Content& content, const Error& missing);

inline constexpr std::size_t kMaxAccessTargets = 1000;
/// Whether an access can be set in this version: kUnsupported for groups and buddies; kInvalid.
Status check_access_supported(const Access& access);

/// "no content "x", or not yours to see": the one text for what is hidden and what is missing.
Error missing_content(std::string_view reference);

Subject subject_of(const Actor& actor);

}  // namespace gridtorrent::ccm
