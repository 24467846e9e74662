#include <algorithm>

#include "client/cli/admin.h"
#include "client/cli/context.h"
#include "client/cli/listing.h"
#include "client/cli/moments.h"
#include "client/cli/text_view.h"
#include "common/shell_words.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

options::Option password_file_option() {
  return {.name = "password-file",
          .value = "FILE",
          .help = "the password is the first line of this file; without it you are asked",
          .secret_file = true};
}

Result<std::string> new_password(Context& c, const std::string& user) {
  if (c.options.has("password-file")) return c.options.secret("password-file");
  GT_ASSIGN(const std::string first, ask_password("Password for " + escape_for_display(user) + ": "));
  GT_ASSIGN(const std::string second, ask_password("The same again: "));
  if (first != second) return Error{Code::kInvalid, "the two passwords differ; try again"};
  return first;
}

namespace {

Status user_add(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  v1::AddUserRequest request;
  request.set_name(c.options.str("NAME"));
  for (const std::string& role : c.options.list("role")) request.add_roles(role);
  const bool service = std::ranges::find(request.roles(), "service") != request.roles().end();
  if (service && c.options.given("password-file"))
    return Error{Code::kInvalid, "--password-file: a service account has no password; make tokens for it"};
  if (!service) {
    GT_ASSIGN(*request.mutable_password(), new_password(c, request.name()));
  }
  if (request.roles_size() == 0) request.add_roles("user");
  GT_ASSIGN(const v1::User user, server->accounts().add_user(std::move(request)));
  if (c.json) {
    c.print(to_json(user));
  } else {
    c.terminal.message("added " + escape_for_display(user.name()) + " (" + user.user_id() + ")");
    if (service) {
      c.terminal.message("next: gridtorrent token create --for=" + shell_word(user.name()) +
                         " --scope SCOPE --ttl TIME");
    }
  }
  return {};
}

Status user_list(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const api::Listed<v1::User> list, server->accounts().list_users(limit_of(c)));
  Json users = Json::array();
  Table table({"NAME", "ID", "ROLES", "STATE", "CREATED"});
  if (!c.options.flag("ids")) table.hide("ID");
  for (const v1::User& user : list.items) {
    users.push_back(to_json(user));
    std::string roles;
    for (const std::string& role : user.roles()) roles += (roles.empty() ? "" : ", ") + escape_for_display(role);
    table.row({escape_for_display(user.name()), user.user_id(), roles, user.disabled() ? "disabled" : "enabled",
               short_time(user.created_ms())});
  }
  print_list(c, "users", std::move(users), table.text("no users"), list.cut);
  return {};
}

Status tell_switched(Context& c, bool disabled) {
  const std::string& name = c.options.str("USER");
  const std::string back =
      "after a new login, 'gridtorrent node reenroll' on the machine of each node gives it a credential again";
  if (c.json) {
    c.print({{"user", json_text(name)}, {"disabled", disabled}});
  } else if (disabled) {
    c.terminal.message("disabled " + escape_for_display(name) +
                       "; logins, tokens and the credentials of nodes have ended for good; 'gridtorrent user enable " +
                       shell_arguments({name}) + "' lets them in again, and " + back);
  } else {
    c.terminal.message("enabled " + escape_for_display(name) + "; " + back);
  }
  return {};
}

Status user_disable(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_TRY(server->accounts().disable_user(c.options.str("USER")));
  return tell_switched(c, true);
}

Status user_enable(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_TRY(server->accounts().enable_user(c.options.str("USER")));
  return tell_switched(c, false);
}

/// "contents=500", "metadata-bytes=1GiB", "nodes=default".
Result<v1::QuotaChange> parse_change(const std::string& text) {
  const std::size_t equals = text.find('=');
  v1::QuotaChange change;
  change.set_quota(text.substr(0, equals));
  const std::string limit = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (limit == "default") return change;
  const auto number = parse_bytes(limit);
  if (!number)
    return Error{Code::kInvalid,
                 "--set '" + escape_for_display(text) +
                     "' says no limit; write it like contents=500, metadata-bytes=1GiB or nodes=default"};
  change.set_limit(*number);
  return change;
}

std::string quota_amount(const v1::QuotaUse& use, std::uint64_t amount) {
  return use.quota() == "metadata-bytes" ? format_bytes(amount) : std::to_string(amount);
}

Status user_quota(Context& c) {
  const std::vector<std::string>& wishes = c.options.list("set");
  if (!wishes.empty() && !c.options.has("USER"))
    return Error{Code::kInvalid, "--set: whose quota? Write: gridtorrent user quota USER --set contents=500"};
  v1::ChangeQuotasRequest request;
  request.set_user(c.options.str("USER"));
  for (const std::string& wish : wishes) {
    GT_ASSIGN(*request.add_changes(), parse_change(wish));
  }
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::QuotasReply reply, wishes.empty() ? server->accounts().quotas(request.user())
                                                        : server->accounts().change_quotas(std::move(request)));
  Json quotas = Json::array();
  Table table({"QUOTA", ">USED", ">LIMIT", "SET FOR"});
  for (const v1::QuotaUse& use : reply.quotas()) {
    quotas.push_back(
        {{"quota", use.quota()}, {"used", use.used()}, {"limit", use.limit()}, {"own_limit", use.own_limit()}});
    table.row({use.quota(), quota_amount(use, use.used()), quota_amount(use, use.limit()),
               use.own_limit() ? "this account" : "everybody"});
  }
  if (c.json) {
    c.print({{"quotas", std::move(quotas)}});
  } else {
    c.terminal.result(table.text("no quotas"));
  }
  return {};
}

Json to_json(const v1::AuditRecord& r) {
  return {{"number", r.number()},
          {"time", json_time(r.at_ms())},
          {"actor", json_text(r.actor())},
          {"actor_id", r.actor_id()},
          {"action", r.action()},
          {"object", json_text(r.object())},
          {"outcome", json_text(r.outcome())},
          {"address", r.address()},
          {"token_id", r.token_id()},
          {"request_id", json_text(r.request_id())}};
}

Status audit(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  v1::ListAuditRecordsRequest request;
  request.set_actor(c.options.str("actor"));
  request.set_action(c.options.str("action"));
  if (c.options.has("since")) request.set_since_ms(since_ms(c.options.str("since"), c.clock.wall()));
  request.set_below(static_cast<std::uint64_t>(c.options.integer("below")));
  request.set_limit(static_cast<std::uint32_t>(c.options.integer("limit")));
  GT_ASSIGN(const v1::ListAuditRecordsReply reply, server->accounts().list_audit_records(request));
  Json records = Json::array();
  Table table({">NUMBER", "TIME", "WHO", "FROM", "ACTION", "OBJECT", "OUTCOME"});
  for (const v1::AuditRecord& r : reply.records()) {
    records.push_back(to_json(r));
    table.row({std::to_string(r.number()), short_time(r.at_ms()),
               r.actor().empty() ? "(server)" : escape_for_display(r.actor()), r.address(), r.action(),
               escape_for_display(r.object()), escape_for_display(r.outcome())});
  }
  const bool full = reply.records_size() == static_cast<int>(request.limit());
  const std::uint64_t oldest = reply.records().empty() ? 0 : reply.records().rbegin()->number();
  if (c.json) {
    c.print({{"records", std::move(records)}});
  } else {
    c.terminal.result(table.text("no audit records like that"));
    if (full && oldest > 1) c.terminal.message("older ones: --below " + std::to_string(oldest));
  }
  return {};
}

Json to_json(const v1::DataCaGeneration& one) {
  return {{"generation", one.generation()},
          {"state", one.state()},
          {"signs", one.signs()},
          {"created", json_time(one.created_ms())},
          {"ended", json_time(one.ended_ms())},
          {"contents", one.contents()}};
}

void show_data_ca(Context& c, const v1::ListDataCaReply& reply) {
  Json generations = Json::array();
  Table table({">GENERATION", "STATE", "MADE", "ENDED", ">CONTENTS", "SIGNS"});
  for (const v1::DataCaGeneration& one : reply.generations()) {
    generations.push_back(to_json(one));
    table.row({std::to_string(one.generation()), one.state(), short_time(one.created_ms()),
               one.ended_ms() == 0 ? "" : short_time(one.ended_ms()), std::to_string(one.contents()),
               one.signs()              ? "yes"
               : one.state() == "ended" ? "no"
                                        : "no: the sealing key does not open its key"});
  }
  if (c.json) {
    c.print({{"generations", std::move(generations)}});
  } else {
    c.terminal.result(table.text("the server has no data CA: its sealing key is missing"));
  }
}

Status data_ca_list(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::ListDataCaReply reply, server->nodes().data_ca());
  show_data_ca(c, reply);
  return {};
}

Status data_ca_rotate(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  v1::RotateDataCaRequest request;
  request.set_sealing_key_lost(c.options.flag("sealing-key-lost"));
  GT_ASSIGN(const v1::ListDataCaReply reply, server->nodes().rotate_data_ca(std::move(request)));
  show_data_ca(c, reply);
  if (!c.json) c.terminal.message("contents move by themselves; see gridtorrent data-ca list");
  return {};
}

}  // namespace

std::vector<CommandEntry> user_commands() {
  const std::string group = "For administrators";
  return {
      {{.name = "user add",
        .summary = "make an account",
        .positionals = {{.name = "NAME", .help = "2 to 64 of a-z, 0-9, '.', '_' and '-'"}},
        .options = {password_file_option(),
                    {.name = "role",
                     .value = "ROLE",
                     .help = "without any: user",
                     .repeatable = true,
                     .choices = {"user", "admin", "service"}}},
        .examples = {{"gridtorrent user add mia", "asks for a first password"},
                     {"gridtorrent user add robot --role service", "has no password, only tokens that you make"}},
        .group = group},
       user_add},
      {{.name = "user list", .summary = "list all accounts", .options = {limit_option()}, .group = group}, user_list},
      {{.name = "user disable",
        .summary = "lock an account out at once; what it published stays",
        .description = "Its logins, tokens and the credentials of its nodes end for good.",
        .positionals = {{.name = "USER", .help = "name or id"}},
        .group = group},
       user_disable},
      {{.name = "user enable",
        .summary = "let a disabled account in again; its tokens stay ended",
        .description = "After a new login, 'gridtorrent node reenroll' on the machine of each of its nodes gives that "
                       "node another credential.",
        .positionals = {{.name = "USER", .help = "name or id"}},
        .group = group},
       user_enable},
      {{.name = "user quota",
        .summary = "show what an account may have and has, or set it",
        .description = "Without USER your own. QUOTA is contents, metadata-bytes, nodes, tokens, enroll-tokens, "
                       "groups, open-requests, buddies, tasks or publishes-per-hour; what is there already stays, "
                       "above the limit, too.",
        .positionals = {{.name = "USER", .help = "name or id", .required = false}},
        .options = {{.name = "set",
                     .value = "QUOTA=N",
                     .help = "set a limit; QUOTA=default takes it back",
                     .repeatable = true,
                     .command_line_only = true}},
        .examples = {{"gridtorrent user quota mia --set contents=500 --set nodes=default", ""}},
        .group = group},
       user_quota},
      {{.name = "audit",
        .summary = "show who did what on the server, newest first",
        .options = {{.name = "actor", .value = "USER", .help = "what this account did", .check = options::is_not_empty},
                    {.name = "action",
                     .value = "ACTION",
                     .help = "as in content.publish, or content for all that is about contents",
                     .check = options::is_not_empty},
                    {.name = "since",
                     .value = "TIME",
                     .help = "since then, as in 2026-11-20 or 7d",
                     .check = is_time_or_duration},
                    {.name = "below",
                     .value = "NUMBER",
                     .help = "only older ones than this",
                     .check = options::integer_between(1, std::int64_t{1} << 50)},
                    {.name = "limit",
                     .value = "N",
                     .help = "so many, at most 1000",
                     .default_value = "100",
                     .check = options::integer_between(1, 1000)}},
        .examples = {{"gridtorrent audit --actor mia --since 7d", ""}},
        .group = group},
       audit},
      {{.name = "data-ca list",
        .summary = "show the authorities that certify nodes for encrypted lanes",
        .group = group},
       data_ca_list},
      {{.name = "data-ca rotate",
        .summary = "make a new one; contents move to it and the old one ends",
        .description = "Lanes of what is not public pause for a moment while their content moves. Nothing is hashed or "
                       "fetched again, and nodes that are away follow when they are back.",
        .options = {{.name = "sealing-key-lost",
                     .help = "go on although the server's sealing key is lost for good",
                     .command_line_only = true}},
        .group = group},
       data_ca_rotate}};
}

}  // namespace gridtorrent::client::cli
