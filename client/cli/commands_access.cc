#include <algorithm>
#include <optional>

#include "client/cli/access_change.h"
#include "client/cli/context.h"
#include "common/text.h"

// Who may get a content: shown, explained, changed.

namespace gridtorrent::client::cli {

namespace {

constexpr int kAttempts = 5;  ///< where others change it at the same time

Status explain_access(Context& c, api::ServerApi& server, const v1::Content& content) {
  const std::string& user = c.options.str("explain");
  GT_ASSIGN(const v1::ExplainAccessReply reply, server.contents().explain_access(content.content_id(), user));
  if (c.json) {
    c.print({{"content_id", content.content_id()},
             {"user", json_text(user)},
             {"allowed", reply.allowed()},
             {"reason", json_text(reply.reason())}});
  } else {
    c.terminal.result(escape_for_display(user) + (reply.allowed() ? " may get " : " may not get ") +
                      escape_for_display(content.name()) + ": " + escape_for_display(reply.reason()));
  }
  return {};
}

/// What of --add or --remove; nothing: it was not given.
Result<std::optional<v1::Access>> targets_of(const Context& c, const char* option) {
  if (!c.options.has(option)) return std::optional<v1::Access>();
  GT_ASSIGN(v1::Access access, api::parse_access(c.options.str(option)));
  if (access.level() == v1::Access::SHARED) return std::optional(std::move(access));
  return Error{Code::kInvalid, "--" + std::string(option) +
                                   " takes targets as in user:mia,group:lab,buddies; --set takes '" +
                                   escape_for_display(c.options.str(option)) + "'"};
}

/// Where somebody else changes it meanwhile, it is read and changed once more.
Status add_and_remove(Context& c, api::ServerApi& server, v1::Content& content) {
  GT_ASSIGN(const auto more, targets_of(c, "add"));
  GT_ASSIGN(const auto fewer, targets_of(c, "remove"));
  for (int attempt = 1;; ++attempt) {
    const auto wanted = changed_access(content.access(), more ? &*more : nullptr, fewer ? &*fewer : nullptr);
    if (!wanted) return wanted.error().with_context(escape_for_display(content.owner() + "/" + content.name()));
    auto changed = server.contents().set_access(content.content_id(), *wanted, content.access());
    if (!changed && changed.error().code == Code::kConflict && attempt < kAttempts) {
      GT_ASSIGN(content, server.contents().get(content.content_id()));
      continue;
    }
    GT_TRY(changed);
    content = *std::move(changed);
    return {};
  }
}

Status access(Context& c) {
  const bool changes = c.options.has("add") || c.options.has("remove");
  if (static_cast<int>(c.options.has("set")) + static_cast<int>(c.options.has("explain")) + static_cast<int>(changes) >
      1)
    return Error{Code::kInvalid, "--set, --explain, and --add with --remove are three commands; give one of them"};
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(v1::Content content, server->contents().get(c.options.str("CONTENT")));
  if (c.options.has("explain")) return explain_access(c, *server, content);
  if (changes) GT_TRY(add_and_remove(c, *server, content));
  if (c.options.has("set")) {
    GT_ASSIGN(const v1::Access wanted, api::parse_access(c.options.str("set")));
    GT_ASSIGN(content, server->contents().set_access(content.content_id(), wanted));
  }
  if (c.json) {
    c.print({{"content_id", content.content_id()},
             {"name", json_text(content.name())},
             {"access", to_json(content.access())}});
  } else {
    c.terminal.result(api::access_text(content.access()));
  }
  return {};
}

Status access_is_well_formed(std::string_view text) {
  GT_TRY(api::parse_access(std::string(text)));
  return {};
}

}  // namespace

std::vector<CommandEntry> access_commands() {
  return {{{.name = "access",
            .summary = "show or change who may get a content",
            .positionals = {{.name = "CONTENT", .help = "an id, a name, or owner/name"}},
            .options = options::on_command_line_only(
                {{.name = "set",
                  .value = "ACCESS",
                  .help = "public, private, or targets as in user:mia,group:lab,buddies",
                  .check = access_is_well_formed},
                 {.name = "add",
                  .value = "TARGETS",
                  .help = "let these get it, too, as in user:mia,group:lab",
                  .check = access_is_well_formed},
                 {.name = "remove",
                  .value = "TARGETS",
                  .help = "take the right from these; where none is left, it is private",
                  .check = access_is_well_formed},
                 {.name = "explain", .value = "USER", .help = "say whether this user may get it, and why"}}),
            .examples = {{"gridtorrent access run42 --set private", ""},
                         {"gridtorrent access run42 --set group:lab,buddies", ""},
                         {"gridtorrent access run42 --add user:mia --remove group:lab", ""},
                         {"gridtorrent access run42 --explain noor", ""}},
            .group = "Find and manage"},
           access}};
}

}  // namespace gridtorrent::client::cli
