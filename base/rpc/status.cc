#include "base/rpc/status.h"

#include <array>
#include <string>
#include <utility>

#include "common/codes.h"
#include "common/text.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace gridtorrent::rpc {

namespace {

constexpr std::string_view kDomain = "gridtorrent";
// gRPC sends the message as a header; metadata over 8 KiB would kill the answer.
constexpr std::size_t kMaxMessageBytes = 1500;

constexpr std::array kCodes = {
    std::pair{Code::kInvalid, grpc::StatusCode::INVALID_ARGUMENT},
    std::pair{Code::kNotFound, grpc::StatusCode::NOT_FOUND},
    std::pair{Code::kUnauthenticated, grpc::StatusCode::UNAUTHENTICATED},
    std::pair{Code::kDenied, grpc::StatusCode::PERMISSION_DENIED},
    std::pair{Code::kUnreachable, grpc::StatusCode::UNAVAILABLE},
    std::pair{Code::kConflict, grpc::StatusCode::FAILED_PRECONDITION},
    std::pair{Code::kCorrupt, grpc::StatusCode::DATA_LOSS},
    std::pair{Code::kDisk, grpc::StatusCode::RESOURCE_EXHAUSTED},
    std::pair{Code::kTimeout, grpc::StatusCode::DEADLINE_EXCEEDED},
    std::pair{Code::kCancelled, grpc::StatusCode::CANCELLED},
    std::pair{Code::kBusy, grpc::StatusCode::RESOURCE_EXHAUSTED},
    std::pair{Code::kExhausted, grpc::StatusCode::RESOURCE_EXHAUSTED},
    std::pair{Code::kUnsupported, grpc::StatusCode::UNIMPLEMENTED},
    std::pair{Code::kInternal, grpc::StatusCode::INTERNAL},
};

Code by_grpc_code(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::OUT_OF_RANGE:
      return Code::kInvalid;
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::ABORTED:
      return Code::kConflict;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return Code::kExhausted;
    default:
      for (const auto& [ours, theirs] : kCodes) {
        if (theirs == code) return ours;
      }
      return Code::kInternal;
  }
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string explain_connection(const std::string& message) {
  if (contains(message, "CERTIFICATE_VERIFY_FAILED") || contains(message, "certificate verify failed")) {
    return "its certificate is not signed by the CA file in use, names another host, or is out of date here (check "
           "--ca, "
           "the address and both clocks)";
  }
  if (contains(message, "Hostname Verification") || contains(message, "Peer name")) {
    return "its certificate names another host: use an address that the server was started with (--advertise)";
  }
  if (contains(message, "handshake failed") || contains(message, "WRONG_VERSION_NUMBER")) {
    return "the TLS handshake failed (is this a GridTorrent server's port?): " + escape_for_display(message);
  }
  if (contains(message, "Connection refused")) return "connection refused (nothing listens there)";
  if (contains(message, "DNS resolution failed") || contains(message, "Domain name not found")) {
    return "its name cannot be resolved: " + escape_for_display(message);
  }
  if (message.empty()) return "the connection failed";
  return escape_for_display(message);
}

google::rpc::Status details_of(const grpc::Status& status) {
  google::rpc::Status details;
  // A foreign or damaged blob leaves the message empty: then the plain code counts.
  if (!details.ParseFromString(status.error_details())) details.Clear();
  return details;
}

}  // namespace

grpc::Status to_grpc(const Error& error, std::string_view request_id, std::chrono::milliseconds retry_after) {
  grpc::StatusCode code = grpc::StatusCode::INTERNAL;
  for (const auto& [ours, theirs] : kCodes) {
    if (ours == error.code) code = theirs;
  }
  std::string message = error.message.substr(0, kMaxMessageBytes);
  if (!is_valid_utf8(message)) message = escape_for_display(message);

  google::rpc::Status details;
  details.set_code(static_cast<int>(code));
  details.set_message(message);
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(code_name(error.code)));
  info.set_domain(std::string(kDomain));
  details.add_details()->PackFrom(info);
  if (!request_id.empty()) {
    google::rpc::RequestInfo request;
    request.set_request_id(std::string(request_id));
    details.add_details()->PackFrom(request);
  }
  if (error.code == Code::kBusy || error.code == Code::kUnreachable) {
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_seconds(retry_after.count() / 1000);
    retry.mutable_retry_delay()->set_nanos(static_cast<std::int32_t>(retry_after.count() % 1000 * 1'000'000));
    details.add_details()->PackFrom(retry);
  }
  return {code, message, details.SerializeAsString()};
}

Error from_grpc(const grpc::Status& status) {
  GT_CHECK(!status.ok());
  const google::rpc::Status details = details_of(status);
  for (const auto& any : details.details()) {
    google::rpc::ErrorInfo info;
    if (!any.Is<google::rpc::ErrorInfo>() || !any.UnpackTo(&info) || info.domain() != kDomain) continue;
    if (const auto ours = parse_code(info.reason())) return {*ours, status.error_message()};
  }
  const Code code = by_grpc_code(status.error_code());
  if (code == Code::kUnreachable) return {code, explain_connection(status.error_message())};
  if (code == Code::kTimeout) return {code, "no answer within the deadline"};
  if (code == Code::kUnsupported && status.error_message().empty())
    return {code, "the other side does not know this call: it is older than this program and has to be updated"};
  if (status.error_message().empty())
    return {code, "the other side gave no reason (" + std::string(code_name(code)) + ")"};
  return {code, escape_for_display(status.error_message())};
}

std::string request_id_of(const grpc::Status& status) {
  const google::rpc::Status details = details_of(status);
  for (const auto& any : details.details()) {
    google::rpc::RequestInfo request;
    if (any.Is<google::rpc::RequestInfo>() && any.UnpackTo(&request)) return request.request_id();
  }
  return {};
}

}  // namespace gridtorrent::rpc
