#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::client::cli {

/// What the two output streams can do.
struct TerminalTraits {
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool can_ask = false;  ///< input and messages are a person's terminal
  bool colour = false;   ///< a terminal, and NO_COLOR is not set
  std::size_t width = 80;
  int size_fd = -1;  ///< the terminal that knows its width at any time; -1: `width` holds
  static TerminalTraits of_process();
};

/// Results go to stdout, messages and progress to stderr. What others wrote, a server for instance, cannot steer the
/// terminal: control characters are shown escaped, but newlines and tabs. Results are exact where stdout is no
/// terminal, since programs read them there; messages never are, since a log is read on a terminal later.
/// Owned by main and used from one thread.
class Terminal {
 public:
  Terminal(TerminalTraits traits, const Clock& clock, std::FILE* out = stdout, std::FILE* err = stderr);

  const TerminalTraits& traits() const { return traits_; }
  /// Columns at this moment: a window can be made smaller while a command runs.
  std::size_t width() const;
  /// For results: the same where stdout is a terminal, else 0, which is as wide as it takes.
  std::size_t out_width() const { return traits_.out_is_terminal ? width() : 0; }
  /// For lines of progress, likewise of stderr: nothing is cut in a log.
  std::size_t progress_width() const { return traits_.err_is_terminal ? width() : 0; }
  /// A result: one line, or several. A newline is added where it is missing.
  void result(std::string_view text);
  /// A message for people.
  void message(std::string_view line);
  /// "gridtorrent: " and the line.
  void error(std::string_view line);
  /// On a terminal the line replaces the last one of its kind, its bar in colour where there are colours; elsewhere a
  /// line appears every ten seconds, so what is soon over prints none.
  void progress(const std::string& line);
  /// Ends the line that `progress` left open.
  void end_progress();
  /// Clears the screen for a table that is drawn again; does nothing where stdout is no terminal.
  void clear_screen();
  /// kDisk where a result could not be written; kCancelled where whoever read the results has gone.
  Status finish();
  /// As `head` goes once it has its lines: no failure, and nothing to tell.
  bool reader_gone() const { return reader_gone_; }

 private:
  void write(std::FILE* file, std::string_view text);

  TerminalTraits traits_;
  const Clock& clock_;
  std::FILE* out_;
  std::FILE* err_;
  bool progress_open_ = false;
  bool broken_ = false, reader_gone_ = false;
  MonoTime last_plain_;
};

/// Asks "question [y/N]" on the controlling terminal. kCancelled: the answer is no; kInvalid: there is no terminal.
Status ask_yes(const std::string& question);
/// Asks on the controlling terminal without echo. kInvalid where there is none.
/// `option` is what to use where there is no terminal.
Result<std::string> ask_password(const std::string& prompt, const std::string& option = "--password-file");

}  // namespace gridtorrent::client::cli
