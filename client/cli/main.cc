#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "base/logging/logging.h"
#include "base/options/options.h"
#include "client/cli/context.h"
#include "client/cli/interrupt.h"

namespace {

/// Once they are parsed: other users of the machine see a process's arguments, and a code of an invitation is a secret.
void hide_codes(int argc, char** argv) {
  constexpr std::string_view kCode = "code=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.find("gridtorrent:") == std::string_view::npos) continue;
    const std::size_t code = argument.find(kCode);
    if (code == std::string_view::npos) continue;
    std::fill(argv[i] + code + kCode.size(), argv[i] + argument.size(), '*');
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a connection that the server ends is an error to report, not the end
  using namespace gridtorrent;
  // gRPC would write lines of its own beside our one; who debugs it sets the variable.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  return options::run(client::cli::program(), argc, argv, [argc, argv](const options::Parsed& parsed) {
    hide_codes(argc, argv);
    client::cli::install_default_interrupt();
    logging::configure(logging::parse_format(parsed.str("log-format")).value(),
                       logging::parse_level(parsed.str("log-level")).value());
    const SystemClock clock;
    client::cli::Terminal terminal(client::cli::TerminalTraits::of_process(), clock);
    return client::cli::run_command(parsed, terminal, clock);
  });
}
