#include <limits>
#include <utility>

#include "client/cli/context.h"
#include "client/cli/text_view.h"
#include "common/text.h"

// Correcting what was published: what is said of it, and that it was withdrawn.

namespace gridtorrent::client::cli {

namespace {

std::string full_name(const v1::Content& content) {
  return escape_for_display(content.owner()) + "/" + escape_for_display(content.name());
}

Result<v1::Content> describe(Context& c, const v1::Content& content, v1::DescribeContentRequest request) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  request.set_content_id(content.content_id());
  if (c.options.has("if-revision")) {
    request.set_if_revision(static_cast<std::uint32_t>(c.options.integer("if-revision")));
  }
  return server->contents().describe(std::move(request));
}

Result<v1::Content> named_content(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  return server->contents().get(c.options.str("CONTENT"));
}

Status tell(Context& c, const v1::Content& content, const std::string& done) {
  if (c.json) {
    c.print(to_json(content));
  } else {
    c.terminal.message(done);
  }
  return {};
}

Status rename(Context& c) {
  GT_ASSIGN(const v1::Content before, named_content(c));
  v1::DescribeContentRequest request;
  request.set_name(c.options.str("NAME"));
  GT_ASSIGN(const v1::Content content, describe(c, before, std::move(request)));
  return tell(c, content,
              full_name(before) + " is " + full_name(content) + " now; its id stays " + content.content_id() +
                  ", so transfers and links go on");
}

Status describe_content(Context& c) {
  GT_ASSIGN(const v1::Content before, named_content(c));
  v1::DescribeContentRequest request;
  request.set_description(c.options.str("TEXT"));
  GT_ASSIGN(const v1::Content content, describe(c, before, std::move(request)));
  return tell(c, content, "changed the description of " + full_name(content));
}

Status licence(Context& c) {
  GT_ASSIGN(const v1::Content before, named_content(c));
  v1::DescribeContentRequest request;
  request.set_license(c.options.str("LICENCE"));
  GT_ASSIGN(const v1::Content content, describe(c, before, std::move(request)));
  return tell(c, content, "changed the license of " + full_name(content));
}

Status tags(Context& c) {
  GT_ASSIGN(v1::Content content, named_content(c));
  const bool changes = c.options.flag("clear") || c.options.has("add") || c.options.has("remove");
  if (changes) {
    v1::DescribeContentRequest request;
    request.mutable_tags()->set_clear(c.options.flag("clear"));
    for (const std::string& tag : c.options.list("remove")) request.mutable_tags()->add_remove(tag);
    for (const std::string& tag : c.options.list("add")) request.mutable_tags()->add_add(tag);
    GT_ASSIGN(content, describe(c, content, std::move(request)));
  }
  if (c.json) {
    c.print(to_json(content));
    return {};
  }
  std::string lines;
  for (const std::string& tag : content.tags()) lines += escape_for_display(tag) + "\n";
  if (lines.empty()) {
    c.terminal.message(full_name(content) + " has no tags");
  } else {
    c.terminal.result(lines);
  }
  return {};
}

Status restore(Context& c) {
  GT_ASSIGN(const v1::Content before, named_content(c));
  if (before.state() == "published")
    return tell(c, before,
                full_name(before) + " is published already (" + before.content_id() +
                    "); a withdrawn one whose name it has now goes by its id: gridtorrent content restore ID --name "
                    "NAME");
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::Content content, server->contents().restore(before.content_id(), c.options.str("name")));
  return tell(c, content,
              full_name(content) +
                  " is published again; nodes that still have it seed it by themselves, most within "
                  "seconds");
}

options::Option if_revision() {
  return {.name = "if-revision",
          .value = "N",
          .help = "only if nobody changed it since: the revision that show --json told",
          .check = options::integer_between(0, std::numeric_limits<std::uint32_t>::max())};
}

}  // namespace

std::vector<CommandEntry> content_edit_commands() {
  const std::string group = "Find and manage";
  const options::Positional content{.name = "CONTENT", .help = "an id, a name, or owner/name"};
  return {
      {{.name = "content rename",
        .summary = "give a content of yours another name",
        .description = "Its id stays, and with it every transfer, replica and link. The old name is free.",
        .positionals = {content, {.name = "NAME", .help = "the new name, without owner"}},
        .options = {if_revision()},
        .examples = {{"gridtorrent content rename run42 run-42", ""}},
        .group = group},
       rename},
      {{.name = "content describe",
        .summary = "change the description of a content of yours",
        .positionals = {content, {.name = "TEXT", .help = "the description; '' takes it away", .may_be_empty = true}},
        .options = {if_revision()},
        .examples = {{"gridtorrent content describe run42 'beam time of May, calibrated'", ""}},
        .group = group},
       describe_content},
      {{.name = "content tags",
        .summary = "show or change the tags of a content",
        .positionals = {content},
        .options = options::on_command_line_only(
            {{.name = "add", .value = "TAG", .help = "add this tag; may be repeated", .repeatable = true},
             {.name = "remove", .value = "TAG", .help = "take this tag away; may be repeated", .repeatable = true},
             {.name = "clear", .help = "take all tags away, before any is added"},
             if_revision()}),
        .examples = {{"gridtorrent content tags run42 --add calibrated --remove raw", ""}},
        .group = group},
       tags},
      {{.name = "content licence",
        .summary = "change the license of a content of yours",
        .positionals = {content,
                        {.name = "LICENCE", .help = "as in CC-BY-4.0; '' takes it away", .may_be_empty = true}},
        .options = {if_revision()},
        .examples = {{"gridtorrent content licence run42 CC-BY-4.0", ""}},
        .group = group},
       licence},
      {{.name = "content license",  // as the option of publish is spelt
        .summary = "as content licence",
        .positionals = {content,
                        {.name = "LICENCE", .help = "as in CC-BY-4.0; '' takes it away", .may_be_empty = true}},
        .options = {if_revision()},
        .group = group,
        .hidden = true},
       licence},
      {{.name = "content restore",
        .summary = "publish again what you have withdrawn",
        .description = "Nodes that still have its files go on seeding it. Where another content of yours has its "
                       "name now, give it another one.",
        .positionals = {content},
        .options = {{.name = "name",
                     .value = "NAME",
                     .help = "under this name",
                     .command_line_only = true,
                     .check = options::is_not_empty}},
        .examples = {{"gridtorrent content restore run42", ""}},
        .group = group},
       restore}};
}

}  // namespace gridtorrent::client::cli
