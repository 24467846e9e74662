#include "tests/integration/server_lab.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/crypto/digest.h"
#include "common/hex.h"
#include "tracker/authority/enrollment.h"

namespace gridtorrent::test {

namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "gt-server-XXXXXX").native();
  GT_CHECK(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ServerLab::ServerLab() {
  start();
}
ServerLab::~ServerLab() = default;

void ServerLab::start() {
  tracker::app::ServerConfig config;
  config.data_dir = data_dir();
  config.password_cost = {.log_n = 8, .r = 8, .p = 1};
  auto server = tracker::app::Server::start(config);
  GT_CHECK(server.ok() || (std::fprintf(stderr, "%s\n", server.error().message.c_str()), false));
  server_ = std::move(*server);
  auto channel = rpc::connect_tls(server_->address(), server_->ca_file());
  GT_CHECK(channel.ok());
  channel_ = *channel;
  admin_token_ = first_line(server_->admin_token_file());
}

void ServerLab::restart() {
  server_.reset();
  start();
}

std::shared_ptr<grpc::Channel> ServerLab::channel() {
  return channel_;
}

std::string ServerLab::password() {
  return kPassword;
}

std::string ServerLab::add_user(const std::string& name) {
  v1::AddUserRequest request;
  request.set_request_id(request_id());
  request.set_name(name);
  request.set_password(kPassword);
  request.add_roles("user");
  const auto added = call<v1::Accounts>(&v1::Accounts::Stub::AddUser, request, admin_token_);
  EXPECT_TRUE(added.ok()) << added.error().message;
  return login(name);
}

std::string ServerLab::login(const std::string& name) {
  v1::LoginRequest request;
  *request.mutable_hello() = hello();
  request.set_user(name);
  request.set_password(kPassword);
  const auto reply = call<v1::Accounts>(&v1::Accounts::Stub::Login, request, "");
  EXPECT_TRUE(reply.ok()) << reply.error().message;
  return reply.ok() ? reply->token() : "";
}

LabNode ServerLab::enroll(const std::string& user_token, const std::string& node_name) {
  v1::CreateEnrollTokenRequest wish;
  wish.set_request_id(request_id());
  const auto token = call<v1::Nodes>(&v1::Nodes::Stub::CreateEnrollToken, wish, user_token);
  EXPECT_TRUE(token.ok()) << token.error().message;
  const auto key = crypto::EcKey::make();
  v1::EnrollRequest request;
  *request.mutable_hello() = hello();
  request.set_request_id(request_id());
  request.set_name(node_name);
  request.set_public_key(key->public_der());
  request.set_proof(*key->sign(tracker::authority::kEnrollProofLabel + token->token()));
  const auto enrolled = call<v1::Nodes>(&v1::Nodes::Stub::Enroll, request, token->token());
  EXPECT_TRUE(enrolled.ok()) << enrolled.error().message;
  return {enrolled->node_id(), enrolled->node_token(), key->private_pem()};
}

std::string ServerLab::publish(const std::string& token, const std::string& name, v1::Access::Level level,
                               std::uint64_t bytes) {
  v1::BeginPublishRequest begin;
  begin.set_request_id(request_id());
  begin.set_name(name);
  begin.mutable_access()->set_level(level);
  const auto ticket = call<v1::Contents>(&v1::Contents::Stub::BeginPublish, begin, token);
  EXPECT_TRUE(ticket.ok()) << ticket.error().message;
  const auto sent = send(channel_, token, upload_of(request_id(), ticket->content_id(), one_file_metadata(bytes)));
  EXPECT_TRUE(sent.ok()) << sent.error().message;
  return ticket->content_id();
}

metainfo::VersionMetadata one_file_metadata(std::uint64_t bytes) {
  metainfo::ManifestEntry file;
  file.kind = metainfo::EntryKind::kFile;
  file.size = bytes;
  file.mode = 0644;
  file.root.fill(7);
  metainfo::VersionMetadata metadata;
  metadata.manifest.base_name = "data.bin";
  metadata.manifest.entries = {file};
  metainfo::Segment segment;
  segment.piece_bytes = metainfo::choose_piece_bytes(bytes);
  segment.piece_hashes.assign(20 * ((bytes + segment.piece_bytes - 1) / segment.piece_bytes), 'h');
  metadata.segments = {segment};
  return metadata;
}

Upload upload_of(const std::string& request_id, const std::string& content_id,
                 const metainfo::VersionMetadata& metadata) {
  Upload upload;
  upload.request_id = request_id;
  upload.content_id = content_id;
  upload.document = metainfo::encode(metadata);
  upload.sha256_hex = hex_encode(crypto::sha256(as_bytes(upload.document)));
  upload.total = upload.document.size();
  return upload;
}

Result<v1::FinishPublishReply> send(const std::shared_ptr<grpc::Channel>& channel, const std::string& token,
                                    const Upload& upload) {
  const auto stub = v1::Contents::NewStub(channel);
  grpc::ClientContext context;
  rpc::prepare(context, std::chrono::seconds(20), token);
  v1::FinishPublishReply reply;
  const auto writer = stub->FinishPublish(&context, &reply);
  v1::FinishPublishChunk chunk;
  chunk.set_request_id(upload.request_id);
  chunk.set_content_id(upload.content_id);
  chunk.set_version(1);
  chunk.set_total_bytes(upload.total);
  chunk.set_sha256(upload.sha256_hex);
  for (std::size_t at = 0; at < upload.document.size(); at += upload.chunk) {
    chunk.set_data(upload.document.substr(at, upload.chunk));
    if (!writer->Write(chunk)) break;
    chunk.Clear();
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  if (!status.ok()) return rpc::from_grpc(status);
  return reply;
}

Result<std::string> download(const std::shared_ptr<grpc::Channel>& channel, const std::string& token,
                             const std::string& content_id, bool checksums) {
  const auto stub = v1::Contents::NewStub(channel);
  grpc::ClientContext context;
  rpc::prepare(context, std::chrono::seconds(20), token);
  v1::GetMetadataRequest request;
  request.set_content_id(content_id);
  const auto reader = checksums ? stub->GetChecksums(&context, request) : stub->GetMetadata(&context, request);
  std::string document;
  v1::MetadataChunk chunk;
  while (reader->Read(&chunk)) document += chunk.data();
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return rpc::from_grpc(status);
  return document;
}

}  // namespace gridtorrent::test
