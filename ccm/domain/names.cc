#include "ccm/domain/names.h"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>

#include "ccm/domain/name_characters.h"
#include "common/ids.h"
#include "common/ignorable.h"
#include "common/text.h"

namespace gridtorrent::ccm {

namespace {

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_name_part(char c) {
  return is_name_start(c) || c == '.' || c == '_' || c == '-';
}

/// What utf8proc makes of a text, or nothing for what is no UTF-8 or holds unassigned code points (where refused).
std::optional<std::string> mapped(std::string_view text, int options) {
  utf8proc_uint8_t* out = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &out, static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(out, &std::free);
  if (length < 0) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(out), static_cast<std::size_t>(length));
}

std::optional<std::string> to_nfc(std::string_view text) {
  return mapped(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_REJECTNA);
}

/// Calls `visit(code point)` for valid UTF-8 until it returns false.
template <class F>
void each_code_point(std::string_view text, F&& visit) {
  std::size_t at = 0;
  while (at < text.size()) {
    utf8proc_int32_t code_point = 0;
    const utf8proc_ssize_t used = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                                   static_cast<utf8proc_ssize_t>(text.size() - at), &code_point);
    if (used <= 0 || !visit(code_point)) return;
    at += static_cast<std::size_t>(used);
  }
}

bool is_invisible(utf8proc_int32_t code_point) {
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_CC:  // control
    case UTF8PROC_CATEGORY_CF:  // format: bidi overrides, zero-width joiners
    case UTF8PROC_CATEGORY_ZL:  // line and paragraph separators
    case UTF8PROC_CATEGORY_ZP:
      return true;
    default:
      return false;
  }
}

/// White_Space that is no control character.
bool is_space(utf8proc_int32_t code_point) {
  return utf8proc_category(code_point) == UTF8PROC_CATEGORY_ZS;
}

struct TextFacts {
  std::size_t characters = 0;
  bool invisible = false;  ///< control, format, line separator; '\n' and '\t' are counted apart
  bool breaks = false;     ///< '\n' or '\t'
};
TextFacts facts_of(std::string_view text) {
  TextFacts facts;
  each_code_point(text, [&](utf8proc_int32_t code_point) {
    ++facts.characters;
    if (code_point == '\n' || code_point == '\t') {
      facts.breaks = true;
    } else if (is_invisible(code_point)) {
      facts.invisible = true;
    }
    return true;
  });
  return facts;
}

Error invalid(std::string_view what, std::string_view text, std::string_view reason) {
  const std::string shown = escape_for_display(text.substr(0, 200));
  return {Code::kInvalid, std::string(what) + " \"" + shown + "\" " + std::string(reason)};
}

}  // namespace

Status check_name(std::string_view what, std::string_view name) {
  const bool fits = name.size() >= 2 && name.size() <= 64 && is_name_start(name.front()) &&
                    std::all_of(name.begin(), name.end(), is_name_part);
  if (!fits) {
    return invalid(
        what, name,
        "is refused: a name has 2 to 64 characters of a-z, 0-9, '.', '_' and '-' and starts with a letter or "
        "digit");
  }
  if (looks_like_id(name)) return invalid(what, name, "is refused: it has the form of an id; choose another");
  return {};
}

Result<std::string> normalize_content_name(std::string_view name) {
  constexpr std::string_view what = "content name";
  if (name.empty()) return Error{Code::kInvalid, "content name is empty; give one with --name"};
  if (name.size() > kMaxContentNameCharacters * 8) return invalid(what, name, "is refused: it is too long");
  auto nfc = to_nfc(name);
  if (!nfc) return invalid(what, name, "is refused: it is no valid Unicode text (UTF-8)");
  const TextFacts facts = facts_of(*nfc);
  if (facts.characters > kMaxContentNameCharacters) {
    return invalid(what, name,
                   "is refused: it has " + std::to_string(facts.characters) + " characters; 128 are allowed");
  }
  if (facts.invisible || facts.breaks)
    return invalid(what, name, "is refused: it holds control or invisible characters");
  if (nfc->find('/') != std::string::npos) {
    return invalid(what, name, "is refused: '/' separates owner and name; choose a name without it");
  }
  if (nfc->front() == ' ' || nfc->back() == ' ')
    return invalid(what, name, "is refused: it starts or ends with a space");
  if (looks_like_id(*nfc)) return invalid(what, name, "is refused: it has the form of an id; choose another");
  return std::move(*nfc);
}

Status check_new_content_name(std::string_view name) {
  constexpr std::string_view what = "content name";
  if (name == "." || name == "..") return invalid(what, name, "is refused: it would name a folder; choose another");
  if (split_version(name)) {
    return invalid(what, name, "is refused: '@' and a number at the end mean a version; choose another");
  }
  Script mixed = Script::kOther;
  bool latin = false, ignorable = false;
  std::int32_t first = 0, last = 0;
  each_code_point(name, [&](utf8proc_int32_t code_point) {
    if (first == 0) first = code_point;
    last = code_point;
    ignorable = ignorable || is_default_ignorable(static_cast<std::uint32_t>(code_point));
    const Script script = script_of(code_point);
    if (script == Script::kLatin) latin = true;
    if (script != Script::kLatin && script != Script::kOther) mixed = script;
    return true;
  });
  if (ignorable) return invalid(what, name, "is refused: it holds characters that are not shown");
  if (is_space(first) || is_space(last)) return invalid(what, name, "is refused: it starts or ends with white space");
  if (latin && mixed != Script::kOther) {
    return invalid(what, name,
                   std::string("is refused: it mixes Latin and ") + script_name(mixed) +
                       " letters, which look alike; write it in one script");
  }
  return {};
}

Result<std::vector<std::string>> normalize_tags(const std::vector<std::string>& tags) {
  std::vector<std::string> kept;
  for (const std::string& tag : tags) {
    auto nfc = tag.size() <= kMaxTagCharacters * 8 ? to_nfc(tag) : std::nullopt;
    if (!nfc || nfc->empty()) return invalid("tag", tag, "is refused: it is empty, too long or no valid UTF-8");
    const TextFacts facts = facts_of(*nfc);
    if (facts.characters > kMaxTagCharacters) return invalid("tag", tag, "is refused: 64 characters are allowed");
    if (facts.invisible || facts.breaks || nfc->find(',') != std::string::npos) {
      return invalid("tag", tag, "is refused: it holds a comma, control or invisible characters");
    }
    if (std::find(kept.begin(), kept.end(), *nfc) == kept.end()) kept.push_back(std::move(*nfc));
    // At once: each further one would be compared with all of these.
    if (kept.size() > kMaxTags) {
      return Error{Code::kInvalid, std::to_string(tags.size()) + " tags are too many: 32 are allowed"};
    }
  }
  return kept;
}

Result<std::string> normalize_text(std::string_view what, std::string_view text, std::size_t max_bytes,
                                   bool multiline) {
  if (text.size() > max_bytes) {
    return Error{Code::kInvalid, std::string(what) + " is too long: " + std::to_string(text.size()) + " bytes, " +
                                     std::to_string(max_bytes) + " are allowed"};
  }
  auto nfc = to_nfc(text);
  if (!nfc) return Error{Code::kInvalid, std::string(what) + " is refused: it is no valid Unicode text (UTF-8)"};
  const TextFacts facts = facts_of(*nfc);
  if (facts.invisible || (facts.breaks && !multiline)) {
    return Error{Code::kInvalid, std::string(what) + " is refused: it holds control or invisible characters"};
  }
  return std::move(*nfc);
}

std::string fold_case(std::string_view text) {
  auto folded = mapped(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
  return folded ? std::move(*folded) : std::string(text);
}

Result<ContentReference> parse_content_reference(std::string_view text) {
  ContentReference reference;
  if (text.size() > kMaxContentNameCharacters * 8 + 65) return invalid("content", text, "is refused: it is too long");
  if (ContentId::parse(text)) {
    reference.id = std::string(text);
    return reference;
  }
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    reference.owner = std::string(text.substr(0, slash));
    GT_TRY(check_name("owner", reference.owner));
    text.remove_prefix(slash + 1);
  }
  GT_ASSIGN(reference.name, normalize_content_name(text));
  return reference;
}

std::optional<std::pair<std::string_view, std::uint32_t>> split_version(std::string_view reference) {
  const std::size_t at = reference.rfind('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == reference.size() || reference[at + 1] == '0') return {};
  std::uint32_t number = 0;
  const char* const last = reference.data() + reference.size();
  const auto [end, failure] = std::from_chars(reference.data() + at + 1, last, number);
  if (failure != std::errc() || end != last) return {};
  return std::pair(reference.substr(0, at), number);
}

}  // namespace gridtorrent::ccm
