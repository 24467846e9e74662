#include <algorithm>

#include "client/cli/context.h"
#include "client/cli/listing.h"
#include "client/cli/people_view.h"
#include "client/cli/text_view.h"
#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

Result<v1::Group> take_step(Context& c, const std::string& user, const std::string& name,
                            const std::string& message = "") {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  return server->collaboration().change_membership(c.options.str("GROUP"), user, name, message);
}

Status tell(Context& c, const v1::Group& group, const std::string& done) {
  if (c.json) {
    c.print(to_json(group, true));
  } else {
    c.terminal.message(done);
  }
  return {};
}

/// One step of a membership, told in one line.
Status step(Context& c, const std::string& user, const std::string& name, const std::string& done) {
  GT_ASSIGN(const v1::Group now, take_step(c, user, name));
  return tell(c, now, done);
}

std::string group_name(const Context& c) {
  return escape_for_display(c.options.str("GROUP"));
}
std::string user_name(const Context& c) {
  return escape_for_display(c.options.str("USER"));
}

Status create(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  v1::CreateGroupRequest request;
  request.set_name(c.options.str("NAME"));
  request.set_description(c.options.str("description"));
  request.set_hidden(c.options.flag("hidden"));
  GT_ASSIGN(const v1::Group group, server->collaboration().create_group(std::move(request)));
  if (c.json) {
    c.print(to_json(group, true));
  } else {
    c.terminal.message("made the group " + escape_for_display(group.name()) + "; you are its manager");
  }
  return {};
}

Status list(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const std::vector<v1::Group> groups, server->collaboration().list_groups(c.options.flag("all")));
  if (!c.json) {
    c.terminal.result(groups_table(groups, c.options.flag("ids")));
    return {};
  }
  Json json = Json::array();
  for (const v1::Group& group : groups) json.push_back(to_json(group, false));
  c.print({{"groups", std::move(json)}});
  return {};
}

Status show(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::Group group, server->collaboration().group(c.options.str("GROUP")));
  if (c.json) {
    c.print(to_json(group, true));
  } else {
    c.terminal.result(group_text(group));
  }
  return {};
}

Status set(Context& c) {
  if (!c.options.has("description") && !c.options.has("hidden"))
    return Error{Code::kInvalid, "say what to set: --description or --hidden"};
  GT_ASSIGN(api::ServerApi* const server, c.server());
  v1::DescribeGroupRequest request;
  request.set_group(c.options.str("GROUP"));
  if (c.options.has("description")) request.set_description(c.options.str("description"));
  if (c.options.has("hidden")) request.set_hidden(c.options.str("hidden") == "yes");
  GT_ASSIGN(const v1::Group group, server->collaboration().describe_group(std::move(request)));
  if (c.json) {
    c.print(to_json(group, true));
  } else {
    c.terminal.result(group_text(group));
  }
  return {};
}

Status remove_group(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_TRY(server->collaboration().delete_group(c.options.str("GROUP")));
  if (c.json) {
    c.print({{"group", json_text(c.options.str("GROUP"))}, {"deleted", true}});
  } else {
    c.terminal.message("deleted the group " + group_name(c) + "; nothing is shared with it any more, files stay");
  }
  return {};
}

bool is_member(const v1::Group& group, const std::string& user) {
  return std::any_of(group.members().begin(), group.members().end(), [&](const v1::Membership& one) {
    return (one.user() == user || one.user_id() == user) && one.standing() == "member";
  });
}

Status invite(Context& c) {
  GT_ASSIGN(const v1::Group now, take_step(c, c.options.str("USER"), "invite", c.options.str("message")));
  if (is_member(now, c.options.str("USER")))
    return tell(c, now, user_name(c) + " had asked to join " + group_name(c) + " and is a member now");
  return tell(c, now, "invited " + user_name(c) + " to " + group_name(c));
}

Status request(Context& c) {
  GT_ASSIGN(const v1::Group now, take_step(c, "", "request", c.options.str("message")));
  if (now.standing() == "member") return tell(c, now, "you were invited to " + group_name(c) + " and are a member now");
  return tell(c, now, "asked to join " + group_name(c) + "; a manager has to accept");
}

Status accept(Context& c) {
  if (c.options.has("USER"))
    return step(c, c.options.str("USER"), "accept-request", user_name(c) + " is a member of " + group_name(c) + " now");
  return step(c, "", "accept-invitation", "you are a member of " + group_name(c) + " now");
}

Status decline(Context& c) {
  if (c.options.has("USER"))
    return step(c, c.options.str("USER"), "decline-request", "declined the request of " + user_name(c));
  return step(c, "", "decline-invitation", "declined the invitation to " + group_name(c));
}

Status withdraw(Context& c) {
  if (c.options.has("USER"))
    return step(c, c.options.str("USER"), "withdraw-invitation", "withdrew the invitation of " + user_name(c));
  return step(c, "", "withdraw-request", "withdrew the request to join " + group_name(c));
}

Status leave(Context& c) {
  return step(c, "", "leave", "you are no member of " + group_name(c) + " now");
}

Status remove_member(Context& c) {
  return step(c, c.options.str("USER"), "remove", user_name(c) + " is no member of " + group_name(c) + " now");
}

Status promote(Context& c) {
  return step(c, c.options.str("USER"), "promote", user_name(c) + " is a manager of " + group_name(c) + " now");
}

Status demote(Context& c) {
  return step(c, c.options.str("USER"), "demote", user_name(c) + " is no manager of " + group_name(c) + " now");
}

Status print_buddy(Context& c, const Result<v1::BuddyReply>& buddy, bool listed) {
  GT_TRY(buddy);
  if (c.json) {
    c.print({{"user", json_text(buddy->user())}, {"user_id", buddy->user_id()}, {"buddy", listed}});
  } else {
    c.terminal.message(escape_for_display(buddy->user()) + (listed ? " is on your list now" : " is not on your list"));
  }
  return {};
}

Status buddy_add(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  return print_buddy(c, server->collaboration().add_buddy(c.options.str("USER")), true);
}

Status buddy_remove(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  return print_buddy(c, server->collaboration().remove_buddy(c.options.str("USER")), false);
}

Status buddy_list(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const api::Listed<v1::BuddyReply> list, server->collaboration().buddies(limit_of(c)));
  Json buddies = Json::array();
  Table table({"USER", "ID"});
  if (!c.options.flag("ids")) table.hide("ID");
  for (const v1::BuddyReply& buddy : list.items) {
    buddies.push_back({{"user", json_text(buddy.user())}, {"user_id", buddy.user_id()}});
    table.row({escape_for_display(buddy.user()), buddy.user_id()});
  }
  print_list(c, "buddies", std::move(buddies), table.text("your list is empty"), list.cut);
  return {};
}

const options::Positional kGroup{.name = "GROUP", .help = "name or id"};
const options::Positional kUser{.name = "USER", .help = "name or id"};
const options::Option kMessage{
    .name = "message", .value = "TEXT", .help = "a line for who has to answer", .default_value = ""};

std::vector<CommandEntry> making_commands(const std::string& group) {
  return {
      {{.name = "group create",
        .summary = "make a group, with you as its manager",
        .positionals = {{.name = "NAME", .help = "2 to 64 of a-z, 0-9, '.', '_' and '-'"}},
        .options = {{.name = "description", .value = "TEXT", .help = "what it is about", .default_value = ""},
                    {.name = "hidden", .help = "nobody sees it but members and those you invite"}},
        .examples = {{"gridtorrent group create lab --description \"The climate lab\"", ""}},
        .group = group},
       create},
      {{.name = "group list",
        .summary = "list your groups, and those that you are invited to or asked to join",
        .options = {{.name = "all", .help = "also those that you may ask to join"}},
        .group = group},
       list},
      {{.name = "group show",
        .summary = "show a group and its members, as far as you may see them",
        .positionals = {kGroup},
        .group = group},
       show},
      {{.name = "group set",
        .summary = "change a group's description, or who sees it",
        .positionals = {kGroup},
        .options = options::on_command_line_only({{.name = "description", .value = "TEXT", .help = "what it is about"},
                                                  {.name = "hidden",
                                                   .value = "YES|NO",
                                                   .help = "whether only members and those invited see it",
                                                   .choices = {"yes", "no"}}}),
        .group = group},
       set},
      {{.name = "group delete",
        .summary = "delete a group: what was shared with it is so no more; nobody's files are touched",
        .positionals = {kGroup},
        .group = group},
       remove_group}};
}

std::vector<CommandEntry> joining_commands(const std::string& group) {
  const options::Positional person{
      .name = "USER", .help = "for managers: whose request; without: your own invitation", .required = false};
  const options::Positional invited{
      .name = "USER", .help = "for managers: whose invitation; without: your own request", .required = false};
  return {{{.name = "group invite",
            .summary = "invite somebody (managers); a member once they have accepted",
            .positionals = {kGroup, kUser},
            .options = {kMessage},
            .examples = {{"gridtorrent group invite lab ben --message \"for the run data\"", ""}},
            .group = group},
           invite},
          {{.name = "group request",
            .summary = "ask to be let in; a member once a manager has accepted",
            .positionals = {kGroup},
            .options = {kMessage},
            .group = group},
           request},
          {{.name = "group accept",
            .summary = "accept an invitation, or (managers) somebody's request",
            .positionals = {kGroup, person},
            .examples = {{"gridtorrent group accept lab", "your invitation"},
                         {"gridtorrent group accept lab ben", "ben's request"}},
            .group = group},
           accept},
          {{.name = "group decline",
            .summary = "decline an invitation, or (managers) somebody's request",
            .positionals = {kGroup, person},
            .group = group},
           decline},
          {{.name = "group withdraw",
            .summary = "take your request back, or (managers) somebody's invitation",
            .positionals = {kGroup, invited},
            .group = group},
           withdraw},
          {{.name = "group leave",
            .summary = "end your membership, at once; what you published stays yours",
            .positionals = {kGroup},
            .group = group},
           leave},
          {{.name = "group remove",
            .summary = "end somebody's membership, at once (managers)",
            .positionals = {kGroup, kUser},
            .group = group},
           remove_member},
          {{.name = "group promote",
            .summary = "make a member a manager, too (managers); to hand a group over, promote and leave",
            .positionals = {kGroup, kUser},
            .examples = {{"gridtorrent group promote lab ben && gridtorrent group leave lab", "hand it over"}},
            .group = group},
           promote},
          {{.name = "group demote",
            .summary = "make a manager, or yourself, a mere member again (managers)",
            .positionals = {kGroup, kUser},
            .group = group},
           demote}};
}

}  // namespace

std::vector<CommandEntry> group_commands() {
  const std::string group = "People";
  std::vector<CommandEntry> commands = making_commands(group);
  for (CommandEntry& entry : joining_commands(group)) commands.push_back(std::move(entry));
  const std::vector<CommandEntry> buddies = {
      {{.name = "buddy add",
        .summary = "put somebody on your list; they are not told",
        .positionals = {kUser},
        .examples = {{"gridtorrent buddy add ben && gridtorrent access run42 --set buddies", ""}},
        .group = group},
       buddy_add},
      {{.name = "buddy remove",
        .summary = "take somebody off your list; what is shared with buddies is shared with them no more",
        .positionals = {kUser},
        .group = group},
       buddy_remove},
      {{.name = "buddy list", .summary = "show your list", .options = {limit_option()}, .group = group}, buddy_list}};
  commands.insert(commands.end(), buddies.begin(), buddies.end());
  return commands;
}

}  // namespace gridtorrent::client::cli
