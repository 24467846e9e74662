#include "base/options/config_file.h"

#include <toml++/toml.h>

#include <sstream>

namespace gridtorrent::options {

namespace {

std::string place(const std::string& path, int line) {
  return path + ", line " + std::to_string(line);
}

/// The value as one would write it on the command line; nothing for dates, times, arrays and tables.
std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* number = node.as_floating_point()) {
    std::ostringstream text;
    text << number->get();
    return text.str();
  }
  return std::nullopt;
}

/// A table in an array as one text: "down=1MB from=08:00"; blanks in its values go. Nothing where a value is none.
std::optional<std::string> table_text(const toml::table& table) {
  std::string text;
  for (const auto& [key, node] : table) {
    auto value = scalar_text(node);
    if (!value) return std::nullopt;
    std::erase(*value, ' ');
    text += (text.empty() ? "" : " ") + std::string(key.str()) + "=" + *value;
  }
  return text;
}

Status collect(const toml::table& table, const std::string& prefix, const std::string& path, FileValues& out) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    const int line = static_cast<int>(node.source().begin.line);
    if (const auto* inner = node.as_table()) {
      GT_TRY(collect(*inner, name + ".", path, out));
      continue;
    }
    FileEntry entry;
    entry.line = line;
    if (const auto* array = node.as_array()) {
      entry.is_array = true;
      for (const toml::node& element : *array) {
        const auto* inner = element.as_table();
        const auto text = inner != nullptr ? table_text(*inner) : scalar_text(element);
        if (!text) return Error{Code::kInvalid, place(path, line) + ": " + name + " takes an array of strings"};
        entry.values.push_back(*text);
      }
    } else if (const auto text = scalar_text(node)) {
      entry.values.push_back(*text);
    } else {
      return Error{Code::kInvalid, place(path, line) + ": " + name + " takes a string; put the value in quotes"};
    }
    out.emplace(name, std::move(entry));
  }
  return {};
}

}  // namespace

Result<FileValues> parse_config(std::string_view text, const std::string& path) {
  try {
    const toml::table table = toml::parse(text, path);
    FileValues values;
    GT_TRY(collect(table, "", path, values));
    return values;
  } catch (const toml::parse_error& error) {
    return Error{Code::kInvalid, place(path, static_cast<int>(error.source().begin.line)) +
                                     ": this is no TOML: " + std::string(error.description())};
  }
}

std::string config_text(const std::map<std::string, std::vector<std::string>>& values) {
  toml::table table;
  for (const auto& [name, texts] : values) {
    if (texts.size() == 1) {
      table.insert(name, texts.front());
      continue;
    }
    toml::array array;
    for (const std::string& text : texts) array.push_back(text);
    table.insert(name, std::move(array));
  }
  // Literal strings would take a value with a line break as it is, whatever else is in it.
  const auto flags = toml::toml_formatter::default_flags &
                     ~(toml::format_flags::allow_literal_strings | toml::format_flags::allow_multi_line_strings);
  std::ostringstream text;
  text << toml::toml_formatter{table, flags} << '\n';
  return text.str();
}

}  // namespace gridtorrent::options
