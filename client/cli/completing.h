#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cli/context.h"

/// What shells offer for contents, groups, nodes, transfers and tasks.
namespace gridtorrent::client::cli {

/// A word that may be typed, and what it stands for; that may be empty.
struct Offer {
  std::string word, meaning;
  friend bool operator==(const Offer&, const Offer&) = default;
};

/// The lines for a completion script: those that begin with `begin`, sorted, each once, "WORD" or "WORD<tab>MEANING".
/// Words that are not printable are left out: a shell could not type them either.
std::string offer_lines(std::vector<Offer> offers, std::string_view begin);

/// Names of contents, with their owners where two have one name or where `begin` has a slash.
std::vector<Offer> content_offers(const std::vector<v1::Content>& contents, std::string_view begin);
/// Names; behind a comma in what is typed, further ones.
std::vector<Offer> node_offers(const std::vector<v1::Node>& nodes, std::string_view begin);

/// Names of transfers, and ids of those that share one; also of all others once something is typed.
std::vector<Offer> transfer_offers(const std::vector<v1::Transfer>& transfers, std::string_view begin);

/// Says for each positional and option of the table which kind completes it, by its placeholder.
void complete_by_placeholder(options::Command& command);

inline constexpr char kCompleter[] = "__complete";
std::vector<CommandEntry> completing_commands();

}  // namespace gridtorrent::client::cli
