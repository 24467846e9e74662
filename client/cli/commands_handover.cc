#include "client/cli/context.h"
#include "client/cli/people_view.h"
#include "common/shell_words.h"
#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

Status tell(Context& c, const v1::Offer& offer, const std::string& done) {
  if (c.json) {
    c.print(to_json(offer));
  } else {
    c.terminal.message(done);
  }
  return {};
}

std::string reference(const Context& c) {
  return escape_for_display(c.options.str("CONTENT"));
}

Result<v1::Offer> answer(Context& c, const std::string& how) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  v1::AnswerOfferRequest request;
  request.set_content(c.options.str("CONTENT"));
  request.set_answer(how);
  if (how == "accept") request.set_name(c.options.str("name"));
  return server->collaboration().answer_offer(std::move(request));
}

Status offer(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  v1::OfferContentRequest request;
  request.set_content(c.options.str("CONTENT"));
  request.set_to(c.options.str("to"));
  request.set_message(c.options.str("message"));
  GT_ASSIGN(const v1::Offer made, server->collaboration().offer_content(std::move(request)));
  return tell(c, made,
              "offered " + reference(c) + " to " + escape_for_display(made.to()) + ", who has 14 days to answer");
}

Status list(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::ListOffersReply offers, server->collaboration().offers());
  if (!c.json) {
    c.terminal.result(offers_text(offers));
    if (offers.cut()) c.terminal.message("this server lists the newest 200 of each kind only; there are more");
    return {};
  }
  Json to_me = Json::array(), by_me = Json::array();
  for (const v1::Offer& one : offers.to_me()) to_me.push_back(to_json(one));
  for (const v1::Offer& one : offers.by_me()) by_me.push_back(to_json(one));
  c.print({{"to_me", std::move(to_me)}, {"by_me", std::move(by_me)}, {"more", offers.cut()}});
  return {};
}

Status accept(Context& c) {
  GT_ASSIGN(const v1::Offer taken, answer(c, "accept"));
  const std::string name = taken.owner() + "/" + taken.name();
  return tell(c, taken,
              escape_for_display(name) + " is yours; who may have it: gridtorrent access " + shell_arguments({name}));
}

Status decline(Context& c) {
  GT_ASSIGN(const v1::Offer ended, answer(c, "decline"));
  return tell(c, ended, "declined " + reference(c));
}

Status withdraw(Context& c) {
  GT_ASSIGN(const v1::Offer ended, answer(c, "withdraw"));
  return tell(c, ended, "withdrew the offer of " + reference(c));
}

}  // namespace

std::vector<CommandEntry> handover_commands() {
  const std::string group = "People";
  const options::Positional content{.name = "CONTENT", .help = "id, name or owner/name"};
  return {
      {{.name = "handover offer",
        .summary = "offer a content of yours to a new owner",
        .description = "Nothing is copied. Once the new owner accepts, the content has their name and counts towards "
                       "their quota. Access stays, with two changes: your list of buddies is removed from it, and "
                       "you are added to it (unless it is public), so that your nodes serve it until the new "
                       "owner's nodes have it. An administrator can offer the content of a disabled account.",
        .positionals = {content},
        .options = {{.name = "to", .value = "USER", .help = "the new owner", .required = true},
                    {.name = "message", .value = "TEXT", .help = "for them to read"}},
        .examples = {{"gridtorrent handover offer run42 --to ben --message 'I leave in May'", ""}},
        .group = group},
       offer},
      {{.name = "handover list", .summary = "list what is offered to you, and by you", .group = group}, list},
      {{.name = "handover accept",
        .summary = "take over a content that is offered to you",
        .positionals = {content},
        .options = {{.name = "name", .value = "NAME", .help = "under this name", .check = options::is_not_empty}},
        .group = group},
       accept},
      {{.name = "handover decline",
        .summary = "decline to take a content over",
        .positionals = {content},
        .group = group},
       decline},
      {{.name = "handover withdraw",
        .summary = "withdraw an offer that is not answered yet",
        .positionals = {content},
        .group = group},
       withdraw}};
}

}  // namespace gridtorrent::client::cli
