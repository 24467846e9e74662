#pragma once

#include <vector>

/// The closed formulas by which MC and FStream set GridFTP's three parameters from the sizes of files. Pure.
/// Source: Arslan, Ross, Kosar, Euro-Par 2013, and FStream's algorithm 1; bytes throughout.
namespace gridtorrent::client::tuning {

/// Commands that wait in a data channel's queue, at most, as the authors' client has it.
inline constexpr int kMostQueuedFiles = 100;
/// A socket's buffer where this end's is not known: the one of the papers' hosts.
inline constexpr double kUsualBufferBytes = 33'554'432;
/// What a lane has asked for is no more than this; libtorrent's peers take 2,000 requests.
inline constexpr int kMostBlocks = 2000;

/// Bandwidth-delay product.
double bdp_bytes(double bits_per_s, double round_trip_s);

/// round(BDP / mean), from 1 to 100.
int queued_files(double bdp, double mean_file);
/// max(1, min(⌈BDP / buffer⌉, ⌈mean / buffer⌉)), at most 32. buffer 0: not known.
int parallel_lanes(double bdp, double mean_file, double buffer);
/// min(max(round(BDP / mean), 2), files, most), at least 1.
int concurrent_channels(double bdp, double mean_file, double files, int most);

/// The papers' pipelining in blocks of 16 KiB: a channel has `queued` + 1 files under way, which its lanes share. 0,
/// the engine's own depth, where one file alone fills the path: inside of a file GridFTP asks for nothing.
int lane_blocks(int queued, double mean_file, double bdp, int lanes);

/// So many channels can work on so many bytes at once. GridFTP's channels take files; ours take pieces, which span
/// files, so that the number of files limits nothing; one channel for each 64 KiB has its first requests to do.
double places_for_channels(double bytes);

/// Takes the bytes that came off what is left of several groups of files that are fetched at once, in parts as their
/// lanes are. Which group's pieces came is not known.
void take_off(std::vector<double>& left, const std::vector<int>& lanes, double bytes);

}  // namespace gridtorrent::client::tuning
