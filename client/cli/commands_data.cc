#include <sys/stat.h>

#include <algorithm>

#include "client/cli/context.h"
#include "client/cli/follow.h"
#include "client/cli/interrupt.h"
#include "client/cli/local_node.h"
#include "client/cli/node_names.h"
#include "client/cli/pace.h"
#include "client/cli/publish_rules.h"
#include "client/cli/publishing.h"
#include "client/cli/sha256sum.h"
#include "client/cli/text_view.h"
#include "client/cli/wishes.h"
#include "common/hex.h"
#include "common/shell_words.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

int number_or_auto(const options::Parsed& options, std::string_view name) {
  return options.str(name) == "auto" ? 0 : static_cast<int>(options.integer(name));
}

std::vector<std::string> texts(const Json& json, const std::string& name) {
  std::vector<std::string> found;
  for (const Json& one : member(json, name, Json::array()))
    if (one.is_string()) found.push_back(one.get<std::string>());
  return found;
}

/// Of the event of a task, whose access may be text, or tell no more than a level.
v1::Published published_of(const Json& result) {
  constexpr std::uint64_t kNone = 0;
  v1::Published published;
  published.set_content_id(member(result, "content_id", std::string()));
  published.set_name(member(result, "name", published.content_id()));
  published.set_bytes(member(result, "bytes", kNone));
  published.set_files(member(result, "files", kNone));
  published.set_access(
      member(result, "access", member(member(result, "access", Json::object()), "level", std::string())));
  published.set_skipped(member(result, "skipped", kNone));
  published.set_version(static_cast<std::uint32_t>(member(result, "version", kNone)));
  published.set_unchanged_files(member(result, "unchanged_files", kNone));
  published.set_unchanged_bytes(member(result, "unchanged_bytes", kNone));
  published.set_read_bytes(member(result, "read_bytes", kNone));
  published.set_unchanged(member(result, "unchanged", false));
  published.set_rules_as_before(member(result, "rules_as_before", std::string()));
  return published;
}

void tell_task_published(Context& c, const Json& result) {
  const v1::Published published = published_of(result);
  FoldedLines warnings(c.terminal);
  for (const std::string& warning : texts(result, "warnings")) warnings.add("warning: " + escape_for_display(warning));
  warnings.end(published.skipped());
  tell_published(c, published, "");
}

/// The result of a task is the event that the local command would print; its access may still be text.
Status print_task_result(Context& c, const v1::Task& task) {
  Json result = Json::parse(task.result_json(), nullptr, false);
  if (!result.is_object())
    return Error{Code::kInternal, "the node's answer to the task " + task.task_id() + " makes no sense"};
  for (const std::string& pattern : texts(result, "unmatched")) c.warn("no file matches '" + pattern + "'");
  if (c.json) {
    if (result.contains("access") && result["access"].is_string())
      if (const auto access = api::parse_access(result["access"].get<std::string>()))
        result["access"] = to_json(*access);
    c.emit(result);
    return {};
  }
  if (member(result, "event", std::string()) == "published") {
    tell_task_published(c, result);
    return {};
  }
  const std::string name = member(result, "name", member(result, "content_id", std::string()));
  GT_ASSIGN(api::ServerApi* const server, c.server());
  const std::string node = escape_for_display(name_or_id(names_of_own_nodes(c, *server), task.node_id()));
  const std::string path = member(result, "path", std::string());
  c.terminal.result("done: " + name + (path.empty() ? "" : " at " + path + " on " + node));
  return {};
}

/// A path of this machine is bytes; what goes into a task is text.
Status check_task_path(const Context& c, const std::string& name, const std::string& shown) {
  const std::string& path = c.options.str(name);
  if (is_valid_utf8(path)) return {};
  return Error{Code::kInvalid,
               shown + ": '" + escape_for_display(path) + "' is not UTF-8, as paths for other nodes have to be"};
}

// ---- publish

/// How what ROOT:relative/path means is called; empty: it is the root itself.
std::string name_in_root(std::string root_path) {
  while (root_path.ends_with('/')) root_path.pop_back();
  return root_path.substr(root_path.find_last_of("/:") + 1);
}

Status publish_there(Context& c) {
  GT_TRY(check_task_path(c, "PATH", "PATH"));
  v1::TaskWork work;
  const bool update = c.options.has("update");
  // Those of a configuration file, too, also in place of the version before's: the other node may know of none.
  const bool rules = has_publish_rules(c.options) || (update && gives_publish_rules(c.options));
  const auto chosen = [&]() -> v1::ChosenPublishTask& {
    return update ? *work.mutable_version_publish()->mutable_publish() : *work.mutable_chosen_publish();
  };
  if (rules) *chosen().mutable_rules() = read_publish_rules(c.options);
  v1::PublishTask& task = update || rules ? *chosen().mutable_publish() : *work.mutable_publish();
  task.set_root_path(c.options.str("PATH"));
  if (task.root_path().find(':') == std::string::npos)
    return Error{Code::kInvalid,
                 "with --node, PATH is ROOT:relative/path below a share root of that node, as in data:run42"};
  if (update) {
    GT_ASSIGN(api::ServerApi* const server, c.server());
    GT_ASSIGN(const v1::Content content, server->contents().get(c.options.str("update")));
    work.mutable_version_publish()->set_update(content.owner() + "/" + content.name());
    const std::string renamed = renamed_warning(content.base_name(), name_in_root(task.root_path()));
    if (!renamed.empty()) c.warn(renamed);
  } else {
    describe_new(task, c.options);
  }
  task.set_strict(c.options.flag("strict"));
  GT_ASSIGN(const std::optional<v1::Task> ended, run_on_node(c, std::move(work)));
  return ended ? print_task_result(c, *ended) : Status();
}

/// A content has a name, or gets a new version.
Status check_publish(const Context& c) {
  const bool update = c.options.has("update");
  if (update && c.options.given("access"))
    return Error{Code::kInvalid, "a new version keeps the content's access; leave out --access"};
  if (update && c.options.given("name"))
    return Error{Code::kInvalid, "a new version keeps the content's name; leave out --name"};
  for (const char* said : {"description", "tag", "license"}) {
    if (update && c.options.given(said))
      return Error{Code::kInvalid, "a new version keeps what is said of the content; leave out --" + std::string(said) +
                                       ", and see 'gridtorrent content --help'"};
  }
  if (update || c.options.has("name")) return {};
  return Error{Code::kInvalid, "--name NAME is missing; with --update CONTENT it becomes a new version of that"};
}

Status publish(Context& c) {
  GT_TRY(check_publish(c));
  if (c.options.flag("dry-run")) {
    if (c.options.given("node"))
      return Error{Code::kInvalid, "--dry-run is for this machine; with --node, look with 'gridtorrent node ls'"};
    return dry_run(c);
  }
  return c.options.has("node") ? publish_there(c) : publish_here(c);
}

// ---- get and seed

Status check_waiting(const options::Parsed& options) {
  if (!options.given("timeout") || !options.given("detach")) return {};
  return Error{Code::kInvalid,
               "--timeout limits how long the command waits, and with --detach it does not wait: leave "
               "one of them out"};
}

Status follow_or_detach(Context& c, const v1::Transfer& transfer) {
  if (c.options.flag("detach")) return detach(c, transfer);
  return follow_transfer(c, transfer, time_limit(c.options));
}

/// What this shell's umask leaves of a new folder: the node that makes it may have been started under another.
std::uint32_t mode_of_new_folders() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0777U & ~static_cast<std::uint32_t>(mask);
}

constexpr std::chrono::milliseconds kShortWait{1000};

/// People look for the content's name.
void tell_other_name(Context& c, const std::string& name, const std::string& base) {
  if (c.json || c.options.has("as") || base == name) return;
  c.terminal.message(escape_for_display(name) + " is called " + escape_for_display(base) +
                     " on disk, as its publisher's was; --as NAME gives it another name");
}

/// Of a content's name an '@' may be part, too; what is asked in vain then is only whether a version is served.
bool names_version(const options::Parsed& options) {
  return options.has("version") || options.str("CONTENT").find('@') != std::string::npos;
}

/// Which files of an earlier version there are, and where, is known: of that a habit says nothing.
bool counts(const options::Parsed& options, std::string_view name) {
  return !options.flag("update") || options.given(name);
}

/// An earlier version may be where nobody gives it any more: that is not to be found out by waiting.
void tell_unserved(Context& c, const v1::Transfer& transfer) {
  const bool is_here = transfer.state() == "seeding" || transfer.state() == "complete";
  const auto server = is_here ? Result<api::ServerApi*>(nullptr) : c.server_of_login(kShortWait);
  if (!server || *server == nullptr) return;
  const auto versions = (*server)->contents().list_versions(transfer.content_id());
  if (!versions) return;
  for (const v1::Version& one : *versions)
    if (one.version() == transfer.version() && one.seeders() == 0)
      c.warn("nobody serves version " + std::to_string(one.version()) + " now; it is waited for");
}

Status get_here(Context& c) {
  const std::vector<std::string>& globs = c.options.list("file");
  v1::GetRequest request;
  request.set_content(c.options.str("CONTENT"));
  request.set_version(static_cast<std::uint32_t>(c.options.integer("version")));
  request.set_update(c.options.flag("update"));
  if (counts(c.options, "to")) {
    GT_ASSIGN(*request.mutable_to(), Context::absolute(c.options.has("to") ? c.options.str("to") : "."));
  }
  if (counts(c.options, "file")) request.mutable_globs()->Add(globs.begin(), globs.end());
  request.set_lanes(number_or_auto(c.options, "lanes"));
  request.set_seeders(number_or_auto(c.options, "seeders"));
  request.set_limit_bits_per_s(c.options.bits_per_s("limit"));
  request.set_priority(static_cast<int>(c.options.integer("priority")));
  request.set_refetch(c.options.flag("refetch"));
  request.set_allow_hidden(c.options.flag("allow-hidden"));
  request.set_base_name(c.options.str("as"));
  request.set_if_seeded(c.options.flag("if-seeded"));
  request.set_folder_mode(mode_of_new_folders());
  GT_ASSIGN(const v1::TuningWish wish, read_wish(c.options, c.clock.wall()));
  if (!is_empty(wish)) *request.mutable_wish() = wish;
  GT_ASSIGN(api::NodeApi* const node, node_for_work(c));
  GT_TRY(node_knows(c, *node, "as", "get.base_name"));
  GT_TRY(node_knows(c, *node, "if-seeded", "get.if_seeded"));
  GT_TRY(node_knows(c, *node, "version", "get.version"));
  GT_TRY(node_knows(c, *node, "update", "get.update"));
  GT_ASSIGN(const v1::GetReply reply,
            begin_transfer(c, [&](Interrupt& interrupt) { return node->get(std::move(request), interrupt.token()); }));
  for (const std::string& glob : reply.unmatched()) c.warn("no file matches '" + glob + "'");
  if (!wish_text(wish, c.clock.wall()).empty() && !reply.transfer().has_wish())
    c.terminal.message(
        "this node is of an older version: it heeds no --tuner, --mode, --target-rate, --min-rate, --by");
  if (reply.joined() && !c.json) c.terminal.message("it is being fetched to this place already: joined");
  const std::string& path = reply.transfer().path();
  tell_other_name(c, reply.transfer().name(), path.substr(path.rfind('/') + 1));
  if (reply.transfer().version() != 0 && names_version(c.options)) tell_unserved(c, reply.transfer());
  return follow_or_detach(c, reply.transfer());
}

/// Of --version, or of a CONTENT that names it as in "run42@2"; 0: the newest.
std::uint32_t wanted_version(const Context& c, const v1::Content& content) {
  if (c.options.has("version")) return static_cast<std::uint32_t>(c.options.integer("version"));
  const std::string suffix = "@" + std::to_string(content.version());
  const bool named = c.options.str("CONTENT").ends_with(suffix) && !content.name().ends_with(suffix);
  return named ? content.version() : 0;
}

Status get_there(Context& c) {
  GT_TRY(check_task_path(c, "to", "--to"));
  GT_ASSIGN(const v1::TuningWish wish, read_wish(c.options, c.clock.wall()));
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::Content content, server->contents().get(c.options.str("CONTENT")));
  if (c.options.flag("allow-hidden") && c.options.given("allow-hidden"))
    return Error{Code::kInvalid,
                 "--allow-hidden is for this machine alone; with --node, name a folder with --to that is "
                 "not there yet"};
  v1::TaskWork work;
  const std::uint32_t number = wanted_version(c, content);
  const bool version = number != 0 || c.options.flag("update");
  const bool named = c.options.has("as") || c.options.flag("if-seeded");
  const auto chosen = [&]() -> v1::ChosenGetTask& {
    return version ? *work.mutable_version_get()->mutable_get() : *work.mutable_chosen_get();
  };
  v1::GetTask& task = version || named ? *chosen().mutable_get() : *work.mutable_get();
  if (version) {
    work.mutable_version_get()->set_version(number);
    work.mutable_version_get()->set_update(c.options.flag("update"));
  }
  task.set_content_id(content.content_id());
  const std::string& to = c.options.str("to");
  const bool below_a_root = to.find(':') != std::string::npos;
  if (c.options.given("to") && !below_a_root)
    return Error{Code::kInvalid, "with --node, --to is ROOT:relative/path below a download root of that node"};
  if (below_a_root) task.set_root_path(to);  // a habit that is none is for this machine
  const std::vector<std::string>& globs = c.options.list("file");
  if (counts(c.options, "file")) task.mutable_globs()->Add(globs.begin(), globs.end());
  task.set_lanes(number_or_auto(c.options, "lanes"));
  task.set_seeders(number_or_auto(c.options, "seeders"));
  task.set_limit_bits_per_s(c.options.bits_per_s("limit"));
  task.set_priority(static_cast<int>(c.options.integer("priority")));
  task.set_refetch(c.options.flag("refetch"));
  if (!is_empty(wish)) *task.mutable_wish() = wish;
  if (named) {
    chosen().set_base_name(c.options.str("as"));
    chosen().set_if_seeded(c.options.flag("if-seeded"));
  }
  if (!c.options.flag("update")) tell_other_name(c, content.name(), content.base_name());
  GT_ASSIGN(const std::optional<v1::Task> ended, run_on_node(c, std::move(work), time_limit(c.options)));
  return ended ? print_task_result(c, *ended) : Status();
}

Status get(Context& c) {
  GT_TRY(check_waiting(c.options));
  return c.options.has("node") ? get_there(c) : get_here(c);
}

Status seed_there(Context& c) {
  GT_TRY(check_task_path(c, "from", "--from"));
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::Content content, server->contents().get(c.options.str("CONTENT")));
  v1::TaskWork work;
  work.mutable_seed()->set_content_id(content.content_id());
  work.mutable_seed()->set_root_path(c.options.str("from"));
  GT_ASSIGN(const std::optional<v1::Task> ended, run_on_node(c, std::move(work), time_limit(c.options)));
  return ended ? print_task_result(c, *ended) : Status();
}

Status seed(Context& c) {
  GT_TRY(check_waiting(c.options));
  if (c.options.has("node")) return seed_there(c);
  v1::SeedRequest request;
  request.set_content(c.options.str("CONTENT"));
  GT_ASSIGN(*request.mutable_from(), Context::absolute(c.options.str("from")));
  GT_ASSIGN(api::NodeApi* const node, node_for_work(c));
  GT_ASSIGN(const v1::GetReply reply,
            begin_transfer(c, [&](Interrupt& interrupt) { return node->seed(std::move(request), interrupt.token()); }));
  return follow_or_detach(c, reply.transfer());
}

// ---- verify

bool is_clearly_a_path(const std::string& text) {
  return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") || text == "." || text == "..";
}

Status run_verify(Context& c, const v1::VerifyRequest& request, v1::VerifyResult& result) {
  GT_ASSIGN(api::NodeApi* const node, c.node());
  Interrupt interrupt;
  Pace pace;
  SpeedMeter meter;
  const auto take = [&](const v1::VerifyEvent& got) {
    if (got.has_result()) result = got.result();
    if (!got.has_progress()) return true;
    const auto& progress = got.progress();
    if (!c.json) {
      c.terminal.progress(hashing_line("verifying", progress.done_bytes(), progress.total_bytes(),
                                       c.terminal.progress_width(),
                                       meter.note(c.clock.mono(), progress.done_bytes(), progress.total_bytes())));
      return true;
    }
    if (!pace.due(c.clock.mono())) return true;
    Json json = event("verifying", c.clock.wall());
    json["done_bytes"] = progress.done_bytes();
    json["total_bytes"] = progress.total_bytes();
    c.emit(json);
    return true;
  };
  const Status status = node->verify(request, take, interrupt.token());
  if (!status && interrupt.stopped()) return Error{Code::kCancelled, "verifying was stopped; nothing was changed"};
  return status;
}

/// Where this node published it from, which may be all that there is of it; empty where it came from others.
std::string published_from(Context& c, const std::string& content) {
  const auto node = c.node();
  const auto list = node ? (*node)->list_transfers() : Result<v1::ListTransfersReply>(node.error());
  if (!list) return {};
  for (const v1::Transfer& transfer : list->transfers())
    if (transfer.content_id() == content && transfer.source() == "published") return transfer.path();
  return {};
}

std::string mended_by(const v1::VerifyResult& result, const std::string& published) {
  const std::string fetched = "move away what differs, then fetch what is missing to the same place: gridtorrent get " +
                              shell_arguments({result.name()}) + " --to FOLDER";
  if (published.empty()) return fetched;
  return "publish what lies there as a new version: gridtorrent publish " + shell_arguments({published}) +
         " --update " + shell_arguments({result.name()}) + "; or, where another node has it, " + fetched;
}

Status verify(Context& c) {
  const std::string& subject = c.options.str("CONTENT|PATH");
  v1::VerifyRequest request;
  request.set_sha256(c.options.flag("sha256"));
  GT_ASSIGN(const std::string path, Context::absolute(subject));
  v1::VerifyResult result;
  Status status = Error{Code::kNotFound, "there is nothing called '" + escape_for_display(subject) + "' here"};
  if (!is_clearly_a_path(subject) && is_valid_utf8(subject)) {
    request.set_content(subject);
    status = run_verify(c, request, result);
  }
  struct stat there{};
  if (!status && status.error().code == Code::kNotFound &&
      (is_clearly_a_path(subject) || ::lstat(path.c_str(), &there) == 0)) {
    request.clear_content();
    request.set_path(path);
    status = run_verify(c, request, result);
  }
  GT_TRY(status);
  if (c.json) {
    Json json = event("verified", c.clock.wall());
    json.update(to_json(result));
    c.emit(json);
  } else {
    std::string lines;
    for (const v1::FileDigest& digest : result.digests())
      lines += sha256sum_line(hex_encode(as_bytes(digest.sha256())), digest.path());
    if (!lines.empty()) c.terminal.result(lines);
    for (const v1::VerifyFault& fault : result.faults())
      c.terminal.result(escape_for_display(fault.path()) + ": " + escape_for_display(fault.reason()));
  }
  const std::string name = escape_for_display(result.name());
  if (result.fault_count() > 0)
    return Error{Code::kCorrupt, std::to_string(result.fault_count()) +
                                     (result.fault_count() == 1 ? " file or folder of " : " files and folders of ") +
                                     name + (result.fault_count() == 1 ? " is" : " are") +
                                     " not as published: " + mended_by(result, published_from(c, result.content_id()))};
  if (!c.json && !c.options.flag("sha256"))
    c.terminal.result(name + ": " + std::to_string(result.files()) + (result.files() == 1 ? " file, " : " files, ") +
                      format_bytes(result.bytes()) + ", all as published");
  return {};
}

const options::Option kNode{
    .name = "node", .value = "NODE", .help = "let this node do it (name or id); the server hands it the task"};
const options::Option kNodes{
    .name = "node",
    .value = "NODES",
    .help =
        "the node that does it (name or id). Several names with commas, or @all for all your nodes: the command then "
        "does not wait",
    .check = are_nodes};
const options::Option kTimeout{.name = "timeout",
                               .value = "TIME",
                               .help =
                                   "give up waiting after this time, with exit code 9; the work goes on, on this "
                                   "node or, with --node, on that one",
                               .check = options::is_duration};
const options::Option kDetach{.name = "detach", .help = "do not wait for the end; print the id and return"};

std::vector<options::Option> get_options() {
  return {
      {.name = "to",
       .value = "DIR",
       .help = "put it below this folder (default: here); with --node: ROOT:relative/path"},
      {.name = "as",
       .value = "NAME",
       .help = "call it so on disk, not as it was published; the result is DIR/NAME",
       .check = options::is_not_empty},
      {.name = "update",
       .help =
           "put the new version in the place of an earlier one that this node holds: what is the same is not fetched, "
           "what you changed is a conflict",
       .command_line_only = true},
      {.name = "version",
       .value = "N",
       .help = "an earlier version; CONTENT@N is the same",
       .command_line_only = true,
       .check = options::integer_between(1, 4'294'967'295)},
      {.name = "allow-hidden",
       .help = "also where its name begins with a dot, or is bin, R or public_html, and the folder is there already"},
      {.name = "file",
       .value = "PATTERN",
       .help = "only files whose path matches, as in '*.nc' or 'raw/2026-*/**', or a path as show --files shows it",
       .repeatable = true,
       .check = options::is_not_empty},
      kNodes,
      {.name = "lanes",
       .value = "N",
       .help = "parallel sockets to each seeder, 1 to 32",
       .default_value = "auto",
       .check = options::auto_or_integer_between(1, 32)},
      {.name = "seeders",
       .value = "N",
       .help = "fetch from at most so many nodes at once",
       .default_value = "auto",
       .check = options::auto_or_integer_between(1, 1000)},
      {.name = "limit",
       .value = "RATE",
       .help = "no faster than this, as in 200Mbit or 25MB",
       .check = options::is_rate},
      {.name = "priority",
       .value = "N",
       .help = "higher ones go first, -100 to 100",
       .check = options::integer_between(-100, 100)},
  };
}

std::vector<options::Option> get_ends() {
  return {
      {.name = "refetch", .help = "fetch over the network even what this node has; the old files stay"},
      {.name = "if-seeded", .help = "refuse, with exit code 5, where it has to be fetched and nobody serves it now"},
      kTimeout,
      kDetach};
}

std::vector<options::Option> publish_options() {
  std::vector<options::Option> own = {
      {.name = "name",
       .value = "NAME",
       .help = "what it is called: 1 to 128 characters without '/'",
       .check = options::is_not_empty},
      {.name = "update",
       .value = "CONTENT",
       .help = "make it a new version of this content of yours; files that did not change since this node published "
               "it are not read",
       .command_line_only = true,
       .check = options::is_not_empty},
      {.name = "access",
       .value = "ACCESS",
       .help = "public (every user), private, or targets as in user:mia,group:lab",
       .default_value = "private",
       .check = [](std::string_view text) -> Status {
         GT_TRY(options::is_not_empty(text));
         GT_TRY(api::parse_access(std::string(text)));
         return {};
       }},
      {.name = "description", .value = "TEXT", .help = "what it is"},
      {.name = "tag", .value = "TAG", .help = "a word to find it by", .repeatable = true},
      {.name = "license", .value = "LICENSE", .help = "under what terms, as in CC-BY-4.0"},
      kNode,
      {.name = "strict", .help = "refuse folders that hold links, sockets or devices instead of skipping those"},
      kDetach};
  return options::join({std::move(own), publish_rule_options()});
}

}  // namespace

std::vector<CommandEntry> data_commands() {
  const std::string group = "Share and get";
  const options::Positional content{.name = "CONTENT", .help = "an id, a name, or owner/name"};
  return {
      {{.name = "publish",
        .summary = "give a file or folder a name and seed it from where it lies",
        .description = "The files are hashed, not copied: leave them in place and unchanged. Colleagues get them from "
                       "this node, and "
                       "from every node that has them already. The node does the work: Ctrl-C stops the watching, and "
                       "the same command watches again, or tries again what failed.",
        .positionals = {{.name = "PATH",
                         .help = "a file or folder; with --node: ROOT:relative/path below a share root of that node"}},
        .options = publish_options(),
        .examples = {{"gridtorrent publish ~/run42 --name run42 --access public",
                      "every user of the server may get it"},
                     {"gridtorrent publish ~/run42 --update run42", "after some files changed: version 2"},
                     {"gridtorrent publish scan.h5 --name scan-7 --tag raw --license CC-BY-4.0",
                      "only you may, until 'access' says otherwise"}},
        .group = group},
       publish,
       true},
      {{.name = "get",
        .summary = "fetch a content from all nodes that have it, verify it, then seed it",
        .description =
            "Several sockets (lanes) to each of several nodes (seeders) are used at once, and every byte is "
            "verified. The result "
            "is DIR/BASE, BASE being the name that the published file or folder had. What is there already "
            "and is right is not fetched again, be it from an earlier get or by other means; a file that differs is "
            "in the way (exit code 6) and stays. Ctrl-C stops the watching, not the transfer.",
        .positionals = {content},
        .options = options::join({get_options(), wish_options(), get_ends()}),
        .examples = {{"gridtorrent get mia/run42 --to /data", "the result is /data/run42"},
                     {"gridtorrent get run42 --file '*.nc' --limit 200Mbit", "some of it, gently"},
                     {"gridtorrent get run42 --mode background --by 06:00", "what others leave, but done by then"},
                     {"gridtorrent get run42 --update", "the newest version, in the place of the one that is here"},
                     {"gridtorrent get run42 --node cluster7 --to scratch:in --detach",
                      "another machine of yours fetches it"}},
        .group = group},
       get,
       true},
      {{.name = "seed",
        .summary = "seed files that are here already, after verifying them",
        .description =
            "For files that came by other means, or lie on a file system that several nodes share. Nothing is fetched. "
            "The file or folder may have another name than the one that was published.",
        .positionals = {content},
        .options = {{.name = "from",
                     .value = "PATH",
                     .help = "the file or folder; with --node: ROOT:relative/path",
                     .required = true,
                     .check = options::is_not_empty},
                    kNodes,
                    kTimeout,
                    kDetach},
        .examples = {{"gridtorrent seed mia/run42 --from /gpfs/project/run42", ""}},
        .group = group},
       seed,
       true},
      {{.name = "verify",
        .summary = "read files again and compare them with what was published",
        .positionals =
            {{.name = "CONTENT|PATH", .help = "a content that this node holds, or the path of one", .any_bytes = true}},
        .options = {{.name = "sha256", .help = "also print the SHA-256 of each file, as sha256sum would"}},
        .examples = {{"gridtorrent verify run42", ""}, {"gridtorrent verify /data/run42 --sha256 > SHA256SUMS", ""}},
        .group = group},
       verify,
       true}};
}

}  // namespace gridtorrent::client::cli
