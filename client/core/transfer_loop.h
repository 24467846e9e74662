#pragma once

#include <set>
#include <vector>

#include "client/core/announcer.h"
#include "client/core/dialling.h"
#include "client/core/get_job.h"
#include "client/core/lasting_publish.h"
#include "client/core/node_context.h"
#include "client/core/publish_job.h"
#include "client/core/rights_keeper.h"
#include "client/core/seeding.h"

namespace gridtorrent::client {

/// One round: looks at the engine, lets each transfer take its next step, keeps plans and announces up to date. Most
/// rounds leave out what rests and has nothing due. Runs on the transfers' thread alone, with the book's lock held;
/// starts jobs, never blocks.
class TransferLoop {
 public:
  TransferLoop(NodeContext& context, GetFlow& gets, PublishFlow& publishes, LastingPublishFlow& lasting,
               SeedingFlow& seeding, Announcer& announcer, RightsKeeper& rights)
      : c_(context),
        gets_(gets),
        publishes_(publishes),
        lasting_(lasting),
        seeding_(seeding),
        announcer_(announcer),
        rights_(rights) {}

  /// This node's listeners of one kind, as the server's dial-back found them.
  struct Listeners {
    Reachability reachability = Reachability::kUnknown;
    std::vector<LaneEndpoint> endpoints;
  };
  /// This node as others come to it.
  struct Own {
    std::string name;
    Listeners plain, tls;
    const Listeners& listeners(std::uint32_t generation) const { return generation == 0 ? plain : tls; }
  };

  /// Returns how long to sleep if nothing rings. `all`: something may concern any transfer.
  std::chrono::milliseconds round(const EngineEvents::Batch& events, Own own, bool all);

 private:
  void take_news(const EngineEvents::Batch& events, MonoTime now);
  /// `each`: none is passed over.
  void look_at_all(MonoTime now, bool each);
  void look_at_due(MonoTime now);
  /// Who may be due before all are looked at again, so far as is known before their steps; counts what is held.
  void survey();
  bool any_moves();
  void step(Transfer& transfer, MonoTime now);
  void step_cancelled(Transfer& transfer, MonoTime now);
  void step_fetch(Transfer& transfer, MonoTime now);
  void step_held_back(Transfer& transfer, MonoTime now);
  void step_hold(Transfer& transfer, MonoTime now);
  void disk_trouble(Transfer& transfer, MonoTime now);
  void give_up_on_disk(Transfer& transfer, const Error& error);
  void start_over(Transfer& transfer);
  void goes_away(Transfer& transfer);
  void go_on(Transfer& transfer);
  void refresh(Transfer& transfer, MonoTime now);
  /// What came and went between the look before and this one.
  void note_rates(const Transfer& transfer, const TorrentSnapshot& snapshot, MonoTime before, MonoTime now);
  void set_engine_paused(Transfer& transfer, bool paused, MonoTime now);
  void choose();
  void update_plan(Transfer& transfer, MonoTime now);
  static void give_others_a_turn(Transfer& transfer, const LanePlan& plan, MonoTime now);
  void note_no_paths(Transfer& transfer, const DialFacts& facts);
  LanePlan wished_plan(Transfer& transfer, const DialFacts& facts, MonoTime now);
  /// Keeps them for people; a line of log where they have another word, and where a target is missed.
  void note_limit(Transfer& transfer, Findings findings);
  /// Tells the controller and the diagnosis which transfers no longer fetch.
  void forget_controlled();
  void say_what_is_missing(Transfer& transfer);
  void tell_state(Transfer& transfer);
  void send_to_sleep(Transfer& transfer);
  void look_soon(Transfer& transfer);
  bool forgotten(const Transfer& transfer, MonoTime now) const;

  NodeContext& c_;
  GetFlow& gets_;
  PublishFlow& publishes_;
  LastingPublishFlow& lasting_;
  SeedingFlow& seeding_;
  Announcer& announcer_;
  RightsKeeper& rights_;
  Own own_;
  bool serves_public_ = true;
  int fell_asleep_ = 0;  ///< in this round
  MonoTime all_looked_at_{}, all_stepped_at_{};
  /// All that do not rest, and what may be due before all are looked at again: those whose `quick` is set, and some
  /// that are gone.
  std::vector<TransferId> quick_;
  std::set<TransferId> controlled_;  ///< that the controller has been asked about and may remember
};

}  // namespace gridtorrent::client
