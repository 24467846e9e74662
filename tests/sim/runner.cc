#include "tests/sim/runner.h"

#include <algorithm>

#include "tests/sim/rate_network.h"
#include "tests/sim/window_network.h"

namespace gridtorrent::sim {
namespace {

/// The world, its network and the transfers over it.
class Stage {
 public:
  Stage(Model model, const Scenario& scenario, std::uint64_t seed)
      : scenario_(scenario), world_(scenario.world), network_(make_network(model, world_, seed)), seed_(seed) {}

  void add(client::TransferController& controller, const Task& task) {
    const int number = static_cast<int>(transfers_.size());
    transfers_.push_back(std::make_unique<Transfer>(number, *network_, world_, controller, task,
                                                    seed_ + static_cast<std::uint64_t>(number)));
  }

  std::vector<Run> run(int seconds) {
    for (int second = 0; second < seconds && !std::ranges::all_of(transfers_, &Transfer::done); ++second) {
      while (phase_ < scenario_.events.size() && second >= scenario_.events[phase_]) {
        scenario_.change(static_cast<int>(phase_++), world_);
      }
      for (auto& transfer : transfers_) transfer->begin_second();
      for (double part = 0; part < 1; part += Transfer::kSample) {
        for (auto& transfer : transfers_) transfer->open_and_close();
        network_->advance(Transfer::kSample);
        for (auto& transfer : transfers_) transfer->measure();
      }
      for (auto& transfer : transfers_) transfer->end_second();
    }
    std::vector<Run> runs;
    for (auto& transfer : transfers_) runs.push_back(std::move(*transfer).result());
    return runs;
  }

 private:
  const Scenario& scenario_;
  World world_;
  std::unique_ptr<Network> network_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::size_t phase_ = 0;
};

}  // namespace

const char* model_name(Model model) {
  return model == Model::kWindows ? "windows" : "rates";
}

std::unique_ptr<Network> make_network(Model model, const World& world, std::uint64_t seed) {
  if (model == Model::kWindows) return std::make_unique<WindowNetwork>(world, seed);
  return std::make_unique<RateNetwork>(world, seed);
}

Run run(Model model, const Scenario& scenario, client::TransferController& controller, std::uint64_t seed, int seconds,
        const Task& task) {
  Stage stage(model, scenario, seed);
  stage.add(controller, task);
  return std::move(stage.run(seconds).front());
}

std::vector<Run> run_together(Model model, const Scenario& scenario,
                              const std::vector<client::TransferController*>& controllers, std::uint64_t seed,
                              int seconds) {
  Stage stage(model, scenario, seed);
  for (auto* controller : controllers) stage.add(*controller, {});
  return stage.run(seconds);
}

}  // namespace gridtorrent::sim
