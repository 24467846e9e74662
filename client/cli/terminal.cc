#include "client/cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::client::cli {

namespace {
constexpr std::chrono::seconds kPlainInterval{10};
constexpr char kInterruptKey = 3;
constexpr char kEndKey = 4;
constexpr char kEraseKey = 127;
constexpr std::string_view kGreen = "\x1b[32m", kNoColour = "\x1b[0m";

/// Escaped as names are. Newlines and tabs lay a text out, and a backslash may be of a name that is escaped already.
std::string harmless(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\t\\"), text.size());
    out += escape_for_display(text.substr(0, end));
    out += text.substr(end, 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// The filled part of the bar, "[####----]", in green. What others wrote in that form would be green, and no more.
std::string with_green_bar(std::string line) {
  const std::size_t bracket = line.rfind("[#");
  const std::size_t end = bracket == std::string::npos ? bracket : line.find_first_not_of('#', bracket + 1);
  if (end == std::string::npos) return line;
  line.insert(end, kNoColour);
  line.insert(bracket + 1, kGreen);
  return line;
}

}  // namespace

TerminalTraits TerminalTraits::of_process() {
  TerminalTraits traits;
  traits.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  traits.err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  traits.can_ask = traits.err_is_terminal && ::isatty(STDIN_FILENO) == 1;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
  traits.colour = traits.err_is_terminal && !dumb && (no_colour == nullptr || *no_colour == '\0');
  traits.size_fd = traits.err_is_terminal ? STDERR_FILENO : traits.out_is_terminal ? STDOUT_FILENO : -1;
  return traits;
}

Terminal::Terminal(TerminalTraits traits, const Clock& clock, std::FILE* out, std::FILE* err)
    : traits_(traits), clock_(clock), out_(out), err_(err), last_plain_(clock.mono()) {}

std::size_t Terminal::width() const {
  constexpr unsigned kLeast = 20;  // below that the size is no size
  winsize size{};
  const bool known = traits_.size_fd >= 0 && ::ioctl(traits_.size_fd, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col >= kLeast ? size.ws_col : traits_.width;
}

void Terminal::write(std::FILE* file, std::string_view text) {
  const bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  if (good || file != out_) return;
  broken_ = true;
  reader_gone_ = reader_gone_ || errno == EPIPE;
}

void Terminal::result(std::string_view text) {
  end_progress();
  std::string line = traits_.out_is_terminal ? harmless(text) : std::string(text);
  if (!line.ends_with('\n')) line += '\n';
  write(out_, line);
}

void Terminal::message(std::string_view line) {
  end_progress();
  write(err_, harmless(line) + "\n");
}

void Terminal::error(std::string_view line) {
  message("gridtorrent: " + std::string(line));
}

void Terminal::progress(const std::string& line) {
  if (traits_.err_is_terminal) {
    const std::string shown = harmless(line);
    write(err_, "\r" + (traits_.colour ? with_green_bar(shown) : shown) + "\x1b[K");
    progress_open_ = true;
    return;
  }
  const MonoTime now = clock_.mono();
  if (now - last_plain_ < kPlainInterval) return;
  last_plain_ = now;
  write(err_, harmless(line) + "\n");
}

void Terminal::end_progress() {
  if (progress_open_) write(err_, "\n");
  progress_open_ = false;
}

void Terminal::clear_screen() {
  if (traits_.out_is_terminal) write(out_, "\x1b[H\x1b[2J");
}

Status Terminal::finish() {
  end_progress();
  if (std::fflush(out_) != 0) broken_ = true;
  if (reader_gone_) return Error{Code::kCancelled, "whoever read standard output has gone"};
  if (broken_) return Error{Code::kDisk, "standard output cannot be written: " + errno_text(errno)};
  return {};
}

Status ask_yes(const std::string& question) {
  const UniqueFd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!terminal) return Error{Code::kInvalid, "there is no terminal to ask on: answer with --yes"};
  const std::string asked = harmless(question) + " [y/N] ";
  std::string answer(64, '\0');
  if (::write(terminal.get(), asked.data(), asked.size()) < 0) return Error{Code::kCancelled, "cancelled"};
  const ssize_t size = ::read(terminal.get(), answer.data(), answer.size());
  if (size > 0 && (answer.front() == 'y' || answer.front() == 'Y')) return {};
  return Error{Code::kCancelled, "the answer was no: nothing was done"};
}

Result<std::string> ask_password(const std::string& prompt, const std::string& option) {
  const UniqueFd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  termios before{};
  if (!terminal || ::tcgetattr(terminal.get(), &before) != 0)
    return Error{Code::kInvalid, "there is no terminal to ask for the password: give it with " + option + " FILE"};
  // Key by key and without signals, so that an interrupt cannot leave the terminal without echo.
  termios silent = before;
  silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG);
  ::tcsetattr(terminal.get(), TCSAFLUSH, &silent);
  const std::string asked = harmless(prompt);
  bool good = ::write(terminal.get(), asked.data(), asked.size()) >= 0;
  std::string password;
  char key = 0;
  while (good && key != '\n' && key != '\r') {
    good = ::read(terminal.get(), &key, 1) == 1 && key != kInterruptKey && key != kEndKey;
    if (key == kEraseKey || key == '\b') {
      if (!password.empty()) password.pop_back();
    } else if (good && key != '\n' && key != '\r') {
      password += key;
    }
  }
  ::tcsetattr(terminal.get(), TCSAFLUSH, &before);
  good = ::write(terminal.get(), "\n", 1) == 1 && good;
  if (!good) return Error{Code::kCancelled, "no password was given: cancelled"};
  if (password.empty()) return Error{Code::kInvalid, "no password was given"};
  return password;
}

}  // namespace gridtorrent::client::cli
