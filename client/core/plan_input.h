#pragma once

#include "client/core/dialling.h"
#include "client/core/transfer_book.h"
#include "client/plan/controller.h"

/// What the dialling rule and the controller are told of a transfer. Pure; called with the book's lock held.
namespace gridtorrent::client {

/// One moment by both clocks.
struct Now {
  MonoTime mono;
  WallTime wall;
};

/// Who is in its swarm, and which lanes stand. Notes in the transfer since when a peer has been without a lane.
DialFacts dial_facts(const NodeId& self, Reachability self_reachability, Transfer& transfer, MonoTime now);

/// `limits`: of `node`, at the moment. What its other transfers do (`others`), what these leave of the node's limit,
/// and its load are the caller's to fill in.
ControllerInput controller_input(const NodeOptions& node, const Transfer& transfer, const NodeLimits& limits, Now now);

/// The limit of one transfer: its own, and what `input.others` leave of the node's, at least an even part of that. Who
/// has so much has reached its limit. It changes with what the others bring, so nothing is promised by it.
std::uint64_t limit_beside(std::uint64_t own, std::uint64_t node, const ControllerInput& input);

/// What its tuner is asked for from now on. kInvalid as `changed_and_checked`, and says where what was asked before is
/// in the way. `limit_bits_per_s`: of the transfer from now on; `usual`: the node's tuner.
Result<TuningWish> wish_from_now_on(const TransferRow& row, const WishChange& change, std::uint64_t limit_bits_per_s,
                                    std::string_view usual);

/// What a transfer that fetches may receive, bits of payload a second: the lower one of its own limit and its tuner's;
/// 0: all.
std::uint64_t receive_limit(const Transfer& transfer);

/// It fetches, and lanes may carry something for it.
bool competes(const Transfer& transfer);
/// What other transfers are told of it.
OtherTransfer as_other(const Transfer& transfer);

}  // namespace gridtorrent::client
