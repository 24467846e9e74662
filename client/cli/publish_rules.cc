#include "client/cli/publish_rules.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/cli/interrupt.h"
#include "client/cli/local_node.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

constexpr std::size_t kShownLines = 5;
constexpr std::chrono::milliseconds kPreviewDeadline{3000};

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

/// What a scan of PATH by the rules found.
Result<v1::ScannedFiles> scan(Context& c) {
  v1::ScanPublishRequest request;
  GT_ASSIGN(*request.mutable_path(), Context::absolute(c.options.str("PATH")));
  *request.mutable_rules() = read_publish_rules(c.options);
  if (!gives_publish_rules(c.options)) request.set_as_before(c.options.str("update"));
  GT_ASSIGN(api::NodeApi* const node, node_for_work(c));
  Interrupt interrupt;
  v1::ScannedFiles files;
  const auto take = [&](const v1::ScanPublishEvent& event) {
    if (event.has_result()) files = event.result();
    if (event.has_progress() && !c.json)
      c.terminal.progress("listing: " + counted(event.progress().files(), "file", "files") + ", " +
                          format_bytes(event.progress().bytes()));
    return true;
  };
  const Status done = node->scan_chosen(std::move(request), take, interrupt.token());
  c.terminal.end_progress();
  if (!done) return done.error();
  return files;
}

void add_lines(Json& json, const char* name, const google::protobuf::RepeatedPtrField<std::string>& lines) {
  json[name] = Json::array();
  for (const std::string& line : lines) json[name].push_back(json_text(line));
}

void print_lines(Context& c, const google::protobuf::RepeatedPtrField<std::string>& lines, std::uint64_t in_all) {
  FoldedLines folded(c.terminal);
  for (const std::string& line : lines) folded.add("  " + escape_for_display(line));
  folded.end(in_all);
}

}  // namespace

std::vector<options::Option> publish_rule_options() {
  return {{.name = "links",
           .value = "RULE",
           .help = "symbolic links: skip them, keep those that lead to what is published too (others are refused), or "
                   "follow them: what they lead to is published in their place",
           .default_value = "skip",
           .choices = {"skip", "keep", "follow"}},
          {.name = "exclude",
           .value = "GLOB",
           .help = "leave out what this means, as '*.tmp' or raw/old; may be repeated; a file .gridtorrentignore in "
                   "PATH counts as well",
           .repeatable = true,
           .check = options::is_not_empty},
          {.name = "include",
           .value = "GLOB",
           .help = "publish only what this means; may be repeated",
           .repeatable = true,
           .check = options::is_not_empty},
          {.name = "dry-run", .help = "say what would be published, what would not and why; nothing is published"}};
}

bool has_publish_rules(const options::Parsed& options) {
  return options.str("links") != "skip" || options.has("exclude") || options.has("include");
}

bool gives_publish_rules(const options::Parsed& options) {
  return options.given("links") || options.given("exclude") || options.given("include");
}

void tell_rules_before(Context& c, const std::string& as_before) {
  if (as_before.empty()) return;
  c.terminal.message("by the rules of the version before: " + as_before +
                     "; those that you give replace them, --links skip alone takes them away");
}

std::string renamed_warning(const std::string& before, const std::string& now) {
  if (before.empty() || now.empty() || before == now) return {};
  return "the newest version is called '" + before + "' on disk, this one '" + now +
         "': 'get --update' refuses it where that name is held; to keep the name, publish from a path that ends in '" +
         before + "'";
}

std::string renamed_warning_at(Context& c, const std::string& path) {
  const auto server = c.server_of_login(kPreviewDeadline);
  if (!server) return {};
  const auto newest = (*server)->contents().get(c.options.str("update"));
  return newest ? renamed_warning(newest->base_name(), path.substr(path.rfind('/') + 1)) : std::string();
}

v1::PublishRules read_publish_rules(const options::Parsed& options) {
  v1::PublishRules rules;
  rules.set_links(options.str("links"));
  for (const std::string& pattern : options.list("exclude")) rules.add_exclude(pattern);
  for (const std::string& pattern : options.list("include")) rules.add_include(pattern);
  return rules;
}

Status dry_run(Context& c) {
  GT_ASSIGN(const v1::ScannedFiles files, scan(c));
  const std::string renamed = c.options.has("update") ? renamed_warning_at(c, files.name()) : std::string();
  if (!renamed.empty()) c.warn(renamed);
  const std::string& name = c.options.str(c.options.has("update") ? "update" : "name");
  if (c.json) {
    Json json = event("scanned", c.clock.wall());
    json["name"] = json_text(name);
    json["base_name"] = json_text(files.name());
    json["files"] = files.files();
    json["bytes"] = files.bytes();
    json["links"] = files.links();
    json["skipped"] = files.skipped();
    json["excluded"] = files.excluded();
    if (!files.rules_as_before().empty()) json["rules_as_before"] = json_text(files.rules_as_before());
    add_lines(json, "warnings", files.warnings());
    add_lines(json, "exclusions", files.exclusions());
    add_lines(json, "followed", files.followed());
    c.emit(json);
    return {};
  }
  c.terminal.result("would publish " + escape_for_display(name) + ": " + format_bytes(files.bytes()) + " in " +
                    counted(files.files(), "file", "files") +
                    (files.links() > 0 ? ", " + counted(files.links(), "symbolic link", "symbolic links") +
                                             (c.options.str("links") == "follow" ? " followed" : "")
                                       : ""));
  tell_rules_before(c, files.rules_as_before());
  if (files.followed_size() > 0) c.terminal.message("symbolic links that are followed:");
  print_lines(c, files.followed(), files.followed_size() > 0 ? files.links() : 0);
  if (files.excluded() > 0)
    c.terminal.message(counted(files.excluded(), "entry", "entries") + " left out by the rules:");
  print_lines(c, files.exclusions(), files.excluded());
  if (files.skipped() > 0)
    c.terminal.message(counted(files.skipped(), "entry that is", "entries that are") + " neither file nor folder:");
  print_lines(c, files.warnings(), files.skipped());
  return {};
}

void FoldedLines::add(const std::string& line) {
  if (++count_ <= kShownLines) terminal_.message(line);
}

void FoldedLines::end(std::size_t in_all) {
  const std::size_t count = std::max(count_, in_all);
  if (count > kShownLines) terminal_.message("and " + std::to_string(count - kShownLines) + " more");
}

}  // namespace gridtorrent::client::cli
