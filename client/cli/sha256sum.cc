#include "client/cli/sha256sum.h"

namespace gridtorrent::client::cli {

std::string sha256sum_line(std::string_view digest_hex, std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    if (c == '\\') {
      escaped += "\\\\";
    } else if (c == '\n') {
      escaped += "\\n";
    } else if (c == '\r') {
      escaped += "\\r";
    } else {
      escaped += c;
    }
  }
  const bool is_escaped = escaped.size() != path.size();
  return (is_escaped ? "\\" : "") + std::string(digest_hex) + "  " + escaped + "\n";
}

}  // namespace gridtorrent::client::cli
