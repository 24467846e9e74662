#include <algorithm>
#include <array>

#include "base/options/command_line.h"
#include "base/options/config_file.h"
#include "base/options/options.h"
#include "base/options/render.h"
#include "common/text.h"
#include "common/version.h"

namespace gridtorrent::options {

namespace {

/// The text of a flag as "true" or "false"; nothing for any other text.
std::optional<std::string> flag_text(std::string_view text) {
  const std::string lower = to_lower_ascii(text);
  for (const std::string_view yes : {"true", "1", "yes", "on"})
    if (lower == yes) return "true";
  for (const std::string_view no : {"false", "0", "no", "off"})
    if (lower == no) return "false";
  return std::nullopt;
}

std::vector<std::string> split_semicolons(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// A command may have one of a standard option's name, which then means the command's.
bool has_option(const Command& command, std::string_view name) {
  return std::ranges::any_of(command.options, [&](const Option& option) { return option.name == name; });
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(separator)) + word;
  return text;
}

/// What stands before the keys of a command's options: "node.enroll-token."; nothing for options of the program.
std::string file_section(std::string command) {
  std::replace(command.begin(), command.end(), ' ', '.');
  return command.empty() ? "" : command + ".";
}

/// With this version the variables of commands' options lose the names that they had without the command's.
constexpr char kOldNamesEnd[] = "0.2";

/// A path on disk is bytes; whatever else goes into messages, which are text.
bool names_a_file(std::string_view placeholder) {
  return placeholder == "FILE" || placeholder.ends_with("PATH") || placeholder.ends_with("DIR");
}

struct ConfigFile {
  std::string path;
  FileValues values;
};

}  // namespace

/// Brings the layers together for one command line.
class Resolver {
 public:
  Resolver(const Program& program, CommandLine line, const Environment& environment)
      : program_(program), line_(std::move(line)), environment_(environment) {}

  static Result<Parsed> override_values(const Program& program, Parsed parsed, const Overrides& values) {
    for (const auto& [name, texts] : values) {
      const auto option = std::ranges::find(program.options, name, &Option::name);
      if (option == program.options.end()) {
        return Error{Code::kInvalid, "'" + escape_for_display(name) + "' is no option of " + program.name};
      }
      if (!option->repeatable && texts.size() != 1) {
        return Error{Code::kInvalid, name + " takes one value, not " + std::to_string(texts.size())};
      }
      Parsed::Value value{texts, Source::kOverride};
      GT_TRY(check_all(*option, value.values, name));
      parsed.values_[name] = std::move(value);
    }
    return parsed;
  }

  Result<Parsed> resolve(std::span<const std::string> arguments) {
    command_ = find_command(program_, line_.command);
    GT_TRY(require_command());
    GT_TRY(load_files());
    Parsed parsed;
    parsed.notes_ = std::move(file_notes_);
    parsed.command_ = line_.command;
    parsed.arguments_.assign(arguments.begin(), arguments.end());
    for (const Option& option : standard_options())
      if (command_ == nullptr || !has_option(*command_, option.name)) GT_TRY(settle(option, "", parsed));
    for (const Option& option : program_.options) GT_TRY(settle(option, "", parsed));
    if (command_ != nullptr) {
      for (const Option& option : command_->options) GT_TRY(settle(option, command_->name, parsed));
      for (const Positional& positional : command_->positionals) GT_TRY(settle(positional, parsed));
    }
    return parsed;
  }

 private:
  Error usage(const std::string& what) const {
    return {Code::kInvalid, what + "; " + help_hint(program_, line_.command)};
  }

  Status require_command() const {
    if (line_.command.empty() && program_.needs_command) return usage("no command given");
    if (!line_.command_is_group) return {};
    std::vector<std::string> words;
    for (const Command& command : program_.commands)
      if (!command.hidden && command.name.starts_with(line_.command + " "))
        words.push_back(command.name.substr(line_.command.size() + 1));
    return usage("'" + line_.command + "' needs one of: " + joined(words, ", "));
  }

  Status load_files() {
    const auto named = line_.values.find("config");
    std::optional<std::string> user_path;
    if (named != line_.values.end()) user_path = named->second.back();
    if (!user_path) user_path = variable(environment_name("", "config"));
    const bool must_exist = user_path.has_value();
    if (!user_path) user_path = default_user_file();
    if (user_path) GT_TRY(load_file(*user_path, must_exist, user_file_));
    return load_file(environment_.system_folder + "/" + program_.name + ".toml", false, system_file_);
  }

  std::optional<std::string> default_user_file() const {
    const std::string tail = "/gridtorrent/" + program_.name + ".toml";
    if (const auto folder = variable("XDG_CONFIG_HOME"); folder && folder->starts_with('/')) return *folder + tail;
    if (const auto home = variable("HOME"); home && home->starts_with('/')) return *home + "/.config" + tail;
    return std::nullopt;
  }

  std::optional<std::string> variable(const std::string& name) const {
    auto value = environment_.variable(name);
    if (value && value->empty()) value.reset();
    return value;
  }

  Status load_file(const std::string& path, bool must_exist, ConfigFile& file) {
    file.path = escape_for_display(path);
    const auto text = environment_.read_file(path);
    if (!text) return text.error().with_context("configuration file " + file.path);
    if (!text->has_value()) {
      if (!must_exist) return {};
      return Error{Code::kInvalid, "configuration file " + file.path + " does not exist; name another with --config"};
    }
    GT_ASSIGN(file.values, parse_config(**text, file.path));
    return refuse_unknown_keys(file);
  }

  /// Of a command's option that is for the command line alone: a file may have it from before that was so.
  bool is_passed_over(const std::string& key) const {
    return std::ranges::any_of(program_.commands, [&](const Command& command) {
      return std::ranges::any_of(command.options, [&](const Option& option) {
        return option.command_line_only && key == file_section(command.name) + option.name;
      });
    });
  }

  Status refuse_unknown_keys(const ConfigFile& file) {
    std::vector<std::string> known;
    const auto add = [&](const std::string& section, const std::vector<Option>& options) {
      for (const Option& option : options)
        if (!option.command_line_only && option.name != "config") known.push_back(section + option.name);
    };
    add("", program_.options);
    for (const Command& command : program_.commands) add(file_section(command.name), command.options);
    for (const auto& [key, entry] : file.values) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      const std::string where =
          file.path + ", line " + std::to_string(entry.line) + ": '" + escape_for_display(key) + "' ";
      if (is_passed_over(key)) {
        file_notes_.push_back(where + "is for the command line alone; ignored");
        continue;
      }
      const std::string near = nearest(key, known);
      return Error{Code::kInvalid,
                   where + "is no option of " + program_.name + (near.empty() ? "" : ", did you mean '" + near + "'?")};
    }
    return {};
  }

  Status settle(const Option& option, const std::string& command, Parsed& parsed) const {
    Parsed::Value value;
    std::string origin;
    GT_TRY(find_value(option, command, value, origin, parsed.notes_));
    GT_TRY(check_all(option, value.values, origin));
    if (!option.repeatable && value.values.size() > 1) value.values.erase(value.values.begin(), value.values.end() - 1);
    if (option.required && value.values.empty()) return usage("--" + option.name + " " + option.value + " is missing");
    GT_CHECK(parsed.values_.emplace(option.name, std::move(value)).second);
    return {};
  }

  Status settle(const Positional& positional, Parsed& parsed) const {
    Parsed::Value value;
    const auto given = line_.values.find(positional.name);
    if (given != line_.values.end()) {
      value = {given->second, Source::kCommandLine};
      for (const std::string& text : value.values) {
        GT_TRY(check(positional.choices, {}, text, positional.name));
        if (!positional.any_bytes) GT_TRY(check_text(positional.name, text, positional.name));
      }
      if (positional.required && !positional.may_be_empty && std::ranges::find(value.values, "") != value.values.end())
        return usage(positional.name + " is empty");
    } else if (positional.required) {
      return usage(positional.name + " is missing");
    }
    GT_CHECK(parsed.values_.emplace(positional.name, std::move(value)).second);
    return {};
  }

  Status find_value(const Option& option, const std::string& command, Parsed::Value& value, std::string& origin,
                    std::vector<std::string>& notes) const {
    origin = "--" + option.name;
    if (const auto given = line_.values.find(option.name); given != line_.values.end()) {
      value = {given->second, Source::kCommandLine};
      return {};
    }
    if (!option.command_line_only) {
      if (const auto text = variable(environment_name(command, option.name))) {
        origin = environment_name(command, option.name);
        value = {values_of(option, *text), Source::kEnvironment};
        return {};
      }
      if (auto values = old_variable(option, command, notes)) {
        origin = environment_name("", option.name);
        value = {*std::move(values), Source::kEnvironment};
        return {};
      }
      const std::array<std::pair<const ConfigFile*, Source>, 2> files{
          {{&user_file_, Source::kUserFile}, {&system_file_, Source::kSystemFile}}};
      for (const auto& [file, source] : files) {
        const auto entry = file->values.find(file_section(command) + option.name);
        if (entry == file->values.end()) continue;
        origin = file->path + ", line " + std::to_string(entry->second.line) + ": " + option.name;
        if (entry->second.is_array && !option.repeatable)
          return Error{Code::kInvalid, origin + " takes one value, not an array"};
        value = {entry->second.values, source};
        return {};
      }
    }
    if (!option.default_value.empty()) value.values = {option.default_value};
    return {};
  }

  static std::vector<std::string> values_of(const Option& option, const std::string& text) {
    return option.repeatable ? split_semicolons(text) : std::vector{text};
  }

  /// The values of a command's option by the variable's old name, where they can be meant for it. Either way a note
  /// says how the variable is called now.
  std::optional<std::vector<std::string>> old_variable(const Option& option, const std::string& command,
                                                       std::vector<std::string>& notes) const {
    const std::string old_name = environment_name("", option.name);
    const auto text = command.empty() ? std::nullopt : variable(old_name);
    if (!text) return std::nullopt;
    const std::string now = "'" + command + " --" + option.name + "' is " + environment_name(command, option.name);
    std::vector<std::string> values = values_of(option, *text);
    std::vector<std::string> checked = values;
    if (const Status good = check_all(option, checked, old_name); !good) {
      notes.push_back(good.error().message + "; ignored: the variable of " + now);
      return std::nullopt;
    }
    notes.push_back(old_name + " is an old name, read until version " + kOldNamesEnd + ": the variable of " + now);
    return values;
  }

  /// Each value by the option's rules; flags become "true" or "false".
  static Status check_all(const Option& option, std::vector<std::string>& values, const std::string& origin) {
    for (std::string& text : values) {
      if (!option.value.empty()) {
        GT_TRY(check_text(option.value, text, origin));
        GT_TRY(check(option.choices, option.check, text, origin));
        continue;
      }
      const auto flag = flag_text(text);
      if (!flag) return Error{Code::kInvalid, origin + ": " + in_quotes(text) + " is neither true nor false"};
      text = *flag;
    }
    return {};
  }

  static Status check_text(std::string_view placeholder, const std::string& text, const std::string& origin) {
    if (names_a_file(placeholder) || is_valid_utf8(text)) return {};
    return Error{Code::kInvalid, origin + ": " + in_quotes(text) + " is not UTF-8"};
  }

  static std::string in_quotes(std::string_view text) { return "'" + escape_for_display(text) + "'"; }

  static Status check(const std::vector<std::string>& choices, const Check& custom, const std::string& text,
                      const std::string& origin) {
    if (text.find('\0') != std::string::npos) return Error{Code::kInvalid, origin + ": a value cannot hold a NUL byte"};
    if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end())
      return Error{Code::kInvalid, origin + ": " + in_quotes(text) + " is not one of " + joined(choices, ", ")};
    if (custom)
      if (const Status good = custom(text); !good) return good.error().with_context(origin);
    return {};
  }

  const Program& program_;
  CommandLine line_;
  const Environment& environment_;
  const Command* command_ = nullptr;
  ConfigFile user_file_, system_file_;
  std::vector<std::string> file_notes_;
};

namespace {

/// Answers that need no configuration: help, version, man page, completion.
std::optional<Outcome> informational(const Program& program, const CommandLine& line) {
  const auto given = [&](const char* name) {
    const auto found = line.values.find(name);
    return found != line.values.end() && found->second.back() != "false";
  };
  if (given("help")) return Printout{help_text(program, line.command)};
  const Command* const command = find_command(program, line.command);
  if (given("version") && (command == nullptr || !has_option(*command, "version")))
    return Printout{program.name + " " + kVersion + "\n"};
  if (given("help-man")) return Printout{man_page(program, kVersion)};
  if (given("help-markdown")) return Printout{markdown_reference(program)};
  if (given("help-completion")) {
    auto script = completion_script(program, line.values.find("help-completion")->second.back());
    if (!script) return script.error();
    return Printout{std::move(script).value()};
  }
  return std::nullopt;
}

Outcome help_on(const Program& program, std::span<const std::string> words) {
  std::string topic;
  for (const std::string& word : words) {
    topic += (topic.empty() ? "" : " ") + word;
    const bool known = std::ranges::any_of(
        program.commands, [&](const Command& c) { return c.name == topic || c.name.starts_with(topic + " "); });
    if (!known) return unknown_command(program, topic);
  }
  return Printout{help_text(program, topic)};
}

}  // namespace

Outcome parse(const Program& program, std::span<const std::string> arguments, const Environment& environment) {
  if (!program.commands.empty() && !arguments.empty() && arguments.front() == "help")
    return help_on(program, arguments.subspan(1));
  auto line = split_command_line(program, arguments);
  if (!line) return line.error();
  if (auto answer = informational(program, *line)) return *std::move(answer);
  auto parsed = Resolver(program, std::move(line).value(), environment).resolve(arguments);
  if (!parsed) return parsed.error();
  return std::move(parsed).value();
}

Result<Parsed> override_values(const Program& program, const Parsed& parsed, const Overrides& values) {
  return Resolver::override_values(program, parsed, values);
}

std::string overrides_text(const Overrides& values) {
  return config_text(values);
}

Result<Overrides> parse_overrides(std::string_view text, const std::string& path) {
  GT_ASSIGN(FileValues read, parse_config(text, path));
  Overrides values;
  for (auto& [name, entry] : read) values.emplace(name, std::move(entry.values));
  return values;
}

}  // namespace gridtorrent::options
