#include "client/cli/context.h"
#include "client/cli/files_view.h"
#include "client/cli/listing.h"
#include "client/cli/moments.h"
#include "client/cli/sha256sum.h"
#include "client/cli/text_view.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

Status search(Context& c) {
  for (const char* name : {"owner", "tag", "group"}) {
    // A script's empty variable would list everything.
    if (c.options.has(name) && c.options.str(name).empty())
      return Error{Code::kInvalid, std::string("--") + name + " is empty; leave it out to search among all"};
  }
  GT_ASSIGN(api::ServerApi* const server, c.server());
  v1::SearchRequest request;
  request.set_query(c.options.str("QUERY"));
  request.set_owner(c.options.str("owner"));
  request.set_tag(c.options.str("tag"));
  request.set_group(c.options.str("group"));
  request.set_access(c.options.str("access"));
  request.set_min_bytes(c.options.bytes("min-size"));
  if (c.options.has("since")) request.set_since_ms(since_ms(c.options.str("since"), c.clock.wall()));
  request.set_limit(static_cast<std::uint32_t>(c.options.integer("limit")));
  request.set_page(c.options.str("page"));
  GT_ASSIGN(const v1::SearchReply reply, server->contents().search(request));
  if (c.json) {
    Json contents = Json::array();
    for (const v1::Content& content : reply.contents()) contents.push_back(to_json(content));
    c.print({{"contents", std::move(contents)},
             {"next_page", reply.next_page().empty() ? Json() : Json(reply.next_page())}});
    return {};
  }
  c.terminal.result(contents_table({reply.contents().begin(), reply.contents().end()}, c.options.flag("ids")));
  if (!reply.next_page().empty()) c.terminal.message("there is more: --page " + reply.next_page());
  return {};
}

Status print_manifest(Context& c, api::ServerApi& server, const v1::Content& content, bool sha256) {
  GT_ASSIGN(const std::vector<api::FileEntry> files,
            sha256 ? server.contents().manifest_with_sha256(content.content_id(), content.version())
                   : server.contents().manifest(content.content_id(), content.version()));
  if (c.json) {
    Json list = Json::array();
    for (const api::FileEntry& file : files) list.push_back(to_json(file));
    c.print({{"content_id", content.content_id()}, {"version", content.version()}, {"files", std::move(list)}});
    return {};
  }
  constexpr std::size_t kHexDigits = 64;
  std::string lines;
  for (const api::FileEntry& file : files) {
    if (file.folder || !file.link_target.empty()) continue;
    const std::string& digest = sha256 ? file.sha256 : file.merkle_root;
    // BEP 52 gives an empty file no root; zeros keep the columns.
    lines += sha256sum_line(digest.empty() ? std::string(kHexDigits, '0') : digest, file.path);
  }
  if (!lines.empty()) c.terminal.result(lines);
  return {};
}

/// So many lines are worth the whole manifest, which comes faster than page by page.
constexpr std::size_t kManyLines = 10'000;

/// By the server; by the whole manifest where that is older, or where the path may be one as it is shown, escaped.
Result<FilesPage> load_files_page(api::ServerApi& server, const v1::Content& content, const FilesWish& wish) {
  if (wish.limit <= kManyLines && wish.path.find('\\') == std::string::npos) {
    v1::ListFilesRequest request;
    request.set_content_id(content.content_id());
    request.set_version(content.version());
    request.set_path(wish.path);
    request.set_form(wish.tree ? v1::ListFilesRequest::TREE : v1::ListFilesRequest::FILES);
    const auto page = server.contents().list_files(std::move(request), wish.first, wish.limit);
    if (page) return files_page(*page, wish);
    if (page.error().code != Code::kUnsupported) return page.error();
  }
  GT_ASSIGN(const std::vector<api::FileEntry> entries,
            server.contents().manifest(content.content_id(), content.version()));
  return files_page(entries, wish);
}

Status print_files(Context& c, api::ServerApi& server, const v1::Content& content) {
  const bool tree = c.options.flag("tree");
  GT_ASSIGN(const FilesPage page, load_files_page(server, content,
                                                  {.path = c.options.str("PATH"),
                                                   .tree = tree,
                                                   .first = static_cast<std::size_t>(c.options.integer("page")),
                                                   .limit = static_cast<std::size_t>(c.options.integer("limit"))}));
  if (c.json) {
    Json files = Json::array();
    for (const FileLine& line : page.lines) {
      Json file = to_json(line.entry);
      if (line.folder) file["bytes"] = line.bytes;
      files.push_back(std::move(file));
    }
    c.print({{"content_id", content.content_id()},
             {"version", content.version()},
             {"total_files", page.files},
             {"total_bytes", page.bytes},
             {"files", std::move(files)},
             {"next_page", page.next == 0 ? Json() : Json(std::to_string(page.next))}});
    return {};
  }
  if (!page.lines.empty()) c.terminal.result(files_text(page, tree));
  c.terminal.message(std::to_string(page.files) + (page.files == 1 ? " file, " : " files, ") +
                     format_bytes(page.bytes));
  if (page.next > 0) c.terminal.message("there is more: --page " + std::to_string(page.next));
  return {};
}

Json replicas_json(const api::Listed<v1::Replica>& list) {
  Json replicas = Json::array();
  for (const v1::Replica& replica : list.items) replicas.push_back(to_json(replica));
  return replicas;
}

Status watch_replicas(Context& c, api::ServerApi& server, const v1::Content& content) {
  const auto watch = [&](const api::ReplicasFn& show, std::stop_token stop) {
    return server.contents().watch_replicas(content.content_id(), content.version(), show, std::move(stop));
  };
  return watch_list<v1::Replica>(c, "replicas", watch, replicas_json, [&](const auto& list) {
    return replicas_text(content, list.items, c.options.flag("ids"));
  });
}

Status show(Context& c) {
  const bool watch = c.options.flag("watch"), replicas = c.options.flag("replicas");
  if (watch && !replicas && c.options.given("watch"))
    return Error{Code::kInvalid, "--watch is of --replicas: give that, too"};
  for (const char* name : {"PATH", "tree", "page", "limit"}) {
    if (!c.options.flag("files") && c.options.given(name))
      return Error{Code::kInvalid, std::string(name) + " is of --files: give that, too"};
  }
  GT_ASSIGN(api::ServerApi* const server, c.server());
  const auto version = static_cast<std::uint32_t>(c.options.integer("version"));
  GT_ASSIGN(const v1::Content content, server->contents().get(c.options.str("CONTENT"), version));
  if (watch && replicas) return watch_replicas(c, *server, content);
  if (c.options.flag("files")) return print_files(c, *server, content);
  if (c.options.has("manifest")) return print_manifest(c, *server, content, c.options.str("manifest") == "sha256");
  Json json = to_json(content);
  std::string text = content_text(content);
  if (c.options.flag("versions")) {
    GT_ASSIGN(const std::vector<v1::Version> list, server->contents().list_versions(content.content_id()));
    Json versions = Json::array();
    for (const v1::Version& one : list) versions.push_back(to_json(one));
    json["versions"] = std::move(versions);
    text += "\n" + versions_text(list);
  }
  if (replicas) {
    GT_ASSIGN(const api::Listed<v1::Replica> list,
              server->contents().list_replicas(content.content_id(), 0, content.version()));
    json["replicas"] = replicas_json(list);
    text += "\n" + replicas_text(content, list.items, c.options.flag("ids"));
  }
  if (c.json) {
    c.print(json);
  } else {
    c.terminal.result(text);
  }
  return {};
}

Status unpublish(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(v1::Content content, server->contents().get(c.options.str("CONTENT")));
  const std::string name = escape_for_display(content.owner() + "/" + content.name());
  if (!c.options.flag("yes") && c.terminal.traits().can_ask) {
    GT_TRY(ask_yes("Withdraw " + name + " (" + format_bytes(content.bytes()) +
                   ")? Nobody can start to get it then, and nodes stop seeding it."));
  }
  GT_ASSIGN(content, server->contents().unpublish(content.content_id()));
  if (c.json) {
    c.print(to_json(content));
  } else {
    c.terminal.message("unpublished " + name + "; no file was touched; to take it back: gridtorrent content restore " +
                       content.content_id());
  }
  return {};
}

}  // namespace

std::vector<CommandEntry> content_commands() {
  const std::string group = "Find and manage";
  const options::Positional content{.name = "CONTENT", .help = "an id, a name, or owner/name"};
  return {
      {{.name = "search",
        .summary = "list what you may see, newest first",
        .positionals =
            {{.name = "QUERY", .help = "part of the name; upper and lower case are alike", .required = false}},
        .options =
            {{.name = "owner", .value = "USER", .help = "published by this user"},
             {.name = "group", .value = "GROUP", .help = "shared with this group of yours"},
             {.name = "tag", .value = "TAG", .help = "with this tag"},
             {.name = "access",
              .value = "LEVEL",
              .help = "with this access",
              .choices = {"public", "private", "shared"}},
             {.name = "min-size", .value = "SIZE", .help = "at least this large, as in 1GB", .check = options::is_size},
             {.name = "since",
              .value = "TIME",
              .help = "published since then, as in 2026-11-20 or 7d",
              .check = is_time_or_duration},
             {.name = "limit",
              .value = "N",
              .help = "so many a page",
              .default_value = "50",
              .check = options::integer_between(1, 200)},
             {.name = "page", .value = "TOKEN", .help = "go on where the last page ended"}},
        .examples = {{"gridtorrent search climate --since 30d", ""},
                     {"gridtorrent search --tag raw --min-size 10GB --json | jq -r '.contents[].name'", ""}},
        .group = group},
       search},
      {{.name = "show",
        .summary = "show one content",
        .positionals =
            {content,
             {.name = "PATH", .help = "with --files: only this file, or what is below this folder", .required = false}},
        .options = {{.name = "version",
                     .value = "N",
                     .help = "an earlier version; CONTENT@N is the same",
                     .default_value = "0",
                     .command_line_only = true,
                     .check = options::integer_between(0, 4'294'967'295)},
                    {.name = "versions", .help = "also show all versions that can be had"},
                    {.name = "files", .help = "list the files with their sizes, by the paths that get --file takes"},
                    {.name = "tree", .help = "with --files: as a tree, folders with the sum of what is below them"},
                    {.name = "limit",
                     .value = "N",
                     .help = "with --files: so many lines a page",
                     .default_value = "1000",
                     .check = options::integer_between(1, 1'000'000)},
                    {.name = "page",
                     .value = "TOKEN",
                     .help = "with --files: go on where the last page ended",
                     .default_value = "0",
                     .check = options::integer_between(0, 1'000'000)},
                    {.name = "replicas", .help = "also show which nodes have it, and how much of it"},
                    {.name = "watch", .help = "of --replicas: as they change, until Ctrl-C; at most 200"},
                    {.name = "manifest",
                     .value = "KIND",
                     .help = "print a checksum for each file instead",
                     .choices = {"merkle", "sha256"}}},
        .examples = {{"gridtorrent show mia/run42 --replicas", ""},
                     {"gridtorrent show run42 --versions", ""},
                     {"gridtorrent show mia/run42 --files raw", "the files below raw, and their sizes"},
                     {"gridtorrent show run42 --manifest sha256 | sha256sum -c",
                      "in the folder that holds the result of get"}},
        .group = group},
       show},
      {{.name = "unpublish",
        .summary = "withdraw a content: nobody can start to get it, nodes stop seeding; files stay",
        .description = "Asks first where it runs on a terminal. Its name is free for another content of yours; "
                       "'gridtorrent content restore' takes it back.",
        .positionals = {content},
        .options = {{.name = "yes", .help = "do not ask"}},
        .group = group},
       unpublish}};
}

}  // namespace gridtorrent::client::cli
