#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/hex.h"
#include "common/rng.h"
#include "tests/fuzz/targets.h"

namespace gridtorrent::fuzz {
namespace {

std::vector<std::string> corpus_of(std::string_view target) {
  std::vector<std::string> inputs;
  for (const auto& item : std::filesystem::directory_iterator(std::filesystem::path(GT_FUZZ_CORPUS) / target)) {
    std::ifstream file(item.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

class FuzzReplay : public testing::TestWithParam<NamedTarget> {};

TEST_P(FuzzReplay, KeepsItsPromisesOnTheCorpusCutAndMutated) {
  const int given = testing::UnitTest::GetInstance()->random_seed();
  const std::uint64_t seed = given != 0 ? static_cast<std::uint64_t>(given) : 20261120;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  SeededRng rng(seed);
  const std::vector<std::string> corpus = corpus_of(GetParam().name);
  ASSERT_FALSE(corpus.empty()) << GetParam().name;
  for (const std::string& input : corpus) {
    for (std::size_t size = 0; size <= input.size(); ++size) GetParam().run(as_bytes(input.substr(0, size)));
    for (int round = 0; round < 2000; ++round) {
      std::string mutated = input;
      for (std::uint64_t edits = 1 + rng.below(5); edits > 0 && !mutated.empty(); --edits) {
        const std::size_t at = rng.below(mutated.size());
        switch (rng.below(4)) {
          case 0:
            mutated[at] = static_cast<char>(rng.below(256));
            break;
          case 1:
            mutated.erase(at, 1 + rng.below(16));
            break;
          case 2:
            mutated.insert(at, 1, "0123456789ilde:-/.*?"[rng.below(20)]);
            break;
          default:
            mutated.insert(at, mutated.substr(rng.below(mutated.size()), rng.below(24)));
            break;
        }
      }
      GetParam().run(as_bytes(mutated));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay, testing::ValuesIn(kTargets),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace gridtorrent::fuzz
