#pragma once

#include "client/core/node_context.h"

namespace gridtorrent::client {

/// Keeps the server told what this node has and wants, and the swarms filled with what it answers: at the start of a
/// transfer, at every change of role, and when the server asks for it. Where the server does not answer, tries again
/// after growing, jittered pauses (1 s to 60 s). A claim that ended is withdrawn in the same way, after a restart of
/// the node, too: the transfer's row says that it ended, and is kept until the server knows. What is held but may not
/// be seeded is asked for now and then, since its access can change. Lock held in all methods but those on pool
/// threads.
class Announcer {
 public:
  explicit Announcer(NodeContext& context) : c_(context) {}

  /// Sends an announce if one is due. Called by the transfers' thread each round.
  void step(Transfer& transfer, MonoTime now);
  /// The stream is up again: everything is due, spread over some seconds where there is much.
  void everything_due(MonoTime now);
  /// Who may have it, its edition or its state changed. Nothing: look at all.
  void content_changed(const std::optional<ContentId>& content, MonoTime now);
  void peer_changed(const ContentId& content, std::uint32_t version, const PeerInfo& peer, MonoTime now);

 private:
  void look_again(Transfer& transfer);
  /// Tells the server that this node has nothing of it any more, until the server has confirmed it.
  void withdraw(Transfer& transfer);
  void send_withdrawal(const TransferId& id, const AnnounceRequest& request);
  Transfer* successor_of(const Transfer& transfer);
  void ask_access(const TransferId& id, const ContentId& content);
  /// The server named another edition: what is it?
  void follow_edition(const TransferId& id, const ContentId& content);
  void send(const TransferId& id, AnnounceRequest request, std::map<NodeId, PeerTotals> totals);
  std::uint64_t refused_handshakes();
  void told_of_handshakes(const AnnounceRequest& request, bool kept);
  void refused(Transfer& transfer, const Error& error, MonoTime now);
  void merge(Transfer& transfer, const std::vector<PeerInfo>& peers, MonoTime now);

  NodeContext& c_;
  std::uint64_t acknowledged_handshakes_ = 0;
  bool telling_handshakes_ = false;
};

/// What a transfer is to its swarm; nothing: it does not take part.
std::optional<SwarmRole> swarm_role(const Transfer& transfer);

/// Whether an announce, a withdrawal or the question whether it may be seeded again is to be sent by then.
bool announce_due(const Transfer& transfer, MonoTime by);

/// Whether what the server was told of this copy holds no more: it failed, is doubted, was cancelled or withdrawn. What
/// is only not served for a while (paused, about to be loaded) stays claimed.
bool claim_ended(const Transfer& transfer);

}  // namespace gridtorrent::client
