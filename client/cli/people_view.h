#pragma once

#include <string>
#include <vector>

#include "client/api/server/server_api.h"
#include "client/cli/json.h"

/// Groups, buddies and the inbox, for people and as JSON. Pure functions; whatever came from outside is escaped.
namespace gridtorrent::client::cli {

Json to_json(const v1::Membership& membership);
/// With members where `with_members`.
Json to_json(const v1::Group& group, bool with_members);
Json to_json(const v1::Notice& notice);
/// Only what is unread, where `unread_only`; invitations and requests are open and always there.
Json to_json(const v1::Offer& offer);
Json to_json(const v1::Inbox& inbox, bool unread_only);

std::string groups_table(const std::vector<v1::Group>& groups, bool ids = false);
std::string group_text(const v1::Group& group);
/// With the commands that answer; "nothing new" where there is nothing.
std::string offers_text(const v1::ListOffersReply& offers);
std::string inbox_text(const v1::Inbox& inbox, bool unread_only);
/// "ben accepted your invitation to lab".
std::string notice_text(const v1::Notice& notice);

}  // namespace gridtorrent::client::cli
