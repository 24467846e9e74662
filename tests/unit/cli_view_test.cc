#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <sstream>

#include "client/cli/speed.h"
#include "client/cli/terminal.h"
#include "client/cli/text_view.h"
#include "tests/support/zone.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr WallTime kNow{1'700'000'000'000};  // 2023-11-14T22:13:20Z

v1::Transfer fetching() {
  v1::Transfer t;
  t.set_transfer_id("x_1");
  t.set_name("run42");
  t.set_state("fetching");
  t.set_verified_bytes(625);
  t.set_total_bytes(1000);
  t.set_payload_bits_per_s(843'000'000);
  t.set_lanes(8);
  t.set_seeders(2);
  t.set_eta_s(12);
  return t;
}

TEST(ProgressLine, ShowsPercentRateLanesAndEta) {
  EXPECT_EQ(progress_line(fetching(), 120, kNow),
            "run42  62.5 %  843 Mbit/s  ETA 12 s  625 B of 1.00 kB  [###############---------]  2 seeders × 4 lanes");
}

TEST(ProgressLine, GivesUpTheBarBeforeTheEtaAndTheBytes) {
  EXPECT_EQ(progress_line(fetching(), 80, kNow),
            "run42  62.5 %  843 Mbit/s  ETA 12 s  625 B of 1.00 kB  2 seeders × 4 lanes");
  EXPECT_EQ(progress_line(fetching(), 95, kNow),
            "run42  62.5 %  843 Mbit/s  ETA 12 s  625 B of 1.00 kB  [######----]  2 seeders × 4 lanes");
  EXPECT_EQ(progress_line(fetching(), 40, kNow), "run42  62.5 %  843 Mbit/s  ETA 12 s");
}

TEST(ProgressLine, OfReadingFilesHasTheSpeedThatWasMeasured) {
  v1::Transfer t = fetching();
  t.set_state("verifying");
  EXPECT_EQ(progress_line(t, 100, kNow, {.bytes_per_s = 350'000'000, .eta = std::chrono::seconds(12)}),
            "run42  62.5 %  verifying  350 MB/s  ETA 12 s  625 B of 1.00 kB  [###############---------]");
}

TEST(ProgressLine, EndsInWhatLimitsItWhereThatIsKnown) {
  v1::Transfer t = fetching();
  t.set_limit_word("unknown");
  EXPECT_THAT(progress_line(t, 120, kNow), EndsWith("2 seeders × 4 lanes"));
  t.set_limit_word("loss");
  EXPECT_THAT(progress_line(t, 120, kNow), EndsWith("2 seeders × 4 lanes  limited by loss"));
  EXPECT_EQ(progress_line(t, 80, kNow), "run42  62.5 %  843 Mbit/s  ETA 12 s  625 B of 1.00 kB  limited by loss");
  EXPECT_EQ(progress_line(t, 60, kNow), "run42  62.5 %  843 Mbit/s  ETA 12 s  limited by loss");
  EXPECT_LT(display_columns(progress_line(t, 40, kNow)), 40u);
}

TEST(ProgressLine, SaysOnEightyColumnsWhatIsNotHeld) {
  v1::Transfer t = fetching();
  t.set_name("experiment-run-2024-03");
  t.set_eta_s(700);
  t.set_limit_word("window");
  t.mutable_target()->set_kind("target");
  t.mutable_target()->set_wanted_bits_per_s(1'000'000'000);
  t.mutable_target()->set_held(false);
  t.mutable_target()->set_shortfall(0.16);
  EXPECT_THAT(progress_line(t, 80, kNow), HasSubstr("16 % short of 1.00 Gbit/s"));
  EXPECT_LT(display_columns(progress_line(t, 80, kNow)), 80u);
}

TEST(TransferText, SaysWhatLimitsItAndWhatHelps) {
  v1::Transfer t = fetching();
  EXPECT_THAT(transfer_text(t, kNow), Not(HasSubstr("limited by")));
  t.set_limit_word("window");
  t.set_limit_detail("the lanes wait for receive windows");
  t.set_advice("allow larger receive buffers");
  EXPECT_THAT(transfer_text(t, kNow), HasSubstr("limited by      window: the lanes wait for receive windows\n"));
  EXPECT_THAT(transfer_text(t, kNow), HasSubstr("advice          allow larger receive buffers\n"));
}

TEST(ProgressLine, NeverReachesTheLastColumn) {
  v1::Transfer t = fetching();
  t.set_name(std::string(300, 'n'));
  for (std::size_t width = 20; width < 200; ++width)
    EXPECT_LT(display_columns(progress_line(t, width, kNow)), width) << width;
}

TEST(ProgressLine, IsNotCompleteBeforeTheLastByteIsVerified) {
  v1::Transfer t = fetching();
  t.set_verified_bytes(999'999'999'999);
  t.set_total_bytes(1'000'000'000'000);
  EXPECT_THAT(progress_line(t, 120, kNow), HasSubstr("99.9 %"));
  t.set_verified_bytes(t.total_bytes());
  EXPECT_THAT(progress_line(t, 120, kNow), HasSubstr("100.0 %"));
  t.set_verified_bytes(0);
  t.set_total_bytes(0);
  EXPECT_THAT(progress_line(t, 120, kNow), HasSubstr("100.0 %"));
}

TEST(ProgressLine, SaysWhatItWaitsFor) {
  v1::Transfer t = fetching();
  t.set_payload_bits_per_s(0);
  t.set_seeders(0);
  t.set_lanes(0);
  t.set_eta_s(-1);
  t.set_message("no seeder is online");
  EXPECT_THAT(progress_line(t, 120, kNow), HasSubstr("0 seeders, 0 lanes  no seeder is online"));
  t.set_state("paused");
  EXPECT_THAT(progress_line(t, 120, kNow), HasSubstr("paused: no seeder is online"));
}

TEST(PercentText, IsADashWhereItIsNotKnownOfHowMuch) {
  v1::Transfer t;
  for (const char* state : {"queued", "failed"}) {
    t.set_state(state);
    EXPECT_EQ(percent_text(t), "-") << state;
  }
  t.set_state("seeding");
  EXPECT_EQ(percent_text(t), "100.0 %") << "an empty file";
  t.set_total_bytes(1000);
  t.set_state("failed");
  EXPECT_EQ(percent_text(t), "0.0 %");
}

TEST(ProgressLine, OfALogIsNotCut) {
  v1::Transfer t = fetching();
  t.set_name(std::string(60, 'n'));
  t.set_state("paused");
  t.set_payload_bits_per_s(0);
  t.set_message("disk full at " + std::string(200, 'd'));
  EXPECT_EQ(progress_line(t, 0, kNow), t.name() + "  62.5 %  paused: " + t.message() + "  625 B of 1.00 kB");
  EXPECT_EQ(hashing_line("hashing", 500'000'000, 2'000'000'000, 0), "hashing  25.0 %  500 MB of 2.00 GB");
}

TEST(ProgressLine, UnevenLanesAreCountedApart) {
  v1::Transfer t = fetching();
  t.set_lanes(9);
  EXPECT_THAT(progress_line(t, 120, kNow), HasSubstr("2 seeders, 9 lanes"));
  t.set_seeders(1);
  EXPECT_THAT(progress_line(t, 120, kNow), HasSubstr("1 seeder × 9 lanes"));
}

TEST(ProgressLine, EscapesNames) {
  v1::Transfer t = fetching();
  t.set_name("a\x1b[31m");
  EXPECT_THAT(progress_line(t, 120, kNow), HasSubstr("a\\x1b[31m"));
}

TEST(HashingLine, ShowsHowFar) {
  EXPECT_EQ(hashing_line("hashing", 500'000'000, 2'000'000'000, 100),
            "hashing  25.0 %  500 MB of 2.00 GB  [######------------------]");
  EXPECT_EQ(hashing_line("hashing", 500'000'000, 2'000'000'000, 60,
                         {.bytes_per_s = 250'000'000, .eta = std::chrono::seconds(16)}),
            "hashing  25.0 %  250 MB/s  ETA 16 s  500 MB of 2.00 GB");
}

TEST(HashingLine, FitsANarrowTerminalWhateverItIsCalled) {
  const std::string what = "publish on " + std::string(64, 'n');
  for (std::size_t width = 20; width <= 100; ++width) {
    EXPECT_LT(display_columns(hashing_line(what, 1, 3, width)), width);
    EXPECT_LT(display_columns(hashing_line("hashing what has to be read", 1, 3, width)), width);
    EXPECT_LT(display_columns(waiting_line(what, "delivered", width)), width);
  }
  EXPECT_THAT(hashing_line(what, 1, 3, 0), HasSubstr(what)) << "where nobody knows how wide it is";
}

TEST(SpeedMeter, KnowsNothingBeforeTheFirstSecond) {
  SpeedMeter meter;
  const MonoTime start{};
  EXPECT_EQ(meter.note(start, 0, 1000).bytes_per_s, 0u);
  EXPECT_EQ(meter.note(start + std::chrono::milliseconds(900), 90, 1000).bytes_per_s, 0u);
  const Speed speed = meter.note(start + std::chrono::seconds(1), 100, 1000);
  EXPECT_EQ(speed.bytes_per_s, 100u);
  EXPECT_EQ(speed.eta, std::chrono::seconds(9));
}

TEST(SpeedMeter, CountsTheLastTenSecondsAndBeginsAnewWithAnotherPhase) {
  SpeedMeter meter;
  const MonoTime start{};
  for (int second = 0; second <= 20; ++second)
    meter.note(start + std::chrono::seconds(second), second < 10 ? 0U : static_cast<std::uint64_t>(second - 10) * 50,
               10'000);
  EXPECT_EQ(meter.note(start + std::chrono::seconds(20), 500, 10'000).bytes_per_s, 50u);
  EXPECT_EQ(meter.note(start + std::chrono::seconds(21), 10, 10'000).bytes_per_s, 0u) << "less is done: another phase";
  EXPECT_FALSE(meter.note(start + std::chrono::seconds(23), 10, 10'000).eta) << "it stands still";
}

TEST(DoneText, TellsFromWhomAndWhere) {
  v1::Transfer t = fetching();
  t.set_verified_bytes(2'000'000'000);
  t.set_received_bytes(2'000'100'000);
  t.set_seconds(16);
  t.set_lanes_peak(8);
  t.set_source("swarm");
  t.set_path("/data/run42");
  t.add_peers()->set_received_bytes(1);
  t.add_peers()->set_received_bytes(1);
  t.add_peers();
  EXPECT_EQ(done_text(t),
            "run42: 2.00 GB in 16 s (1.00 Gbit/s) from 2 seeders over up to 8 lanes, verified\n/data/run42\n");
  t.set_received_bytes(500'000'000);
  EXPECT_TRUE(done_text(t).starts_with("run42: 2.00 GB, 500 MB of it fetched in 16 s (250 Mbit/s) from 2 seeders"))
      << done_text(t);
  t.set_source("local");
  EXPECT_EQ(done_text(t), "run42: 2.00 GB was here already, verified\n/data/run42\n");
}

TEST(Tables, LineUpWhateverIsInThem) {
  Table table({"NAME", ">SIZE", "TAGS"});
  table.row({"é", "1 B", ""});
  table.row({"longer", "100 kB", "raw"});
  EXPECT_EQ(table.text("empty"), "NAME      SIZE  TAGS\né          1 B\nlonger  100 kB  raw\n");
  EXPECT_EQ(Table({"A"}).text("nothing here"), "nothing here\n");
}

TEST(Tables, OfEverythingSayWhatToDoWhenEmpty) {
  EXPECT_THAT(transfers_table({}), HasSubstr("gridtorrent get"));
  EXPECT_THAT(nodes_table({}, false), HasSubstr("enroll-token"));
  EXPECT_THAT(contents_table({}), HasSubstr("nothing found"));
  EXPECT_THAT(tasks_table({}), HasSubstr("no tasks"));
  v1::Content unserved, served;
  served.set_seeders(1);
  EXPECT_THAT(replicas_text(unserved, {}), HasSubstr("no node has it"));
  EXPECT_THAT(replicas_text(served, {}), HasSubstr("no node of yours has it; those of others are not shown"));
}

TEST(Tables, OfTransfersSayBelowWhyOneStandsStill) {
  v1::Transfer moves = fetching(), stands = fetching();
  moves.set_message("a notice");
  stands.set_payload_bits_per_s(0);
  stands.set_message("no seeders online\x1b");
  const std::string text = transfers_table({moves, stands});
  EXPECT_THAT(text, Not(HasSubstr("a notice")));
  EXPECT_THAT(text, testing::EndsWith("\nrun42: no seeders online\\x1b\n"));
  EXPECT_THAT(transfers_table(std::vector<v1::Transfer>(12, stands)),
              testing::EndsWith("and 2 more: 'gridtorrent transfer show ID' says why\n"));
}

std::vector<v1::Transfer> some_transfers() {
  std::vector<v1::Transfer> all;
  for (const char* id :
       {"x_aguox6ktnj2w3jvyvdh2ehzvmi", "x_aguox6kzzzzzzzzzzzzzzzzzzz", "x_bguox6ktnj2w3jvyvdh2ehzvmi"}) {
    v1::Transfer t = fetching();
    t.set_transfer_id(id);
    t.set_path("/scratch/projects/climate/incoming/of/this/year/run42");
    t.set_sent_bytes(1500);
    all.push_back(t);
  }
  return all;
}

TEST(TransfersTable, HasPathSentAndRatio) {
  const std::string text = transfers_table(some_transfers());
  EXPECT_THAT(text, HasSubstr("SENT  RATIO  LANES  ETA   PATH\n"));
  EXPECT_THAT(text, HasSubstr("1.50 kB   1.50      8  12 s  /scratch/projects/climate/incoming/of/this/year/run42\n"));
}

TEST(TransfersTable, IsNoWiderThanTheTerminal) {
  for (std::size_t width = 60; width < 220; ++width) {
    std::istringstream lines(transfers_table(some_transfers(), width));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_columns(line), width) << line;
  }
}

TEST(TransfersTable, ShortensIdsToWhatTellsThemApart) {
  const std::string text = transfers_table(some_transfers(), 120);
  EXPECT_THAT(text, HasSubstr("x_aguox6kt  run42"));
  EXPECT_THAT(text, HasSubstr("x_aguox6kz  run42"));
  EXPECT_THAT(text, Not(HasSubstr("x_aguox6ktn")));
  EXPECT_THAT(text, HasSubstr("…")) << "of a path the end is shown";
  EXPECT_THAT(text, HasSubstr("/run42\n"));
}

TEST(Lines, AreCutOneByOne) {
  EXPECT_EQ(cut_lines("abcdef\nab\n", 4), "abc…\nab\n");
  EXPECT_EQ(cut_lines("abcdef", 0), "abcdef");
  EXPECT_EQ(shortened_left("/data/über/run42", 8), "…r/run42");
  EXPECT_EQ(shortened_left("/data", 8), "/data");
}

TEST(Columns, AreThoseThatATerminalTakes) {
  EXPECT_EQ(display_columns("run42"), 5U);
  EXPECT_EQ(display_columns("データ"), 6U) << "two each";
  EXPECT_EQ(display_columns("u\u0308ber"), 4U) << "the dots stand above the u";
  EXPECT_EQ(display_columns("a\xff\xc3"), 3U) << "bytes that are no UTF-8";
  EXPECT_EQ(shortened("データ.h5", 6), "デー…") << "half a character is none";
  EXPECT_EQ(shortened_left("/データ.h5", 6), "…タ.h5");
  Table table({"NAME", ">SIZE"});
  table.row({"データ", "1"});
  table.row({"abc", "22"});
  EXPECT_EQ(table.text(""), "NAME    SIZE\nデータ     1\nabc       22\n");
}

TEST(Views, ShowWhatIsKnown) {
  v1::Transfer t = fetching();
  t.set_message("slow");
  auto* peer = t.add_peers();
  peer->set_address("198.18.0.1:50000");
  EXPECT_THAT(transfer_text(t, kNow), HasSubstr("message         slow\n"));
  EXPECT_THAT(transfer_text(t, kNow), HasSubstr("(foreign client)  198.18.0.1:50000"));
  EXPECT_THAT(transfers_table({t}),
              HasSubstr("x_1  run42  fetching    62.5 %  1.00 kB  843 Mbit/s  0 bit/s   0 B   0.00      8  12 s\n"));

  v1::Content content;
  content.set_name("run42");
  content.set_owner("mia");
  content.mutable_access()->set_level(v1::Access::PUBLIC);
  content.set_files(1);
  EXPECT_THAT(content_text(content), HasSubstr("content         mia/run42\n"));
  EXPECT_THAT(content_text(content), HasSubstr("0 B in 1 file\n"));
  EXPECT_THAT(content_text(content), Not(HasSubstr("license")));
  EXPECT_THAT(contents_table({content}), HasSubstr("mia/run42"));

  v1::Replica replica;
  replica.set_node_name("cluster7");
  replica.set_complete(true);
  EXPECT_THAT(replicas_text({}, {replica, v1::Replica()}), HasSubstr("0 of 2 replicas verified and served now\n"));
  EXPECT_THAT(replicas_text({}, {replica}), HasSubstr("complete, offline"));
  replica.set_online(true);
  EXPECT_THAT(replicas_text({}, {replica}), HasSubstr("complete, online, not served"));
  replica.set_served(true);
  replica.set_verified_ms(1'795'000'000'000);
  EXPECT_THAT(replicas_text({}, {replica, v1::Replica()}), HasSubstr("1 of 2 replicas verified and served now\n"));
  EXPECT_THAT(replicas_text({}, {replica}), HasSubstr("complete, served  2026-11-18"));

  v1::Node node;
  node.set_name("cluster7");
  auto* endpoint = node.add_endpoints();
  endpoint->mutable_endpoint()->set_address("2001:db8::1");
  endpoint->mutable_endpoint()->set_port(50000);
  endpoint->set_reachability(v1::UNREACHABLE);
  EXPECT_THAT(node_text(node), HasSubstr("[2001:db8::1]:50000 not reachable from the server\n"));
  EXPECT_THAT(nodes_table({node}, false), HasSubstr("offline"));

  v1::Task task;
  task.set_task_id("t_1");
  task.set_error_message("disk full");
  EXPECT_THAT(task_text(task), HasSubstr("error           disk full\n"));
  EXPECT_THAT(tasks_table({task}), HasSubstr("disk full"));
  EXPECT_EQ(short_time(0), "-");
}

TEST(Times, AreThoseOfAClockHereWithTheZoneNamed) {
  EXPECT_EQ(short_time(0), "-");
  const test::InZone zone(test::kCentralEurope);
  EXPECT_EQ(short_time(1'700'000'000'000), "2023-11-14 23:13 CET");
  EXPECT_EQ(short_time(1'690'000'000'000), "2023-07-22 06:26 CEST");
}

TEST(Tables, ShowIdsBesideNamesWhereAsked) {
  v1::Node node;
  node.set_node_id("n_1");
  node.set_name("cluster7");
  EXPECT_THAT(nodes_table({node}, false), Not(HasSubstr("n_1")));
  EXPECT_THAT(nodes_table({node}, false), StartsWith("NAME      OWNER"));
  EXPECT_THAT(nodes_table({node}, true), HasSubstr("cluster7  n_1"));
  v1::Content content;
  content.set_content_id("c_1");
  v1::Replica replica;
  replica.set_node_name("cluster7");
  replica.set_node_id("n_1");
  EXPECT_THAT(contents_table({content}), Not(HasSubstr("c_1")));
  EXPECT_THAT(contents_table({content}, true), HasSubstr("c_1"));
  EXPECT_THAT(replicas_text({}, {replica}), Not(HasSubstr("n_1")));
  EXPECT_THAT(replicas_text({}, {replica}, true), HasSubstr("cluster7  n_1"));
}

class TerminalTest : public ::testing::Test {
 protected:
  struct Written {
    std::string out, err;
  };
  Written written(TerminalTraits traits, const std::function<void(Terminal&)>& use) {
    char* out_text = nullptr;
    char* err_text = nullptr;
    std::size_t out_size = 0, err_size = 0;
    std::FILE* out = open_memstream(&out_text, &out_size);
    std::FILE* err = open_memstream(&err_text, &err_size);
    {
      Terminal terminal(traits, clock_, out, err);
      use(terminal);
    }
    std::fclose(out);
    std::fclose(err);
    Written result{std::string(out_text, out_size), std::string(err_text, err_size)};
    std::free(out_text);
    std::free(err_text);
    return result;
  }
  std::string stderr_of(TerminalTraits traits, const std::function<void(Terminal&)>& use) {
    return written(traits, use).err;
  }
  ManualClock clock_;
};

TEST_F(TerminalTest, AReaderThatHasGoneIsNoFaultOfTheDisk) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::FILE* out = ::fdopen(ends[1], "w");
  {
    Terminal terminal({}, clock_, out, stderr);
    terminal.result("read");
    EXPECT_TRUE(terminal.finish().ok());
    ::close(ends[0]);
    terminal.result("too much");
    EXPECT_TRUE(terminal.reader_gone());
    const Status ended = terminal.finish();
    ASSERT_FALSE(ended.ok());
    EXPECT_EQ(ended.error().code, Code::kCancelled);
  }
  std::fclose(out);
}

TEST_F(TerminalTest, ProgressReplacesItselfOnATerminal) {
  EXPECT_EQ(stderr_of({.err_is_terminal = true},
                      [](Terminal& t) {
                        t.progress("a");
                        t.progress("b");
                        t.message("m");
                      }),
            "\ra\x1b[K\rb\x1b[K\nm\n");
}

TEST_F(TerminalTest, ProgressIsPlainAndRareElsewhere) {
  EXPECT_EQ(stderr_of({},
                      [this](Terminal& t) {
                        t.progress("soon over");
                        clock_.advance(std::chrono::seconds(10));
                        t.progress("a");
                        t.progress("b");
                        clock_.advance(std::chrono::seconds(10));
                        t.progress("c");
                      }),
            "a\nc\n");
}

/// Sets the title of a window; begins a sequence in one character of UTF-8, and in one byte; deletes; overwrites.
constexpr char kSteering[] = "\x1b]0;x\x07 \xc2\x9b \x9b \x7f \r";
constexpr char kSteeringShown[] = "\\x1b]0;x\\x07 \\u009b \\x9b \\x7f \\r";

TEST_F(TerminalTest, WhatOthersWroteCannotSteerIt) {
  const Written seen = written({.out_is_terminal = true, .err_is_terminal = true}, [](Terminal& t) {
    t.result(kSteering);
    t.message(kSteering);
    t.error(kSteering);
    t.progress(kSteering);
  });
  const std::string shown = kSteeringShown;
  EXPECT_EQ(seen.out, shown + "\n");
  EXPECT_EQ(seen.err, shown + "\ngridtorrent: " + shown + "\n\r" + shown + "\x1b[K");
}

TEST_F(TerminalTest, LinesTabsAndWhatIsEscapedAlreadyStayAsTheyAre) {
  const std::string text = "a\tb\nGrüße \\x1b[31m\n";
  EXPECT_EQ(written({.out_is_terminal = true}, [&](Terminal& t) { t.result(text); }).out, text);
}

TEST_F(TerminalTest, APipeGetsResultsAsTheyAreAndALogHarmlessMessages) {
  const Written seen = written({}, [](Terminal& t) {
    t.result(kSteering);
    t.message(kSteering);
  });
  EXPECT_EQ(seen.out, std::string(kSteering) + "\n");
  EXPECT_EQ(seen.err, std::string(kSteeringShown) + "\n") << "somebody reads it on a terminal later";
}

TEST_F(TerminalTest, TheBarIsColouredWhereColoursAre) {
  const auto progress = [](Terminal& t) { t.progress("a  [##--]"); };
  EXPECT_EQ(stderr_of({.err_is_terminal = true, .colour = true}, progress), "\ra  [\x1b[32m##\x1b[0m--]\x1b[K");
  EXPECT_EQ(stderr_of({.err_is_terminal = true}, progress), "\ra  [##--]\x1b[K");
}

TEST_F(TerminalTest, WhatLooksLikeHalfABarIsTextLikeAnyOther) {
  for (const char* text : {"[", "[#", "[]", "#]", "[--]"})
    EXPECT_EQ(stderr_of({.err_is_terminal = true, .colour = true}, [&](Terminal& t) { t.progress(text); }),
              "\r" + std::string(text) + "\x1b[K");
}

TEST(TerminalOutput, ThatCannotBeWrittenIsADiskError) {
  const ManualClock clock;
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  {
    Terminal terminal({}, clock, full, stderr);
    terminal.result("x");
    const Status status = terminal.finish();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kDisk);
  }
  std::fclose(full);
}

}  // namespace
}  // namespace gridtorrent::client::cli
