#include "client/security/node_identity.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/crypto/digest.h"
#include "common/hex.h"
#include "common/text.h"

namespace gridtorrent::client::security {
namespace {

using Json = nlohmann::json;

std::string credential_path(const std::string& data_dir) {
  return data_dir + "/credential.json";
}

Result<NodeIdentity> decode(const std::string& text, const std::string& path) {
  const Error damaged{Code::kCorrupt, escape_for_display(path) +
                                          " is damaged; remove it and enrol the node anew "
                                          "(`gridtorrent node enroll-token`)"};
  try {
    const Json json = Json::parse(text);
    NodeIdentity identity;
    const auto node = NodeId::parse(json.at("node_id").get<std::string>());
    const auto owner = UserId::parse(json.at("owner_id").get<std::string>());
    if (!node || !owner) return damaged;
    identity.node = *node;
    identity.owner_id = *owner;
    identity.node_name = json.at("node_name");
    identity.owner = json.at("owner");
    identity.server = json.at("server");
    identity.token = json.at("token");
    identity.issued = WallTime{json.at("issued_ms").get<std::int64_t>()};
    identity.expires = WallTime{json.at("expires_ms").get<std::int64_t>()};
    return identity;
  } catch (const Json::exception&) {
    return damaged;
  }
}

/// The request id of an enrolment that may have happened already with this token, else the fresh one, written down.
Result<std::string> remembered_request(const std::string& data_dir, const std::string& token_mark,
                                       const std::string& fresh) {
  const std::string path = data_dir + "/enrolment";
  const auto known = crypto::read_secret_file(path);
  if (known) {
    const auto space = known->find(' ');
    if (space != std::string::npos && known->substr(0, space) == token_mark) return known->substr(space + 1);
  } else if (known.error().code != Code::kNotFound) {
    return known.error();
  }
  GT_TRY(crypto::write_secret_file(path, token_mark + " " + fresh));
  return fresh;
}

}  // namespace

Result<std::optional<NodeIdentity>> load_identity(const std::string& data_dir) {
  const auto path = credential_path(data_dir);
  const auto text = crypto::read_secret_file(path);
  if (!text) {
    if (text.error().code == Code::kNotFound) return std::optional<NodeIdentity>();
    return text.error();
  }
  GT_ASSIGN(NodeIdentity identity, decode(*text, path));
  return std::optional(std::move(identity));
}

Status save_identity(const std::string& data_dir, const NodeIdentity& identity) {
  const Json json{{"node_id", identity.node.str()},      {"node_name", identity.node_name},
                  {"owner_id", identity.owner_id.str()}, {"owner", identity.owner},
                  {"server", identity.server},           {"token", identity.token},
                  {"issued_ms", identity.issued.ms},     {"expires_ms", identity.expires.ms}};
  return crypto::write_secret_file(credential_path(data_dir),
                                   json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Status set_identity_aside(const std::string& data_dir) {
  const std::string path = credential_path(data_dir);
  if (::rename(path.c_str(), (path + ".removed").c_str()) == 0 || errno == ENOENT) return {};
  return Error{Code::kDisk, "cannot rename " + escape_for_display(path) + ": " + errno_text(errno)};
}

Result<NodeIdentity> enrol_once(const std::string& data_dir, const std::string& enroll_token,
                                const std::string& node_name, const std::string& fresh_request_id,
                                const ProofTextFn& proof_text, const EnrolFn& enrol) {
  GT_ASSIGN(const crypto::EcKey key, crypto::EcKey::load_or_make(data_dir + "/node_key.pem"));
  EnrolmentRequest request;
  request.enroll_token = enroll_token;
  request.node_name = node_name;
  request.public_key = key.public_der();
  GT_ASSIGN(request.proof, key.sign(proof_text(enroll_token)));
  const auto digest = crypto::sha256(as_bytes(enroll_token));
  GT_ASSIGN(request.request_id, remembered_request(data_dir, hex_encode(std::span(digest).first(8)), fresh_request_id));
  GT_ASSIGN(NodeIdentity identity, enrol(request));
  GT_TRY(save_identity(data_dir, identity));
  ::unlink((data_dir + "/enrolment").c_str());
  ::unlink((credential_path(data_dir) + ".removed").c_str());
  return identity;
}

}  // namespace gridtorrent::client::security
