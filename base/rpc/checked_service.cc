#include "base/rpc/checked_service.h"

#include <google/protobuf/descriptor.h>
#include <grpcpp/impl/rpc_service_method.h>

#include <algorithm>
#include <utility>

#include "common/check.h"

namespace gridtorrent::rpc {

namespace {

using grpc::internal::MethodHandler;
using grpc::internal::RpcMethod;

thread_local std::optional<Error> trouble;

/// What keeps its word while another's handler is entered.
struct Entering {
  explicit Entering(Error error) { trouble = std::move(error); }
  ~Entering() { trouble.reset(); }
};

Error malformed() {
  return {Code::kInvalid, "the message cannot be read as what this method takes; is the program damaged or too old?"};
}

Error too_large(std::size_t most_bytes) {
  return {Code::kExhausted,
          "the message is larger than this method takes: " + std::to_string(most_bytes >> 10) + " KiB at most"};
}

class CheckedHandler final : public MethodHandler {
 public:
  CheckedHandler(MethodHandler& inner, std::size_t most_bytes) : inner_(inner), most_bytes_(most_bytes) {}

  void* Deserialize(grpc_call* call, grpc_byte_buffer* bytes, grpc::Status* status, void** data) override {
    if (bytes == nullptr || grpc_byte_buffer_length(bytes) <= most_bytes_) {
      void* const message = inner_.Deserialize(call, bytes, status, data);
      // The handler of a unary method keeps a half parsed message in `data`; that of a stream has none then.
      if (status->ok() || *data != nullptr) return message;
    } else {
      grpc_byte_buffer_destroy(bytes);
      *status = grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "");
    }
    grpc::Status empty_is_fine;
    return inner_.Deserialize(call, grpc_raw_byte_buffer_create(nullptr, 0), &empty_is_fine, data);
  }
  void RunHandler(const HandlerParameter& call) override {
    if (call.status.ok()) return inner_.RunHandler(call);
    const bool large = call.status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
    const Entering entering(large ? too_large(most_bytes_) : malformed());
    inner_.RunHandler(HandlerParameter(call.call, call.server_context, call.request, grpc::Status::OK,
                                       call.internal_data, call.call_requester));
  }

 private:
  MethodHandler& inner_;
  const std::size_t most_bytes_;
};

/// Passes everything through, as the other service owns the handler.
class SameHandler final : public MethodHandler {
 public:
  explicit SameHandler(MethodHandler& inner) : inner_(inner) {}
  void* Deserialize(grpc_call* call, grpc_byte_buffer* bytes, grpc::Status* status, void** data) override {
    return inner_.Deserialize(call, bytes, status, data);
  }
  void RunHandler(const HandlerParameter& call) override { inner_.RunHandler(call); }

 private:
  MethodHandler& inner_;
};

/// A service's handlers are for classes derived from it to see.
struct Handlers : grpc::Service {
  static MethodHandler& of(grpc::Service& service, int method) { return *(service.*(&Handlers::GetHandler))(method); }
};

RpcMethod::RpcType type_of(const google::protobuf::MethodDescriptor& method) {
  if (method.client_streaming()) {
    return method.server_streaming() ? RpcMethod::BIDI_STREAMING : RpcMethod::CLIENT_STREAMING;
  }
  return method.server_streaming() ? RpcMethod::SERVER_STREAMING : RpcMethod::NORMAL_RPC;
}

std::size_t most_bytes(Methods declared, const google::protobuf::MethodDescriptor& method) {
  const std::string name = method.service()->name() + "/" + method.name();
  const auto found =
      std::find_if(declared.begin(), declared.end(), [&](const Method* one) { return one->name == name; });
  GT_CHECK(found != declared.end());
  return (*found)->request_bytes;
}

}  // namespace

std::optional<Error> message_trouble() {
  return trouble;
}

CheckedService::CheckedService(const std::string& full_name, grpc::Service& inner, Methods declared) {
  const auto* service = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(full_name);
  GT_CHECK(service != nullptr);
  for (int i = 0; i < service->method_count(); ++i) {
    const auto& method = *service->method(i);
    names_.push_back("/" + full_name + "/" + std::string(method.name()));
    const RpcMethod::RpcType type = type_of(method);
    AddMethod(new grpc::internal::RpcServiceMethod(names_.back().c_str(), type, nullptr));
    MethodHandler& handler = Handlers::of(inner, i);
    if (method.client_streaming()) {
      MarkMethodCallback(i, new SameHandler(handler));
    } else {
      MarkMethodCallback(i, new CheckedHandler(handler, most_bytes(declared, method)));
    }
  }
}

}  // namespace gridtorrent::rpc
