#include "client/tuning/registry.h"

#include <algorithm>
#include <array>

#include "client/plan/tuners.h"
#include "client/tuning/auto.h"
#include "client/tuning/e2e.h"
#include "client/tuning/fixed.h"
#include "client/tuning/fstream.h"
#include "client/tuning/mc.h"
#include "client/tuning/pcp.h"
#include "client/tuning/search_controller.h"

namespace gridtorrent::client::tuning {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<TransferController> (*make)(std::uint64_t seed);
};

template <typename Controller>
std::unique_ptr<TransferController> without_chance(std::uint64_t) {
  return std::make_unique<Controller>();
}

template <typename Search>
std::unique_ptr<TransferController> searching(const char* name) {
  return std::make_unique<SearchController>(name, [] { return std::make_unique<Search>(); });
}

std::unique_ptr<TransferController> fstream(std::uint64_t) {
  return std::make_unique<SearchController>(
      "fstream", [history = std::make_shared<ProfileHistory>()] { return std::make_unique<FstreamSearch>(history); });
}

constexpr std::array kMakers = {
    Entry{"auto", without_chance<AutoController>},
    Entry{"fixed", without_chance<FixedController>},
    Entry{"pcp", [](std::uint64_t) { return searching<PcpSearch>("pcp"); }},
    Entry{"mc", [](std::uint64_t) { return searching<McSearch>("mc"); }},
    Entry{"e2e", [](std::uint64_t) { return searching<E2eSearch>("e2e"); }},
    Entry{"fstream", fstream},
};

static_assert(std::ranges::equal(kMakers, kTuners, {}, &Entry::name, &TunerChoice::name),
              "each tuner of client/plan/tuners.h is made here, in the same order");

}  // namespace

std::vector<std::string> tuner_names() {
  std::vector<std::string> names;
  for (const auto& tuner : kTuners) names.emplace_back(tuner.name);
  return names;
}

std::unique_ptr<TransferController> make_tuner(const std::string& name, std::uint64_t seed) {
  const auto* const found = std::ranges::find(kMakers, name, &Entry::name);
  return found == kMakers.end() ? nullptr : found->make(seed);
}

}  // namespace gridtorrent::client::tuning
