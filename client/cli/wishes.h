#pragma once

#include <string>
#include <vector>

#include "base/options/options.h"
#include "client/cli/json.h"
#include "common/clock.h"

/// What a person asks of the tuner of a transfer: its options, and how it and what comes of it are shown. Pure
/// functions.
namespace gridtorrent::client::cli {

/// --tuner, --mode, --target-rate, --min-rate and --by, as `get` takes them.
std::vector<options::Option> wish_options();
/// The same for a transfer that runs, where each can be taken away.
std::vector<options::Option> wish_change_options();

/// What `wish_options` were given. kInvalid for a time that is past, and for what contradicts itself or --limit.
Result<v1::TuningWish> read_wish(const options::Parsed& options, WallTime now);
/// What `wish_change_options` were given; whether it fits to the rest is the node's to say.
Result<v1::TuningWish> read_wish_change(const options::Parsed& options, WallTime now);
bool is_empty(const v1::TuningWish& wish);

/// "tuner fixed, mode background, 30 Mbit/s held, at least 10 Mbit/s, by 06:00"; empty where nothing was asked for.
std::string wish_text(const v1::TuningWish& wish, WallTime now);
/// A few words for the progress line: "holds 30 Mbit/s", "7 % short of 30 Mbit/s", "in time: done by 05:41". Empty
/// where nothing is known.
std::string target_words(const v1::Transfer& transfer, WallTime now);
/// ", in time" or ", 12 min 0 s late"; empty where no time was asked for.
std::string arrival_text(const v1::Transfer& transfer);

/// Adds `tuner`, `mode`, `target_bits_per_s`, `floor_bits_per_s` and `by`; what was not asked for is null or 0.
void add_wish(Json& json, const v1::TuningWish& wish);
/// Null where nothing is known.
Json target_json(const v1::Transfer& transfer);
Json to_json(const v1::TargetState& state);

}  // namespace gridtorrent::client::cli
