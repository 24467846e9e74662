#include "client/service/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/text.h"
#include "common/unique_fd.h"

extern char** environ;

namespace gridtorrent::client {

namespace {

constexpr std::size_t kMostOutput = 64 * 1024;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

struct FileActions {
  posix_spawn_file_actions_t actions{};
  FileActions() { ::posix_spawn_file_actions_init(&actions); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
};

struct Attributes {
  posix_spawnattr_t attributes{};
  Attributes() { ::posix_spawnattr_init(&attributes); }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
};

Result<int> spawn(std::vector<std::string> arguments, std::vector<std::string> environment, const FileActions& files,
                  const Attributes& how) {
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv[0], &files.actions, &how.attributes, argv.data(), envp.data());
  if (error == 0) return pid;
  return Error{error == ENOENT ? Code::kNotFound : Code::kInternal,
               "cannot run " + escape_for_display(arguments.front()) + ": " + errno_text(error)};
}

/// Until the program closes it; false where `until` came first.
bool read_output(int pipe, std::chrono::steady_clock::time_point until, std::string& output) {
  std::array<char, 4096> part{};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd readable{pipe, POLLIN, 0};
    const int ready = left.count() > 0 ? ::poll(&readable, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return false;
    const ssize_t size = ::read(pipe, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return true;
    const std::size_t room = kMostOutput - output.size();
    output.append(part.data(), std::min(room, static_cast<std::size_t>(size)));
  }
}

int wait_for_end(int pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::vector<std::string> environment_with(std::vector<std::string> added, std::vector<std::string> left_out) {
  for (const std::string& one : added) left_out.push_back(one.substr(0, one.find('=') + 1));
  std::vector<std::string> all = std::move(added);
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string variable = *one;
    if (std::ranges::none_of(left_out, [&](const std::string& begin) { return variable.starts_with(begin); })) {
      all.push_back(variable);
    }
  }
  return all;
}

Result<Ended> run_program(const std::vector<std::string>& arguments, std::chrono::milliseconds limit,
                          const std::vector<std::string>& environment) {
  const auto until = std::chrono::steady_clock::now() + limit;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error{Code::kInternal, "cannot make a pipe: " + errno_text(errno)};
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  FileActions files;
  ::posix_spawn_file_actions_addopen(&files.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files.actions, writing.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files.actions, writing.get(), STDERR_FILENO);
  GT_ASSIGN(const int pid, spawn(arguments, environment_with(environment), files, Attributes()));
  writing = UniqueFd();
  Ended ended;
  const bool in_time = read_output(reading.get(), until, ended.output);
  if (!in_time) ::kill(pid, SIGKILL);
  ended.exit_code = wait_for_end(pid);
  if (in_time) return ended;
  return Error{Code::kTimeout,
               escape_for_display(arguments.front()) + " did not end within " + std::to_string(limit.count()) + " ms"};
}

Result<int> start_detached(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                           const std::string& log_file) {
  const UniqueFd log(::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log) return Error{Code::kDisk, "cannot write " + escape_for_display(log_file) + ": " + errno_text(errno)};
  FileActions files;
  ::posix_spawn_file_actions_addopen(&files.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files.actions, log.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files.actions, log.get(), STDERR_FILENO);
  // It outlives the caller, whose folder may be on a disk that is to be unmounted.
  ::posix_spawn_file_actions_addchdir_np(&files.actions, "/");
  Attributes how;
  ::posix_spawnattr_setflags(&how.attributes, POSIX_SPAWN_SETSID);
  return spawn(arguments, environment, files, how);
}

}  // namespace gridtorrent::client
