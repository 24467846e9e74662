#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <functional>

namespace gridtorrent::client::files {

/// From here on one system call fails in this process, as on older kernels and other filesystems. False where the
/// system allows no such filter.
inline bool refuse_syscall(long number, int error_number) {
  std::array<sock_filter, 4> filter{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error_number)),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum class ChildEnd { kDone, kFailed, kKilled, kNotAllowed };

/// Runs `act` in a child that is killed as it enters its `nth` system call, before that has an effect; kDone and
/// kFailed where it ended earlier.
inline ChildEnd killed_at_syscall(int nth, const std::function<bool()>& act) {
  constexpr int kNoTracing = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(kNoTracing);
    ::raise(SIGSTOP);
    ::_exit(act() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status)) return ChildEnd::kNotAllowed;
  // Each call stops twice, at its entry and at its exit; the first exit is that of raise().
  for (int stops = 0; WIFSTOPPED(status); ++stops) {
    const bool reached = stops == 2 * nth;
    if (reached) ::kill(child, SIGKILL);
    if (!reached && ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0) break;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
  }
  if (WIFSIGNALED(status)) return ChildEnd::kKilled;
  return WEXITSTATUS(status) == 0 ? ChildEnd::kDone : ChildEnd::kFailed;
}

}  // namespace gridtorrent::client::files
