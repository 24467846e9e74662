#include "tests/unit/remote_support.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <thread>

#include "common/check.h"
#include "common/version.h"

namespace gridtorrent::testing {
namespace {

std::string to_pem(const std::function<int(BIO*)>& write) {
  BIO* bio = BIO_new(BIO_s_mem());
  GT_CHECK(write(bio) == 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string pem(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return pem;
}

X509* make_certificate(EVP_PKEY* key, const char* name, WallTime from, WallTime until, X509* issuer, EVP_PKEY* signer,
                       const std::vector<std::pair<int, std::string>>& extensions) {
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  static std::atomic<long> serial = 1;
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
  ASN1_TIME_set(X509_getm_notBefore(certificate), from.ms / 1000);
  ASN1_TIME_set(X509_getm_notAfter(certificate), until.ms / 1000);
  X509_set_pubkey(certificate, key);
  X509_NAME* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(certificate, issuer != nullptr ? X509_get_subject_name(issuer) : subject);
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer != nullptr ? issuer : certificate, certificate, nullptr, nullptr, 0);
  for (const auto& [nid, value] : extensions) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
    GT_CHECK(extension != nullptr);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  GT_CHECK(X509_sign(certificate, signer, EVP_sha256()) > 0);
  return certificate;
}

constexpr std::chrono::hours kYear{24 * 365};

}  // namespace

struct TestCa::Impl {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = nullptr;
};

TestCa::TestCa() : impl_(std::make_unique<Impl>()) {
  const WallTime now = SystemClock().wall();
  impl_->certificate = make_certificate(impl_->key, "test CA", now - kYear, now + kYear, nullptr, impl_->key,
                                        {{NID_basic_constraints, "critical,CA:TRUE"}, {NID_key_usage, "keyCertSign"}});
  pem_ = to_pem([&](BIO* bio) { return PEM_write_bio_X509(bio, impl_->certificate); });
}

TestCa::~TestCa() {
  X509_free(impl_->certificate);
  EVP_PKEY_free(impl_->key);
}

TestCa::Leaf TestCa::issue(const std::string& names, WallTime from, WallTime until) const {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate =
      make_certificate(key, "server", from, until, impl_->certificate, impl_->key, {{NID_subject_alt_name, names}});
  Leaf leaf;
  leaf.certificate_pem = to_pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
  leaf.key_pem =
      to_pem([&](BIO* bio) { return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
  X509_free(certificate);
  EVP_PKEY_free(key);
  return leaf;
}

TestCa::Leaf TestCa::issue() const {
  const WallTime now = SystemClock().wall();
  return issue("IP:127.0.0.1,DNS:localhost", now - std::chrono::hours(48), now + kYear);
}

/// The fake services; all state is the server's.
struct FakeServer::Services {
  explicit Services(FakeServer& owner)
      : accounts(owner), contents(owner), collaboration(owner), nodes(owner), swarms(owner), tasks(owner) {}

  struct Base {
    explicit Base(FakeServer& owner) : server(owner) {}
    void note(grpc::ServerContext* context) {
      const auto& metadata = context->client_metadata();
      const auto found = metadata.find("authorization");
      const std::string header = found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
      server.with([&](FakeState& state) { state.authorizations.push_back(header); });
    }
    FakeServer& server;
  };

  struct Accounts final : v1::Accounts::Service, Base {
    using Base::Base;
    grpc::Status Login(grpc::ServerContext* context, const v1::LoginRequest* request, v1::LoginReply* reply) override {
      note(context);
      if (request->password() != "right") return {grpc::StatusCode::UNAUTHENTICATED, "wrong user or password"};
      server.with([&](FakeState& state) { *reply->mutable_hello() = state.hello; });
      reply->set_token("gtp_fresh");
      reply->set_user(request->user());
      return grpc::Status::OK;
    }
    grpc::Status WhoAmI(grpc::ServerContext* context, const v1::WhoAmIRequest*, v1::WhoAmIReply* reply) override {
      note(context);
      server.with([&](FakeState& state) { *reply->mutable_hello() = state.hello; });
      reply->set_user("ann");
      return grpc::Status::OK;
    }
  };

  struct Contents final : v1::Contents::Service, Base {
    using Base::Base;
    grpc::Status GetContent(grpc::ServerContext* context, const v1::GetContentRequest* request,
                            v1::GetContentReply* reply) override {
      note(context);
      if (request->reference() == "missing") return {grpc::StatusCode::NOT_FOUND, "no content named missing"};
      {
        std::unique_lock lock(server.mutex_);
        while (server.state_.hold && !context->IsCancelled())
          server.changed_.wait_for(lock, std::chrono::milliseconds(20));
        if (context->IsCancelled()) {
          ++server.state_.cancelled;
          server.changed_.notify_all();
          return grpc::Status::CANCELLED;
        }
      }
      server.with([&](FakeState& state) { *reply->mutable_content() = state.content; });
      return grpc::Status::OK;
    }
    grpc::Status ListFiles(grpc::ServerContext* context, const v1::ListFilesRequest* request,
                           v1::ListFilesReply* reply) override {
      note(context);
      return server.with([&](FakeState& state) {
        if (state.file_pages.empty()) return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "");
        state.file_requests.push_back(*request);
        *reply = state.file_pages[request->page()];
        return grpc::Status::OK;
      });
    }
    grpc::Status GetMetadata(grpc::ServerContext* context, const v1::GetMetadataRequest*,
                             grpc::ServerWriter<v1::MetadataChunk>* writer) override {
      note(context);
      return server.with([&](FakeState& state) { return send(*writer, state.metadata, state.metadata_sha256); });
    }
    grpc::Status GetChecksums(grpc::ServerContext* context, const v1::GetMetadataRequest*,
                              grpc::ServerWriter<v1::MetadataChunk>* writer) override {
      note(context);
      return server.with([&](FakeState& state) { return send(*writer, state.checksums, state.checksums_sha256); });
    }
    static grpc::Status send(grpc::ServerWriter<v1::MetadataChunk>& writer, const std::string& bytes,
                             const std::string& sha256) {
      for (std::size_t at = 0; at < bytes.size(); at += 1000) {
        v1::MetadataChunk chunk;
        if (at == 0) {
          chunk.set_total_bytes(bytes.size());
          chunk.set_sha256(sha256);
        }
        chunk.set_data(bytes.substr(at, 1000));
        writer.Write(chunk);
      }
      return grpc::Status::OK;
    }
    grpc::Status BeginPublish(grpc::ServerContext* context, const v1::BeginPublishRequest* request,
                              v1::BeginPublishReply* reply) override {
      note(context);
      server.with([&](FakeState& state) {
        state.begun = *request;
        reply->set_content_id(state.content.content_id());
      });
      reply->set_version(1);
      return grpc::Status::OK;
    }
    grpc::Status FinishPublish(grpc::ServerContext* context, grpc::ServerReader<v1::FinishPublishChunk>* reader,
                               v1::FinishPublishReply* reply) override {
      note(context);
      v1::FinishPublishChunk chunk;
      while (reader->Read(&chunk)) {
        server.with([&](FakeState& state) {
          if (state.uploaded.empty()) state.first_chunk = chunk;
          state.uploaded += chunk.data();
        });
      }
      server.with([&](FakeState& state) { *reply->mutable_content() = state.content; });
      return grpc::Status::OK;
    }
    grpc::Status AddChecksums(grpc::ServerContext* context, grpc::ServerReader<v1::AddChecksumsChunk>* reader,
                              v1::AddChecksumsReply*) override {
      note(context);
      v1::AddChecksumsChunk chunk;
      while (reader->Read(&chunk)) {
        server.with([&](FakeState& state) { state.checksums += chunk.data(); });
      }
      return grpc::Status::OK;
    }
    grpc::Status GiveUpPublish(grpc::ServerContext* context, const v1::GiveUpPublishRequest* request,
                               v1::GiveUpPublishReply*) override {
      note(context);
      server.with([&](FakeState& state) {
        state.request_ids.push_back(request->request_id());
        state.given_up = request->publish_request_id();
      });
      return grpc::Status::OK;
    }
    grpc::Status Unpublish(grpc::ServerContext* context, const v1::UnpublishRequest* request,
                           v1::UnpublishReply* reply) override {
      note(context);
      server.with([&](FakeState& state) {
        state.request_ids.push_back(request->request_id());
        *reply->mutable_content() = state.content;
      });
      return grpc::Status::OK;
    }
  };

  struct Nodes final : v1::Nodes::Service, Base {
    using Base::Base;
    grpc::Status Enroll(grpc::ServerContext* context, const v1::EnrollRequest* request,
                        v1::EnrollReply* reply) override {
      note(context);
      server.with([&](FakeState& state) {
        state.enrolled = *request;
        *reply->mutable_hello() = state.hello;
        reply->set_node_id(state.renewal.node_id());
        reply->set_owner_id(state.renewal.owner_id());
      });
      reply->set_owner("ann");
      reply->set_name("lab-1-x");
      reply->set_node_token("gtn_first");
      reply->set_expires_ms(9'000'000'000'000);
      return grpc::Status::OK;
    }
    grpc::Status RenewNode(grpc::ServerContext* context, const v1::RenewNodeRequest*,
                           v1::RenewNodeReply* reply) override {
      note(context);
      const auto meanwhile = server.with([&](FakeState& state) {
        ++state.renewals;
        *reply = state.renewal;
        return state.while_renewing;
      });
      if (meanwhile) meanwhile();
      return grpc::Status::OK;
    }
  };

  struct Swarms final : v1::Swarms::Service, Base {
    using Base::Base;
    grpc::Status UpdateEndpoints(grpc::ServerContext* context, const v1::UpdateEndpointsRequest* request,
                                 v1::UpdateEndpointsReply* reply) override {
      note(context);
      server.with([&](FakeState& state) { state.endpoints = *request; });
      for (const v1::Endpoint& endpoint : request->endpoints()) {
        v1::NodeEndpoint& out = *reply->add_endpoints();
        *out.mutable_endpoint() = endpoint;
        out.set_reachability(endpoint.port() % 2 == 0 ? v1::REACHABLE : v1::UNREACHABLE);
      }
      return grpc::Status::OK;
    }
    grpc::Status Announce(grpc::ServerContext* context, const v1::AnnounceRequest* request,
                          v1::AnnounceReply* reply) override {
      note(context);
      server.with([&](FakeState& state) { state.announced = *request; });
      reply->set_next_ms(5000);
      v1::Peer& peer = *reply->add_peers();
      server.with([&](FakeState& state) { peer.set_node_id(state.renewal.node_id()); });
      peer.add_endpoints()->set_port(50000);
      peer.set_complete(true);
      return grpc::Status::OK;
    }
  };

  struct Tasks final : v1::Tasks::Service, Base {
    using Base::Base;
    grpc::Status WatchNode(grpc::ServerContext* context, const v1::WatchNodeRequest* request,
                           grpc::ServerWriter<v1::NodeEvent>* writer) override {
      note(context);
      bool mute = false, end = false, removed = false;
      std::vector<v1::NodeEvent> events;
      v1::NodeEvent greeting;
      server.with([&](FakeState& state) {
        state.watches.push_back(*request);
        mute = state.mute;
        end = state.end_streams;
        removed = state.removed;
        events = state.events;
        *greeting.mutable_hello() = state.hello;
      });
      if (removed) return {grpc::StatusCode::PERMISSION_DENIED, "this node was removed"};
      if (!mute) {
        writer->Write(greeting);
        for (const v1::NodeEvent& event : events) writer->Write(event);
      }
      if (end) return {grpc::StatusCode::UNAVAILABLE, "the stream broke"};
      std::unique_lock lock(server.mutex_);
      while (!context->IsCancelled()) server.changed_.wait_for(lock, std::chrono::milliseconds(20));
      return grpc::Status::CANCELLED;
    }
    grpc::Status AckTask(grpc::ServerContext* context, const v1::AckTaskRequest* request, v1::AckTaskReply*) override {
      note(context);
      return server.with([&](FakeState& state) -> grpc::Status {
        if (!state.pushback.empty()) {
          context->AddTrailingMetadata("grpc-retry-pushback-ms", state.pushback);
          return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too often"};
        }
        state.acked.push_back(request->sequence());
        return grpc::Status::OK;
      });
    }
    grpc::Status ReportTask(grpc::ServerContext* context, const v1::ReportTaskRequest* request,
                            v1::ReportTaskReply*) override {
      note(context);
      server.with([&](FakeState& state) { state.reports.push_back(*request); });
      return grpc::Status::OK;
    }
    grpc::Status WatchTask(grpc::ServerContext* context, const v1::GetTaskRequest*,
                           grpc::ServerWriter<v1::GetTaskReply>* writer) override {
      note(context);
      const auto states = server.with([](FakeState& state) { return state.task_states; });
      for (const v1::Task& task : states) {
        v1::GetTaskReply reply;
        *reply.mutable_task() = task;
        writer->Write(reply);
      }
      return grpc::Status::OK;
    }
  };

  struct Collaboration final : v1::Collaboration::Service, Base {
    using Base::Base;
    grpc::Status ListOffers(grpc::ServerContext* context, const v1::ListOffersRequest* request,
                            v1::ListOffersReply* reply) override {
      note(context);
      *reply = server.with([&](FakeState& state) { return state.offers[request->page()]; });
      return grpc::Status::OK;
    }
  };

  Accounts accounts;
  Contents contents;
  Collaboration collaboration;
  Nodes nodes;
  Swarms swarms;
  Tasks tasks;
};

FakeServer::FakeServer(const TestCa::Leaf& leaf) : leaf_(leaf), services_(std::make_unique<Services>(*this)) {
  state_.hello.set_program_version("fake");
  state_.hello.set_protocol_min(1);
  state_.hello.set_protocol_max(kProtocolMax);
  state_.hello.set_time_ms(SystemClock().wall().ms);
  start();
}

FakeServer::~FakeServer() {
  stop();
}

void FakeServer::start() {
  // One that starts again wants its port back, which a connection of another program may have for a moment.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!(server_ = built()) && port_ != 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  GT_CHECK(server_ != nullptr && port_ != 0);
}

std::unique_ptr<grpc::Server> FakeServer::built() {
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back({leaf_.key_pem, leaf_.certificate_pem});
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port_), grpc::SslServerCredentials(tls), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.RegisterService(&services_->accounts);
  builder.RegisterService(&services_->contents);
  builder.RegisterService(&services_->collaboration);
  builder.RegisterService(&services_->nodes);
  builder.RegisterService(&services_->swarms);
  builder.RegisterService(&services_->tasks);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server) port_ = port;
  return server;
}

void FakeServer::stop() {
  if (!server_) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_.reset();
}

}  // namespace gridtorrent::testing
