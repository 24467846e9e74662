#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gridtorrent::fuzz {

/// A fuzz target takes any bytes and aborts (GT_CHECK) where a promise is broken. Each is built twice: as a libFuzzer
/// program (option GT_FUZZ, clang) and into fuzz_replay_test, which replays the corpus and mutates it a little.
using Target = void (*)(std::span<const std::uint8_t> input);

struct NamedTarget {
  std::string_view name;  ///< also the corpus folder
  Target run;
};

void bencode(std::span<const std::uint8_t> input);
void metadata(std::span<const std::uint8_t> input);
void glob(std::span<const std::uint8_t> input);
void torrent(std::span<const std::uint8_t> input);
void certificate_request(std::span<const std::uint8_t> input);
void gt_message(std::span<const std::uint8_t> input);
void audience(std::span<const std::uint8_t> input);
void token(std::span<const std::uint8_t> input);
void http2_guard(std::span<const std::uint8_t> input);

inline constexpr NamedTarget kTargets[] = {{"bencode", bencode},
                                           {"metadata", metadata},
                                           {"glob", glob},
                                           {"torrent", torrent},
                                           {"certificate_request", certificate_request},
                                           {"gt_message", gt_message},
                                           {"audience", audience},
                                           {"token", token},
                                           {"http2_guard", http2_guard}};

}  // namespace gridtorrent::fuzz
