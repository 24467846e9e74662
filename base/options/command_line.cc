#include "base/options/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

#include "base/options/render.h"
#include "common/text.h"

namespace gridtorrent::options {

namespace {

std::string in_quotes(std::string_view text) {
  return "'" + escape_for_display(text) + "'";
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before = std::exchange(row, next);
  }
  return row[b.size()];
}

/// The words that may follow those of a group ("" for the program).
std::vector<std::string> next_words(const Program& program, const std::string& group) {
  std::vector<std::string> words;
  const std::string prefix = group.empty() ? "" : group + " ";
  for (const Command& command : program.commands) {
    if (command.hidden || !command.name.starts_with(prefix)) continue;
    std::string word = command.name.substr(prefix.size());
    word.resize(std::min(word.size(), word.find(' ')));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

/// "'a'", "'a' or 'b'", "'a', 'b' or 'c'".
std::string alternatives(const std::vector<std::string>& commands) {
  std::string text;
  for (std::size_t i = 0; i < commands.size(); ++i)
    text += (i == 0 ? "'" : i + 1 == commands.size() ? " or '" : ", '") + commands[i] + "'";
  return text;
}

/// One CLI::App per word of a command's name, with the table's entries that were added to it.
class Splitter {
 public:
  explicit Splitter(const Program& program) : program_(program), root_(program.summary, program.name) {
    prepare(root_);
    add_options(root_, standard_options());
    add_options(root_, program.options);
    for (const Command& command : program.commands) add_command(command);
  }

  Result<CommandLine> split(std::span<const std::string> arguments) {
    // CLI11 would try words after "--" as commands and options of the program, too.
    const auto mark = std::ranges::find(arguments, "--");
    std::vector<std::string> reversed(arguments.begin(), mark);
    std::ranges::reverse(reversed);
    try {
      root_.parse(reversed);
    } catch (const CLI::ArgumentMismatch& error) {
      return missing_value(error.what());
    } catch (const CLI::ParseError& error) {
      return usage(escape_for_display(error.what()), "");
    }
    CommandLine line;
    deepest(line.command);
    for (const auto& [option, name] : options_) {
      if (option->count() == 0) continue;
      auto& values = line.values[name];
      const auto& results = option->results();
      values.insert(values.end(), results.begin(), results.end());
    }
    const Command* command = find_command(program_, line.command);
    if (command == nullptr || !command->takes_anything) GT_TRY(refuse_leftovers(line));
    if (mark != arguments.end()) GT_TRY(take_operands({mark + 1, arguments.end()}, line));
    line.command_is_group = !line.command.empty() && find_command(program_, line.command) == nullptr;
    return line;
  }

 private:
  static void prepare(CLI::App& app) {
    app.set_help_flag();
    app.set_help_all_flag();
    app.fallthrough();
    app.allow_extras();
    app.require_subcommand(0, 1);
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  void add_options(CLI::App& app, const std::vector<Option>& options) {
    for (const Option& option : options) {
      std::string names = "--" + option.name;
      if (option.name == "help") names = "-h," + names;
      if (option.name == "version" && option.value.empty()) names = "-V," + names;
      CLI::Option* added = option.value.empty() ? app.add_flag(names) : app.add_option(names)->expected(1);
      added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      if (!option.value.empty()) added->allow_extra_args(false);
      options_.emplace_back(added, option.name);
    }
  }

  void add_command(const Command& command) {
    CLI::App* app = &root_;
    std::string_view rest = command.name;
    while (!rest.empty()) {
      const std::string word(rest.substr(0, rest.find(' ')));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      const auto same_word = app->get_subcommands([&](CLI::App* sub) { return sub->get_name() == word; });
      CLI::App* next = same_word.empty() ? nullptr : same_word.front();
      if (next == nullptr) {
        next = app->add_subcommand(word);
        prepare(*next);
      }
      app = next;
    }
    if (command.takes_anything) app->prefix_command();
    add_options(*app, command.options);
    for (const Positional& positional : command.positionals) {
      CLI::Option* added = app->add_option(positional.name);
      if (positional.repeatable) {
        added->expected(-1);
      } else {
        added->expected(1)->allow_extra_args(false);
      }
      options_.emplace_back(added, positional.name);
    }
  }

  void deepest(std::string& command) const {
    const CLI::App* app = &root_;
    for (auto chosen = app->get_subcommands(); !chosen.empty(); chosen = app->get_subcommands()) {
      app = chosen.front();
      command += (command.empty() ? "" : " ") + app->get_name();
    }
  }

  /// The words after "--": the rest of the command's name, then its arguments.
  Status take_operands(std::span<const std::string> words, CommandLine& line) const {
    const Command* command = find_command(program_, line.command);
    for (const std::string& word : words) {
      if (command == nullptr && !program_.commands.empty()) {
        const std::vector<std::string> known = next_words(program_, line.command);
        const std::string longer = line.command + (line.command.empty() ? "" : " ") + word;
        if (std::ranges::find(known, word) == known.end()) return unknown_command(program_, longer);
        line.command = longer;
        command = find_command(program_, longer);
        continue;
      }
      if (command != nullptr && command->takes_anything) continue;
      const Positional* free = nullptr;
      if (command != nullptr) {
        const auto found = std::ranges::find_if(
            command->positionals, [&](const Positional& positional) { return !line.values.contains(positional.name); });
        if (found != command->positionals.end()) {
          free = &*found;
        } else if (!command->positionals.empty() && command->positionals.back().repeatable) {
          free = &command->positionals.back();
        }
      }
      if (free == nullptr) return further_argument(line, word);
      line.values[free->name].push_back(word);
    }
    return {};
  }

  Error usage(const std::string& what, std::string_view command) const {
    return {Code::kInvalid, what + "; " + help_hint(program_, command)};
  }

  Error missing_value(std::string_view what) const {
    const std::string name(what.substr(0, what.find(':')));
    std::string command;
    deepest(command);
    for (const auto& [option, table_name] : options_)
      if (name == "--" + table_name) return usage(name + " needs a value", command);
    return usage(escape_for_display(what), command);
  }

  std::vector<std::string> option_names(const Command* command) const {
    std::vector<std::string> names;
    const auto add = [&](const std::vector<Option>& options) {
      for (const Option& option : options)
        if (!option.hidden) names.push_back("--" + option.name);
    };
    add(standard_options());
    add(program_.options);
    if (command != nullptr) add(command->options);
    return names;
  }

  Error further_argument(const CommandLine& line, const std::string& word) const {
    const std::string& subject = line.command.empty() ? program_.name : line.command;
    return usage(subject + " takes no further argument " + in_quotes(word), line.command);
  }

  Status refuse_leftovers(const CommandLine& line) const {
    const std::vector<std::string> extras = root_.remaining(true);
    if (extras.empty()) return {};
    const Command* command = find_command(program_, line.command);
    const bool wants_command = command == nullptr && !program_.commands.empty();
    const std::string prefix = line.command.empty() ? "" : line.command + " ";
    if (wants_command && !extras.front().starts_with('-')) return unknown_command(program_, prefix + extras.front());
    for (const std::string& extra : extras) {
      if (extra.size() < 2 || extra.front() != '-') continue;
      const std::string name = extra.substr(0, extra.find('='));
      const std::string near = nearest(name, option_names(command));
      return usage("unknown option " + in_quotes(name) + (near.empty() ? "" : ", did you mean '" + near + "'?"),
                   line.command);
    }
    if (wants_command) return unknown_command(program_, prefix + extras.front());
    return further_argument(line, extras.front());
  }

  const Program& program_;
  CLI::App root_;
  std::vector<std::pair<CLI::Option*, std::string>> options_;
};

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best;
}

Error unknown_command(const Program& program, const std::string& words) {
  const std::size_t space = words.rfind(' ');
  const std::string group = space == std::string::npos ? "" : words.substr(0, space);
  const std::string prefix = group.empty() ? "" : group + " ";
  std::vector<std::string> meant;
  for (const OtherWord& other : program.other_words)
    if (other.word == to_lower_ascii(words)) meant = other.commands;
  if (meant.empty()) {
    const std::string near = nearest(words.substr(prefix.size()), next_words(program, group));
    if (!near.empty()) meant = {prefix + near};
  }
  return {Code::kInvalid, "unknown command " + in_quotes(words) +
                              (meant.empty() ? "" : ", did you mean " + alternatives(meant) + "?") + "; " +
                              help_hint(program, group)};
}

std::string help_hint(const Program& program, std::string_view command) {
  return "see '" + program.name + (command.empty() ? "" : " " + std::string(command)) + " --help'";
}

Result<CommandLine> split_command_line(const Program& program, std::span<const std::string> arguments) {
  try {
    return Splitter(program).split(arguments);
  } catch (const CLI::Error& error) {
    // Only a table with a faulty entry gets here, and every program's unit test parses its table.
    return Error{Code::kInternal, "the option table of " + program.name + " is faulty: " + error.what()};
  }
}

}  // namespace gridtorrent::options
