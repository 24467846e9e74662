#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/logging/logging.h"
#include "base/metrics/metrics.h"

namespace gridtorrent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kTimeMs = 1'763'666'150'123;
const std::string kToken = "gtp_ABCDEFGHIJ_" + std::string(43, 's') + "crc123";

TEST(Logging, ATextLineNamesItsFields) {
  EXPECT_EQ(logging::format_line(logging::Format::kText, logging::Level::kInfo, kTimeMs, "call ended",
                                 {{"method", "Contents/Search"}, {"reason", "too often"}}),
            "2025-11-20T19:15:50.123Z info call ended method=Contents/Search reason=\"too often\"");
}

TEST(Logging, AJsonLineIsOneObject) {
  EXPECT_EQ(logging::format_line(logging::Format::kJson, logging::Level::kError, kTimeMs, "a \"b\"", {{"k", "v"}}),
            R"({"time":"2025-11-20T19:15:50.123Z","level":"error","message":"a \"b\"","k":"v"})");
}

TEST(Logging, TokensNeverShow) {
  for (const auto format : {logging::Format::kText, logging::Format::kJson}) {
    const std::string line =
        logging::format_line(format, logging::Level::kInfo, kTimeMs, "got Bearer " + kToken, {{"header", kToken}});
    EXPECT_THAT(line, Not(HasSubstr("ssss")));
    EXPECT_THAT(line, HasSubstr("gtp_[redacted]"));
  }
  EXPECT_EQ(logging::redact_tokens("the target gts_node"), "the target gts_node");
}

TEST(Logging, ALineStaysALine) {
  const std::string line = logging::format_line(logging::Format::kText, logging::Level::kInfo, kTimeMs,
                                                "name: a\nERROR forged", {{"path", "x\x1b[31m"}});
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  EXPECT_THAT(line, Not(HasSubstr("\x1b")));
}

TEST(Logging, WrongChoicesAreNamed) {
  EXPECT_TRUE(logging::parse_level("warning").ok());
  EXPECT_FALSE(logging::parse_level("loud").ok());
  EXPECT_FALSE(logging::configure("text", "loud").ok());
  EXPECT_FALSE(logging::configure("xml", "info").ok());
  EXPECT_TRUE(logging::configure("text", "info").ok());
  EXPECT_TRUE(logging::parse_format("json").ok());
  EXPECT_FALSE(logging::parse_format("xml").ok());
}

TEST(Metrics, FiguresAreCountedUnderTheirLabels) {
  metrics::Registry registry;
  registry.counter("gridtorrent_things_total", "Things.", {{"kind", "a"}}).add(2);
  registry.counter("gridtorrent_things_total", "Things.", {{"kind", "a"}}).add();
  registry.counter("gridtorrent_things_total", "Things.", {{"kind", "b"}}).add();
  registry.gauge("gridtorrent_level", "Level.").set(7);
  registry.histogram("gridtorrent_wait_seconds", "Wait.", {0.1, 1}).observe(0.5);
  registry.gauge_callback("gridtorrent_now", "Now.", {}, [] { return 42.0; });
  const std::string text = registry.text();
  EXPECT_THAT(text, HasSubstr("gridtorrent_things_total{kind=\"a\"} 3"));
  EXPECT_THAT(text, HasSubstr("gridtorrent_things_total{kind=\"b\"} 1"));
  EXPECT_THAT(text, HasSubstr("gridtorrent_level 7"));
  EXPECT_THAT(text, HasSubstr("gridtorrent_wait_seconds_bucket{le=\"1\"} 1"));
  EXPECT_THAT(text, HasSubstr("gridtorrent_now 42"));
}

TEST(Metrics, APortInUseIsSaid) {
  metrics::Registry first, second;
  const auto port = first.expose("127.0.0.1:0");
  ASSERT_TRUE(port.ok()) << port.error().message;
  const auto again = second.expose("127.0.0.1:" + std::to_string(*port));
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::kConflict);
}

}  // namespace
}  // namespace gridtorrent
