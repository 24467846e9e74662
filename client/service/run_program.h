#pragma once

#include <string>
#include <vector>

#include "common/result.h"

namespace gridtorrent::client {

/// What a program that has ended left.
struct Ended {
  int exit_code = 0;   ///< 128 + the signal's number where one ended it
  std::string output;  ///< standard output and error together, at most 64 KiB
};

/// Runs a program of the PATH and waits for its end; standard input is empty. Blocks. kNotFound: there is no such
/// program; kInternal: it cannot be started.
Result<Ended> run_program(const std::vector<std::string>& arguments);

/// Starts a program that outlives this one and its terminal: a session of its own, standard output and error appended
/// to `log_file`, `environment` (NAME=VALUE) added to this process's. Returns its process id; whether it works shows
/// later. kNotFound; kDisk: the log file.
Result<int> start_detached(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                           const std::string& log_file);

}  // namespace gridtorrent::client
