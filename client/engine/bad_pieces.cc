#include "client/engine/bad_pieces.h"

#include <algorithm>

namespace gridtorrent::client::engine {
namespace {

/// So long after a bad peer's last pause a piece may still hold of its blocks.
constexpr auto kBadBlocksLinger = std::chrono::minutes(1);

}  // namespace

void BadPieces::note(const Lane& lane, std::uint32_t piece) {
  // Whoever relays a node's proof can spoil what the node sends: such a lane speaks for where it comes from alone.
  const bool by_address = !tls_ && !lane.node.is_nil() && !(lane.proven && lane.outgoing);
  const PeerKey key = by_address ? PeerKey{lane.node, lane.remote.address().to_string()} : key_of(lane);
  suspects_[piece].insert({key, by_address && lane.outgoing, by_address && lane.proven});
}

void BadPieces::judge(MonoTime now, Orders& orders) {
  for (const auto& [piece, suspects] : suspects_) {
    if (suspects.size() != 1) continue;  // libtorrent asks each of them alone for whole pieces next, and so finds out
    const Suspect& suspect = *suspects.begin();
    // Blocks of one whose lanes were cut for bad data are in pieces that others complete: not the others' fault.
    if (another_is_known(suspect.key, now) && table_.links()[suspect.key].bad_in_a_row == 0) continue;
    blame(suspect, piece, now, orders);
  }
  suspects_.clear();
}

bool BadPieces::another_is_known(const PeerKey& key, MonoTime now) const {
  return std::ranges::any_of(table_.links(), [&](const auto& entry) {
    return entry.first != key && entry.second.bad_in_a_row > 0 && now < entry.second.held_until + kBadBlocksLinger;
  });
}

void BadPieces::blame(const Suspect& suspect, std::uint32_t piece, MonoTime now, Orders& orders) {
  const auto& [node, address] = suspect.key;
  NodeLink& link = table_.links()[suspect.key];
  link.bad_piece(now);
  if (suspect.dialled) table_.link_of(node).hold_address(address, link.held_until);
  if (suspect.proven) end_proven_from(suspect.key);
  // One line a doubling: a wholly altered file must not flood the log.
  if ((link.bad_pieces & (link.bad_pieces - 1)) != 0) return;
  const std::string who = node.is_nil()     ? "the foreign client at " + address
                          : address.empty() ? node.str()
                          : suspect.proven
                              ? node.str() + " at " + address + ", or whoever relays its lanes from there,"
                              : "somebody at " + address + " who calls itself " + node.str() + " and has not proved it";
  const bool is_named = !node.is_nil() && (address.empty() || suspect.proven);
  orders.warnings.push_back(
      "piece " + std::to_string(piece) + " from " + who +
      " failed its hash and was refused; its copy of the data is not what was published (" +
      std::to_string(link.bad_pieces) + " such pieces so far), so it is no seeder of them" +
      (is_named ? "; its owner finds out what is wrong there with 'gridtorrent verify' and what mends it" : ""));
}

/// What others dialled from there; new ones are refused while the address is held.
void BadPieces::end_proven_from(const PeerKey& key) {
  const auto& [node, address] = key;
  for (const auto& lane : table_.lanes()) {
    if (lane->node == node && lane->proven && !lane->outgoing && lane->remote.address().to_string() == address)
      lane->state = LaneState::kClosing;  // by the next tick
  }
}

}  // namespace gridtorrent::client::engine
