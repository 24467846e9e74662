#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "common/check.h"

namespace gridtorrent {

/// What kind of failure it is. One function maps these to gRPC status codes (base/rpc/status.h), one to exit codes
/// (common/codes.h); nothing else may interpret them.
enum class Code {
  kInvalid,          ///< the input is wrong: usage, a bad name, a malformed message
  kNotFound,         ///< it does not exist, or is not the caller's to see (the two look alike)
  kUnauthenticated,  ///< not logged in, or the token is no longer good
  kDenied,           ///< known who it is, and it may not
  kUnreachable,      ///< server or node does not answer; trying again later can help
  kConflict,         ///< name taken, a foreign file in the way, state does not allow it
  kCorrupt,          ///< data failed verification
  kDisk,             ///< disk full, read-only, or failing
  kTimeout,
  kCancelled,
  kBusy,         ///< too much at once or too often: the same call can succeed a little later
  kExhausted,    ///< a limit or quota is reached
  kUnsupported,  ///< this version cannot do it
  kInternal,     ///< our own bug, or something nobody foresaw
};

/// The name of a code as it stands in JSON ("not_found") and in logs.
std::string_view code_name(Code code);

/// What can fail for outside reasons returns one of these: a code, and one line that names the thing, the reason
/// and the way out. Context is added in front on the way up with `with_context`.
struct Error {
  Code code = Code::kInternal;
  std::string message;

  [[nodiscard]] Error with_context(std::string_view context) const {
    return {code, std::string(context) + ": " + message};
  }
  friend bool operator==(const Error&, const Error&) = default;
};

/// A value or an Error. Accessing the wrong one is a bug of the caller and CHECKs.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return GT_CHECK(ok()), std::get<0>(state_); }
  const T& value() const& { return GT_CHECK(ok()), std::get<0>(state_); }
  T&& value() && { return GT_CHECK(ok()), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const { return GT_CHECK(!ok()), std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return GT_CHECK(!ok()), *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

// GT_TRY(expression): returns the error of a Status or Result from the current function, if there is one.
// GT_ASSIGN(declaration, expression): the same, and otherwise binds the value.
// Either may stand in a lambda inside of the other's expression: the names within are unique (__COUNTER__).
#define GT_CONCAT_(a, b) a##b
#define GT_CONCAT(a, b) GT_CONCAT_(a, b)
#define GT_TRY(expression) GT_TRY_(GT_CONCAT(gt_status_, __COUNTER__), expression)
#define GT_TRY_(status, expression)                                 \
  do {                                                              \
    if (auto status = (expression); !status) return status.error(); \
  } while (false)
#define GT_ASSIGN(declaration, expression) GT_ASSIGN_(GT_CONCAT(gt_result_, __COUNTER__), declaration, expression)
#define GT_ASSIGN_(result, declaration, expression) \
  auto result = (expression);                       \
  if (!result) return result.error();               \
  declaration = std::move(result).value()

}  // namespace gridtorrent
