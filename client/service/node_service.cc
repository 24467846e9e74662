#include "client/service/node_service.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "client/profile/saved_login.h"
#include "client/service/run_program.h"
#include "common/codes.h"
#include "common/host.h"
#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::client {

namespace {

namespace fs = std::filesystem;

constexpr char kUnit[] = "gridtorrent-node.service";
constexpr std::chrono::milliseconds kLookAgain{100};

/// A start waits until the node serves, which the unit bounds at 90 s.
constexpr std::chrono::minutes kJob{2};
constexpr std::uintmax_t kLongLog = 10'000'000, kLastWords = 64 * 1024;
constexpr std::size_t kMostSocketPath = 107;
constexpr char kOtherFolder[] =
    "choose a folder on a disk of this host with --data-dir DIR, of 'gridtorrent node start' or 'join'; it is "
    "remembered for this host";

/// Where there is a session, its systemd is asked, also by cron and sudo, whose variables do not name it.
Result<Ended> systemctl(const std::vector<std::string>& arguments, std::chrono::milliseconds limit = kShortRun) {
  std::vector<std::string> all{"systemctl", "--user"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<std::string> session;
  if (const auto folder = own_runtime_folder(environment_variable)) session.push_back("XDG_RUNTIME_DIR=" + *folder);
  return run_program(all, limit, session);
}

/// The person's systemd answers, and has the unit.
NodeKeeper find_keeper() {
  const Result<Ended> ended = systemctl({"cat", kUnit});
  return ended && ended->exit_code == 0 ? NodeKeeper::kSystemd : NodeKeeper::kNobody;
}

Error file_error(const std::string& what, const std::string& path) {
  return {Code::kDisk, "cannot " + what + " " + escape_for_display(path) + ": " + errno_text(errno)};
}

Status make_private_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return file_error("make the folder", path);
  return {};
}

/// In one piece: a node that another command starts meanwhile may read it.
Status write_private(const std::string& path, const std::string& text) {
  const std::string beside = path + "." + std::to_string(::getpid());
  const UniqueFd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::rename(beside.c_str(), path.c_str()) == 0) {
    return {};
  }
  const Error error = file_error("write", path);
  ::unlink(beside.c_str());
  return error;
}

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::uintmax_t size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

/// What stands behind the first `begin` bytes, at most the last of it.
std::string end_of(const std::string& path, std::uintmax_t begin) {
  const std::uintmax_t size = size_of(path);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(std::max(begin, size - std::min(size, kLastWords))));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string last_line(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

/// So begins the line with which it ends.
constexpr std::string_view kReason = "\ngridtorrentd: ";

bool has_reason(const std::string& log) {
  return ("\n" + log).find(kReason) != std::string::npos;
}

/// Why gridtorrentd ended, by what it and others that were started at the same time have written.
std::string reason_in(const std::string& log) {
  const std::size_t found = ("\n" + log).rfind(kReason);
  return found == std::string::npos ? last_line(log) : log.substr(found, log.find('\n', found) - found);
}

/// "@1764267872.005123", as journalctl reads it.
std::string journal_time(std::chrono::system_clock::time_point at) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count();
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "@%lld.%06lld", static_cast<long long>(us / 1'000'000),
                static_cast<long long>(us % 1'000'000));
  return text.data();
}

/// Why the node ended, by what it said since then, which the journal has a moment after its end; lines of a node that
/// ran before may be there earlier. Found by the program's name: the journal does not know the unit of a process that
/// ended at once. Empty where it is not ours to read.
std::string last_words_in_journal(std::chrono::system_clock::time_point since) {
  std::string lines;
  for (int look = 0; look < 10; ++look) {
    const Result<Ended> words = run_program({"journalctl", "--user", "--quiet", "--since=" + journal_time(since), "-t",
                                             "gridtorrentd", "-n", "20", "-o", "cat"});
    if (!words || words->exit_code != 0) break;
    lines = words->output;
    if (has_reason(lines)) break;
    std::this_thread::sleep_for(kLookAgain);
  }
  return reason_in(lines);
}

Code code_of_end(int exit_code) {
  for (const Code code : {Code::kInvalid, Code::kDenied, Code::kConflict, Code::kCorrupt, Code::kDisk})
    if (exit_code == static_cast<int>(gridtorrent::exit_code(code))) return code;
  return Code::kUnreachable;
}

NotStarted not_started(int exit_code, const std::string& reason, const std::string& more) {
  // So it says of its data folder's lock.
  const bool in_use = reason.find(" is in use by ") != std::string::npos;
  return {{code_of_end(exit_code), "the node did not start: " + reason + "; " + more}, in_use};
}

using Variables = std::vector<std::pair<std::string, std::string>>;

Variables variables_of(const FirstStart& first, const std::string& token_file) {
  Variables all{{"GRIDTORRENT_SERVER", first.server},
                {"GRIDTORRENT_CA", first.ca_file},
                {"GRIDTORRENT_ENROLL_TOKEN_FILE", token_file}};
  if (!first.name.empty()) all.emplace_back("GRIDTORRENT_NAME", first.name);
  return all;
}

/// The folder itself, or the nearest above it that is there.
std::string nearest_folder(const std::string& path) {
  std::error_code ignored;
  fs::path there = path;
  while (!fs::exists(there, ignored) && there.has_relative_path()) there = there.parent_path();
  return there.string();
}

/// Only this person may write there.
Status check_own_folder(const std::string& folder) {
  struct stat status{};
  const std::string shown = escape_for_display(folder);
  if (::stat(folder.c_str(), &status) != 0 || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    return Error{Code::kDisk, "cannot write in " + shown + ": " + errno_text(errno) + "; " + kOtherFolder};
  }
  if (!S_ISDIR(status.st_mode)) return Error{Code::kDisk, shown + " is no folder; " + kOtherFolder};
  if (status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return Error{Code::kDenied, "others may write in " + shown +
                                  ", where a node has its secrets: name a folder of your own, as one below it, with "
                                  "--data-dir, or run chmod go-w on it"};
}

std::optional<Enrolment> read_enrolment(const std::string& path) {
  const auto credential = nlohmann::json::parse(read_all(path), nullptr, false);
  if (!credential.is_object()) return std::nullopt;
  const auto field = [&](const char* name) {
    return credential.contains(name) && credential[name].is_string() ? credential[name].get<std::string>() : "";
  };
  return Enrolment{field("node_name"), field("owner"), field("server")};
}

}  // namespace

std::string environment_text(const FirstStart& first, const std::string& token_file) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    text += name + "=\"";
    for (const char c : value) {
      if (c == '"' || c == '\\' || c == '$' || c == '`') text += '\\';
      text += c;
    }
    text += "\"\n";
  };
  for (const auto& [name, value] : variables_of(first, token_file)) add(name, value);
  return text;
}

NodeService::NodeService(NodeHome home, std::string program)
    : home_(std::move(home)), program_(std::move(program)), keeper_(find_keeper()) {}

bool NodeService::lingers() const {
  const Result<Ended> told =
      run_program({"loginctl", "show-user", std::to_string(::getuid()), "--property=Linger", "--value"});
  return told && told->exit_code == 0 && told->output.starts_with("yes");
}

bool NodeService::is_enrolled() const {
  return ::access(credential_file().c_str(), F_OK) == 0;
}

std::optional<Enrolment> NodeService::enrolment() const {
  return read_enrolment(credential_file());
}

std::string NodeService::enrolled_name() const {
  auto found = read_enrolment(credential_file());
  if (!found) found = read_enrolment(credential_file() + ".removed");
  return found ? found->node_name : "";
}

Status NodeService::set_enrolment_aside() const {
  const std::string aside = credential_file() + ".removed";
  if (::rename(credential_file().c_str(), aside.c_str()) == 0 || errno == ENOENT) return {};
  return file_error("rename", credential_file());
}

Status NodeService::check_place() const {
  const std::string& folder = home_.data_folder;
  if (keeper_ == NodeKeeper::kNobody && folder.size() + std::string_view("/control.sock").size() > kMostSocketPath) {
    return Error{Code::kInvalid, "the path of the data folder " + escape_for_display(folder) +
                                     " is too long for a socket in it; " + kOtherFolder};
  }
  if (const Status local = require_local_disk(nearest_folder(folder), kOtherFolder); !local) {
    return local.error().with_context("a node cannot have its data in " + escape_for_display(folder));
  }
  GT_TRY(make_private_folder(folder));
  return check_own_folder(folder);
}

Status NodeService::prepare(const std::optional<FirstStart>& first) const {
  GT_TRY(make_private_folder(home_.data_folder));
  GT_TRY(make_private_folder(home_.state_folder));
  if (home_.to_be_kept) {
    GT_ASSIGN(const std::string chosen, chosen_folder_text(home_.data_folder));
    GT_TRY(write_private(chosen_folder_file(home_), chosen));
  }
  if (!first) {
    forget_first_start();
    return {};
  }
  GT_TRY(write_private(token_file(), first->enroll_token + "\n"));
  return write_private(first_start_file(), environment_text(*first, token_file()));
}

Status NodeService::start(const std::optional<FirstStart>& first, const std::string& socket) {
  GT_TRY(prepare(first));
  return keeper_ == NodeKeeper::kSystemd ? start_by_systemd() : start_alone(first, socket);
}

Status NodeService::start_by_systemd() {
  const auto now = std::chrono::system_clock::now();
  const Result<Ended> enabled = systemctl({"is-enabled", "--quiet", kUnit});
  GT_ASSIGN(const Ended ended, systemctl({"enable", "--now", kUnit}, kJob));
  if (ended.exit_code == 0) return {};
  const std::string words = last_words_in_journal(now);
  // A status is an exit code where it ended by itself (CLD_EXITED), else the number of a signal.
  const Result<Ended> how = systemctl({"show", "-P", "ExecMainCode", kUnit});
  const Result<Ended> own = systemctl({"show", "-P", "ExecMainStatus", kUnit});
  const bool by_itself = how && std::atoi(how->output.c_str()) == CLD_EXITED;
  failed_ =
      not_started(by_itself && own ? std::atoi(own->output.c_str()) : 0,
                  words.empty() ? last_line(ended.output) : words, "look with: journalctl --user -u gridtorrent-node");
  // systemd would try it again and again, at each login, too: of what a person had enabled before, that is the wish.
  if (enabled && enabled->exit_code == 0) return {};
  (void)systemctl({"disable", "--now", kUnit}, kJob);  // that this fails as well changes nothing
  return {};
}

Status NodeService::start_alone(const std::optional<FirstStart>& first, const std::string& socket) {
  std::error_code ignored;
  if (size_of(log_file()) > kLongLog) fs::rename(log_file(), log_file() + ".old", ignored);
  log_start_ = size_of(log_file());
  std::vector<std::string> added;
  if (first) {
    for (const auto& [name, value] : variables_of(*first, token_file())) added.push_back(name + "=" + value);
  }
  // The shell's variables are for this command; systemd would not hand them on either. Without the session's folder it
  // listens in its data folder, which is there after a logout, too.
  std::vector<std::string> command{program_, "--data-dir", home_.data_folder, "--ready-file", ready_file()};
  if (!socket.empty()) command.insert(command.end(), {"--socket", socket});
  GT_ASSIGN(started_pid_,
            start_detached(command, environment_with(added, {"GRIDTORRENT_", "XDG_RUNTIME_DIR="}), log_file()));
  return {};
}

std::optional<NotStarted> NodeService::failure() {
  if (keeper_ == NodeKeeper::kSystemd) return failed_;
  int status = 0;
  if (started_pid_ == 0 || ::waitpid(started_pid_, &status, WNOHANG) != started_pid_) return std::nullopt;
  return not_started(WIFEXITED(status) ? WEXITSTATUS(status) : 0, reason_in(end_of(log_file(), log_start_)),
                     "its log is " + escape_for_display(log_file()));
}

void NodeService::forget_first_start() const {
  ::unlink(first_start_file().c_str());
  ::unlink(token_file().c_str());
}

int NodeService::pid_in_ready_file() const {
  const auto ready = nlohmann::json::parse(read_all(ready_file()), nullptr, false);
  if (!ready.is_object() || !ready.contains("pid") || !ready["pid"].is_number_integer()) return 0;
  return ready["pid"].get<int>();
}

int NodeService::pid_in_lock() const {
  std::istringstream words(read_all(home_.data_folder + "/lock"));
  int pid = 0;
  std::string host;
  if (!(words >> pid)) return 0;
  words >> host;
  return host.empty() || host == host_name() ? pid : 0;
}

int NodeService::running_pid() const {
  const int ready = pid_in_ready_file();
  const int pid = ready != 0 ? ready : pid_in_lock();
  if (pid <= 0) return 0;
  // A number may be another program's by now.
  const std::string arguments = read_all("/proc/" + std::to_string(pid) + "/cmdline");
  return arguments.find(home_.data_folder) != std::string::npos ? pid : 0;
}

/// It runs, or is started again and again, as where the server cannot be reached at its first start.
bool NodeService::systemd_keeps() const {
  const Result<Ended> state = systemctl({"show", "-P", "ActiveState", kUnit});
  if (!state || state->exit_code != 0) return false;
  const std::string word = last_line(state->output);
  return word != "inactive" && word != "failed";
}

Status NodeService::stop(std::chrono::milliseconds patience) const {
  if (keeper_ == NodeKeeper::kSystemd && systemd_keeps()) {
    GT_ASSIGN(const Ended ended, systemctl({"disable", "--now", kUnit}, kJob));
    if (ended.exit_code == 0) return {};
    return Error{Code::kInternal, "systemd could not stop the node: " + last_line(ended.output)};
  }
  const int pid = running_pid();
  if (pid == 0) {
    return Error{Code::kNotFound,
                 "no node of yours runs here that 'gridtorrent node start' started; one that was started "
                 "by hand ends with Ctrl-C or kill"};
  }
  if (::kill(pid, SIGTERM) != 0) return Error{Code::kDenied, "the node cannot be ended: " + errno_text(errno)};
  const auto until = std::chrono::steady_clock::now() + patience;
  while (running_pid() == pid) {
    if (std::chrono::steady_clock::now() > until) {
      return Error{Code::kTimeout, "the node still runs (process " + std::to_string(pid) + "); try again"};
    }
    std::this_thread::sleep_for(kLookAgain);
  }
  return {};
}

}  // namespace gridtorrent::client
