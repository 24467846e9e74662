#include "client/service/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

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

Result<int> spawn(std::vector<std::string> arguments, std::vector<std::string> added, const FileActions& files,
                  const Attributes& how) {
  std::vector<std::string> environment;
  for (char** one = environ; *one != nullptr; ++one) environment.emplace_back(*one);
  for (std::string& one : added) environment.push_back(std::move(one));
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv[0], &files.actions, &how.attributes, argv.data(), envp.data());
  if (error == 0) return pid;
  return Error{error == ENOENT ? Code::kNotFound : Code::kInternal,
               "cannot run " + escape_for_display(arguments.front()) + ": " + errno_text(error)};
}

}  // namespace

Result<Ended> run_program(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error{Code::kInternal, "cannot make a pipe: " + errno_text(errno)};
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  FileActions files;
  ::posix_spawn_file_actions_addopen(&files.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files.actions, writing.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files.actions, writing.get(), STDERR_FILENO);
  GT_ASSIGN(const int pid, spawn(arguments, {}, files, Attributes()));
  writing = UniqueFd();
  Ended ended;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t size = ::read(reading.get(), part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    const std::size_t room = kMostOutput - ended.output.size();
    ended.output.append(part.data(), std::min(room, static_cast<std::size_t>(size)));
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
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
