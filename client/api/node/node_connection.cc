#include "client/api/node/node_connection.h"

#include "base/rpc/status.h"
#include "common/text.h"

namespace gridtorrent::client::api {
namespace {

/// The node's own errors come with details; without them it was the connection that failed.
Error explain(const grpc::Status& status, const std::string& socket_path) {
  const Error error = rpc::from_grpc(status);
  if (error.code != Code::kUnreachable || !status.error_details().empty()) return error;
  return {error.code, "the node at " + escape_for_display(socket_path) + " went away (" + error.message +
                          "): see its log, and start gridtorrentd again"};
}

}  // namespace

CallTerms NodeConnection::terms(std::chrono::milliseconds deadline) const {
  return {.deadline = deadline, .token = {}, .explain = [path = options.socket_path](const grpc::Status& status) {
            return explain(status, path);
          }};
}

}  // namespace gridtorrent::client::api
