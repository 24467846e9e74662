#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/options/options.h"
#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::options {

namespace {

constexpr std::size_t kLargestConfig = 1024 * 1024;

Result<std::optional<std::string>> read_config_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::optional<std::string>();
  if (!file) return Error{Code::kInvalid, "cannot be read: " + errno_text(errno)};
  std::string text;
  std::array<char, 8192> buffer{};
  while (text.size() <= kLargestConfig) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{Code::kInvalid, "cannot be read: " + errno_text(errno)};
    if (got == 0) return std::optional(std::move(text));
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return Error{Code::kInvalid, "is over 1 MiB; this is no configuration"};
}

}  // namespace

Environment Environment::of_process() {
  return {.variable = [](const std::string& name) -> std::optional<std::string> {
            const char* value = std::getenv(name.c_str());
            if (value == nullptr) return std::nullopt;
            return std::string(value);
          },
          .read_file = read_config_file};
}

int run(const Program& program, int argc, const char* const* argv, const std::function<int(const Parsed&)>& work) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const Outcome outcome = parse(program, arguments, Environment::of_process());
  if (const auto* printout = std::get_if<Printout>(&outcome)) {
    std::fwrite(printout->text.data(), 1, printout->text.size(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  if (const auto* error = std::get_if<Error>(&outcome)) {
    std::fprintf(stderr, "%s: %s\n", program.name.c_str(), error->message.c_str());
    return 2;
  }
  const auto& parsed = std::get<Parsed>(outcome);
  for (const std::string& note : parsed.notes()) std::fprintf(stderr, "%s: %s\n", program.name.c_str(), note.c_str());
  return work(parsed);
}

Result<Parsed> reload(const Program& program, const Parsed& before) {
  Outcome outcome = parse(program, before.arguments(), Environment::of_process());
  if (auto* parsed = std::get_if<Parsed>(&outcome)) return std::move(*parsed);
  if (const auto* error = std::get_if<Error>(&outcome)) return *error;
  return Error{Code::kInternal, "a command line that once started the program now asks for help"};
}

}  // namespace gridtorrent::options
