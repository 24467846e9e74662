#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/context.h"

/// Names of nodes in place of ids, for people; what --json prints keeps its ids.
namespace gridtorrent::client::cli {

/// Names by ids. A name that two nodes have is left out.
using NodeNames = std::map<std::string, std::string>;
NodeNames node_names(const std::vector<v1::Replica>& replicas);
NodeNames node_names(const std::vector<v1::Node>& nodes);
/// The name, or the id where there is none. Not escaped.
const std::string& name_or_id(const NodeNames& names, const std::string& id);

/// What people read with names in place of ids.
v1::Tuning named(v1::Tuning tuning, const NodeNames& names);
v1::Transfer named(v1::Transfer transfer, const NodeNames& names);
v1::Task named(v1::Task task, const NodeNames& names);
v1::History named(v1::History history, const NodeNames& names);

/// Whether `named` may have something to do.
bool names_nodes(const v1::Transfer& transfer);

/// Of the nodes that have this content (owner/name or id), as far as the server tells the caller. Nothing with --ids,
/// where the login is not for the node's server, and where that does not answer within half a second.
NodeNames names_for_content(Context& c, api::NodeApi& node, const std::string& content);
/// Names for what transfers say of themselves ("n_… has not answered for 5 s"), as they go on. Asks the server where a
/// message names a node, once for each content in ten seconds, for half a second in all; and not for a minute where it
/// was slow.
class NamesInMessages {
 public:
  explicit NamesInMessages(Context& context) : context_(context) {}
  v1::Transfer named(const v1::Transfer& transfer);
  std::vector<v1::Transfer> named(const google::protobuf::RepeatedPtrField<v1::Transfer>& transfers);

 private:
  struct Known {
    NodeNames names;
    std::optional<MonoTime> asked;
  };
  const NodeNames& names_of(const std::string& content, MonoTime until);
  v1::Transfer named(const v1::Transfer& transfer, MonoTime until);

  Context& context_;
  std::map<std::string, Known> known_;
  std::optional<MonoTime> silent_until_;
};

/// Of the seeders of these paths, likewise: of the caller's own nodes, and of those that have what this node's
/// transfers are of. Asks for half a second in all.
NodeNames names_for_history(Context& c, api::NodeApi& node, const v1::History& history);
/// The caller's own nodes. None with --ids, and where the server does not answer within half a second.
std::vector<v1::Node> own_nodes(Context& c, api::NodeApi& node);
/// Of the caller's own nodes, for tasks. Nothing with --ids, and where the server does not answer.
NodeNames names_of_own_nodes(Context& c, api::ServerApi& server);

}  // namespace gridtorrent::client::cli
