#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

namespace gridtorrent::ccm {

inline constexpr std::size_t kMaxContentNameCharacters = 128;
inline constexpr std::size_t kMaxDescriptionBytes = 4096;
inline constexpr std::size_t kMaxTags = 32;
inline constexpr std::size_t kMaxTagCharacters = 64;
inline constexpr std::size_t kMaxLicenseBytes = 128;

/// Users, groups and nodes: [a-z0-9][a-z0-9._-]{1,63}. Errors: kInvalid, naming the rule. `what` is "user name" and the
/// like.
Status check_name(std::string_view what, std::string_view name);

/// The name of a content as it is kept: NFC, 1 to 128 characters, no '/', no control, format or unassigned
/// characters, no space at either end, not in the form of an id. Case is kept. Errors: kInvalid.
Result<std::string> normalize_content_name(std::string_view name);

/// What a name must fulfil beyond that to be given to a content now; those given earlier stay usable. `name` as it is
/// kept. No code point that is not shown (Default_Ignorable_Code_Point), no white space at either end, not "." or "..",
/// no Latin letters beside Cyrillic, Armenian or Cherokee ones, no "@2" at the end. Errors: kInvalid.
Status check_new_content_name(std::string_view name);

/// A tag: NFC, 1 to 64 characters, no control characters, no comma. Duplicates go, order stays.
Result<std::vector<std::string>> normalize_tags(const std::vector<std::string>& tags);

/// A description or license: NFC, at most so many bytes, line breaks and tabs allowed where `multiline`.
Result<std::string> normalize_text(std::string_view what, std::string_view text, std::size_t max_bytes, bool multiline);

/// For comparisons that ignore case: NFC of the Unicode case folding. Never fails: what is no UTF-8 stays as it is.
std::string fold_case(std::string_view text);

/// "name" or "owner/name" or an id, taken apart.
struct ContentReference {
  std::string id;     ///< "c_…" or empty
  std::string owner;  ///< empty: not said
  std::string name;
};
Result<ContentReference> parse_content_reference(std::string_view text);

/// "NAME@2" taken apart into "NAME" and 2; nothing where it does not end so.
std::optional<std::pair<std::string_view, std::uint32_t>> split_version(std::string_view reference);

}  // namespace gridtorrent::ccm
