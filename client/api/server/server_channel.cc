#include "client/api/server/server_channel.h"

#include "base/rpc/diagnosis.h"
#include "base/rpc/status.h"

namespace gridtorrent::client::api {

ServerChannel::ServerChannel(ServerApiOptions options, std::shared_ptr<grpc::Channel> channel)
    : options_(std::move(options)),
      accounts_(v1::Accounts::NewStub(channel)),
      contents_(v1::Contents::NewStub(channel)),
      collaboration_(v1::Collaboration::NewStub(channel)),
      nodes_(v1::Nodes::NewStub(channel)),
      tasks_(v1::Tasks::NewStub(channel)),
      token_(options_.token) {}

CallTerms ServerChannel::terms(std::chrono::milliseconds deadline) const {
  return {.deadline = deadline, .token = token(), .explain = [this](const grpc::Status& status) {
            return rpc::diagnose(rpc::from_grpc(status), options_.address, options_.ca_file, clock_.wall());
          }};
}

std::string ServerChannel::token() const {
  const std::lock_guard lock(mutex_);
  return token_;
}

void ServerChannel::set_token(std::string token) {
  const std::lock_guard lock(mutex_);
  token_ = std::move(token);
}

}  // namespace gridtorrent::client::api
