#include "base/logging/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/clock.h"
#include "common/text.h"

namespace gridtorrent::logging {

namespace {

constexpr std::array kLevels = {
    std::pair{Level::kDebug, std::string_view("debug")}, std::pair{Level::kInfo, std::string_view("info")},
    std::pair{Level::kWarning, std::string_view("warning")}, std::pair{Level::kError, std::string_view("error")}};

std::string_view level_name(Level level) {
  return kLevels.at(static_cast<std::size_t>(level)).second;
}

std::atomic<Level> threshold{Level::kInfo};
std::atomic<Format> chosen_format{Format::kText};

spdlog::logger& sink() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>("gridtorrent", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool needs_quotes(std::string_view value) {
  return value.empty() || value.find_first_of(" \"=") != std::string_view::npos;
}

}  // namespace

Result<Level> parse_level(std::string_view text) {
  for (const auto& [level, name] : kLevels) {
    if (name == text) return level;
  }
  return Error{Code::kInvalid, "'" + escape_for_display(text) + "' is no log level: debug, info, warning or error"};
}

Result<Format> parse_format(std::string_view text) {
  if (text == "text") return Format::kText;
  if (text == "json") return Format::kJson;
  return Error{Code::kInvalid, "'" + escape_for_display(text) + "' is no log format: text or json"};
}

void configure(Format format, Level level) {
  chosen_format = format;
  threshold = level;
}

Status configure(std::string_view format, std::string_view level) {
  GT_ASSIGN(const Format parsed_format, parse_format(format));
  GT_ASSIGN(const Level parsed_level, parse_level(level));
  configure(parsed_format, parsed_level);
  return {};
}

bool enabled(Level level) {
  return level >= threshold.load(std::memory_order_relaxed);
}

std::string redact_tokens(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const bool prefix = text.size() - i >= 4 && text[i] == 'g' && text[i + 1] == 't' && text[i + 2] >= 'a' &&
                        text[i + 2] <= 'z' && text[i + 3] == '_' && (i == 0 || !is_alnum(text[i - 1]));
    std::size_t end = i + 4;
    while (prefix && end < text.size() && (is_alnum(text[end]) || text[end] == '_')) ++end;
    // Shorter ones are words such as "gts_node".
    if (prefix && end - i >= 24) {
      out.append(text.substr(i, 4)).append("[redacted]");
      i = end;
    } else {
      out.push_back(text[i++]);
    }
  }
  return out;
}

std::string format_line(Format format, Level level, std::int64_t now_ms, std::string_view message,
                        std::initializer_list<Field> fields) {
  const auto clean = [](std::string_view text) { return redact_tokens(escape_for_display(text)); };
  const std::string time = to_rfc3339(WallTime{now_ms});
  if (format == Format::kJson) {
    nlohmann::ordered_json line;
    line["time"] = time;
    line["level"] = level_name(level);
    line["message"] = clean(message);
    for (const Field& field : fields) line[std::string(field.key)] = clean(field.value);
    return line.dump();
  }
  std::string line = time + " " + std::string(level_name(level)) + " " + clean(message);
  for (const Field& field : fields) {
    std::string value = clean(field.value);
    if (needs_quotes(value)) {
      std::string quoted = "\"";
      for (const char c : value) quoted.append(c == '"' ? "\\\"" : std::string(1, c));
      value = quoted + "\"";
    }
    line.append(" ").append(field.key).append("=").append(value);
  }
  return line;
}

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (!enabled(level)) return;
  sink().log(spdlog::level::info, "{}", format_line(chosen_format, level, SystemClock().wall().ms, message, fields));
}

}  // namespace gridtorrent::logging
