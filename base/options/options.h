#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/result.h"

/// One option table per program. From it come the parser, the environment variables, the configuration keys, --help,
/// the man page, the markdown reference and the shell completions, so that they cannot drift apart. CLI11 and toml++
/// live behind this door and show nowhere else. A value is taken from the first of: the command line, the environment
/// (GRIDTORRENT_<OPTION>, of a command's option GRIDTORRENT_<COMMAND>_<OPTION>), the user's file
/// ($XDG_CONFIG_HOME/gridtorrent/<program>.toml, or what --config names), the system's file
/// (/etc/gridtorrent/<program>.toml), the default.
///
///   int main(int argc, char** argv) {
///     return gridtorrent::options::run(program(), argc, argv, [](const options::Parsed& p) {
///       return serve(p.str("listen"), p.str("data-dir"));
///     });
///   }
///
/// Everything here is a value or a pure function of values but `run`, `reload` and `Environment::of_process`.
namespace gridtorrent::options {

/// Says what is wrong with a value, in a few words without the option's name: "'x' is no size; write it like 300MB".
using Check = std::function<Status(std::string_view)>;

struct Option {
  std::string name = {};   ///< "lane-ports": --lane-ports, GRIDTORRENT_LANE_PORTS, key lane-ports
  std::string value = {};  ///< placeholder in help ("FIRST-LAST"); empty: a flag. FILE, PATH and DIR complete files and
                           ///< are bytes; whatever else is UTF-8
  std::string help = {};   ///< a sentence without a full stop, lower case first
  std::string default_value = {};  ///< as the user would write it; empty: none
  bool repeatable = false;         ///< given several times; an array in the file; separated by ';' in the environment
  bool secret_file = false;        ///< names a file that holds a secret: read it with `Parsed::secret`
  bool required = false;
  bool hidden = false;             ///< works, but is not shown
  bool command_line_only = false;  ///< neither environment nor file may set it
  std::vector<std::string> choices = {};
  std::vector<std::string> suggestions = {};  ///< completion offers them; other values are taken as well
  Check check = {};
  std::string completes = {};  ///< a kind that the program's `completer` knows
};

struct Positional {
  std::string name = {};  ///< placeholder and key, as "CONTENT"
  std::string help = {};
  bool required = true;
  std::vector<std::string> choices = {};
  std::string completes = {};  ///< a kind that the program's `completer` knows
  bool repeatable = false;     ///< takes all words that are left; the last one of a command may be
  bool any_bytes = false;      ///< may name a file, as PATH and FILE do; whatever else is UTF-8
  bool may_be_empty = false;   ///< "" is a value, of one that is required
};

struct Example {
  std::string line = {};
  std::string explains = {};
};

/// A command of a program. Its words are its name: "node enroll-token". Its options may be set in the file below
/// [node.enroll-token].
struct Command {
  std::string name = {};
  std::string summary = {};      ///< one line without a full stop
  std::string description = {};  ///< paragraphs, separated by empty lines
  std::vector<Positional> positionals = {};
  std::vector<Option> options = {};
  std::vector<Example> examples = {};
  std::string group = {};       ///< heading in the program's help
  bool takes_anything = false;  ///< what follows is not parsed (for commands that are yet to come)
  bool hidden = false;          ///< works, but is not shown
};

/// A command of other tools, by its words ("node rm"), and the commands that do here what it does there.
struct OtherWord {
  std::string word = {};
  std::vector<std::string> commands = {};
};

struct Program {
  std::string name = {};
  std::string summary = {};
  std::string description = {};
  std::vector<Option> options = {};  ///< of all commands; --help, --version and --config are added by themselves
  std::vector<Command> commands = {};
  std::vector<OtherWord> other_words = {};  ///< for "did you mean"; none is a command
  /// A hidden command that completion scripts run as `PROGRAM COMPLETER KIND -- BEGIN`: it prints words of that kind,
  /// one a line, behind a tab what each is.
  std::string completer = {};
  bool needs_command = false;
  std::vector<Example> examples = {};
  std::vector<std::pair<std::string, std::string>> files = {};       ///< path, what it is
  std::vector<std::pair<std::string, std::string>> exit_codes = {};  ///< code, meaning
  std::vector<std::string> see_also = {};                            ///< "gridtorrent(1)"
  /// Of the man page; daemons stand in section 8.
  int man_section = 1;
};

enum class Source : std::uint8_t { kDefault, kSystemFile, kUserFile, kEnvironment, kCommandLine, kOverride };

/// By option name, values as on a command line, which come before all that a program was started with; no values: the
/// list is empty.
using Overrides = std::map<std::string, std::vector<std::string>>;

/// What the process was started with. Asking for an option that is not in the table, or with another type than its
/// `check` allows, is our own bug and CHECKs. Immutable once made; copies are independent.
class Parsed {
 public:
  /// "node enroll-token", or empty where the program was started without a command.
  const std::string& command() const { return command_; }
  /// True where somebody set it, or it has a default.
  bool has(std::string_view name) const;
  bool flag(std::string_view name) const;
  /// The value, or "" where there is none. Bytes: a path need not be UTF-8.
  const std::string& str(std::string_view name) const;
  const std::vector<std::string>& list(std::string_view name) const;
  /// For options with `integer_between`; 0 where there is no value.
  std::int64_t integer(std::string_view name) const;
  std::uint64_t bytes(std::string_view name) const;                 ///< with `is_size`
  std::uint64_t bits_per_s(std::string_view name) const;            ///< with `is_rate`
  std::chrono::milliseconds duration(std::string_view name) const;  ///< with `is_duration`
  /// The first line of the file that a `secret_file` option names. The file's content is never printed.
  Result<std::string> secret(std::string_view name) const;
  Source source(std::string_view name) const;
  /// Set on this very command line. What a file or a variable says is a habit, and no reason to refuse what is asked.
  bool given(std::string_view name) const;
  /// Of two that exclude each other: `name` is a habit, and `other` was asked for.
  bool gives_way(std::string_view name, std::string_view other) const { return given(other) && !given(name); }
  /// Lines for people about what was read, each naming a thing and the way out; `run` writes them to stderr.
  const std::vector<std::string>& notes() const { return notes_; }
  /// The command line as it was, without the program's name; for `reload`.
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  friend class Resolver;
  struct Value {
    std::vector<std::string> values;
    Source source = Source::kDefault;
  };
  const Value& at(std::string_view name) const;

  std::string command_;
  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::string> arguments_;
  std::vector<std::string> notes_;
};

/// What a parse leans on outside the command line; tests make their own.
struct Environment {
  std::function<std::optional<std::string>(const std::string& variable)> variable;
  /// The text of a file; nothing where there is no such file.
  std::function<Result<std::optional<std::string>>(const std::string& path)> read_file;
  std::string system_folder = "/etc/gridtorrent";
  static Environment of_process();
};

/// --help and its kin: text for stdout, exit code 0.
struct Printout {
  std::string text;
};

/// What came of a command line: go on, print this, or an Error (kInvalid, one line) for exit code 2.
using Outcome = std::variant<Parsed, Printout, Error>;
Outcome parse(const Program& program, std::span<const std::string> arguments, const Environment& environment);

/// All of main() but the work: parses, writes the notes to stderr, prints help, or says on stderr in one line what is
/// wrong and returns 2; otherwise returns what `work` returns.
int run(const Program& program, int argc, const char* const* argv, const std::function<int(const Parsed&)>& work);

/// The same command line read again with the environment and the files as they are now (SIGHUP).
Result<Parsed> reload(const Program& program, const Parsed& before);

/// `parsed` with other values of some of the program's own options. kInvalid: a name that none has, a value that its
/// rules refuse, several for an option that takes one, none for one that takes no list.
Result<Parsed> override_values(const Program& program, const Parsed& parsed, const Overrides& values);
/// As the text of a configuration file (TOML); values have to be UTF-8.
std::string overrides_text(const Overrides& values);
/// kInvalid names the path and the line.
Result<Overrides> parse_overrides(std::string_view text, const std::string& path);

// Fragments that programs share.

/// --log-format text|json and --log-level; `level` is the default.
std::vector<Option> logging_options(std::string level = "info");
/// --data-dir and --ready-file, for programs that stay in the foreground and serve.
std::vector<Option> daemon_options();
/// Joins fragments into one table.
std::vector<Option> join(std::initializer_list<std::vector<Option>> parts);
/// These, none of which a file or a variable may set: each of them changes something.
std::vector<Option> on_command_line_only(std::vector<Option> options);

// Checks for values. All refuse with a line that shows the right form.

Status is_size(std::string_view text);
Status is_rate(std::string_view text);
Status is_duration(std::string_view text);
/// "host:port", "1.2.3.4:0", "[::1]:7443".
Status is_host_port(std::string_view text);
/// Likewise, of a server as other machines dial it, and as it can stand in a link: no port 0.
Status is_server_address(std::string_view text);
/// "50000-50015", "50000" or "0" (free ones); at most 64 ports.
Status is_port_range(std::string_view text);
/// "NAME=DIR", the name as [a-z0-9][a-z0-9._-]*, the folder absolute.
Status is_named_root(std::string_view text);
/// RFC 3339, or a date.
Status is_time(std::string_view text);
Status is_not_empty(std::string_view text);
Check integer_between(std::int64_t smallest, std::int64_t largest);
/// The word "auto", or an integer.
Check auto_or_integer_between(std::int64_t smallest, std::int64_t largest);

/// What passed `is_host_port` in its two parts, the brackets of an IPv6 address taken off.
std::pair<std::string, std::uint16_t> split_host_port(std::string_view text);
/// What passed `is_port_range`: first and last.
std::pair<std::uint16_t, std::uint16_t> split_port_range(std::string_view text);
/// What passed `is_named_root`: name and folder.
std::pair<std::string, std::string> split_named_root(std::string_view text);
/// "a, b,c" → a b c; empty parts are left out.
std::vector<std::string> split_commas(std::string_view text);

}  // namespace gridtorrent::options
