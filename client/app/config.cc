#include "client/app/config.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "client/engine/wire.h"
#include "client/plan/wish.h"
#include "client/tuning/registry.h"
#include "common/text.h"

namespace gridtorrent::client::app {
namespace {

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  for (const TuningMode mode : kTuningModes) names.emplace_back(mode_name(mode));
  return names;
}

Status is_congestion_controls(std::string_view text) {
  const auto names = options::split_commas(text);
  const bool good = !names.empty() && names.size() <= engine::kMostCongestionNames &&
                    std::ranges::all_of(names, engine::is_congestion_name);
  if (good) return {};
  return Error{Code::kInvalid, "'" + escape_for_display(text) + "' names no congestion controls, at most " +
                                   std::to_string(engine::kMostCongestionNames) + "; write it like bbr or bbr,cubic"};
}

Status is_limit_hours(std::string_view text) {
  GT_TRY(parse_limit_hours(text));
  return {};
}

std::vector<options::Option> node_options() {
  return {
      {.name = "server",
       .value = "HOST:PORT",
       .help = "the server this node belongs to; remembered from the first start on",
       .check = options::is_host_port},
      {.name = "ca",
       .value = "FILE",
       .help = "certificate of the authority that signed the server's; remembered as well"},
      {.name = "enroll-token-file",
       .value = "FILE",
       .help = "holds the token that `gridtorrent node enroll-token` gave; needed at the first start only",
       .secret_file = true},
      {.name = "name",
       .value = "NODE",
       .help = "name of this node, taken at its enrolment (default: the token's, else one that the server makes)"},
      {.name = "address",
       .value = "IP[,IP...]",
       .help = "addresses to publish instead of the one that the server sees"},
      {.name = "lane-ports",
       .value = "FIRST-LAST",
       .help =
           "ports that lanes are accepted on; 0 takes free ones, and so does a node that finds the default ones taken",
       .default_value = "50000-50015",
       .check = options::is_port_range},
      {.name = "tls-lane-ports",
       .value = "FIRST-LAST",
       .help = "the same for encrypted lanes",
       .default_value = "50016-50031",
       .check = options::is_port_range},
      {.name = "share-root",
       .value = "NAME=DIR",
       .help = "folder whose files tasks may publish and seed",
       .repeatable = true,
       .check = options::is_named_root},
      {.name = "download-root",
       .value = "NAME=DIR",
       .help = "folder that tasks may download to; the first is the default",
       .repeatable = true,
       .check = options::is_named_root},
      {.name = "socket",
       .value = "PATH",
       .help =
           "control socket; $XDG_RUNTIME_DIR/gridtorrent/control.sock if nothing else is said, else control.sock in "
           "the data folder"},
      {.name = "max-fetching",
       .value = "N",
       .help = "transfers that fetch at once; the others wait their turn",
       .default_value = "4",
       .check = options::integer_between(1, 64)},
      {.name = "upload-limit",
       .value = "RATE",
       .help = "send no faster than this, all transfers together, as in 200Mbit; nodes that want more get even parts",
       .default_value = "unlimited",
       .check = options::is_rate},
      {.name = "download-limit",
       .value = "RATE",
       .help = "receive no faster than this; transfers that want more get even parts",
       .default_value = "unlimited",
       .check = options::is_rate},
      {.name = "limits",
       .value = "HOURS",
       .help = "limits for some hours, for example 'from=08:00 to=18:00 days=mon-fri up=50Mbit down=100Mbit'. The "
               "strictest "
               "limit at a time holds, --upload-limit and --download-limit included",
       .repeatable = true,
       .check = is_limit_hours},
      {.name = "lane-congestion-control",
       .value = "NAME[,NAME...]",
       .help =
           "congestion controls that a fetching node may ask this node to send with, for example bbr; the sysctl "
           "net.ipv4.tcp_allowed_congestion_control must allow them. The tuner auto asks for bbr where random losses "
           "limit the rate",
       .check = is_congestion_controls},
      {.name = "tuner",
       .value = "NAME",
       .help = "what decides how many lanes go to which seeders where nobody asked for a number; the log and "
               "`gridtorrent transfer show` say why",
       .default_value = tuning::kDefaultTuner,
       .choices = tuning::tuner_names()},
      {.name = "tuning-mode",
       .value = "MODE",
       .help = "how much a transfer takes beside others on its path where nobody chose with `get --mode`: balanced, "
               "greedy (more than its part), or background (what others leave)",
       .default_value = std::string(mode_name(TuningMode::kBalanced)),
       .choices = mode_names()},
      {.name = "list-lifetime",
       .value = "TIME",
       .help =
           "how long this node serves without word from the server. A user whose right was taken away can be served "
           "for so long by a node that is cut off",
       .default_value = "24h",
       .check = options::is_duration},
      {.name = "metrics-listen",
       .value = "HOST:PORT",
       .help = "serve Prometheus metrics there, without login: loopback is wise",
       .check = options::is_host_port}};
}

constexpr std::chrono::seconds kShortestListLifetime{60};

std::string absolute(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).string();
}

Result<std::vector<NamedRoot>> read_roots(const options::Parsed& parsed, const std::string& option) {
  std::vector<NamedRoot> roots;
  std::set<std::string> names;
  for (const auto& text : parsed.list(option)) {
    const auto [name, folder] = options::split_named_root(text);
    if (!names.insert(name).second) {
      return Error{Code::kInvalid, "--" + option + ": the name '" + name + "' is given twice; names are unique"};
    }
    roots.push_back({name, folder});
  }
  return roots;
}

Result<std::vector<LimitHours>> read_limit_hours(const std::vector<std::string>& texts) {
  if (texts.size() > kMostLimitHours)
    return Error{Code::kInvalid, "--limits: " + std::to_string(texts.size()) + " entries are too many: give at most " +
                                     std::to_string(kMostLimitHours)};
  std::vector<LimitHours> hours;
  for (const std::string& text : texts) {
    GT_ASSIGN(hours.emplace_back(), parse_limit_hours(text));
  }
  return hours;
}

Status check_address(const std::string& address) {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, address.c_str(), &v4) == 1 || ::inet_pton(AF_INET6, address.c_str(), &v6) == 1) return {};
  return Error{Code::kInvalid, "--address: '" + escape_for_display(address) +
                                   "' is no numeric IPv4 or IPv6 address; write it like 192.0.2.7"};
}

}  // namespace

const options::Program& program() {
  static const options::Program table = [] {
    options::Program made;
    made.name = "gridtorrentd";
    made.summary = "the node: publishes, fetches and seeds for one user";
    made.description =
        "Runs in the foreground. The first start enrols the node at its server for the user whose token it is given, "
        "and keeps "
        "a key and a credential of its own in the data folder; later starts need neither token nor server.\n\n"
        "What 'gridtorrent node set' sets while it runs comes before all of these options.\n\n"
        "SIGTERM ends it in order: what was fetched is written down, so that nothing is fetched twice. A second "
        "SIGTERM ends it at "
        "once. SIGHUP reads the configuration again: roots, --max-fetching, the limits, the CA file and the log's "
        "options take effect, "
        "and the log says what needs a restart.";
    made.options = options::join({options::daemon_options(), node_options(), options::logging_options()});
    made.examples = {
        {"gridtorrentd --data-dir ~/node --server grid.example.org:7443 --ca ca.pem --enroll-token-file token",
         "first start"},
        {"gridtorrentd --data-dir ~/node", "every later one"}};
    made.files = {{"DATA-DIR/node.db", "transfers, tasks, resume data"},
                  {"DATA-DIR/settings.toml", "what 'gridtorrent node set' has set"},
                  {"DATA-DIR/credential.json", "the node's credential, a secret"},
                  {"DATA-DIR/node_key.pem", "the node's key, a secret"}};
    made.exit_codes = {{"0", "ended in order"},
                       {"2", "wrong usage"},
                       {"4", "the server refuses this node or its token, or this node was removed"},
                       {"5", "server unreachable at the first start"},
                       {"6", "data folder, port or socket in use"},
                       {"7", "credential or database damaged"},
                       {"8", "disk full or not writable"},
                       {"1", "anything else, as a data folder on a network file system"}};
    made.man_section = 8;
    made.see_also = {"gridtorrent(1)", "gridtorrent-server(8)"};
    return made;
  }();
  return table;
}

Result<Config> read_config(const options::Parsed& parsed) {
  Config config;
  config.data_dir = absolute(parsed.str("data-dir"));
  while (config.data_dir.size() > 1 && config.data_dir.ends_with('/')) config.data_dir.pop_back();
  config.ready_file = absolute(parsed.str("ready-file"));
  config.server = parsed.str("server");
  config.ca_file = absolute(parsed.str("ca"));
  config.has_enroll_token = parsed.has("enroll-token-file");
  config.node_name = parsed.str("name");
  config.addresses = options::split_commas(parsed.str("address"));
  for (const auto& address : config.addresses) GT_TRY(check_address(address));
  config.lane_ports = options::split_port_range(parsed.str("lane-ports"));
  config.tls_lane_ports = options::split_port_range(parsed.str("tls-lane-ports"));
  config.usual_ports = parsed.source("lane-ports") == options::Source::kDefault &&
                       parsed.source("tls-lane-ports") == options::Source::kDefault;
  const bool free_ports = config.lane_ports.first == 0 || config.tls_lane_ports.first == 0;
  if (!free_ports && config.lane_ports.first <= config.tls_lane_ports.second &&
      config.tls_lane_ports.first <= config.lane_ports.second) {
    return Error{Code::kInvalid,
                 "--lane-ports and --tls-lane-ports overlap; plain and encrypted lanes cannot share a port"};
  }
  GT_ASSIGN(config.share_roots, read_roots(parsed, "share-root"));
  GT_ASSIGN(config.download_roots, read_roots(parsed, "download-root"));
  config.socket = parsed.has("socket") ? absolute(parsed.str("socket")) : default_socket(config.data_dir);
  config.metrics_listen = parsed.str("metrics-listen");
  config.max_fetching = static_cast<std::size_t>(parsed.integer("max-fetching"));
  config.limits = {parsed.bits_per_s("upload-limit"), parsed.bits_per_s("download-limit")};
  if (const Status good = check_limits(config.limits); !good)
    return Error{good.error().code, "--" + good.error().message};
  GT_ASSIGN(config.limit_hours, read_limit_hours(parsed.list("limits")));
  config.lane_congestion_controls = options::split_commas(parsed.str("lane-congestion-control"));
  config.tuning = {parsed.str("tuner"), mode_of(parsed.str("tuning-mode")).value_or(TuningMode::kBalanced)};
  if (config.tuning.mode != TuningMode::kBalanced) {
    const Status heeded = check_tuner({.mode = config.tuning.mode}, config.tuning.tuner);
    if (!heeded) return heeded.error().with_context("--tuning-mode " + parsed.str("tuning-mode"));
  }
  config.list_lifetime = parsed.duration("list-lifetime");
  if (config.list_lifetime < kShortestListLifetime) {
    return Error{Code::kInvalid, "--list-lifetime " + parsed.str("list-lifetime") +
                                     " is too short: the server confirms lists every 30 s; give 60s or more"};
  }
  config.log_format = parsed.str("log-format");
  config.log_level = parsed.str("log-level");
  return config;
}

std::string default_socket(const std::string& data_dir) {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') return std::string(runtime) + "/gridtorrent/control.sock";
  return data_dir + "/control.sock";
}

}  // namespace gridtorrent::client::app
