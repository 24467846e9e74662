#include "bench/wan/scenario.h"

#include <arpa/inet.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>

#include "common/units.h"

namespace gridtorrent::wan {
namespace {

using Json = nlohmann::json;

Error bad(const std::string& place, const std::string& why) {
  return {Code::kInvalid, place + ": " + why};
}

Status only_keys(const Json& object, const std::string& place, std::initializer_list<const char*> keys) {
  if (!object.is_object()) return bad(place, "expected an object");
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::none_of(keys, [&](const char* known) { return key == known; })) {
      return bad(place, "unknown key \"" + key + "\"");
    }
  }
  return {};
}

template <typename Parse>
Status read_text(const Json& object, const char* key, const std::string& place, Parse parse,
                 std::optional<std::uint64_t>& out) {
  if (!object.contains(key)) return {};
  if (!object[key].is_string()) return bad(place + "." + key, "expected text as \"1Gbit\" or \"6MB\"");
  const auto parsed = parse(object[key].get<std::string>());
  if (!parsed) return bad(place + "." + key, parsed.error().message);
  out = parsed.value();
  return {};
}

Status read_number(const Json& object, const char* key, const std::string& place, double most,
                   std::optional<double>& out) {
  if (!object.contains(key)) return {};
  if (!object[key].is_number()) return bad(place + "." + key, "expected a number");
  out = object[key].get<double>();
  if (!(*out >= 0 && *out <= most)) return bad(place + "." + key, "must be between 0 and " + Json(most).dump());
  return {};
}

Result<std::uint32_t> read_ip(const Json& value, const std::string& place) {
  in_addr address{};
  if (!value.is_string() || ::inet_pton(AF_INET, value.get<std::string>().c_str(), &address) != 1) {
    return bad(place, "expected an IPv4 address");
  }
  const std::uint32_t ip = ntohl(address.s_addr);
  if ((ip & 0xFFFE0000U) != 0xC6120000U) return bad(place, "must be of 198.18.0.0/15, the range for benchmarks");
  return ip;
}

/// The values of a link, for a host, an address, or a change alike.
Status read_values(const Json& object, const std::string& place, Change& out) {
  GT_TRY(read_text(object, "up", place, parse_bits_per_s, out.up_bits_per_s));
  GT_TRY(read_text(object, "down", place, parse_bits_per_s, out.down_bits_per_s));
  GT_TRY(read_text(object, "flow", place, parse_bits_per_s, out.flow_bits_per_s));
  GT_TRY(read_text(object, "queue", place, parse_bytes, out.queue_bytes));
  GT_TRY(read_number(object, "delay_ms", place, 10'000, out.delay_ms));
  return read_number(object, "loss", place, 1, out.loss);
}

Result<HostSpec> read_host(const std::string& name, const Json& object, std::set<std::uint32_t>& taken) {
  const std::string place = "hosts." + name;
  GT_TRY(only_keys(object, place, {"address", "addresses", "up", "down", "flow", "queue", "delay_ms", "loss"}));
  HostSpec host;
  host.name = name;
  Change common;
  GT_TRY(read_values(object, place, common));
  Json addresses = object.contains("addresses") ? object["addresses"] : Json::array();
  if (!addresses.is_array()) return bad(place + ".addresses", "expected a list");
  if (object.contains("address")) addresses.push_back({{"address", object["address"]}});
  for (const auto& entry : addresses) {
    GT_TRY(only_keys(entry, place + ".addresses", {"address", "up", "down", "flow", "queue", "delay_ms", "loss"}));
    GT_ASSIGN(const std::uint32_t ip, read_ip(entry.value("address", Json()), place + ".address"));
    if (!taken.insert(ip).second) return bad(place + ".address", show_ip(ip) + " is given twice");
    Change own;
    GT_TRY(read_values(entry, place + "." + show_ip(ip), own));
    host.addresses.push_back({ip, changed(changed({}, common), own)});
  }
  if (host.addresses.empty()) return bad(place, "has no address");
  return host;
}

Result<Change> read_change(const Json& object, const std::string& place) {
  Change change;
  if (!object.contains("host") || !object["host"].is_string()) return bad(place + ".host", "expected a host's name");
  change.host = object["host"].get<std::string>();
  if (object.contains("address")) {
    GT_ASSIGN(change.ip, read_ip(object["address"], place + ".address"));
  }
  std::optional<double> at;
  GT_TRY(read_number(object, "at_s", place, 1e6, at));
  change.at_s = at.value_or(0);
  GT_TRY(read_values(object, place, change));
  return change;
}

Result<std::uint64_t> read_seed(const Json& object, const std::string& place) {
  std::optional<double> seed;
  GT_TRY(read_number(object, "seed", place, 1e9, seed));
  return static_cast<std::uint64_t>(seed.value_or(1));
}

Result<Json> parse(std::string_view text, const char* what) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return bad(what, "is no JSON object");
  return json;
}

}  // namespace

LinkSpec changed(LinkSpec link, const Change& change) {
  link.up_bits_per_s = change.up_bits_per_s.value_or(link.up_bits_per_s);
  link.down_bits_per_s = change.down_bits_per_s.value_or(link.down_bits_per_s);
  link.flow_bits_per_s = change.flow_bits_per_s.value_or(link.flow_bits_per_s);
  link.delay_ms = change.delay_ms.value_or(link.delay_ms);
  link.loss = change.loss.value_or(link.loss);
  if (change.queue_bytes) link.queue_bytes = change.queue_bytes;
  return link;
}

Status check_place(const Scenario& scenario, const Change& change) {
  const auto host = std::ranges::find(scenario.hosts, change.host, &HostSpec::name);
  if (host == scenario.hosts.end()) return Error{Code::kInvalid, "there is no host \"" + change.host + "\""};
  if (change.ip != 0 && std::ranges::find(host->addresses, change.ip, &AddressSpec::ip) == host->addresses.end()) {
    return Error{Code::kInvalid, change.host + " has no address " + show_ip(change.ip)};
  }
  return {};
}

std::string show_ip(std::uint32_t ip) {
  return std::to_string(ip >> 24) + "." + std::to_string(ip >> 16 & 255) + "." + std::to_string(ip >> 8 & 255) + "." +
         std::to_string(ip & 255);
}

Result<Scenario> parse_scenario(std::string_view text) {
  GT_ASSIGN(const Json json, parse(text, "network"));
  GT_TRY(only_keys(json, "network", {"mtu", "seed", "hosts", "changes"}));
  Scenario scenario;
  std::optional<double> mtu;
  GT_TRY(read_number(json, "mtu", "network", 65'000, mtu));
  scenario.mtu = static_cast<std::uint32_t>(mtu.value_or(1500));
  if (scenario.mtu < 576) return bad("network.mtu", "must be at least 576");
  GT_ASSIGN(scenario.seed, read_seed(json, "network"));
  if (!json.contains("hosts") || !json["hosts"].is_object() || json["hosts"].empty()) {
    return bad("network.hosts", "expected at least one host");
  }
  std::set<std::uint32_t> taken;
  for (const auto& [name, object] : json["hosts"].items()) {
    GT_ASSIGN(auto host, read_host(name, object, taken));
    scenario.hosts.push_back(std::move(host));
  }
  const Json changes = json.value("changes", Json::array());
  if (!changes.is_array()) return bad("network.changes", "expected a list");
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::string place = "changes[" + std::to_string(i) + "]";
    GT_TRY(
        only_keys(changes[i], place, {"at_s", "host", "address", "up", "down", "flow", "queue", "delay_ms", "loss"}));
    GT_ASSIGN(auto change, read_change(changes[i], place));
    if (const auto known = check_place(scenario, change); !known) return known.error().with_context(place);
    scenario.changes.push_back(std::move(change));
  }
  std::ranges::stable_sort(scenario.changes, {}, &Change::at_s);
  return scenario;
}

Result<Command> parse_command(std::string_view text) {
  GT_ASSIGN(const Json json, parse(text, "command"));
  const Json what = json.value("do", Json());
  Command command;
  if (what == "start") {
    command.kind = Command::Kind::kStart;
  } else if (what == "stats") {
    command.kind = Command::Kind::kStats;
  } else if (what == "drops") {
    command.kind = Command::Kind::kDrops;
    GT_TRY(only_keys(json, "drops", {"do"}));
  } else if (what == "change") {
    command.kind = Command::Kind::kChange;
    GT_TRY(only_keys(json, "change", {"do", "host", "address", "up", "down", "flow", "queue", "delay_ms", "loss"}));
    GT_ASSIGN(command.change, read_change(json, "change"));
  } else if (what == "reseed") {
    command.kind = Command::Kind::kReseed;
    if (!json.contains("seed")) return bad("reseed.seed", "expected a number");
    GT_TRY(only_keys(json, "reseed", {"do", "seed"}));
    GT_ASSIGN(command.seed, read_seed(json, "reseed"));
  } else if (what == "reset") {
    command.kind = Command::Kind::kReset;
    GT_TRY(only_keys(json, "reset", {"do"}));
  } else {
    return bad("command", R"("do" must be "start", "stats", "drops", "change", "reseed" or "reset")");
  }
  return command;
}

}  // namespace gridtorrent::wan
