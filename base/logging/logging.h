#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "common/result.h"

/// The one door to the log (spdlog behind it): one line an entry on stderr, as text or JSON. Thread-safe. Whatever
/// looks like a token of ours is blotted out, control characters are escaped; nobody logs passwords, keys or metadata.
namespace gridtorrent::logging {

enum class Level : std::uint8_t { kDebug, kInfo, kWarning, kError };
enum class Format : std::uint8_t { kText, kJson };

/// "debug", "info", "warning", "error"; kInvalid names the choices.
Result<Level> parse_level(std::string_view text);
/// "text", "json".
Result<Format> parse_format(std::string_view text);

/// Sets form and threshold; call once at start-up, before that it is text at info.
void configure(Format format, Level level);
/// The same from options; kInvalid names the choices.
Status configure(std::string_view format, std::string_view level);

/// One more fact of an entry. Keys are snake_case and carry units; "request_id" ties entries to a call.
struct Field {
  std::string_view key;
  std::string value;
};

bool enabled(Level level);
void write(Level level, std::string_view message, std::initializer_list<Field> fields = {});

inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::kDebug, message, fields);
}
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::kInfo, message, fields);
}
inline void warning(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::kWarning, message, fields);
}
inline void error(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::kError, message, fields);
}

/// The text with every token-like part ("gtp_…") replaced by "gtp_[redacted]". What `write` does to all it prints.
std::string redact_tokens(std::string_view text);

/// One finished line, without the newline; `write` prints this. `now_ms` is wall time.
std::string format_line(Format format, Level level, std::int64_t now_ms, std::string_view message,
                        std::initializer_list<Field> fields);

}  // namespace gridtorrent::logging
