// What the guard refuses, and what it must let pass; frames as honest and hostile callers send them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/http2/guard.h"
#include "common/hex.h"
#include "common/rng.h"
#include "tests/support/http2_bytes.h"

namespace gridtorrent::http2 {
namespace {

using test::frame;
using test::kHttp2Preface;
using test::message_prefix;
using Verdict = std::optional<Offence>;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// One connection, its preface sent.
class Connection {
 public:
  Connection(ManualClock& clock, MessageBudget& budget, const std::string& address = "192.0.2.1",
             GuardLimits limits = {})
      : clock_(clock), guard_(limits, budget, address, [this](Offence offence) { evicted = offence; }, clock.mono()) {
    EXPECT_EQ(send(std::string(kHttp2Preface) + frame(FrameType::kSettings, 0, 0)), std::nullopt);
  }
  Verdict send(const std::string& bytes) { return guard_.from_caller(as_bytes(bytes), clock_.mono()); }
  Verdict answer(const std::string& bytes) { return guard_.from_server(as_bytes(bytes), clock_.mono()); }
  Verdict wait(milliseconds time) {
    clock_.advance(time);
    return guard_.check_time(clock_.mono());
  }
  /// HEADERS that open a stream, and no more.
  Verdict open(std::uint32_t stream) { return send(frame(FrameType::kHeaders, kFlagEndHeaders, stream, "block")); }
  /// Opens a stream and sends a message but for its last byte.
  Verdict send_unfinished(std::uint32_t stream, std::uint32_t bytes) {
    if (const Verdict opened = open(stream)) return opened;
    std::string message = message_prefix(bytes) + std::string(bytes - 1, 'x');
    for (; message.size() > 16'384; message.erase(0, 16'384)) {
      if (const Verdict sent = send(frame(FrameType::kData, 0, stream, message.substr(0, 16'384)))) return sent;
    }
    return send(frame(FrameType::kData, 0, stream, message));
  }
  Guard& guard() { return guard_; }

  std::optional<Offence> evicted;

 private:
  ManualClock& clock_;
  Guard guard_;
};

class Http2Guard : public ::testing::Test {
 protected:
  ManualClock clock_;
  MessageBudget budget_{{}};
  Connection connection_{clock_, budget_};
};

TEST_F(Http2Guard, EndsWhatIsNoHttp2) {
  Guard guard({}, budget_, "a", {}, clock_.mono());
  EXPECT_EQ(guard.from_caller(as_bytes("GET / HTTP/1.1\r\n"), clock_.mono()), Offence::kNoPreface);
}

TEST_F(Http2Guard, EndsWhoSendsNoPrefaceInTime) {
  Guard guard({}, budget_, "a", {}, clock_.mono());
  EXPECT_EQ(guard.from_caller(as_bytes("PRI * HT"), clock_.mono()), std::nullopt);
  clock_.advance(seconds(10));
  EXPECT_EQ(guard.check_time(clock_.mono()), std::nullopt);
  clock_.advance(seconds(1));
  EXPECT_EQ(guard.check_time(clock_.mono()), Offence::kNoPreface);
}

TEST_F(Http2Guard, LetsAConnectionBeIdleForDays) {
  EXPECT_EQ(connection_.wait(std::chrono::hours(48)), std::nullopt);
  EXPECT_EQ(connection_.open(1), std::nullopt);
  EXPECT_EQ(connection_.wait(std::chrono::hours(48)), std::nullopt);
}

TEST_F(Http2Guard, BoundsAHeaderBlockOverItsContinuations) {
  ASSERT_EQ(connection_.send(frame(FrameType::kHeaders, 0, 1, std::string(8'192, 'x'))), std::nullopt);
  ASSERT_EQ(connection_.send(frame(FrameType::kContinuation, 0, 1, std::string(8'192, 'x'))), std::nullopt);
  EXPECT_EQ(connection_.send(frame(FrameType::kContinuation, kFlagEndHeaders, 1, "x")), Offence::kHeaderBlock);
}

TEST_F(Http2Guard, RefusesAContinuationByItsHeaderBeforeItsBytesCome) {
  ASSERT_EQ(connection_.send(frame(FrameType::kHeaders, 0, 1, std::string(10'000, 'x'))), std::nullopt);
  const std::string next = frame(FrameType::kContinuation, 0, 1, std::string(10'000, 'x'));
  EXPECT_EQ(connection_.send(next.substr(0, kFrameHeaderBytes)), Offence::kHeaderBlock);
}

TEST_F(Http2Guard, BoundsTheNumberOfEmptyContinuations) {
  ASSERT_EQ(connection_.send(frame(FrameType::kHeaders, 0, 1)), std::nullopt);
  for (int i = 0; i < 7; ++i) ASSERT_EQ(connection_.send(frame(FrameType::kContinuation, 0, 1)), std::nullopt);
  EXPECT_EQ(connection_.send(frame(FrameType::kContinuation, 0, 1)), Offence::kHeaderBlock);
}

TEST_F(Http2Guard, BoundsEachHeaderBlockByItself) {
  for (std::uint32_t stream = 1; stream < 400; stream += 2) {
    ASSERT_EQ(connection_.send(frame(FrameType::kHeaders, kFlagEndStream, stream, std::string(8'000, 'x')) +
                               frame(FrameType::kContinuation, kFlagEndHeaders, stream, std::string(8'000, 'x'))),
              std::nullopt);
  }
}

TEST_F(Http2Guard, EndsAHeaderBlockThatDoesNotEnd) {
  ASSERT_EQ(connection_.send(frame(FrameType::kHeaders, 0, 1, "x")), std::nullopt);
  EXPECT_EQ(connection_.wait(seconds(10)), std::nullopt);
  EXPECT_EQ(connection_.wait(seconds(1)), Offence::kSlowHeaderBlock);
}

TEST_F(Http2Guard, EndsAHeaderBlockWhoseLastFrameIsNotWhole) {
  const std::string headers = frame(FrameType::kHeaders, kFlagEndHeaders, 1, "block");
  ASSERT_EQ(connection_.send(headers.substr(0, headers.size() - 1)), std::nullopt);
  EXPECT_EQ(connection_.wait(seconds(11)), Offence::kSlowHeaderBlock);
}

TEST_F(Http2Guard, LetsNothingComeWithinAHeaderBlock) {
  ASSERT_EQ(connection_.send(frame(FrameType::kHeaders, 0, 1, "x")), std::nullopt);
  EXPECT_EQ(connection_.send(frame(FrameType::kData, 0, 1, "x")), Offence::kProtocol);
}

TEST_F(Http2Guard, RefusesAContinuationOfAnotherStreamOrOfNone) {
  EXPECT_EQ(connection_.send(frame(FrameType::kContinuation, kFlagEndHeaders, 1, "x")), Offence::kProtocol);
  Connection other(clock_, budget_);
  ASSERT_EQ(other.send(frame(FrameType::kHeaders, 0, 1, "x")), std::nullopt);
  EXPECT_EQ(other.send(frame(FrameType::kContinuation, 0, 3, "x")), Offence::kProtocol);
}

TEST_F(Http2Guard, RefusesStreamsThatAreTheServersToOpen) {
  EXPECT_EQ(connection_.open(2), Offence::kProtocol);
  Connection other(clock_, budget_);
  EXPECT_EQ(other.open(0), Offence::kProtocol);
}

TEST_F(Http2Guard, TakesFramesOfTheSizeThatTheServerAllowedAndNoLarger) {
  ASSERT_EQ(connection_.open(1), std::nullopt);
  const std::string raise("\x00\x05\x00\x00\x80\x00", 6);  // MAX_FRAME_SIZE = 32,768
  const std::string settings = frame(FrameType::kSettings, 0, 0, std::string("\x00\x03\x00\x00\x00\x20", 6) + raise);
  for (const char byte : settings) ASSERT_EQ(connection_.answer(std::string(1, byte)), std::nullopt);
  EXPECT_EQ(connection_.send(frame(FrameType::kData, 0, 1, message_prefix(32'763) + std::string(32'763, 'x'))),
            std::nullopt);
  EXPECT_EQ(connection_.send(frame(FrameType::kData, 0, 1, std::string(32'769, 'x'))), Offence::kFrameSize);
  Connection other(clock_, budget_);
  ASSERT_EQ(other.open(1), std::nullopt);
  EXPECT_EQ(other.send(frame(FrameType::kData, 0, 1, std::string(16'385, 'x'))), Offence::kFrameSize);
}

TEST_F(Http2Guard, HoldsNothingForMessagesThatAreWhole) {
  for (std::uint32_t stream = 1; stream < 20'000; stream += 2) {
    ASSERT_EQ(connection_.send(frame(FrameType::kHeaders, kFlagEndHeaders, stream, "block") +
                               frame(FrameType::kData, kFlagEndStream, stream, message_prefix(3) + "abc")),
              std::nullopt);
  }
  EXPECT_EQ(connection_.guard().held_bytes(), 0u);
  EXPECT_EQ(connection_.guard().open_streams(), 0u);
}

TEST_F(Http2Guard, FollowsMessagesOverFramesOfAnySize) {
  SeededRng rng(7);
  ASSERT_EQ(connection_.open(1), std::nullopt);
  std::string messages;
  for (const std::uint32_t bytes : {0u, 1u, 70'000u, 0u, 5u, 16'384u}) {
    messages += message_prefix(bytes) + std::string(bytes, 'x');
  }
  while (messages.size() > 1) {
    const std::size_t size = std::min<std::size_t>(1 + rng.below(900), messages.size() - 1);
    ASSERT_EQ(connection_.send(frame(FrameType::kData, 0, 1, messages.substr(0, size))), std::nullopt);
    messages.erase(0, size);
  }
  EXPECT_GT(connection_.guard().held_bytes(), 0u);
  ASSERT_EQ(connection_.send(frame(FrameType::kData, 0, 1, messages)), std::nullopt);
  EXPECT_EQ(connection_.guard().held_bytes(), 0u);
}

TEST_F(Http2Guard, BoundsTheUnfinishedMessagesOfOneConnection) {
  for (std::uint32_t stream = 1; stream <= 5; stream += 2) {
    ASSERT_EQ(connection_.send_unfinished(stream, 1 << 20), std::nullopt) << stream;
  }
  EXPECT_EQ(connection_.send_unfinished(7, 1 << 20), Offence::kUnfinishedHere);
}

TEST_F(Http2Guard, CountsWhatTinyPiecesOfAMessageReallyHold) {
  ASSERT_EQ(connection_.open(1), std::nullopt);
  ASSERT_EQ(connection_.send(frame(FrameType::kData, 0, 1, message_prefix(1 << 20))), std::nullopt);
  // Each byte of the message in a read of its own, filled up with frames that hold nothing.
  std::string filler;
  for (int i = 0; i < 1'800; ++i) filler += frame(FrameType::kWindowUpdate, 0, 0, std::string("\0\0\0\1", 4));
  Verdict verdict;
  int pieces = 0;
  for (; !verdict && pieces < 1'000; ++pieces) {
    clock_.advance(seconds(1));
    verdict = connection_.send(filler + frame(FrameType::kData, 0, 1, "x"));
  }
  EXPECT_EQ(verdict, Offence::kUnfinishedHere);
  EXPECT_LT(pieces, 200);
}

TEST_F(Http2Guard, ForgetsAMessageWithItsStreamWhoeverEndsIt) {
  for (const std::string& end : {frame(FrameType::kResetStream, 0, 1, "\0\0\0\0"),
                                 frame(FrameType::kHeaders, kFlagEndHeaders | kFlagEndStream, 1, "trailers")}) {
    for (const bool by_server : {true, false}) {
      Connection one(clock_, budget_);
      ASSERT_EQ(one.send_unfinished(1, 1'000), std::nullopt);
      ASSERT_GT(one.guard().held_bytes(), 0u);
      ASSERT_EQ(by_server ? one.answer(end) : one.send(end), std::nullopt);
      EXPECT_EQ(one.guard().held_bytes(), 0u);
      EXPECT_EQ(one.guard().open_streams(), 0u);
      // What the caller had sent before it knew is nobody's any more.
      EXPECT_EQ(one.send(frame(FrameType::kData, 0, 1, std::string(1'000, 'x'))), std::nullopt);
      EXPECT_EQ(one.guard().held_bytes(), 0u);
    }
  }
  EXPECT_EQ(budget_.held_bytes(), 0u);
}

TEST_F(Http2Guard, CountsNoPaddingAsMessage) {
  ASSERT_EQ(connection_.open(1), std::nullopt);
  const std::string padded = std::string(1, '\x04') + message_prefix(3) + "abc" + std::string(4, '\0');
  for (const char byte : frame(FrameType::kData, kFlagPadded, 1, padded)) {
    ASSERT_EQ(connection_.send(std::string(1, byte)), std::nullopt);
  }
  EXPECT_EQ(connection_.guard().held_bytes(), 0u);
  EXPECT_EQ(connection_.send(frame(FrameType::kData, kFlagPadded | kFlagEndStream, 1, padded)), std::nullopt);
  EXPECT_EQ(connection_.guard().open_streams(), 0u);
}

TEST_F(Http2Guard, RefusesPaddingLongerThanItsFrame) {
  ASSERT_EQ(connection_.open(1), std::nullopt);
  EXPECT_EQ(connection_.send(frame(FrameType::kData, kFlagPadded, 1, std::string("\x03", 1) + "ab")),
            Offence::kProtocol);
  Connection other(clock_, budget_);
  ASSERT_EQ(other.open(1), std::nullopt);
  EXPECT_EQ(other.send(frame(FrameType::kData, kFlagPadded, 1)), Offence::kProtocol);
}

TEST_F(Http2Guard, EndsAMessageThatStops) {
  ASSERT_EQ(connection_.send_unfinished(1, 1'000), std::nullopt);
  EXPECT_EQ(connection_.wait(seconds(10)), std::nullopt);
  EXPECT_EQ(connection_.wait(seconds(1)), Offence::kSlowMessage);
}

TEST_F(Http2Guard, MeasuresTheRateOfAMessageByAllThatItsConnectionSends) {
  ASSERT_EQ(connection_.send_unfinished(1, 1'000), std::nullopt);
  for (std::uint32_t i = 0; i < 50; ++i) {
    ASSERT_EQ(connection_.wait(seconds(1)), std::nullopt) << i;
    ASSERT_EQ(connection_.open(3 + 2 * i), std::nullopt);
    ASSERT_EQ(connection_.send(
                  frame(FrameType::kData, kFlagEndStream, 3 + 2 * i, message_prefix(2'500) + std::string(2'500, 'x'))),
              std::nullopt);
  }
}

TEST_F(Http2Guard, EndsAMessageThatTakesAMinuteHoweverFastItComes) {
  ASSERT_EQ(connection_.open(1), std::nullopt);
  ASSERT_EQ(connection_.send(frame(FrameType::kData, 0, 1, message_prefix(1 << 20))), std::nullopt);
  Verdict verdict;
  int waited_s = 0;
  for (; !verdict && waited_s < 100; ++waited_s) {
    ASSERT_EQ(connection_.send(frame(FrameType::kData, 0, 1, std::string(4'000, 'x'))), std::nullopt);
    verdict = connection_.wait(seconds(1));
  }
  EXPECT_EQ(verdict, Offence::kSlowMessage);
  EXPECT_EQ(waited_s, 61);
}

TEST_F(Http2Guard, LetsASlowUploadThatGoesOnFinish) {
  ASSERT_EQ(connection_.open(1), std::nullopt);
  for (int chunk = 0; chunk < 20; ++chunk) {  // 256 KiB in 52 s: 40 kbit/s
    ASSERT_EQ(connection_.send(frame(FrameType::kData, 0, 1, message_prefix(260'000))), std::nullopt);
    for (int i = 0; i < 52; ++i) {
      ASSERT_EQ(connection_.wait(seconds(1)), std::nullopt);
      ASSERT_EQ(connection_.send(frame(FrameType::kData, 0, 1, std::string(5'000, 'x'))), std::nullopt);
    }
  }
  EXPECT_EQ(connection_.guard().held_bytes(), 0u);
}

TEST_F(Http2Guard, BoundsResetsOfEitherEnd) {
  for (const bool by_server : {true, false}) {
    Connection one(clock_, budget_);
    Verdict verdict;
    int resets = 0;
    for (; !verdict && resets < 1'000; ++resets) {
      const auto stream = static_cast<std::uint32_t>(2 * resets + 1);
      ASSERT_EQ(one.open(stream), std::nullopt);
      const std::string reset = frame(FrameType::kResetStream, 0, stream, std::string("\0\0\0\x8", 4));
      verdict = by_server ? one.answer(reset) : one.send(reset);
    }
    EXPECT_EQ(verdict, Offence::kResets);
    EXPECT_EQ(resets, 21);
  }
}

TEST_F(Http2Guard, LetsAConnectionThatIsNotNewCancelManyCallsAtOnce) {
  clock_.advance(seconds(4));
  for (std::uint32_t i = 0; i < 200; ++i) {
    ASSERT_EQ(connection_.open(2 * i + 1), std::nullopt);
    ASSERT_EQ(connection_.send(frame(FrameType::kResetStream, 0, 2 * i + 1, std::string("\0\0\0\x8", 4))),
              std::nullopt);
  }
}

TEST_F(Http2Guard, LetsCallersCancelForAsLongAsTheyLikeAtAnHonestRate) {
  for (std::uint32_t i = 0; i < 5'000; ++i) {
    clock_.advance(milliseconds(25));
    ASSERT_EQ(connection_.open(2 * i + 1), std::nullopt);
    ASSERT_EQ(connection_.send(frame(FrameType::kResetStream, 0, 2 * i + 1, std::string("\0\0\0\x8", 4))),
              std::nullopt);
  }
}

TEST_F(Http2Guard, BoundsPingsAndSettingsWithTheirAcknowledgements) {
  for (const auto& [type, flags] : {std::pair{FrameType::kPing, std::uint8_t{0}}, std::pair{FrameType::kPing, kFlagAck},
                                    std::pair{FrameType::kSettings, kFlagAck}}) {
    Connection one(clock_, budget_);
    const std::string payload = type == FrameType::kPing ? std::string(8, 'x') : "";
    Verdict verdict;
    int count = 0;
    for (; !verdict && count < 1'000; ++count) verdict = one.send(frame(type, flags, 0, payload));
    EXPECT_EQ(verdict, Offence::kControlFrames);
    EXPECT_EQ(count, 50);  // its preface had one
  }
}

TEST_F(Http2Guard, BoundsFramesThatCarryNothing) {
  for (const FrameType type :
       {FrameType::kWindowUpdate, FrameType::kPriority, FrameType::kData, static_cast<FrameType>(0x42)}) {
    Connection one(clock_, budget_);
    ASSERT_EQ(one.open(1), std::nullopt);
    Verdict verdict;
    for (int count = 0; !verdict && count < 200'000; ++count) verdict = one.send(frame(type, 0, 1));
    EXPECT_EQ(verdict, Offence::kIdleFrames);
  }
}

TEST_F(Http2Guard, BoundsOpenStreamsOfWhoDoesNotReadAnswers) {
  Verdict verdict;
  std::uint32_t opened = 0;
  for (; !verdict && opened < 1'000; ++opened) verdict = connection_.open(2 * opened + 1);
  EXPECT_EQ(verdict, Offence::kStreams);
  EXPECT_EQ(opened, 257u);
}

TEST_F(Http2Guard, CountsACallUntilItsFirstMessageIsWhole) {
  ASSERT_EQ(connection_.open(1), std::nullopt);
  EXPECT_EQ(connection_.guard().held_bytes(), kOpenCallBytes);
  ASSERT_EQ(connection_.send(frame(FrameType::kData, 0, 1, message_prefix(3) + "ab")), std::nullopt);
  EXPECT_GT(connection_.guard().held_bytes(), kOpenCallBytes);
  ASSERT_EQ(connection_.send(frame(FrameType::kData, 0, 1, "c")), std::nullopt);
  EXPECT_EQ(connection_.guard().held_bytes(), 0u);
  ASSERT_EQ(connection_.open(3), std::nullopt);
  ASSERT_EQ(connection_.answer(frame(FrameType::kHeaders, kFlagEndHeaders | kFlagEndStream, 3, "no")), std::nullopt);
  EXPECT_EQ(connection_.guard().held_bytes(), 0u) << "the server ended it";
}

TEST_F(Http2Guard, BoundsCallsWithoutAMessageOfAllConnectionsTogether) {
  MessageBudget budget({.connection_bytes = 4 << 20, .address_bytes = 4 << 20, .all_bytes = 1 << 20});
  std::vector<std::unique_ptr<Connection>> connections;
  std::uint32_t calls = 0;
  for (bool ended = false; !ended && calls < 1'000; ++calls) {
    if (calls % 32 == 0) {
      connections.push_back(std::make_unique<Connection>(clock_, budget, "192.0.2." + std::to_string(calls / 32)));
    }
    ASSERT_EQ(connections.back()->open(2 * calls + 1), std::nullopt);
    clock_.advance(milliseconds(1));
    ended = connections.front()->evicted.has_value();
  }
  EXPECT_EQ(connections.front()->evicted, Offence::kUnfinishedInAll) << "it holds most, and longest";
  EXPECT_EQ(calls, (1 << 20) / kOpenCallBytes + 1);
}

TEST_F(Http2Guard, LetsAStreamStayOpenThatSaysNothingYet) {
  ASSERT_EQ(connection_.open(1), std::nullopt);
  EXPECT_EQ(connection_.wait(seconds(3'600)), std::nullopt);
}

TEST_F(Http2Guard, SaysGoodbyeWithTheReasonBetweenTwoFramesOnly) {
  ASSERT_EQ(connection_.open(5), std::nullopt);
  const std::string farewell = connection_.guard().farewell(Offence::kResets);
  std::span<const std::uint8_t> bytes = as_bytes(farewell);
  const auto piece = FrameReader().next(bytes);
  ASSERT_TRUE(piece && piece->ends);
  EXPECT_EQ(piece->frame.type, FrameType::kGoAway);
  EXPECT_EQ(farewell.substr(kFrameHeaderBytes, 8), std::string("\0\0\0\5\0\0\0\x0b", 8));
  EXPECT_THAT(farewell, ::testing::HasSubstr("cancelled too often"));
  EXPECT_EQ(connection_.guard().graceful_end().substr(kFrameHeaderBytes, 8), std::string("\0\0\0\5\0\0\0\0", 8));
  ASSERT_EQ(connection_.answer(frame(FrameType::kData, 0, 5, "abc").substr(0, 10)), std::nullopt);
  EXPECT_EQ(connection_.guard().farewell(Offence::kResets), "");
}

TEST_F(Http2Guard, DecidesTheSameHoweverTheBytesAreCut) {
  SeededRng rng(20261123);
  for (int round = 0; round < 50; ++round) {
    std::string bytes;
    for (std::uint32_t i = 0; i < 40; ++i) {
      const std::uint32_t stream = 2 * i + 1;
      bytes +=
          frame(FrameType::kHeaders, rng.below(30) == 0 ? 0 : kFlagEndHeaders, stream, std::string(rng.below(50), 'h'));
      bytes += frame(
          FrameType::kData, rng.below(2) == 0 ? kFlagPadded : 0, stream,
          std::string(1, static_cast<char>(rng.below(60))) + message_prefix(20) + std::string(rng.below(60), 'm'));
    }
    Connection whole(clock_, budget_), cut(clock_, budget_);
    const Verdict expected = whole.send(bytes);
    Verdict got;
    for (std::size_t at = 0, size = 0; !got && at < bytes.size(); at += size) {
      size = 1 + rng.below(30);
      got = cut.send(bytes.substr(at, size));
    }
    EXPECT_EQ(got, expected) << "round " << round;
    if (!expected) {
      EXPECT_EQ(cut.guard().open_streams(), whole.guard().open_streams());
    }
  }
}

TEST(MessageBudget, EndsWhoHoldsMostForLongestAndNotWhoCameLast) {
  ManualClock clock;
  MessageBudget budget({.connection_bytes = 1000, .address_bytes = 5000, .all_bytes = 2000});
  std::optional<Offence> evicted;
  MessageBudget::Share hostile(budget, "198.51.100.7", [&](Offence offence) { evicted = offence; });
  MessageBudget::Share second(budget, "198.51.100.8", {});
  MessageBudget::Share honest(budget, "192.0.2.1", {});
  EXPECT_EQ(hostile.update(900, clock.mono(), clock.mono()), std::nullopt);
  clock.advance(seconds(2));
  EXPECT_EQ(second.update(900, clock.mono(), clock.mono()), std::nullopt);
  EXPECT_EQ(honest.update(950, clock.mono(), clock.mono()), std::nullopt);
  EXPECT_EQ(evicted, Offence::kUnfinishedInAll);
  EXPECT_EQ(budget.held_bytes(), 1850u);
  EXPECT_EQ(hostile.update(901, clock.mono(), clock.mono()), Offence::kUnfinishedInAll);
}

TEST(MessageBudget, BoundsAnAddressAndLeavesOthersAlone) {
  ManualClock clock;
  MessageBudget budget({.connection_bytes = 1000, .address_bytes = 1500, .all_bytes = 10'000});
  std::optional<Offence> first_evicted;
  MessageBudget::Share bystander(budget, "192.0.2.1", [](Offence) { FAIL() << "another address"; });
  MessageBudget::Share first(budget, "198.51.100.7", [&](Offence offence) { first_evicted = offence; });
  MessageBudget::Share second(budget, "198.51.100.7", [](Offence) { FAIL() << "holds for a shorter time"; });
  EXPECT_EQ(bystander.update(1000, clock.mono(), clock.mono()), std::nullopt);
  clock.advance(seconds(1));
  EXPECT_EQ(first.update(1000, clock.mono(), clock.mono()), std::nullopt);
  clock.advance(seconds(1));
  EXPECT_EQ(second.update(1000, clock.mono(), clock.mono()), std::nullopt);
  EXPECT_EQ(first_evicted, Offence::kUnfinishedByAddress);
}

TEST(MessageBudget, GivesBackWhatAConnectionHeld) {
  ManualClock clock;
  MessageBudget budget({});
  {
    MessageBudget::Share share(budget, "192.0.2.1", {});
    EXPECT_EQ(share.update(1 << 20, clock.mono(), clock.mono()), std::nullopt);
    EXPECT_EQ(budget.held_bytes(), std::size_t{1} << 20);
  }
  EXPECT_EQ(budget.held_bytes(), 0u);
}

TEST(Offences, HaveNamesThatLeadBack) {
  for (int i = 0; i <= static_cast<int>(kLastOffence); ++i) {
    const auto offence = static_cast<Offence>(i);
    EXPECT_EQ(offence_named(offence_name(offence)), offence);
    EXPECT_FALSE(offence_text(offence).empty());
  }
  EXPECT_EQ(offence_named("nonsense"), std::nullopt);
}

}  // namespace
}  // namespace gridtorrent::http2
