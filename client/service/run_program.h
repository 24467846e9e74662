#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/result.h"

namespace gridtorrent::client {

/// What a program that has ended left.
struct Ended {
  int exit_code = 0;   ///< 128 + the signal's number where one ended it
  std::string output;  ///< standard output and error together, at most 64 KiB
};

/// For programs that answer a question: longer, and what they ask does not answer.
inline constexpr std::chrono::milliseconds kShortRun{5'000};

/// Runs a program of the PATH and waits for its end; standard input is empty, `environment` (NAME=VALUE) is added to
/// this process's. Blocks, at most for `limit`: then it is killed. kNotFound: there is no such program; kInternal: it
/// cannot be started; kTimeout.
Result<Ended> run_program(const std::vector<std::string>& arguments, std::chrono::milliseconds limit = kShortRun,
                          const std::vector<std::string>& environment = {});

/// Starts a program that outlives this one and its terminal: a session of its own, standard output and error appended
/// to `log_file`, `environment` (NAME=VALUE) and nothing else. Returns its process id; whether it works shows later.
/// kNotFound; kDisk: the log file.
Result<int> start_detached(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                           const std::string& log_file);

/// This process's environment and `added` (NAME=VALUE), which replaces variables of the same names. What begins with
/// one of `left_out`, as in "GRIDTORRENT_" or "HOME=", is not in it.
std::vector<std::string> environment_with(std::vector<std::string> added, std::vector<std::string> left_out = {});

}  // namespace gridtorrent::client
