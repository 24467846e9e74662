#include "base/rpc/checked_service.h"

#include <google/protobuf/descriptor.h>
#include <grpcpp/impl/rpc_service_method.h>

#include "common/check.h"

namespace gridtorrent::rpc {

namespace {

using grpc::internal::MethodHandler;
using grpc::internal::RpcMethod;

thread_local bool malformed = false;

/// What keeps its word while another's handler is entered.
struct Entering {
  Entering() { malformed = true; }
  ~Entering() { malformed = false; }
};

class CheckedHandler final : public MethodHandler {
 public:
  explicit CheckedHandler(MethodHandler& inner) : inner_(inner) {}

  void* Deserialize(grpc_call* call, grpc_byte_buffer* bytes, grpc::Status* status, void** data) override {
    return inner_.Deserialize(call, bytes, status, data);
  }
  void RunHandler(const HandlerParameter& call) override {
    if (call.status.ok()) return inner_.RunHandler(call);
    // The half parsed message belongs to `internal_data` and goes with it, as any other.
    const Entering entering;
    inner_.RunHandler(HandlerParameter(call.call, call.server_context, call.request, grpc::Status::OK,
                                       call.internal_data, call.call_requester));
  }

 private:
  MethodHandler& inner_;
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

}  // namespace

bool message_is_malformed() {
  return malformed;
}

CheckedService::CheckedService(const std::string& full_name, grpc::Service& inner) {
  const auto* service = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(full_name);
  GT_CHECK(service != nullptr);
  for (int i = 0; i < service->method_count(); ++i) {
    const auto& method = *service->method(i);
    names_.push_back("/" + full_name + "/" + std::string(method.name()));
    const RpcMethod::RpcType type = type_of(method);
    AddMethod(new grpc::internal::RpcServiceMethod(names_.back().c_str(), type, nullptr));
    MethodHandler& handler = Handlers::of(inner, i);
    MarkMethodCallback(i, type == RpcMethod::NORMAL_RPC ? static_cast<MethodHandler*>(new CheckedHandler(handler))
                                                        : new SameHandler(handler));
  }
}

Error malformed_message() {
  return {Code::kInvalid, "the message cannot be read as what this method takes; is the program damaged or too old?"};
}

}  // namespace gridtorrent::rpc
