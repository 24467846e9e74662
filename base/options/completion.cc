#include <algorithm>

#include "base/options/layout.h"
#include "base/options/render.h"
#include "common/text.h"

namespace gridtorrent::options {

namespace {

/// What the shell offers after an option or for a positional.
enum class Offer : std::uint8_t { kNothing, kFiles, kFolders, kWords, kAsked };

Offer offer_for(const std::string& placeholder, const std::vector<std::string>& choices) {
  if (!choices.empty()) return Offer::kWords;
  if (placeholder == "DIR") return Offer::kFolders;
  return placeholder == "FILE" || placeholder.ends_with("PATH") ? Offer::kFiles : Offer::kNothing;
}

std::string words_of(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& word : list) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// What is offered, with the words that are, or the kind that the program is asked for.
struct Offered {
  Offer offer = Offer::kNothing;
  std::string words = {};
  bool or_path = false;  ///< of what is asked for: a path may stand in its place
};

Offered offered(const Option& option) {
  if (!option.completes.empty()) return {Offer::kAsked, option.completes};
  const auto& words = option.choices.empty() ? option.suggestions : option.choices;
  return {offer_for(option.value, words), words_of(words)};
}

Offered offered(const Positional& positional) {
  const bool or_path = positional.name.ends_with("PATH");
  if (!positional.completes.empty()) return {Offer::kAsked, positional.completes, or_path};
  return {offer_for(positional.name, positional.choices), words_of(positional.choices)};
}

std::string function_name(const Program& program) {
  std::string name = "_";
  for (const char c : program.name) name += c == '-' ? '_' : c;
  return name;
}

/// A place in the tree of commands: "" (the program), "node", "node enroll-token" …
struct Place {
  std::string path;
  std::vector<std::pair<std::string, std::string>> words;  ///< what can follow, and its summary
  const Command* command = nullptr;
};

std::vector<Place> places_of(const Program& program) {
  std::vector<Place> places{{}};
  const auto place_at = [&](const std::string& path) -> Place& {
    const auto found = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.path == path; });
    if (found != places.end()) return *found;
    places.push_back({path, {}, nullptr});
    return places.back();
  };
  for (const Command& command : program.commands) {
    if (command.hidden) continue;
    std::string path;
    std::string_view rest = command.name;
    while (!rest.empty()) {
      const std::string word(rest.substr(0, rest.find(' ')));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      auto& words = place_at(path).words;
      const bool known = std::any_of(words.begin(), words.end(), [&](const auto& w) { return w.first == word; });
      if (!known) words.emplace_back(word, rest.empty() ? command.summary : word + " commands");
      path += (path.empty() ? "" : " ") + word;
    }
    place_at(command.name).command = &command;
  }
  return places;
}

/// Options at a place, those of the program among them, each name once.
std::vector<Option> options_at(const Program& program, const Place& place) {
  std::vector<Option> options =
      place.command != nullptr ? shown_options(place.command->options, false) : std::vector<Option>();
  for (const Option& option : shown_options(program.options, true)) options.push_back(option);
  return options;
}

/// What is offered in place of the positionals of a command from `first` to `last`, counted from 0.
struct Argument {
  std::size_t first = 0, last = 0;
  Offered offered;
};

constexpr std::size_t kEndless = 9999;

std::vector<Argument> arguments_at(const Place& place) {
  std::vector<Argument> arguments;
  if (place.command == nullptr || !place.words.empty()) return arguments;
  const auto& positionals = place.command->positionals;
  for (std::size_t i = 0; i < positionals.size(); ++i)
    arguments.push_back({i, positionals[i].repeatable ? kEndless : i, offered(positionals[i])});
  return arguments;
}

/// Options that are followed by a value: of the program, as "--socket", and of commands, as "get:--to".
struct ValueOptions {
  std::vector<std::string> everywhere, at_places;
};

ValueOptions value_options(const Program& program, const std::vector<Place>& places) {
  ValueOptions found;
  for (const Option& option : shown_options(program.options, true))
    if (!option.value.empty()) found.everywhere.push_back("--" + option.name);
  for (const Place& place : places) {
    if (place.command == nullptr) continue;
    for (const Option& option : shown_options(place.command->options, false))
      if (!option.value.empty()) found.at_places.push_back(place.path + ":--" + option.name);
  }
  return found;
}

/// Single quotes for the POSIX-like shells.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The script walks the words typed so far, follows those that are commands, counts those behind that are neither
// options nor their values, and then offers by place and count. Bash and zsh share this walk; bash splits words at '='
// and ':'.
std::string walk(const Program& program, const std::vector<Place>& places, const std::string& word_list,
                 std::string_view last_index, int first) {
  std::string known, valued;
  const auto add = [](std::string& list, const std::string& pattern) { list += (list.empty() ? "" : "|") + pattern; };
  for (const Place& place : places)
    if (!place.path.empty()) add(known, single_quoted(place.path));
  const ValueOptions options = value_options(program, places);
  for (const std::string& name : options.everywhere) add(valued, "*:" + name);
  for (const std::string& name : options.at_places) add(valued, single_quoted(name));
  const std::string word = "${" + word_list + "[i]}";
  std::string out = "  local place='' taken=0 i\n";
  out += "  for ((i = " + std::to_string(first) + "; i < " + std::string(last_index) + "; i++)); do\n";
  if (!known.empty()) {
    out += "    case \"${place:+$place }" + word + "\" in\n";
    out += "      " + known + ") place=\"${place:+$place }" + word + "\" taken=0; continue ;;\n    esac\n";
  }
  out += "    case \"$place:" + word + "\" in\n";
  out += "      *:'='|*::) ((i++)) ;;\n";
  out += "      " + valued + ") [[ \"${" + word_list + "[i+1]}\" == '=' ]] || ((i++)) ;;\n";
  out += "      *:-*) ;;\n      *) ((taken++)) ;;\n    esac\n  done\n";
  return out;
}

/// A pattern of "$place:$taken".
std::string argument_pattern(const Place& place, const Argument& argument) {
  if (argument.last == argument.first) return single_quoted(place.path + ":" + std::to_string(argument.first));
  return single_quoted(place.path + ":") + "*";
}

std::string bash_offer(const Program& program, const Offered& offered) {
  switch (offered.offer) {
    case Offer::kAsked: {
      const std::string asked = function_name(program) + "_asked " + offered.words;
      if (!offered.or_path) return asked;
      return "if [[ \"$cur\" == [./~]* ]]; then " + bash_offer(program, {Offer::kFiles}) + "; else " + asked + "; fi";
    }
    case Offer::kWords:
      return "COMPREPLY=($(compgen -W " + single_quoted(offered.words) + " -- \"$cur\"))";
    case Offer::kFiles:
      return "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")";
    case Offer::kFolders:
      return "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")";
    case Offer::kNothing:
      break;
  }
  return "COMPREPLY=()";
}

/// A function that asks the program for words of a kind. What is typed is taken without its quotes; what comes is put
/// in such as bash needs.
std::string bash_asking(const Program& program) {
  if (program.completer.empty()) return "";
  return function_name(program) + R"sh(_asked() {
  local typed="${cur//[\\\"\']/}" line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$(printf %q "${line%%$'\t'*}")")
  done < <("${COMP_WORDS[0]}" )sh" +
         program.completer + R"sh( "$1" -- "$typed" 2>/dev/null)
}
)sh";
}

std::string bash_script(const Program& program) {
  const std::vector<Place> places = places_of(program);
  std::string out = "# bash completion for " + program.name +
                    "; put it into ~/.local/share/bash-completion/completions/" + program.name + "\n" +
                    bash_asking(program) + function_name(program) + "() {\n  local IFS=$' \\t\\n'\n" +
                    "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n";
  out += walk(program, places, "COMP_WORDS", "COMP_CWORD", 1);
  out += "  case \"$place:$prev\" in\n";
  for (const Place& place : places)
    for (const Option& option : options_at(program, place))
      if (!option.value.empty())
        out += "    " + single_quoted(place.path + ":--" + option.name) + ") " + bash_offer(program, offered(option)) +
               "; return ;;\n";
  out += "  esac\n  if [[ \"$cur\" == -* ]]; then\n    case \"$place\" in\n";
  for (const Place& place : places) {
    std::vector<std::string> names;
    for (const Option& option : options_at(program, place)) names.push_back("--" + option.name);
    out +=
        "      " + single_quoted(place.path) + ") " + bash_offer(program, {Offer::kWords, words_of(names)}) + " ;;\n";
  }
  out += "    esac\n    return\n  fi\n  case \"$place:$taken\" in\n";
  for (const Place& place : places) {
    std::vector<std::string> words;
    for (const auto& [word, summary] : place.words) words.push_back(word);
    std::vector<Argument> arguments = arguments_at(place);
    if (!words.empty()) arguments.push_back({0, 0, {Offer::kWords, words_of(words)}});
    for (const Argument& argument : arguments)
      out += "    " + argument_pattern(place, argument) + ") " + bash_offer(program, argument.offered) + " ;;\n";
  }
  return out + "    *) COMPREPLY=() ;;\n  esac\n}\ncomplete -F " + function_name(program) + " " + program.name + "\n";
}

std::string zsh_offer(const Program& program, const Offered& offered) {
  switch (offered.offer) {
    case Offer::kAsked: {
      const std::string asked = function_name(program) + "_asked " + offered.words;
      return offered.or_path ? "if [[ \"$PREFIX\" == [./~]* ]]; then _files; else " + asked + "; fi" : asked;
    }
    case Offer::kWords:
      return "compadd -- " + offered.words;
    case Offer::kFiles:
      return "_files";
    case Offer::kFolders:
      return "_files -/";
    case Offer::kNothing:
      break;
  }
  return "_message 'a value'";
}

/// "word:summary" for _describe, in quotes.
std::string described(const std::string& word, std::string summary) {
  std::string escaped;
  for (const char c : summary) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
  return single_quoted(word + ":" + escaped);
}

std::string zsh_asking(const Program& program) {
  if (program.completer.empty()) return "";
  return function_name(program) + R"sh(_asked() {
  local -a found
  found=(${${(f)"$(${(Q)words[1]} )sh" +
         program.completer + R"sh( $1 -- "${(Q)PREFIX}" 2>/dev/null)"}%%$'\t'*})
  (( $#found )) && compadd -- "${found[@]}"
}
)sh";
}

std::string zsh_script(const Program& program) {
  const std::vector<Place> places = places_of(program);
  std::string out = "#compdef " + program.name + "\n# zsh completion; put it as _" + program.name +
                    " into a folder of $fpath\n" + zsh_asking(program) + function_name(program) +
                    "() {\n  local -a offers\n";
  out += walk(program, places, "words", "CURRENT", 2);
  out += "  case \"$place:${words[CURRENT-1]}\" in\n";
  for (const Place& place : places)
    for (const Option& option : options_at(program, place))
      if (!option.value.empty())
        out += "    " + single_quoted(place.path + ":--" + option.name) + ") " + zsh_offer(program, offered(option)) +
               "; return ;;\n";
  out += "  esac\n  if [[ \"${words[CURRENT]}\" == -* ]]; then\n    case \"$place\" in\n";
  for (const Place& place : places) {
    out += "      " + single_quoted(place.path) + ") offers=(";
    for (const Option& option : options_at(program, place))
      out += "\n        " + described("--" + option.name, option.help);
    out += ") ;;\n";
  }
  out += "    esac\n    _describe -o option offers\n    return\n  fi\n  case \"$place:$taken\" in\n";
  for (const Place& place : places) {
    if (!place.words.empty()) {
      out += "    " + argument_pattern(place, {}) + ") offers=(";
      for (const auto& [word, summary] : place.words) out += "\n      " + described(word, summary);
      out += "); _describe command offers ;;\n";
    }
    for (const Argument& argument : arguments_at(place))
      out += "    " + argument_pattern(place, argument) + ") " + zsh_offer(program, argument.offered) + " ;;\n";
  }
  return out +
         "    *) _message 'no more arguments' ;;\n  esac\n}\nif [[ \"$funcstack[1]\" == " + function_name(program) +
         " ]]; then " + function_name(program) + " \"$@\"; else compdef " + function_name(program) + " " +
         program.name + "; fi\n";
}

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// Lines of words, each with what it is behind a tab, are what fish wants.
std::string fish_asking(const Program& program) {
  if (program.completer.empty()) return "";
  return "function _" + function_name(program) + R"sh(_asked
  set -l program (commandline -opc)[1]
  $program )sh" +
         program.completer + R"sh( $argv[1] -- (commandline -ct) 2>/dev/null
end
)sh";
}

std::string fish_asked(const Program& program, const std::string& kind) {
  return " -a " + fish_quoted("(_" + function_name(program) + "_asked " + kind + ")");
}

std::string fish_flags(const Program& program, const Offered& offered) {
  switch (offered.offer) {
    case Offer::kAsked:
      return " -x" + fish_asked(program, offered.words);
    case Offer::kWords:
      return " -x -a " + fish_quoted(offered.words);
    case Offer::kFiles:
      return " -r -F";
    case Offer::kFolders:
      return " -x -a '(__fish_complete_directories)'";
    case Offer::kNothing:
      break;
  }
  return " -x";
}

/// A condition: the words before the cursor lead to the place of the first argument, and, where two numbers follow, so
/// many words behind it are neither options nor their values.
std::string fish_place(const Program& program, const std::vector<Place>& places, const std::string& name) {
  std::string known, everywhere, at_places;
  for (const Place& place : places)
    if (!place.path.empty()) known += " " + fish_quoted(place.path);
  const ValueOptions options = value_options(program, places);
  for (const std::string& option : options.everywhere) everywhere += " " + option;
  for (const std::string& option : options.at_places) at_places += " " + fish_quoted(option);
  return "function " + name + R"sh(
  set -l place ''
  set -l taken 0
  set -l value no
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$place $word")
    if test $value = yes
      set value no
    else if contains -- "$next")sh" +
         known + R"sh(
      set place $next
      set taken 0
    else if contains -- "$word")sh" +
         everywhere + "; or contains -- \"$place:$word\"" + at_places + R"sh(
      set value yes
    else if not string match -q -- '-*' "$word"
      set taken (math $taken + 1)
    end
  end
  test "$place" = "$argv[1]"; or return 1
  test (count $argv) -eq 1; or test $taken -ge $argv[2] -a $taken -le $argv[3]
end
)sh";
}

std::string fish_argument(const Program& program, const std::string& condition, const Argument& argument) {
  const std::string here =
      "complete -c " + program.name + " -n " +
      fish_quoted(condition + " " + std::to_string(argument.first) + " " + std::to_string(argument.last));
  const Offered& offer = argument.offered;
  if (offer.offer == Offer::kFiles) return here + " -F\n";
  if (offer.offer == Offer::kFolders) return here + " -f -a '(__fish_complete_directories)'\n";
  if (offer.offer == Offer::kWords) return here + " -f -a " + fish_quoted(offer.words) + "\n";
  if (offer.offer == Offer::kAsked)
    return here + (offer.or_path ? " -F" : " -f") + fish_asked(program, offer.words) + "\n";
  return "";
}

std::string fish_script(const Program& program) {
  const std::vector<Place> places = places_of(program);
  const std::string at = "_" + function_name(program) + "_place";
  std::string out = "# fish completion for " + program.name + "; put it into ~/.config/fish/completions/" +
                    program.name + ".fish\n" + fish_place(program, places, at) + fish_asking(program) + "complete -c " +
                    program.name + " -f\n";
  for (const Option& option : shown_options(program.options, true))
    out += "complete -c " + program.name + " -l " + option.name + " -d " + fish_quoted(option.help) +
           (option.value.empty() ? "" : fish_flags(program, offered(option))) + "\n";
  for (const Place& place : places) {
    const std::string condition = at + " " + fish_quoted(place.path);
    const std::string here = "complete -c " + program.name + " -n ";
    for (const auto& [word, summary] : place.words)
      out +=
          here + fish_quoted(condition + " 0 0") + " -f -a " + fish_quoted(word) + " -d " + fish_quoted(summary) + "\n";
    if (place.command == nullptr) continue;
    for (const Option& option : shown_options(place.command->options, false))
      out += here + fish_quoted(condition) + " -l " + option.name + " -d " + fish_quoted(option.help) +
             (option.value.empty() ? "" : fish_flags(program, offered(option))) + "\n";
    for (const Argument& argument : arguments_at(place)) out += fish_argument(program, condition, argument);
  }
  return out;
}

}  // namespace

Result<std::string> completion_script(const Program& program, std::string_view shell) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  return Error{Code::kInvalid,
               "no completion for '" + escape_for_display(shell) + "'; there is one for bash, zsh and fish"};
}

}  // namespace gridtorrent::options
