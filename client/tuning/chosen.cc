#include "client/tuning/chosen.h"

#include "client/tuning/registry.h"
#include "common/check.h"

namespace gridtorrent::client::tuning {

Plan ChosenController::plan(const ControllerInput& input) {
  std::string name = input.tuner.empty() ? usual_ : input.tuner;
  if (!tuners_.contains(name)) {
    auto made = make_tuner(name, seed_);
    if (made == nullptr) {
      name = usual_;
      made = make_tuner(name, seed_);
    }
    GT_CHECK(made != nullptr);
    tuners_.try_emplace(name, std::move(made));
  }
  const auto [chosen, is_new] = chosen_.try_emplace(input.transfer, name);
  if (!is_new && chosen->second != name) {
    tuners_.at(chosen->second)->removed(input.transfer);
    chosen->second = name;
  }
  return tuners_.at(name)->plan(input);
}

void ChosenController::removed(const TransferId& transfer) {
  const auto chosen = chosen_.find(transfer);
  if (chosen == chosen_.end()) return;
  tuners_.at(chosen->second)->removed(transfer);
  chosen_.erase(chosen);
}

}  // namespace gridtorrent::client::tuning
