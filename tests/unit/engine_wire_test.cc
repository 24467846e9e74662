#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/engine/resume.h"
#include "client/engine/wire.h"
#include "common/rng.h"
#include "tests/support/numbered_node.h"

namespace gridtorrent::client::engine {
namespace {

using gridtorrent::testing::numbered_node;

TEST(Hello, ComesBackAsSent) {
  const Hello hello{numbered_node(7), 3, 12, {}};
  EXPECT_EQ(decode_hello(encode_hello(hello)), hello);
}

TEST(Hello, RefusesOtherVersionsNilNodesAndNumbersOutOfRange) {
  const std::string good = encode_hello({numbered_node(7), 3, 12, {}});
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = good;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  EXPECT_FALSE(decode_hello(with("1:vi1e", "1:vi2e")));
  EXPECT_FALSE(decode_hello(encode_hello({NodeId(), 3, 12, {}})));
  EXPECT_FALSE(decode_hello(with("5:granti12e", "5:granti17e")));
  EXPECT_FALSE(decode_hello(with("4:node", "4:morei-1e4:node")));
  EXPECT_FALSE(decode_hello(with("4:node", "4:more1:94:node")));
  EXPECT_FALSE(decode_hello(with("5:granti12e", "5:granti-1e")));
  EXPECT_FALSE(decode_hello(with("4:lanei3e", "4:lanei70000e")));
  EXPECT_FALSE(decode_hello(with("5:granti12e", "5:grant2:12")));
  EXPECT_FALSE(decode_hello(with("4:node16:", "4:node15:")));
}

TEST(Hello, CarriesANonceOfItsOwnSizeOrNone) {
  const Hello hello{numbered_node(7), 3, 12, Nonce{1, 2, 3}};
  const std::string good = encode_hello(hello);
  EXPECT_EQ(decode_hello(good), hello);
  std::string shorter = good;
  shorter.replace(shorter.find("5:nonce16:") + 10, 16, "");
  shorter.replace(shorter.find("5:nonce16:"), 10, "5:nonce0:");
  EXPECT_FALSE(decode_hello(shorter));
  std::string number = good;
  number.replace(number.find("5:nonce16:") + 7, 19, "i7e");
  EXPECT_FALSE(decode_hello(number));
}

TEST(Proofs, ComeBackAsSent) {
  const LaneProof proof{std::string(91, '\0'), std::string(72, '\xff')};
  EXPECT_EQ(decode_proof(encode_proof(proof)), proof);
}

TEST(Proofs, RefuseWhatNoKeyAndSignatureCanBe) {
  EXPECT_FALSE(decode_proof(encode_proof({"", "s"})));
  EXPECT_FALSE(decode_proof(encode_proof({"k", ""})));
  EXPECT_FALSE(decode_proof(encode_proof({std::string(129, 'k'), "s"})));
  EXPECT_FALSE(decode_proof(encode_proof({"k", std::string(81, 's')})));
  EXPECT_FALSE(decode_proof("d3:keyi1e3:sigi2ee"));
}

TEST(Hello, IgnoresKeysOfLaterVersions) {
  const std::string good = encode_hello({numbered_node(7), 3, 12, {}});
  EXPECT_TRUE(decode_hello("d5:extra" + good + good.substr(1)));
}

TEST(Hello, NamesTheCongestionControlsThatTheOtherEndMayAskFor) {
  Hello hello{numbered_node(7), 3, 12, {}};
  hello.congestion_controls = {"bbr", "cubic"};
  EXPECT_EQ(decode_hello(encode_hello(hello)), hello);
}

TEST(Hello, RefusesCongestionControlsThatNoKernelHas) {
  const auto with = [](std::vector<std::string> names) {
    return encode_hello({numbered_node(7), 3, 12, {}, std::move(names)});
  };
  EXPECT_FALSE(decode_hello(with({"BBR"})));
  EXPECT_FALSE(decode_hello(with({""})));
  EXPECT_FALSE(decode_hello(with({std::string(16, 'a')})));
  EXPECT_FALSE(decode_hello(with(std::vector<std::string>(kMostCongestionNames + 1, "bbr"))));
  std::string number = with({"bbr"});
  number.replace(number.find("l3:bbre"), 7, "i3e");
  EXPECT_FALSE(decode_hello(number));
}

TEST(CongestionWish, ComesBackAsSent) {
  EXPECT_EQ(decode_congestion(encode_congestion("bbr")), "bbr");
  EXPECT_EQ(decode_congestion(encode_congestion("")), "") << "the kernel's default";
}

TEST(CongestionWish, IsTheDefaultWhereItNamesNone) {
  EXPECT_EQ(decode_congestion("de"), "");
  EXPECT_EQ(decode_congestion("d5:extrai1ee"), "");
}

TEST(CongestionWish, RefusesWhatIsNoName) {
  EXPECT_FALSE(decode_congestion(encode_congestion("BBR\n")));
  EXPECT_FALSE(decode_congestion(encode_congestion(std::string(16, 'a'))));
  EXPECT_FALSE(decode_congestion("d2:cci1ee"));
  EXPECT_FALSE(decode_congestion("3:bbr"));
}

TEST(Hello, GrantsMoreThanSixteenUnderAKeyOfItsOwnSinceEarlierProgramsRefuseTheNumber) {
  for (const int lanes : {17, kMaxLanes}) {
    const Hello hello{numbered_node(7), 3, lanes, {}};
    EXPECT_THAT(encode_hello(hello), ::testing::HasSubstr("5:granti16e"));
    EXPECT_EQ(decode_hello(encode_hello(hello)), hello);
  }
  EXPECT_THAT(encode_hello({numbered_node(7), 3, 16, {}}), ::testing::Not(::testing::HasSubstr("4:more")));
}

TEST(LaneMessages, CarryZeroToThirtyTwo) {
  for (const int lanes : {0, 1, 16, 17, 32}) {
    EXPECT_EQ(decode_lanes(encode_lanes(lanes)), lanes);
    EXPECT_EQ(decode_grant(encode_grant(lanes)), lanes);
  }
  EXPECT_FALSE(decode_lanes(encode_lanes(-1)));
  EXPECT_FALSE(decode_lanes("d4:wanti17ee")) << "as earlier programs have it";
  EXPECT_FALSE(decode_lanes("d4:morei65536e4:wanti16ee"));
  EXPECT_EQ(decode_grant(encode_grant(1000)), 32) << "a later program that knows more";
  EXPECT_FALSE(decode_lanes(encode_grant(4)));
}

TEST(Stats, ComeBackAsSent) {
  const TcpFigures figures{
      50'123, 49'000, 1'234'567'890'123, 4'000'000'000, "bbr", 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};
  EXPECT_EQ(decode_stats(encode_stats(figures)), figures);
}

TEST(Stats, OfOlderVersionsHaveNoLossEvents) {
  const TcpFigures figures{2, 1, 3, 4, "cubic"};
  EXPECT_EQ(decode_stats("d2:cc5:cubic4:cwndi4e6:minrtti1e4:retri3e4:srtti2ee"), figures);
}

TEST(Stats, IgnoreKeysOfLaterVersions) {
  EXPECT_TRUE(decode_stats("d2:cc5:cubic4:cwndi4e6:minrtti1e4:retri3e4:srtti2e1:zi-1ee"));
}

TEST(Stats, TakeNoFigureThatWouldNotFitAsBits) {
  const auto figures = decode_stats("d2:cc3:bbr4:cwndi1e6:minrtti1e4:pacei9223372036854775807e4:retri1e4:srtti1ee");
  ASSERT_TRUE(figures);
  EXPECT_LE(static_cast<double>(figures->paced_bytes_per_s) * 8 * 32, 0x1p63);
}

TEST(Stats, RefuseNegativeNumbersAndStrangeNames) {
  EXPECT_FALSE(decode_stats("d2:cc3:bbr4:cwndi-1e6:minrtti1e4:retri1e4:srtti1ee"));
  EXPECT_FALSE(decode_stats("d2:cc3:bbr4:cwndi1e6:minrtti4294967296e4:retri1e4:srtti1ee"));
  EXPECT_FALSE(decode_stats("d2:cc3:bbr4:cwndi1e4:losti-1e6:minrtti1e4:retri1e4:srtti1ee"));
  EXPECT_FALSE(decode_stats("d2:cc3:bbr4:cwndi1e4:lost1:x6:minrtti1e4:retri1e4:srtti1ee"));
  EXPECT_FALSE(decode_stats(encode_stats({1, 1, 1, 1, "BBR\n"})));
  EXPECT_FALSE(decode_stats(encode_stats({1, 1, 1, 1, std::string(16, 'a')})));
}

TEST(WireDecoders, SurviveWhateverArrives) {
  const std::uint64_t seed = SystemRng().next();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRng rng(seed);
  const std::string samples[] = {encode_hello({numbered_node(7), 3, 12, Nonce{1}, {"bbr", "cubic"}}),
                                 encode_congestion("bbr"),
                                 encode_proof({std::string(91, 'k'), std::string(70, 's')}),
                                 encode_lanes(4),
                                 encode_stats({1, 2, 3, 4, "cubic"}),
                                 std::string(2000, 'l'),
                                 std::string(500, 'd') + std::string(500, 'e'),
                                 "d4:want99999999999999999999:",
                                 "d4:wanti99999999999999999999ee"};
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = samples[rng.below(std::size(samples))];
    bytes.resize(rng.below(bytes.size() + 1));
    for (std::uint64_t change = rng.below(4); change > 0 && !bytes.empty(); --change) {
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    }
    const auto hello = decode_hello(bytes);
    EXPECT_TRUE(!hello || (hello->grant >= 0 && hello->grant <= kMaxLanes && !hello->node.is_nil()));
    const auto lanes = decode_lanes(bytes);
    EXPECT_TRUE(!lanes || (*lanes >= 0 && *lanes <= kMaxLanes));
    decode_grant(bytes);
    decode_stats(bytes);
    decode_proof(bytes);
    const auto wish = decode_congestion(bytes);
    EXPECT_TRUE(!wish || is_congestion_name(*wish));
  }
  EXPECT_FALSE(decode_lanes("d1:a" + std::string(2000, 'x') + "4:wanti1ee"));
}

ResumeData some_resume(std::size_t pieces) {
  ResumeData data;
  data.pieces_key.fill(9);
  for (std::size_t i = 0; i < pieces; ++i) data.have.push_back(i % 3 == 0);
  return data;
}

TEST(ResumeData, ComesBackAsWritten) {
  for (const std::size_t pieces : {1U, 7U, 8U, 9U, 1000U}) {
    const auto back = decode_resume(encode_resume(some_resume(pieces)));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, some_resume(pieces));
  }
}

TEST(ResumeData, IsRefusedWhenAnyBitOrByteIsWrong) {
  const std::string good = encode_resume(some_resume(100));
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    EXPECT_EQ(decode_resume(bad).error().code, Code::kCorrupt) << at;
    EXPECT_FALSE(decode_resume(good.substr(0, at)).ok()) << at;
  }
  EXPECT_FALSE(decode_resume(good + "x").ok());
}

}  // namespace
}  // namespace gridtorrent::client::engine
