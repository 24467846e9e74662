#include "client/service/node_service.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "client/service/run_program.h"
#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::client {

namespace {

namespace fs = std::filesystem;

constexpr char kUnit[] = "gridtorrent-node.service";
constexpr std::chrono::milliseconds kLookAgain{100};

bool systemctl_succeeds(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"systemctl", "--user"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Result<Ended> ended = run_program(all);
  return ended && ended->exit_code == 0;
}

/// The person's systemd answers, and has the unit.
NodeKeeper find_keeper() {
  return systemctl_succeeds({"cat", kUnit}) ? NodeKeeper::kSystemd : NodeKeeper::kNobody;
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

Status write_private(const std::string& path, const std::string& text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return file_error("write", path);
  }
  return {};
}

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string last_line(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

}  // namespace

Result<NodeHome> node_home(const std::function<std::optional<std::string>(const std::string&)>& variable) {
  const auto home = variable("HOME");
  if (!home || !home->starts_with('/')) {
    return Error{Code::kInvalid, "HOME is not set: no place for your node; set it, or run gridtorrentd --data-dir DIR"};
  }
  return NodeHome{*home + "/.local/share/gridtorrent/node", *home + "/.local/state/gridtorrent/node"};
}

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
  add("GRIDTORRENT_SERVER", first.server);
  add("GRIDTORRENT_CA", first.ca_file);
  add("GRIDTORRENT_ENROLL_TOKEN_FILE", token_file);
  add("GRIDTORRENT_NAME", first.name);
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

std::string NodeService::enrolled_name() const {
  for (const std::string& path : {credential_file(), credential_file() + ".removed"}) {
    const auto credential = nlohmann::json::parse(read_all(path), nullptr, false);
    if (credential.is_object() && credential.contains("node_name") && credential["node_name"].is_string()) {
      return credential["node_name"].get<std::string>();
    }
  }
  return "";
}

Status NodeService::set_enrolment_aside() const {
  const std::string aside = credential_file() + ".removed";
  if (::rename(credential_file().c_str(), aside.c_str()) == 0 || errno == ENOENT) return {};
  return file_error("rename", credential_file());
}

Status NodeService::prepare(const std::optional<FirstStart>& first) const {
  GT_TRY(make_private_folder(home_.data_folder));
  GT_TRY(make_private_folder(home_.state_folder));
  forget_first_start();
  if (!first) return {};
  GT_TRY(write_private(token_file(), first->enroll_token + "\n"));
  return write_private(first_start_file(), environment_text(*first, token_file()));
}

Status NodeService::start(const std::optional<FirstStart>& first) {
  GT_TRY(prepare(first));
  if (keeper_ == NodeKeeper::kSystemd) {
    GT_ASSIGN(const Ended ended, run_program({"systemctl", "--user", "enable", "--now", kUnit}));
    if (ended.exit_code == 0) return {};
    return Error{Code::kInternal, "systemd could not start the node: " + last_line(ended.output) +
                                      "; look with: journalctl --user -u gridtorrent-node"};
  }
  log_start_ = read_all(log_file()).size();
  std::vector<std::string> environment;
  if (first) {
    environment = {"GRIDTORRENT_SERVER=" + first->server, "GRIDTORRENT_CA=" + first->ca_file,
                   "GRIDTORRENT_ENROLL_TOKEN_FILE=" + token_file(), "GRIDTORRENT_NAME=" + first->name};
  }
  GT_ASSIGN(started_pid_, start_detached({program_, "--data-dir", home_.data_folder, "--ready-file", ready_file()},
                                         environment, log_file()));
  return {};
}

std::optional<Error> NodeService::failure() const {
  if (keeper_ == NodeKeeper::kSystemd) {
    if (!systemctl_succeeds({"is-failed", "--quiet", kUnit})) return std::nullopt;
    const Result<Ended> words =
        run_program({"journalctl", "--user", "-u", kUnit, "-n", "1", "-o", "cat", "--no-pager"});
    return Error{Code::kUnreachable, "the node did not start: " + (words ? last_line(words->output) : std::string()) +
                                         "; look with: journalctl --user -u gridtorrent-node"};
  }
  if (started_pid_ == 0 || ::waitpid(started_pid_, nullptr, WNOHANG) != started_pid_) return std::nullopt;
  const std::string log = read_all(log_file());
  return Error{Code::kUnreachable,
               "the node did not start: " + last_line(std::string_view(log).substr(std::min(log_start_, log.size()))) +
                   "; its log is " + escape_for_display(log_file())};
}

void NodeService::forget_first_start() const {
  ::unlink(first_start_file().c_str());
  ::unlink(token_file().c_str());
}

int NodeService::running_pid() const {
  const auto ready = nlohmann::json::parse(read_all(ready_file()), nullptr, false);
  if (!ready.is_object() || !ready.contains("pid") || !ready["pid"].is_number_integer()) return 0;
  const int pid = ready["pid"].get<int>();
  // A number may be another program's by now.
  const std::string arguments = read_all("/proc/" + std::to_string(pid) + "/cmdline");
  return arguments.find(home_.data_folder) != std::string::npos ? pid : 0;
}

/// It runs, or is started again and again, as where the server cannot be reached at its first start.
bool NodeService::systemd_keeps() const {
  const Result<Ended> state = run_program({"systemctl", "--user", "show", "-P", "ActiveState", kUnit});
  if (!state || state->exit_code != 0) return false;
  const std::string word = last_line(state->output);
  return word != "inactive" && word != "failed";
}

Status NodeService::stop(std::chrono::milliseconds patience) const {
  if (keeper_ == NodeKeeper::kSystemd && systemd_keeps()) {
    GT_ASSIGN(const Ended ended, run_program({"systemctl", "--user", "disable", "--now", kUnit}));
    if (ended.exit_code == 0) return {};
    return Error{Code::kInternal, "systemd could not stop the node: " + last_line(ended.output)};
  }
  const int pid = running_pid();
  if (pid == 0) {
    return Error{Code::kNotFound,
                 "no node of yours was started by 'gridtorrent node start' here; one that was started "
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
