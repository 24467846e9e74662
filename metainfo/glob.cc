#include <cstdint>
#include <vector>

#include "metainfo/manifest.h"

namespace gridtorrent::metainfo {

namespace {

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
      tokens.push_back({whole_component ? TokenKind::kFolders : TokenKind::kDoubleStar});
      if (whole_component) ++i;
    }
  }
  return tokens;
}

/// A nondeterministic automaton over the tokens: state i means "tokens before i are matched". Time is path times
/// pattern, so no pattern takes exponential time.
class Matcher {
 public:
  explicit Matcher(const std::vector<Token>& tokens) : tokens_(tokens), states_(tokens.size() + 1) {
    states_[0] = true;
    skip_optional();
  }

  bool accepted() const { return states_.back(); }

  void step(char c) {
    std::vector<bool> next(states_.size());
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!states_[i]) continue;
      switch (tokens_[i].kind) {
        case TokenKind::kLiteral:
          if (c == tokens_[i].literal) next[i + 1] = true;
          break;
        case TokenKind::kOne:
          if (c != '/') next[i + 1] = true;
          break;
        case TokenKind::kStar:
          if (c != '/') next[i] = true;
          break;
        case TokenKind::kDoubleStar:
          next[i] = true;
          break;
        case TokenKind::kFolders:
          next[i] = true;
          break;
      }
    }
    states_ = std::move(next);
    skip_optional(c == '/');
  }

 private:
  // A state before an optional token holds behind it too; behind '**/' only where a component begins.
  void skip_optional(bool component_begins = true) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const TokenKind kind = tokens_[i].kind;
      const bool optional = kind == TokenKind::kStar || kind == TokenKind::kDoubleStar ||
                            (kind == TokenKind::kFolders && component_begins);
      if (states_[i] && optional) states_[i + 1] = true;
    }
  }

  const std::vector<Token>& tokens_;
  std::vector<bool> states_;
};

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view path) {
  const std::vector<Token> tokens = tokens_of(pattern);
  if (tokens.empty() || path.empty()) return false;
  Matcher matcher(tokens);
  for (const char c : path) {
    // The pattern names a folder above.
    if (c == '/' && matcher.accepted()) return true;
    matcher.step(c);
  }
  return matcher.accepted();
}

bool glob_matches_itself(std::string_view pattern, std::string_view path) {
  const std::vector<Token> tokens = tokens_of(pattern);
  if (tokens.empty() || path.empty()) return false;
  Matcher matcher(tokens);
  for (const char c : path) matcher.step(c);
  return matcher.accepted();
}

}  // namespace gridtorrent::metainfo
