#include "client/cli/people_view.h"

#include <algorithm>

#include "client/cli/text_view.h"
#include "common/shell_words.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

std::string shown(std::string_view text) {
  return escape_for_display(text);
}

std::string quoted(const std::string& message) {
  return message.empty() ? "" : "  \"" + shown(message) + "\"";
}

/// Below what waits for an answer: a line to paste for each.
std::string answers(const std::string& group, std::initializer_list<std::string_view> arguments) {
  const std::string rest = " " + shell_arguments(arguments) + "\n", begin = "    gridtorrent " + group + " ";
  return "\n" + begin + "accept" + rest + begin + "decline" + rest;
}

std::string name_of(const v1::Content& content) {
  return shown(content.owner()) + "/" + shown(content.name());
}

std::string ends(const v1::Membership& membership) {
  return "  (ends " + short_time(membership.expires_ms()) + ")";
}

std::string standing_text(const v1::Group& group) {
  if (group.standing() == "none") return "-";
  if (group.expires_ms() == 0) return group.standing();
  return group.standing() + ", ends " + short_time(group.expires_ms());
}

}  // namespace

Json to_json(const v1::Membership& membership) {
  return {{"group_id", membership.group_id()},         {"group", json_text(membership.group())},
          {"user_id", membership.user_id()},           {"user", json_text(membership.user())},
          {"standing", membership.standing()},         {"asked_by", json_text(membership.asked_by())},
          {"since", json_time(membership.since_ms())}, {"expires", json_time(membership.expires_ms())},
          {"message", json_text(membership.message())}};
}

Json to_json(const v1::Group& group, bool with_members) {
  Json json = {{"group_id", group.group_id()},
               {"name", json_text(group.name())},
               {"description", json_text(group.description())},
               {"hidden", group.hidden()},
               {"standing", group.standing()},
               {"expires", json_time(group.expires_ms())},
               {"created", json_time(group.created_ms())}};
  if (!with_members) return json;
  Json members = Json::array();
  for (const v1::Membership& member : group.members()) members.push_back(to_json(member));
  json["members"] = std::move(members);
  return json;
}

Json to_json(const v1::Notice& notice) {
  return {{"kind", notice.kind()},
          {"at", json_time(notice.at_ms())},
          {"by", json_text(notice.by())},
          {"group", notice.group().empty() ? Json() : Json(json_text(notice.group()))},
          {"content", notice.object().empty() ? Json() : Json(json_text(notice.object()))}};
}

Json to_json(const v1::Offer& offer) {
  return {{"content_id", offer.content_id()},     {"owner", json_text(offer.owner())},
          {"name", json_text(offer.name())},      {"bytes", offer.bytes()},
          {"by", json_text(offer.by())},          {"to", json_text(offer.to())},
          {"since", json_time(offer.since_ms())}, {"expires", json_time(offer.expires_ms())},
          {"message", json_text(offer.message())}};
}

Json to_json(const v1::Inbox& inbox, bool unread_only) {
  Json offers = Json::array();
  for (const v1::Offer& one : inbox.offers()) offers.push_back(to_json(one));
  Json invitations = Json::array(), requests = Json::array(), shares = Json::array(), notices = Json::array();
  for (const v1::Membership& one : inbox.invitations()) invitations.push_back(to_json(one));
  for (const v1::Membership& one : inbox.requests()) requests.push_back(to_json(one));
  for (const v1::Content& content : inbox.shares()) {
    const bool unread = content.shared_ms() > inbox.read_until_ms();
    if (unread_only && !unread) continue;
    Json share = to_json(content);
    share["shared"] = json_time(content.shared_ms());
    share["unread"] = unread;
    shares.push_back(std::move(share));
  }
  for (const v1::Notice& notice : inbox.notices()) {
    const bool unread = notice.at_ms() > inbox.read_until_ms();
    if (unread_only && !unread) continue;
    Json told = to_json(notice);
    told["unread"] = unread;
    notices.push_back(std::move(told));
  }
  Json more = Json::array();
  for (const std::string& kind : inbox.more()) more.push_back(json_text(kind));
  return {{"invitations", std::move(invitations)},
          {"requests", std::move(requests)},
          {"offers", std::move(offers)},
          {"shares", std::move(shares)},
          {"notices", std::move(notices)},
          {"read_until", json_time(inbox.read_until_ms())},
          {"more", std::move(more)},
          {"older_notices", inbox.older_notices()}};
}

std::string groups_table(const std::vector<v1::Group>& groups, bool ids) {
  Table table({"NAME", "ID", "YOU", "HIDDEN", "DESCRIPTION"});
  if (!ids) table.hide("ID");
  for (const v1::Group& group : groups) {
    table.row({shown(group.name()), group.group_id(), standing_text(group), group.hidden() ? "yes" : "no",
               shown(group.description().substr(0, group.description().find('\n')))});
  }
  return table.text("no groups; look for more with --all, or make one with: gridtorrent group create NAME");
}

std::string group_text(const v1::Group& group) {
  std::string text = shown(group.name()) + "  (" + group.group_id() + ")" + (group.hidden() ? "  hidden" : "") + "\n";
  if (!group.description().empty()) text += shown(group.description()) + "\n";
  if (group.standing() != "none") text += "you: " + standing_text(group) + "\n";
  Table table({"USER", "STANDING", "SINCE", "ENDS", "MESSAGE"});
  for (const v1::Membership& member : group.members()) {
    table.row({shown(member.user()), member.standing(), short_time(member.since_ms()),
               member.expires_ms() == 0 ? "-" : short_time(member.expires_ms()), shown(member.message())});
  }
  return text + table.text("");
}

std::string notice_text(const v1::Notice& notice) {
  const std::string by = shown(notice.by()), group = shown(notice.group()), object = shown(notice.object());
  const std::string& kind = notice.kind();
  if (kind == "request-accepted") return by + " let you into " + group;
  if (kind == "request-declined") return by + " declined your request to join " + group;
  if (kind == "invitation-accepted") return by + " accepted your invitation to " + group;
  if (kind == "invitation-declined") return by + " declined your invitation to " + group;
  if (kind == "removed") return by + " removed you from " + group;
  if (kind == "left") return by + " left " + group;
  if (kind == "made-manager") return by + " made you a manager of " + group;
  if (kind == "manager-no-more") return by + " ended your being a manager of " + group;
  if (kind == "group-deleted") return by + " deleted the group " + group;
  if (kind == "offer-accepted") return by + " took over " + object;
  if (kind == "new-version") return by + " published a new version of " + object;
  if (kind == "offer-declined") return by + " declined to take over " + object;
  return shown(kind) + (by.empty() ? "" : " by " + by) + (group.empty() ? "" : " in " + group);
}

std::string offer_lines(const v1::Offer& offer) {
  const std::string name = shown(offer.owner()) + "/" + shown(offer.name());
  const bool by_owner = offer.by() == offer.owner();
  return "  " + shown(offer.by()) + " offers you " + (by_owner ? name : name + ", whose owner's account is disabled") +
         " (" + format_bytes(offer.bytes()) + "), until " + short_time(offer.expires_ms()) + quoted(offer.message()) +
         answers("handover", {offer.owner() + "/" + offer.name()});
}

std::string offers_text(const v1::ListOffersReply& offers) {
  std::string text;
  for (const v1::Offer& one : offers.to_me()) text += offer_lines(one);
  for (const v1::Offer& one : offers.by_me()) {
    const std::string name = shown(one.owner()) + "/" + shown(one.name());
    text += "  you offer " + shown(one.to()) + " " + name + ", until " + short_time(one.expires_ms()) +
            quoted(one.message()) + "\n    gridtorrent handover withdraw " +
            shell_arguments({one.owner() + "/" + one.name()}) + "\n";
  }
  if (text.empty()) return "no offers";
  text.pop_back();
  return text;
}

/// Where an inbox gives only part of a kind: says so, and where the rest is.
std::string rest_of(const v1::Inbox& inbox, std::string_view kind, const std::string& where) {
  const bool cut = std::find(inbox.more().begin(), inbox.more().end(), kind) != inbox.more().end();
  return cut ? "  there are more; " + where + "\n" : "";
}

std::string inbox_text(const v1::Inbox& inbox, bool unread_only) {
  std::string text;
  const auto section = [&text](std::string_view heading, const std::string& lines) {
    if (lines.empty()) return;
    text += (text.empty() ? "" : "\n") + std::string(heading) + "\n" + lines;
  };
  std::string lines;
  for (const v1::Membership& one : inbox.invitations()) {
    lines += "  " + shown(one.asked_by()) + " invites you to " + shown(one.group()) + ends(one) +
             quoted(one.message()) + answers("group", {one.group()});
  }
  section("Invitations", lines + rest_of(inbox, "invitations", "all: gridtorrent group list"));
  lines.clear();
  for (const v1::Membership& one : inbox.requests()) {
    lines += "  " + shown(one.user()) + " asks to join " + shown(one.group()) + ends(one) + quoted(one.message()) +
             answers("group", {one.group(), one.user()});
  }
  section("Requests", lines + rest_of(inbox, "requests", "all: gridtorrent group show GROUP"));
  lines.clear();
  for (const v1::Offer& one : inbox.offers()) lines += offer_lines(one);
  section("Offered to you", lines + rest_of(inbox, "offers", "all: gridtorrent handover list"));
  lines.clear();
  for (const v1::Content& content : inbox.shares()) {
    if (unread_only && content.shared_ms() <= inbox.read_until_ms()) continue;
    lines += "  " + short_time(content.shared_ms()) + "  " + name_of(content) + "  " + format_bytes(content.bytes()) +
             "  (" + api::access_text(content.access()) + ")\n";
  }
  section("Shared with you", lines + rest_of(inbox, "shares", "all: gridtorrent search --access shared"));
  lines.clear();
  for (const v1::Notice& notice : inbox.notices()) {
    if (unread_only && notice.at_ms() <= inbox.read_until_ms()) continue;
    lines += "  " + short_time(notice.at_ms()) + "  " + notice_text(notice) + "\n";
  }
  const bool all_unread = !inbox.notices().empty() && inbox.notices().rbegin()->at_ms() > inbox.read_until_ms();
  if (!unread_only || all_unread) {
    lines += rest_of(inbox, "notices", std::to_string(inbox.older_notices()) + " older ones are not shown");
  }
  section("News", lines);
  if (text.empty()) return unread_only ? "nothing new; what you have read is shown with --all" : "the inbox is empty";
  text.pop_back();
  return text;
}

}  // namespace gridtorrent::client::cli
