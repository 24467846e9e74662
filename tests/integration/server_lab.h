#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "base/crypto/keys.h"
#include "base/rpc/channel.h"
#include "base/rpc/hello.h"
#include "common/clock.h"
#include "common/rng.h"
#include "gridtorrent/v1/ccm.grpc.pb.h"
#include "gridtorrent/v1/tracker.grpc.pb.h"
#include "metainfo/metadata.h"
#include "tracker/app/server.h"

/// A real server on port 0 over TLS in a temporary folder, with the account admin, and what tests need to talk to it.
namespace gridtorrent::test {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A node as far as the server sees one.
struct LabNode {
  std::string id, token;
  std::string key_pem;
};

class ServerLab {
 public:
  ServerLab();
  ~ServerLab();

  /// Ends the server and starts it anew on the same folder, at another port.
  void restart();
  void stop() { server_.reset(); }
  std::string data_dir() const { return folder_.path() + "/data"; }

  tracker::app::Server& server() { return *server_; }
  const std::string& admin_token() const { return admin_token_; }
  std::shared_ptr<grpc::Channel> channel();

  /// Everybody's password.
  static std::string password();
  /// A user with a password and a login; returns the token.
  std::string add_user(const std::string& name);
  std::string login(const std::string& name);
  LabNode enroll(const std::string& user_token, const std::string& node_name);
  /// Publishes a content of one file of so many bytes with the given access; returns its id.
  std::string publish(const std::string& token, const std::string& name, v1::Access::Level level,
                      std::uint64_t bytes = 5);

  std::string request_id() { return make_request_id(clock_.wall(), rng_); }
  v1::Hello hello() { return rpc::make_hello(clock_.wall()); }

  /// One unary call with a token, 15 s; `Service` is v1::Contents and the like.
  template <class Service, class Request, class Reply>
  Result<Reply> call(grpc::Status (Service::Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                     const Request& request, const std::string& token) {
    const auto stub = Service::NewStub(channel());
    return rpc::call<typename Service::Stub, Request, Reply>(*stub, method, request, token);
  }

 private:
  void start();

  TemporaryFolder folder_;
  SystemClock clock_;
  SystemRng rng_;
  std::unique_ptr<tracker::app::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::string admin_token_;
};

inline constexpr char kPassword[] = "correct horse battery";

/// What a publisher would upload for one file of so many bytes; the hashes are made up, which the server cannot know.
metainfo::VersionMetadata one_file_metadata(std::uint64_t bytes);

/// Uploads a document in chunks of `chunk` bytes; the header says `total` and `sha256_hex`.
struct Upload {
  std::string request_id, content_id, document, sha256_hex;
  std::uint64_t total = 0;
  std::size_t chunk = 1000;
};
Upload upload_of(const std::string& request_id, const std::string& content_id,
                 const metainfo::VersionMetadata& metadata);
Result<v1::FinishPublishReply> send(const std::shared_ptr<grpc::Channel>& channel, const std::string& token,
                                    const Upload& upload);

/// GetMetadata or GetChecksums, joined.
Result<std::string> download(const std::shared_ptr<grpc::Channel>& channel, const std::string& token,
                             const std::string& content_id, bool checksums = false);

}  // namespace gridtorrent::test
