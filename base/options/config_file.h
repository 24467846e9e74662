#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace gridtorrent::options {

/// One key of a configuration file, its values written as on a command line ("true" and "false" for flags).
struct FileEntry {
  std::vector<std::string> values;
  bool is_array = false;
  int line = 0;
};
/// "key" or "section.key" ("node.enroll-token.ttl") → its values.
using FileValues = std::map<std::string, FileEntry, std::less<>>;

/// Reads TOML. A table in an array is one value: {from = "08:00", up = "1MB"} is "from=08:00 up=1MB". kInvalid with
/// file and line for what is no TOML, and for values that no option can have (dates, arrays in arrays).
Result<FileValues> parse_config(std::string_view text, const std::string& path);

/// What `parse_config` reads back: one value as a string, any other number as an array of strings.
std::string config_text(const std::map<std::string, std::vector<std::string>>& values);

}  // namespace gridtorrent::options
