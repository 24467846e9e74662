#include <algorithm>

#include "base/options/layout.h"
#include "base/options/render.h"

namespace gridtorrent::options {

namespace {

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Words filled into lines of at most `width` columns, each indented.
std::string filled(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out, line;
  const auto flush = [&] {
    if (!line.empty()) out += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    if (!line.empty() && indent + columns(line) + 1 + columns(word) > width) flush();
    line += (line.empty() ? "" : " ") + std::string(word);
  }
  flush();
  return out;
}

/// A term, and beside it (or below, where the term is too long) what it means.
std::string entry(const std::string& term, const std::string& meaning, std::size_t width) {
  constexpr std::size_t kColumn = 28;
  std::string text = filled(meaning, kColumn, width);
  if (text.empty()) return "  " + term + "\n";
  if (columns(term) + 3 > kColumn) return "  " + term + "\n" + text;
  return "  " + term + std::string(kColumn - 2 - columns(term), ' ') + text.substr(kColumn);
}

std::string option_entries(const std::vector<Option>& options, std::size_t width) {
  std::string out;
  for (const Option& option : options) {
    const std::string notes = option_notes(option);
    out += entry(option_heading(option), option.help + (notes.empty() ? "" : " (" + notes + ")"), width);
  }
  return out;
}

std::string examples_text(const std::vector<Example>& examples, std::size_t width) {
  if (examples.empty()) return "";
  std::string out = "\nExamples:\n";
  for (const Example& example : examples) {
    out += "  " + example.line + "\n";
    out += filled(example.explains, 6, width);
  }
  return out;
}

std::string described(const std::string& description, std::size_t width) {
  std::string out;
  for (const std::string& paragraph : paragraphs_of(description)) out += "\n" + filled(paragraph, 0, width);
  return out;
}

/// How the options of a command are set in the environment; empty where none can be.
std::string environment_note(const Command& command, std::size_t width) {
  const auto settable = std::ranges::find_if(
      command.options, [](const Option& option) { return !option.hidden && !option.command_line_only; });
  if (settable == command.options.end()) return "";
  return "\n" +
         filled("In the environment --" + settable->name + " is " + environment_name(command.name, settable->name) +
                    ", and so on; options of every command go without the command's name.",
                0, width);
}

std::string command_help(const Program& program, const Command& command, std::size_t width) {
  std::string out = program.name + " " + command.name + ": " + command.summary + "\n\nUsage: " + program.name + " " +
                    command_usage(command) + "\n";
  out += described(command.description, width);
  if (!command.positionals.empty()) {
    out += "\nArguments:\n";
    for (const Positional& positional : command.positionals) out += entry(positional.name, positional.help, width);
  }
  const std::vector<Option> own = shown_options(command.options, false);
  if (!own.empty()) out += "\nOptions:\n" + option_entries(own, width);
  out += "\nOptions of every command:\n" + option_entries(shown_options(program.options, true), width);
  return out + environment_note(command, width) + examples_text(command.examples, width);
}

std::string command_list(const Program& program, std::string_view prefix, std::size_t width) {
  std::string out;
  for (const std::string& group : command_groups(program)) {
    std::string entries;
    for (const Command& command : program.commands) {
      if (command.hidden || (command.group.empty() ? "Commands" : command.group) != group ||
          !command.name.starts_with(prefix))
        continue;
      std::string term = command.name;
      for (const Positional& p : command.positionals) term += " " + positional_usage(p);
      entries += entry(term, command.summary, width);
    }
    if (!entries.empty()) out += "\n" + group + ":\n" + entries;
  }
  return out;
}

}  // namespace

std::string option_heading(const Option& option) {
  std::string heading = "--" + option.name;
  if (option.name == "help") heading = "-h, " + heading;
  if (option.name == "version" && option.value.empty()) heading = "-V, " + heading;
  return option.value.empty() ? heading : heading + " " + option.value;
}

std::string option_notes(const Option& option) {
  std::vector<std::string> notes;
  if (!option.choices.empty()) {
    std::string list;
    for (const std::string& choice : option.choices) list += (list.empty() ? "" : ", ") + choice;
    notes.push_back("one of " + list);
  }
  if (!option.default_value.empty()) notes.push_back("default: " + option.default_value);
  if (option.required) notes.push_back("required");
  if (option.repeatable) notes.push_back("may be given several times");
  std::string text;
  for (const std::string& note : notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

std::string positional_usage(const Positional& positional) {
  const std::string name = positional.name + (positional.repeatable ? "..." : "");
  return positional.required ? name : "[" + name + "]";
}

std::string command_usage(const Command& command) {
  std::string usage = command.name;
  if (!command.options.empty()) usage += " [OPTION]...";
  for (const Positional& positional : command.positionals) usage += " " + positional_usage(positional);
  return usage;
}

std::vector<std::string> paragraphs_of(std::string_view text) {
  std::vector<std::string> paragraphs;
  while (!text.empty()) {
    const std::string_view paragraph = text.substr(0, text.find("\n\n"));
    text.remove_prefix(std::min(text.size(), paragraph.size() + 2));
    if (!paragraph.empty()) paragraphs.emplace_back(paragraph);
  }
  return paragraphs;
}

std::vector<std::string> command_groups(const Program& program) {
  std::vector<std::string> groups;
  for (const Command& command : program.commands) {
    if (command.hidden) continue;
    const std::string group = command.group.empty() ? "Commands" : command.group;
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

std::vector<Option> shown_options(const std::vector<Option>& own, bool with_standard) {
  std::vector<Option> shown;
  const auto add = [&](const std::vector<Option>& options) {
    for (const Option& option : options)
      if (!option.hidden) shown.push_back(option);
  };
  add(own);
  if (with_standard) add(standard_options());
  return shown;
}

const Command* find_command(const Program& program, std::string_view name) {
  for (const Command& command : program.commands)
    if (command.name == name) return &command;
  return nullptr;
}

std::string environment_name(std::string_view command, std::string_view option) {
  std::string name = "GRIDTORRENT_" + std::string(command) + (command.empty() ? "" : "_") + std::string(option);
  for (char& c : name) c = c == '-' || c == ' ' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

std::string help_text(const Program& program, std::string_view command, int width) {
  const auto columns_wide = static_cast<std::size_t>(std::max(width, 60));
  if (const Command* found = find_command(program, command)) return command_help(program, *found, columns_wide);
  std::string usage = program.name;
  if (!command.empty()) {
    return "Usage: " + program.name + " " + std::string(command) + " COMMAND [OPTION]... [ARGUMENT]...\n" +
           command_list(program, std::string(command) + " ", columns_wide) + "\nMore about one: " + program.name + " " +
           std::string(command) + " COMMAND --help\n";
  }
  usage += " [OPTION]...";
  if (!program.commands.empty()) usage += program.needs_command ? " COMMAND [ARGUMENT]..." : " [COMMAND]";
  std::string out = program.name + ": " + program.summary + "\n\nUsage: " + usage + "\n";
  out += described(program.description, columns_wide);
  out += command_list(program, "", columns_wide);
  out += "\nOptions:\n" + option_entries(shown_options(program.options, true), columns_wide);
  out += examples_text(program.examples, columns_wide);
  out += "\n" + filled("Every option can also be set as an environment variable, as in " +
                           environment_name("", program.options.empty() ? "config" : program.options.front().name) +
                           (program.commands.empty() ? "" : " (of a command, with its name: see its help)") +
                           ", or in a file, as in ~/.config/gridtorrent/" + program.name +
                           ".toml. The command line wins over the environment, and that over the files.",
                       0, columns_wide);
  if (!program.commands.empty()) out += "More about one command: " + program.name + " COMMAND --help\n";
  return out;
}

}  // namespace gridtorrent::options
