#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "common/base32.h"
#include "common/clock.h"
#include "common/codes.h"
#include "common/cut_text.h"
#include "common/hex.h"
#include "common/ids.h"
#include "common/result.h"
#include "common/rng.h"
#include "common/shell_words.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent {
namespace {

TEST(Ids, RefuseAnotherPrefixLengthAndSpelling) {
  SeededRng rng(1);
  const std::string text = ContentId::make({1'700'000'000'000}, rng).str();
  EXPECT_FALSE(UserId::parse(text));
  EXPECT_FALSE(ContentId::parse(text + "a"));
  EXPECT_FALSE(ContentId::parse(text.substr(0, 27)));
  std::string upper = text;
  upper[5] = 'A';
  EXPECT_FALSE(ContentId::parse(upper));
  EXPECT_FALSE(ContentId::parse(""));
}

TEST(Ids, AreToldInErrorsWithoutControlCharactersAndNotWhole) {
  const auto refused = ContentId::parse("\x1b[2J" + std::string(300'000, 'x'));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("\\x1b[2Jxxx"), std::string::npos) << refused.error().message;
  EXPECT_LT(refused.error().message.size(), 200u);
}

TEST(Ids, RefuseASecondSpellingOfTheSameBytes) {
  // 26 characters carry 130 bits: the last two must be zero, or one id would have four names.
  const std::string canonical = "c_" + std::string(26, 'a');
  ASSERT_TRUE(ContentId::parse(canonical));
  EXPECT_FALSE(ContentId::parse(canonical.substr(0, 27) + "b"));
}

TEST(Ids, RoundTripAndSortByTime) {
  SeededRng rng(2);
  const ContentId early = ContentId::make({1'700'000'000'000}, rng);
  const ContentId late = ContentId::make({1'700'000'000'001}, rng);
  EXPECT_LT(early, late);
  EXPECT_EQ(ContentId::parse(early.str()).value(), early);
  EXPECT_EQ(early.bytes()[6] >> 4, 7);  // RFC 9562 version
  EXPECT_EQ(early.bytes()[8] >> 6, 2);  // and variant
}

TEST(Ids, ANameInTheFormOfAnIdIsRecognised) {
  SeededRng rng(3);
  EXPECT_TRUE(looks_like_id(NodeId::make({1}, rng).str()));
  EXPECT_FALSE(looks_like_id("climate-2026"));
  EXPECT_FALSE(looks_like_id("z_" + std::string(26, 'a')));
}

TEST(Base32, AgreesWithRfc4648) {
  EXPECT_EQ(base32_encode(as_bytes("foobar")), "mzxw6ytboi");
  EXPECT_EQ(base32_encode(as_bytes("fooba")), "mzxw6ytb");
  EXPECT_EQ(base32_encode(as_bytes("")), "");
}

TEST(Hex, RoundTripsAndRefusesOddOrForeignDigits) {
  EXPECT_EQ(hex_encode(as_bytes("\x01\xfe")), "01fe");
  EXPECT_EQ(hex_decode("01FE").value(), "\x01\xfe");
  EXPECT_FALSE(hex_decode("0"));
  EXPECT_FALSE(hex_decode("0g"));
}

TEST(Units, RefuseWhatIsNoSize) {
  for (const char* text : {"", "MB", "-1MB", "1.2.3MB", "5 apples", "1e400", "nan", "99999999999PB"})
    EXPECT_FALSE(parse_bytes(text)) << text;
  for (const char* text : {"", "200", "Mbit", "-5Mbit", "200 parsecs"}) EXPECT_FALSE(parse_bits_per_s(text)) << text;
  for (const char* text : {"", "5", "-1s", "soon"}) EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(Units, ReadSizesRatesAndDurations) {
  EXPECT_EQ(parse_bytes("1.5GiB").value(), 1'610'612'736U);
  EXPECT_EQ(parse_bytes("25MB").value(), 25'000'000U);
  EXPECT_EQ(parse_bytes("300").value(), 300U);
  EXPECT_EQ(parse_bits_per_s("200Mbit").value(), 200'000'000U);
  EXPECT_EQ(parse_bits_per_s("25MB").value(), 200'000'000U);
  EXPECT_EQ(parse_bits_per_s("25MB/s").value(), 200'000'000U);
  EXPECT_EQ(parse_bits_per_s("0").value(), 0U);
  EXPECT_EQ(parse_bits_per_s("unlimited").value(), 0U);
  EXPECT_EQ(parse_duration("15m").value(), std::chrono::minutes(15));
  EXPECT_EQ(parse_duration("7d").value(), std::chrono::hours(168));
}

TEST(Units, AreWrittenForPeople) {
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1'500'000'000), "1.50 GB");
  EXPECT_EQ(format_bytes(999'999), "1.00 MB");
  EXPECT_EQ(format_bits_per_s(843'210'000), "843 Mbit/s");
  EXPECT_EQ(format_duration(std::chrono::milliseconds(3'140)), "3.1 s");
  EXPECT_EQ(format_duration(std::chrono::seconds(250)), "4 min 10 s");
}

TEST(Time, IsWrittenAndReadAsRfc3339) {
  EXPECT_EQ(to_rfc3339({1'795'202'150'123}), "2026-11-20T19:15:50.123Z");
  EXPECT_EQ(parse_rfc3339("2026-11-20T19:15:50.123Z").value().ms, 1'795'202'150'123);
  EXPECT_EQ(parse_rfc3339("2026-11-20").value().ms, 1'795'132'800'000);
  EXPECT_EQ(parse_rfc3339("2026-11-20T20:15:50.123+01:00").value().ms, 1'795'202'150'123);
  EXPECT_EQ(parse_rfc3339("2026-11-20T13:45:50.123-05:30").value().ms, 1'795'202'150'123);
  for (const char* text : {"", "yesterday", "2026-11-20T19:15:50+1:00", "2026-11-20T19:15:50+24:00",
                           "2026-11-20T19:15:50+0100", "2026-11-20T19:15:50 01:00", "2026-13-01", "2026-02-30",
                           "2026-11-20T25:00:00Z", "2026-11-20T19:15:50", "2026-11-20T19:15:50.Z"})
    EXPECT_FALSE(parse_rfc3339(text)) << text;
}

TEST(Text, IsCutBetweenCharacters) {
  EXPECT_EQ(cut_text("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_text("abcdefg", 6), "abc…");
  EXPECT_EQ(cut_text("aüüü", 6), "aü…");
  EXPECT_EQ(cut_text("abüüü", 6), "ab…") << "half of the next one would fit";
  EXPECT_EQ(cut_text("数数", 3), "…");
}

TEST(Display, EscapesWhatATerminalCouldObey) {
  EXPECT_EQ(escape_for_display("plain ü 数"), "plain ü 数");
  EXPECT_EQ(escape_for_display("a\nb\x1b[2J"), "a\\nb\\x1b[2J");
  EXPECT_EQ(escape_for_display("\xff\xc0\x80"), "\\xff\\xc0\\x80");
  EXPECT_EQ(escape_for_display("\u202e"), "\\u202e");
  EXPECT_EQ(escape_for_display("data\u2060.bin\u00ad"), "data\\u2060.bin\\u00ad");
  EXPECT_EQ(escape_for_display("a\U000e0041"), "a\\U000e0041");
  EXPECT_EQ(escape_for_display("\u2764\ufe0f \U0001f600"), "\u2764\ufe0f \U0001f600");
  EXPECT_EQ(escape_for_display("back\\slash"), "back\\\\slash");
}

TEST(Display, AlwaysGivesValidUtf8) {
  SeededRng rng(4);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(rng.below(12), '\0');
    for (char& c : bytes) c = static_cast<char>(rng.below(256));
    EXPECT_TRUE(is_valid_utf8(escape_for_display(bytes))) << hex_encode(as_bytes(bytes));
  }
}

TEST(Display, SurrogatesAndOverlongFormsAreNoUtf8) {
  EXPECT_FALSE(is_valid_utf8("\xed\xa0\x80"));
  EXPECT_FALSE(is_valid_utf8("\xc0\xaf"));
  EXPECT_FALSE(is_valid_utf8("\xf4\x90\x80\x80"));
  EXPECT_FALSE(is_valid_utf8("\xe2\x82"));
  EXPECT_TRUE(is_valid_utf8("\xf0\x9f\x8e\x89"));
}

Result<int> half(int n) {
  if (n % 2 != 0) return Error{Code::kInvalid, std::to_string(n) + " is odd"};
  return n / 2;
}
Result<int> quarter(int n) {
  GT_ASSIGN(const int h, half(n));
  GT_ASSIGN(const int q, half(h));
  return q;
}

TEST(ShellWords, ArePlainWhereTheyCanBe) {
  EXPECT_EQ(shell_word("alice/run-42_v1.2"), "alice/run-42_v1.2");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("a\\b"), "'a\\b'");
  EXPECT_EQ(shell_word("gr\xc3\xbc\xc3\x9f"), "'gr\xc3\xbc\xc3\x9f'");
  EXPECT_EQ(shell_word("a\n'\xff\x1b[2J"), "$'a\\n\\'\\xff\\x1b[2J'");
  EXPECT_EQ(shell_arguments({"a", "b c"}), "a 'b c'");
  EXPECT_EQ(shell_arguments({"a", "-b"}), "-- a -b");
}

/// The one word that bash makes of the text.
std::string as_bash_reads(const std::string& arguments) {
  const std::string script = "printf '%s' " + arguments;
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::setenv("LC_ALL", "C.UTF-8", 1);
    ::execlp("bash", "bash", "-c", script.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string out(65536, '\0');
  std::size_t size = 0;
  for (ssize_t got = 1; got > 0; size += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
    got = ::read(ends[0], out.data() + size, out.size() - size);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  out.resize(size);
  return out;
}

TEST(ShellWords, ComeOutOfBashAsTheyWentIn) {
  for (const std::string word : {"a b",
                                 "it's",
                                 "\"q\"",
                                 "$HOME `x` $(y)",
                                 "a\\b",
                                 "\\n",
                                 "!x",
                                 "~",
                                 "*?[a]",
                                 "a;b|c&d>e<f",
                                 "=ls",
                                 "#x",
                                 "{a,b}",
                                 "line\nbreak\t\r",
                                 "not\xffutf8",
                                 "\x1b[31m",
                                 "\xe2\x80\xae"
                                 "abc",
                                 "gr\xc3\xbc\xc3\x9f",
                                 "a\n'b\\",
                                 "\x7f"
                                 "0"})
    EXPECT_EQ(as_bash_reads(shell_word(word)), word) << shell_word(word);
}

TEST(Result, PassesTheFirstErrorOn) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error(), (Error{Code::kInvalid, "3 is odd"}));
  EXPECT_EQ(quarter(6).error().with_context("dividing").message, "dividing: 3 is odd");
}

TEST(Rng, BelowStaysBelowAndReachesAll) {
  SeededRng rng(5);
  std::array<int, 5> seen{};
  for (int i = 0; i < 1000; ++i) ++seen[rng.below(5)];
  for (const int count : seen) EXPECT_GT(count, 100);
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock({1000});
  const MonoTime start = clock.mono();
  clock.set_wall({5000});
  EXPECT_EQ(clock.mono(), start);
  clock.advance(std::chrono::seconds(2));
  EXPECT_EQ(clock.wall().ms, 7000);
  EXPECT_EQ(clock.mono() - start, std::chrono::seconds(2));
}

TEST(Codes, ExitCodesAreTheContract) {
  const std::vector<std::pair<Code, int>> contract{
      {Code::kInvalid, 2},     {Code::kNotFound, 3},    {Code::kUnauthenticated, 4},
      {Code::kDenied, 4},      {Code::kUnreachable, 5}, {Code::kConflict, 6},
      {Code::kCorrupt, 7},     {Code::kDisk, 8},        {Code::kTimeout, 9},
      {Code::kCancelled, 10},  {Code::kBusy, 1},        {Code::kExhausted, 1},
      {Code::kUnsupported, 1}, {Code::kInternal, 1}};
  for (const auto& [code, number] : contract) EXPECT_EQ(static_cast<int>(exit_code(code)), number) << code_name(code);
}

TEST(Codes, NamesOnTheWireComeBackAsCodes) {
  for (const Code code : {Code::kInvalid, Code::kNotFound, Code::kUnauthenticated, Code::kDenied, Code::kUnreachable,
                          Code::kConflict, Code::kCorrupt, Code::kDisk, Code::kTimeout, Code::kCancelled, Code::kBusy,
                          Code::kExhausted, Code::kUnsupported})
    EXPECT_EQ(parse_code(code_name(code)), code);
  EXPECT_EQ(parse_code("from_the_future"), std::nullopt);
  EXPECT_EQ(parse_code(""), std::nullopt);
}

}  // namespace
}  // namespace gridtorrent
