#include "metainfo/glob.h"

namespace gridtorrent::metainfo {

namespace {

constexpr std::size_t kBits = 64;

enum class TokenKind : std::uint8_t {
  kLiteral,
  kOne,         // '?'
  kStar,        // '*'
  kDoubleStar,  // '**'
  kFolders,     // '**/': no or more whole components
};

struct Token {
  TokenKind kind = TokenKind::kLiteral;
  char literal = '\0';
};

std::vector<Token> tokens_of(std::string_view pattern) {
  std::vector<Token> tokens;
  if (pattern.find('/') == std::string_view::npos) tokens.push_back({TokenKind::kFolders});
  if (pattern.starts_with('/')) pattern.remove_prefix(1);
  while (pattern.ends_with('/')) pattern.remove_suffix(1);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '?') {
      tokens.push_back({TokenKind::kOne});
    } else if (pattern[i] != '*') {
      tokens.push_back({TokenKind::kLiteral, pattern[i]});
    } else if (!pattern.substr(i).starts_with("**")) {
      tokens.push_back({TokenKind::kStar});
    } else {
      const bool at_start = i == 0 || pattern[i - 1] == '/';
      while (i + 1 < pattern.size() && pattern[i + 1] == '*') ++i;
      const bool whole_component = at_start && i + 1 < pattern.size() && pattern[i + 1] == '/';
      if (whole_component) ++i;
      // Several in a row mean the same as one.
      const bool again = whole_component && !tokens.empty() && tokens.back().kind == TokenKind::kFolders;
      if (!again) tokens.push_back({whole_component ? TokenKind::kFolders : TokenKind::kDoubleStar});
    }
  }
  return tokens;
}

void set(std::vector<std::uint64_t>& bits, std::size_t i) {
  bits[i / kBits] |= std::uint64_t{1} << (i % kBits);
}

}  // namespace

Glob::Glob(std::string_view pattern) {
  const std::vector<Token> tokens = tokens_of(pattern);
  tokens_ = tokens.size();
  const Bits none(tokens_ / kBits + 1);
  one_ = stays_ = stays_inside_ = optional_ = folders_ = none;
  for (std::size_t i = 0; i < tokens_; ++i) {
    const auto byte = static_cast<std::uint8_t>(tokens[i].literal);
    switch (tokens[i].kind) {
      case TokenKind::kLiteral:
        if (literal_of_[byte] == 0) {
          literals_.push_back(none);
          literal_of_[byte] = static_cast<std::uint16_t>(literals_.size());
        }
        set(literals_[literal_of_[byte] - 1U], i);
        break;
      case TokenKind::kOne:
        set(one_, i);
        break;
      case TokenKind::kStar:
        set(stays_inside_, i);
        set(optional_, i);
        break;
      case TokenKind::kDoubleStar:
        set(stays_, i);
        set(optional_, i);
        break;
      case TokenKind::kFolders:
        set(stays_, i);
        set(folders_, i);
        break;
    }
  }
}

void Glob::step(Bits& states, char c) const {
  const std::uint16_t known = literal_of_[static_cast<std::uint8_t>(c)];
  const Bits* literal = known == 0 ? nullptr : &literals_[known - 1U];
  const bool slash = c == '/';
  std::uint64_t carry = 0;
  for (std::size_t word = 0; word < states.size(); ++word) {
    const std::uint64_t was = states[word];
    const std::uint64_t goes = was & ((literal == nullptr ? 0 : (*literal)[word]) | (slash ? 0 : one_[word]));
    const std::uint64_t stays = was & (stays_[word] | (slash ? 0 : stays_inside_[word]));
    states[word] = stays | goes << 1 | carry;
    carry = goes >> (kBits - 1);
  }
  skip_optional(states, slash);
}

// A state before an optional token holds behind it too; behind '**/' only where a component begins. At most two of
// these tokens follow each other: '**/' and a star.
void Glob::skip_optional(Bits& states, bool component_begins) const {
  for (int pass = 0; pass < 2; ++pass) {
    std::uint64_t carry = 0;
    for (std::size_t word = 0; word < states.size(); ++word) {
      const std::uint64_t skips =
          states[word] & (optional_[word] | (component_begins ? folders_[word] : std::uint64_t{0}));
      states[word] |= skips << 1 | carry;
      carry = skips >> (kBits - 1);
    }
  }
}

bool Glob::accepted(const Bits& states) const {
  return (states[tokens_ / kBits] >> (tokens_ % kBits) & 1) != 0;
}

bool Glob::run(std::string_view path, bool also_below) const {
  if (tokens_ == 0 || path.empty()) return false;
  Bits states(tokens_ / kBits + 1);
  states[0] = 1;
  skip_optional(states, true);
  for (const char c : path) {
    if (also_below && c == '/' && accepted(states)) return true;
    step(states, c);
  }
  return accepted(states);
}

bool Glob::matches(std::string_view path) const {
  return run(path, /*also_below=*/true);
}

bool Glob::matches_itself(std::string_view path) const {
  return run(path, /*also_below=*/false);
}

bool glob_matches(std::string_view pattern, std::string_view path) {
  return Glob(pattern).matches(path);
}

bool glob_matches_itself(std::string_view pattern, std::string_view path) {
  return Glob(pattern).matches_itself(path);
}

}  // namespace gridtorrent::metainfo
