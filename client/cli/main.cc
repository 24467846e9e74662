#include <csignal>
#include <cstdlib>

#include "base/logging/logging.h"
#include "base/options/options.h"
#include "client/cli/context.h"
#include "client/cli/interrupt.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a connection that the server ends is an error to report, not the end
  using namespace gridtorrent;
  // gRPC would write lines of its own beside our one; who debugs it sets the variable.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  return options::run(client::cli::program(), argc, argv, [](const options::Parsed& parsed) {
    client::cli::install_default_interrupt();
    logging::configure(logging::parse_format(parsed.str("log-format")).value(),
                       logging::parse_level(parsed.str("log-level")).value());
    const SystemClock clock;
    client::cli::Terminal terminal(client::cli::TerminalTraits::of_process(), clock);
    return client::cli::run_command(parsed, terminal, clock);
  });
}
