#include "client/cli/text_view.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include "client/cli/wishes.h"
#include "common/local_time.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

constexpr std::size_t kLongBar = 24, kShortBar = 10;

std::string shown(std::string_view text) {
  return escape_for_display(text);
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string bar(std::uint64_t done, std::uint64_t total, std::size_t columns) {
  const double share = total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
  const auto filled = std::min(columns, static_cast<std::size_t>(share * static_cast<double>(columns)));
  return "[" + std::string(filled, '#') + std::string(columns - filled, '-') + "]";
}

/// What a line has room for is shown in the order of the line; what is worth least is left out first.
enum class Worth : std::uint8_t { kBar, kLanes, kBytes, kLimit, kEta, kReason, kMost };

struct Part {
  Worth worth = Worth::kMost;
  std::string text;
  std::size_t columns = 0;
};
using Parts = std::vector<Part>;

Part part(Worth worth, std::string text) {
  const std::size_t columns = display_columns(text);
  return {worth, std::move(text), columns};
}

std::size_t columns_of(const Parts& parts) {
  std::size_t columns = 0;
  for (const Part& one : parts) columns += one.text.empty() ? 0 : one.columns + (columns == 0 ? 0 : 2);
  return columns;
}

/// No end of it: the line goes to a log.
constexpr std::size_t kAllRoom = std::numeric_limits<std::size_t>::max();

std::size_t room_in(std::size_t width) {
  return width > 0 ? width - 1 : kAllRoom;
}

/// Puts a bar before part `place` where all parts have room beside it; none into a log.
void add_bar(Parts& parts, std::size_t place, std::uint64_t done, std::uint64_t total, std::size_t width) {
  if (width == kAllRoom) return;
  const std::size_t used = columns_of(parts);
  for (const std::size_t columns : {kLongBar, kShortBar}) {
    if (used + 2 + columns + 2 > width) continue;
    parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(place), part(Worth::kBar, bar(done, total, columns)));
    return;
  }
}

/// Joins what fits into `width`, at least the first part; among equals the later one is left out first.
std::string fitted(Parts parts, std::size_t width) {
  std::erase_if(parts, [](const Part& one) { return one.text.empty(); });
  while (parts.size() > 1 && columns_of(parts) > width) {
    const auto least = std::min_element(parts.rbegin(), std::prev(parts.rend()),
                                        [](const Part& a, const Part& b) { return a.worth < b.worth; });
    parts.erase(std::next(least).base());
  }
  std::string line;
  for (const Part& one : parts) line += (line.empty() ? "" : "  ") + one.text;
  return line;
}

std::string lanes_text(std::uint32_t lanes, std::uint32_t seeders) {
  if (seeders > 1 && lanes % seeders == 0)
    return std::to_string(seeders) + " seeders × " + plural(lanes / seeders, "lane");
  if (seeders == 1) return "1 seeder × " + plural(lanes, "lane");
  return plural(seeders, "seeder") + ", " + plural(lanes, "lane");
}

std::string field(std::string_view name, const std::string& value) {
  if (value.empty()) return "";
  std::string line(name);
  line.resize(std::max<std::size_t>(line.size() + 1, 16), ' ');
  return line + value + "\n";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

template <class Strings>
std::string joined_shown(const Strings& strings) {
  std::vector<std::string> words;
  for (const auto& text : strings) words.push_back(shown(text));
  return joined(words);
}

std::string endpoint_text(const v1::NodeEndpoint& endpoint) {
  const std::string& address = endpoint.endpoint().address();
  const std::string host = address.find(':') == std::string::npos ? address : "[" + address + "]";
  std::string text =
      host + ":" + std::to_string(endpoint.endpoint().port()) + (endpoint.endpoint().tls() ? " TLS" : "");
  if (endpoint.declared()) text += " (declared)";
  if (endpoint.reachability() == v1::REACHABLE) text += " reachable";
  if (endpoint.reachability() == v1::UNREACHABLE) text += " not reachable from the server";
  return text;
}

std::string replica_state(const v1::Replica& replica) {
  const std::string holds = replica.complete() ? "complete" : "partial";
  if (replica.served()) return holds + ", served";
  if (!replica.online()) return holds + ", offline";
  return holds + (replica.complete() ? ", online, not served" : ", online");
}

}  // namespace

namespace {

struct Symbol {
  std::size_t bytes = 1, columns = 1;
};

/// The first of a text that is not empty.
Symbol first_symbol(std::string_view text) {
  utf8proc_int32_t code_point = 0;
  const utf8proc_ssize_t bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                  static_cast<utf8proc_ssize_t>(text.size()), &code_point);
  if (bytes <= 0) return {};
  return {static_cast<std::size_t>(bytes), static_cast<std::size_t>(std::max(utf8proc_charwidth(code_point), 0))};
}

}  // namespace

std::size_t display_columns(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Symbol symbol = first_symbol(text);
    columns += symbol.columns;
    text.remove_prefix(symbol.bytes);
  }
  return columns;
}

std::string shortened(const std::string& text, std::size_t columns) {
  if (display_columns(text) <= columns) return text;
  std::size_t end = 0, used = 0;
  while (end < text.size()) {
    const Symbol symbol = first_symbol(std::string_view(text).substr(end));
    if (used + symbol.columns + 1 > columns) break;
    end += symbol.bytes;
    used += symbol.columns;
  }
  return text.substr(0, end) + "…";
}

std::string shortened_left(const std::string& text, std::size_t columns) {
  std::size_t left = display_columns(text), begin = 0;
  if (left <= columns) return text;
  while (begin < text.size() && left + 1 > columns) {
    const Symbol symbol = first_symbol(std::string_view(text).substr(begin));
    begin += symbol.bytes;
    left -= symbol.columns;
  }
  return "…" + text.substr(begin);
}

std::string cut_lines(std::string_view text, std::size_t width) {
  if (width == 0) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += shortened(std::string(text.substr(0, end)), width) + (end < text.size() ? "\n" : "");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string percent_text(std::uint64_t done, std::uint64_t total) {
  const double share = total == 0 ? 100.0 : 100.0 * static_cast<double>(done) / static_cast<double>(total);
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", done < total ? std::min(share, 99.9) : 100.0);
  return text.data();
}

std::string percent_text(const v1::Transfer& transfer) {
  const bool is_there = transfer.state() == "seeding" || transfer.state() == "complete";
  if (transfer.total_bytes() == 0 && !is_there) return "-";
  return percent_text(transfer.verified_bytes(), transfer.total_bytes());
}

Table::Table(std::vector<std::string> headings) : headings_(std::move(headings)) {
  for (std::string& heading : headings_) {
    right_.push_back(heading.starts_with('>'));
    if (right_.back()) heading.erase(0, 1);
  }
}

void Table::hide(std::string_view heading) {
  const auto found = std::ranges::find(headings_, heading);
  GT_CHECK(found != headings_.end());
  hidden_ = static_cast<std::size_t>(found - headings_.begin());
}

void Table::row(std::vector<std::string> cells) {
  GT_CHECK(cells.size() == headings_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::string_view if_empty) const {
  if (rows_.empty()) return std::string(if_empty) + "\n";
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < headings_.size(); ++i) {
    std::size_t width = display_columns(headings_[i]);
    for (const auto& cells : rows_) width = std::max(width, display_columns(cells[i]));
    widths.push_back(width);
  }
  std::string out;
  const auto add = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i == hidden_) continue;
      const std::string padding(widths[i] - display_columns(cells[i]), ' ');
      line += (line.empty() ? "" : "  ") + (right_[i] ? padding + cells[i] : cells[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add(headings_);
  for (const auto& cells : rows_) add(cells);
  return out;
}

namespace {

bool is_known(const std::string& limit_word) {
  return !limit_word.empty() && limit_word != "unknown";
}

std::string eta_text(std::chrono::seconds eta) {
  return "ETA " + format_duration(eta);
}

std::string speed_text(const Speed& speed) {
  return speed.bytes_per_s == 0 ? "" : format_bytes(speed.bytes_per_s) + "/s";
}

}  // namespace

std::string progress_line(const v1::Transfer& transfer, std::size_t width, WallTime now, const Speed& speed) {
  const std::size_t room = room_in(width);
  const std::uint64_t done = transfer.verified_bytes(), total = transfer.total_bytes();
  const bool moving = transfer.state() == "fetching";
  std::string state = moving ? "" : transfer.state();
  if (!transfer.message().empty() && transfer.payload_bits_per_s() == 0)
    state += (state.empty() ? "" : ": ") + shown(transfer.message());
  if (width > 0) state = shortened(state, width > 60 ? width - 50 : 20);
  Parts parts;
  const auto add = [&](Worth worth, std::string text) { parts.push_back(part(worth, std::move(text))); };
  const std::string name = shown(transfer.name());
  add(Worth::kMost, width > 0 ? shortened(name, std::max<std::size_t>(12, width / 4)) : name);
  add(Worth::kMost, percent_text(done, total));
  if (moving) add(Worth::kMost, format_bits_per_s(transfer.payload_bits_per_s()));
  if (moving && transfer.eta_s() >= 0) add(Worth::kEta, eta_text(std::chrono::seconds(transfer.eta_s())));
  // Why it stands still is worth more than what it would say otherwise.
  if (!moving) add(Worth::kReason, state);
  if (!moving) add(Worth::kEta, speed_text(speed));
  if (!moving && speed.eta) add(Worth::kEta, eta_text(*speed.eta));
  add(Worth::kBytes, format_bytes(done) + " of " + format_bytes(total));
  const std::size_t place = parts.size();
  if (moving) add(Worth::kLanes, lanes_text(transfer.lanes(), transfer.seeders()));
  if (moving) add(Worth::kReason, state);
  if (moving) add(Worth::kReason, target_words(transfer, now));
  if (moving && is_known(transfer.limit_word())) add(Worth::kLimit, "limited by " + transfer.limit_word());
  add_bar(parts, place, done, total, room);
  return fitted(parts, room);
}

std::string hashing_line(std::string_view what, std::uint64_t done, std::uint64_t total, std::size_t width,
                         const Speed& speed) {
  const std::size_t room = room_in(width);
  Parts parts;
  const std::string text(what);
  parts.push_back(part(Worth::kMost, width > 0 ? shortened(text, std::max<std::size_t>(8, room / 2)) : text));
  parts.push_back(part(Worth::kMost, percent_text(done, total)));
  parts.push_back(part(Worth::kEta, speed_text(speed)));
  if (speed.eta) parts.push_back(part(Worth::kEta, eta_text(*speed.eta)));
  parts.push_back(part(Worth::kBytes, format_bytes(done) + " of " + format_bytes(total)));
  add_bar(parts, parts.size(), done, total, room);
  return fitted(parts, room);
}

std::string waiting_line(const std::string& what, const std::string& state, std::size_t width) {
  const std::string line = what + ": " + state;
  return width > 0 ? shortened(line, width - 1) : line;
}

std::string done_text(const v1::Transfer& transfer) {
  std::string line = shown(transfer.name()) + ": " + format_bytes(transfer.verified_bytes());
  if (transfer.source() == "swarm") {
    const auto senders = std::count_if(transfer.peers().begin(), transfer.peers().end(),
                                       [](const v1::PeerStats& peer) { return peer.received_bytes() > 0; });
    const auto elapsed = std::chrono::milliseconds(static_cast<std::int64_t>(transfer.seconds() * 1000));
    // The rest was there already.
    const auto fetched = std::min(transfer.verified_bytes(), transfer.received_bytes());
    if (fetched < transfer.verified_bytes()) line += ", " + format_bytes(fetched) + " of it fetched";
    line += " in " + format_duration(elapsed);
    if (transfer.seconds() > 0) {
      const double bits_per_s = 8.0 * static_cast<double>(fetched) / transfer.seconds();
      line += " (" + format_bits_per_s(static_cast<std::uint64_t>(bits_per_s)) + ")";
    }
    line += " from " + plural(static_cast<std::uint64_t>(senders), "seeder") + " over up to " +
            plural(transfer.lanes_peak(), "lane");
  } else {
    line += " was here already";
  }
  return line + ", verified" + arrival_text(transfer) + "\n" + shown(transfer.path()) + "\n";
}

namespace {

std::string limited_by(const v1::Transfer& transfer) {
  if (!is_known(transfer.limit_word())) return "";
  return transfer.limit_word() + (transfer.limit_detail().empty() ? "" : ": " + shown(transfer.limit_detail()));
}

}  // namespace

std::string transfer_text(const v1::Transfer& t, WallTime now) {
  std::string out =
      field("transfer", t.transfer_id()) + field("content", shown(t.name()) + " (" + t.content_id() + ")") +
      field("state", t.state()) + field("message", shown(t.message())) + field("path", shown(t.path())) +
      field("verified",
            percent_text(t) + ", " + format_bytes(t.verified_bytes()) + " of " + format_bytes(t.total_bytes())) +
      field("rates", "receiving " + format_bits_per_s(t.payload_bits_per_s()) + ", sending " +
                         format_bits_per_s(t.upload_bits_per_s())) +
      field("lanes", std::to_string(t.lanes()) + " now, " + std::to_string(t.lanes_peak()) + " at most; asked for " +
                         (t.lanes_wish().empty() ? "auto" : t.lanes_wish())) +
      field("asked for", wish_text(t.wish(), now)) + field("kept", shown(t.target().text())) +
      field("plan", shown(t.plan_reason())) + field("limited by", limited_by(t)) + field("advice", shown(t.advice())) +
      field("source", t.source()) +
      field("limit", t.limit_bits_per_s() == 0 ? "none" : format_bits_per_s(t.limit_bits_per_s())) +
      field("priority", std::to_string(t.priority()));
  if (t.peers_size() == 0) return out;
  Table table({"PEER", "ADDRESS", ">LANES", ">RECEIVE", ">RECEIVED", ">SEND", ">SENT"});
  for (const v1::PeerStats& peer : t.peers())
    table.row({peer.node_id().empty() ? "(foreign client)" : shown(peer.node_id()), shown(peer.address()),
               std::to_string(peer.lanes()), format_bits_per_s(peer.bits_per_s()), format_bytes(peer.received_bytes()),
               format_bits_per_s(peer.upload_bits_per_s()), format_bytes(peer.sent_bytes())});
  return out + "\n" + table.text("");
}

std::string contents_table(const std::vector<v1::Content>& contents, bool ids) {
  Table table({"NAME", "ID", ">SIZE", ">FILES", "ACCESS", ">SEEDERS", "PUBLISHED", "TAGS"});
  if (!ids) table.hide("ID");
  for (const v1::Content& c : contents)
    table.row({shown(c.owner() + "/" + c.name()), c.content_id(), format_bytes(c.bytes()), std::to_string(c.files()),
               api::access_text(c.access()), std::to_string(c.seeders()), short_time(c.published_ms()),
               joined_shown(c.tags())});
  return table.text("nothing found that you may see");
}

namespace {
std::string version_text(const v1::Content& c) {
  const std::string version = std::to_string(c.version());
  return c.newest_version() > c.version() ? version + " (newest: " + std::to_string(c.newest_version()) + ")" : version;
}
}  // namespace

std::string content_text(const v1::Content& c) {
  const bool hidden = c.base_name().starts_with('.');
  return field("content", shown(c.owner() + "/" + c.name())) + field("id", c.content_id()) +
         field("base name", shown(c.base_name()) + (hidden ? " (hidden)" : "")) +
         field("access", api::access_text(c.access())) + field("state", c.state()) +
         field("size", format_bytes(c.bytes()) + " in " + plural(c.files(), "file")) +
         field("version", version_text(c)) + field("description", shown(c.description())) +
         field("tags", joined_shown(c.tags())) + field("license", shown(c.license())) +
         field("published", short_time(c.published_ms())) +
         field("swarm", plural(c.seeders(), "seeder") + ", " + plural(c.leechers(), "fetching node"));
}

std::string versions_text(const std::vector<v1::Version>& versions) {
  Table table({">VERSION", ">SIZE", ">FILES", "PUBLISHED", ">SEEDERS", ">REPLICAS"});
  for (const v1::Version& v : versions)
    table.row({std::to_string(v.version()), format_bytes(v.bytes()), std::to_string(v.files()),
               short_time(v.published_ms()), std::to_string(v.seeders()), std::to_string(v.replicas())});
  return table.text("no version is published yet");
}

std::string replicas_text(const v1::Content& content, const std::vector<v1::Replica>& replicas, bool ids) {
  const auto served =
      std::count_if(replicas.begin(), replicas.end(), [](const v1::Replica& replica) { return replica.served(); });
  Table table({"NODE", "ID", "OWNER", ">HOLDS", "STATE", "LAST VERIFIED", "LAST SEEN"});
  if (!ids) table.hide("ID");
  for (const v1::Replica& r : replicas)
    table.row({shown(r.node_name().empty() ? r.node_id() : r.node_name()), r.node_id(), shown(r.owner()),
               format_bytes(r.verified_bytes()), replica_state(r), short_time(r.verified_ms()),
               short_time(r.last_seen_ms())});
  return std::to_string(served) + " of " + plural(replicas.size(), "replica") + " verified and served now\n" +
         table.text(content.seeders() > 0 ? "no node of yours has it; those of others are not shown"
                                          : "no node has it");
}

std::string nodes_table(const std::vector<v1::Node>& nodes, bool ids) {
  Table table({"NAME", "ID", "OWNER", "STATE", "LAST SEEN", "VERSION"});
  if (!ids) table.hide("ID");
  for (const v1::Node& n : nodes)
    table.row({shown(n.name()), n.node_id(), shown(n.owner()),
               std::string(n.online() ? "online" : "offline") + (n.ephemeral() ? ", ephemeral" : ""),
               short_time(n.last_seen_ms()), shown(n.program_version())});
  return table.text(
      "no nodes; 'gridtorrent node start' makes one of this machine, 'gridtorrent node enroll-token' lets another "
      "join");
}

std::string node_text(const v1::Node& n) {
  std::string out =
      field("node", shown(n.name())) + field("id", n.node_id()) + field("owner", shown(n.owner())) +
      field("state", std::string(n.online() ? "online" : "offline") + (n.ephemeral() ? ", ephemeral" : "")) +
      field("last seen", short_time(n.last_seen_ms())) + field("version", shown(n.program_version())) +
      field("tasks", std::to_string(n.acked_sequence()) + " of " + std::to_string(n.last_sequence()) + " acknowledged");
  if (n.has_roots()) {
    out += field("shares", n.roots().shares().empty() ? "none" : joined_shown(n.roots().shares())) +
           field("downloads", n.roots().downloads().empty() ? "none" : joined_shown(n.roots().downloads()));
  }
  for (const v1::NodeEndpoint& endpoint : n.endpoints()) out += field("endpoint", endpoint_text(endpoint));
  return out;
}

std::string tasks_table(const std::vector<v1::Task>& tasks) {
  Table table({"ID", "KIND", "NODE", "STATE", "BY", "UPDATED", "MESSAGE"});
  for (const v1::Task& t : tasks)
    table.row({t.task_id(), t.kind(), shown(t.node_id()), t.state(), shown(t.created_by()), short_time(t.updated_ms()),
               shown(t.error_message())});
  return table.text("no tasks");
}

std::string task_text(const v1::Task& t) {
  return field("task", t.task_id()) + field("kind", t.kind()) + field("node", shown(t.node_id())) +
         field("state", t.state()) + field("by", shown(t.created_by())) + field("created", short_time(t.created_ms())) +
         field("updated", short_time(t.updated_ms())) +
         field("progress", t.total() == 0 ? "" : percent_text(t.done(), t.total())) +
         field("result", shown(t.result_json())) + field("error", shown(t.error_message()));
}

std::string short_time(std::int64_t ms) {
  return ms == 0 ? "-" : local_time_text({ms});
}

}  // namespace gridtorrent::client::cli
