#pragma once

#include <QString>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gridtorrent::gui {

/// What a transfer does. The order is that of the table when sorted by state: what moves comes first.
enum class TransferState : std::uint8_t {
  kFetching,
  kVerifying,
  kHashing,
  kQueued,
  kSeeding,
  kPaused,
  kComplete,
  kFailed,
  kCancelled,
  kOther,  ///< a state that this version does not know
};

/// The state of a word of the node's API ("fetching").
TransferState transfer_state(std::string_view word);
/// For people, translated.
QString state_text(TransferState state);
/// The limiting word of the node's API ("receiver-cpu") for people, translated; other words as they are.
QString limit_text(std::string_view word);
/// Brings rows with the same word together; words that are not known, and none, come last.
std::size_t limit_rank(std::string_view word);

/// A transfer as the node tells of it. Strings are bytes that others wrote.
struct TransferRow {
  std::string id;
  std::string name;
  std::string owner;
  TransferState state = TransferState::kOther;
  std::uint64_t verified_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t down_bits_per_s = 0;
  std::uint64_t up_bits_per_s = 0;
  std::uint32_t lanes = 0;
  std::uint32_t seeders = 0;                 ///< that sent something lately
  std::optional<std::chrono::seconds> left;  ///< nothing: not known
  std::string limit_word;                    ///< empty: nothing limits it, or not known
  std::string message;                       ///< an error, or what it waits for
  std::string path;                          ///< where it is, or will be
  friend bool operator==(const TransferRow&, const TransferRow&) = default;
};

/// What is new since the last one: rows that appeared or changed, and ids of those that are gone. An id in both is
/// gone.
struct TransferDelta {
  std::vector<TransferRow> changed;
  std::vector<std::string> removed;
};

/// Which transfers to show.
struct TransferFilter {
  QString text;                        ///< part of name or owner, case ignored; empty: all
  std::optional<TransferState> state;  ///< nothing: all
};

}  // namespace gridtorrent::gui
