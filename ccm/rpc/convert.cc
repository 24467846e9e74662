#include "ccm/rpc/convert.h"

#include <string>

namespace gridtorrent::ccm::rpc {

v1::Access to_wire(const Access& access) {
  v1::Access out;
  switch (access.level) {
    case AccessLevel::kPublic:
      out.set_level(v1::Access::PUBLIC);
      break;
    case AccessLevel::kPrivate:
      out.set_level(v1::Access::PRIVATE);
      break;
    case AccessLevel::kShared:
      out.set_level(v1::Access::SHARED);
      break;
  }
  for (const GroupTarget& group : access.groups) out.add_groups(group.name);
  for (const std::string& user : access.users) out.add_users(user);
  out.set_buddies(access.buddies);
  return out;
}

Result<Access> from_wire(const v1::Access& access) {
  Access out;
  switch (access.level()) {
    case v1::Access::PUBLIC:
      out.level = AccessLevel::kPublic;
      break;
    case v1::Access::PRIVATE:
      out.level = AccessLevel::kPrivate;
      break;
    case v1::Access::SHARED:
      out.level = AccessLevel::kShared;
      break;
    default:
      return Error{Code::kInvalid, "the access is missing: public, private, or a list of groups, users and buddies"};
  }
  for (const std::string& group : access.groups()) out.groups.push_back({GroupId(), group});
  out.users.assign(access.users().begin(), access.users().end());
  out.buddies = access.buddies();
  return out;
}

v1::Content to_wire(const ContentView& view) {
  const Content& content = view.content;
  v1::Content out;
  out.set_content_id(content.id.str());
  out.set_name(content.name);
  out.set_owner(content.owner_name);
  *out.mutable_access() = to_wire(content.access);
  out.set_bytes(content.bytes);
  out.set_files(content.files);
  out.set_base_name(content.base_name);
  out.set_version(content.version);
  out.set_state(std::string(content_state_name(content.state)));
  out.set_description(content.description);
  for (const std::string& tag : content.tags) out.add_tags(tag);
  out.set_license(content.license);
  out.set_created_ms(content.created.ms);
  out.set_published_ms(content.published.ms);
  out.set_seeders(view.seeders);
  out.set_leechers(view.leechers);
  out.set_metadata_sha256(content.metadata_sha256);
  out.set_metadata_bytes(content.metadata_bytes);
  out.set_piece_bytes(content.piece_bytes);
  out.set_generation(content.generation);
  out.set_data_ca_pem(view.data_ca_pem);
  out.set_newest_version(view.newest_version);
  out.set_has_checksums(!content.checksums_sha256.empty());
  out.set_revision(content.revision);
  return out;
}

v1::Version to_wire(const VersionView& view) {
  v1::Version out;
  out.set_version(view.version.number);
  out.set_published_ms(view.version.published.ms);
  out.set_bytes(view.version.bytes);
  out.set_files(view.version.files);
  out.set_base_name(view.version.base_name);
  out.set_metadata_sha256(view.version.metadata_sha256);
  out.set_seeders(view.seeders);
  out.set_replicas(view.replicas);
  return out;
}

v1::PreviewAccessReply to_wire(const AccessPreview& preview) {
  v1::PreviewAccessReply out;
  out.set_people(preview.audience.people);
  for (const Audience::Group& group : preview.audience.groups) {
    auto& added = *out.add_groups();
    added.set_name(group.name);
    added.set_members(group.members);
  }
  out.set_buddies(preview.audience.buddies);
  for (const std::string& user : preview.audience.users) out.add_users(user);
  out.set_text(preview.text);
  return out;
}

v1::Membership to_wire(const Membership& membership) {
  v1::Membership out;
  out.set_group_id(membership.group.str());
  out.set_group(membership.group_name);
  out.set_user_id(membership.user.str());
  out.set_user(membership.user_name);
  out.set_standing(std::string(standing_name(membership.standing)));
  out.set_asked_by(membership.asked_by_name);
  out.set_since_ms(membership.since.ms);
  out.set_expires_ms(membership.expires.ms);
  out.set_message(membership.message);
  return out;
}

v1::Group to_wire(const GroupView& view) {
  v1::Group out;
  out.set_group_id(view.group.id.str());
  out.set_name(view.group.name);
  out.set_description(view.group.description);
  out.set_hidden(view.group.hidden);
  out.set_created_ms(view.group.created.ms);
  out.set_standing(std::string(standing_name(view.own)));
  out.set_expires_ms(view.own_expires.ms);
  for (const Membership& member : view.members) *out.add_members() = to_wire(member);
  return out;
}

v1::Offer to_wire(const Offer& offer) {
  v1::Offer out;
  out.set_content_id(offer.content.str());
  out.set_owner(offer.owner_name);
  out.set_name(offer.content_name);
  out.set_bytes(offer.bytes);
  out.set_by(offer.by_name);
  out.set_to(offer.to_name);
  out.set_since_ms(offer.since.ms);
  out.set_expires_ms(offer.expires.ms);
  out.set_message(offer.message);
  return out;
}

v1::Inbox to_wire(const Inbox& inbox, WallTime now) {
  v1::Inbox out;
  for (const Offer& offer : inbox.offers) *out.add_offers() = to_wire(offer);
  for (const Membership& invitation : inbox.invitations) *out.add_invitations() = to_wire(invitation);
  for (const Membership& request : inbox.requests) *out.add_requests() = to_wire(request);
  for (const Content& share : inbox.shares) {
    v1::Content& shown = *out.add_shares();
    shown = to_wire(ContentView{share, 0, 0, {}});
    shown.set_shared_ms(share.shared.ms);
  }
  for (const Notice& notice : inbox.notices) {
    v1::Notice& told = *out.add_notices();
    told.set_kind(std::string(notice_kind_name(notice.kind)));
    told.set_at_ms(notice.at.ms);
    told.set_by(notice.by);
    told.set_group(notice.group);
    told.set_object(notice.object);
  }
  for (const std::string& kind : inbox.more) out.add_more(kind);
  out.set_older_notices(inbox.older_notices);
  out.set_read_until_ms(inbox.read_until.ms);
  out.set_now_ms(now.ms);
  return out;
}

v1::Replica to_wire(const ReplicaView& view) {
  v1::Replica out;
  out.set_node_id(view.replica.node.str());
  out.set_node_name(view.replica.node_name);
  out.set_owner(view.replica.owner_name);
  out.set_verified_bytes(view.replica.verified_bytes);
  out.set_complete(view.replica.complete);
  out.set_online(view.online);
  out.set_last_seen_ms(view.replica.last_seen.ms);
  out.set_served(view.served);
  out.set_verified_ms(view.replica.verified.ms);
  return out;
}

v1::User to_wire(const User& user) {
  v1::User out;
  out.set_user_id(user.id.str());
  out.set_name(user.name);
  for (const Role role : user.roles()) out.add_roles(std::string(role_name(role)));
  out.set_disabled(user.disabled);
  out.set_created_ms(user.created.ms);
  return out;
}

v1::TokenInfo to_wire(const Token& token) {
  v1::TokenInfo out;
  out.set_token_id(token.id);
  out.set_label(token.label);
  out.set_kind(std::string(token_kind_name(token.kind)));
  for (const std::string& scope : scope_names(token.scopes)) out.add_scopes(scope);
  out.set_created_ms(token.created.ms);
  out.set_expires_ms(token.expires.ms);
  out.set_last_used_ms(token.last_used.ms);
  out.set_revoked(token.revoked.ms != 0);
  out.set_uses_left(token.uses_left);
  return out;
}

}  // namespace gridtorrent::ccm::rpc
