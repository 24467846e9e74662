#include "tracker/authority/passwords.h"

#include <algorithm>
#include <array>
#include <string>

#include "common/text.h"

namespace gridtorrent::tracker::authority {

namespace {

constexpr std::size_t kMinBytes = 12;
constexpr std::size_t kMaxBytes = 256;

// The heads of the long ones among the most common leaked passwords; what follows them (digits, "!") does not help.
constexpr std::array<std::string_view, 18> kCommonHeads = {
    "123456789012", "1234567890",  "qwertyuiop",    "password", "passw0rd",   "letmein",
    "iloveyou",     "qwerty123",   "administrator", "welcome",  "abcdefghij", "1q2w3e4r5t",
    "changeme",     "gridtorrent", "0987654321",    "aaaaaaaa", "11111111",   "00000000"};

}  // namespace

Status check_new_password(std::string_view user_name, std::string_view password) {
  if (password.size() < kMinBytes || password.size() > kMaxBytes) {
    return Error{Code::kInvalid, "a password has " + std::to_string(kMinBytes) + " to " + std::to_string(kMaxBytes) +
                                     " bytes; this one has " + std::to_string(password.size())};
  }
  if (password.find('\0') != std::string_view::npos) return Error{Code::kInvalid, "a password contains no NUL byte"};
  const std::string lower = to_lower_ascii(password);
  if (lower.find(to_lower_ascii(user_name)) == 0 && password.size() < user_name.size() + kMinBytes / 2) {
    return Error{Code::kInvalid, "the password is little more than the user name: choose another"};
  }
  // A common head with less than eight characters of one's own behind it.
  const bool common = std::any_of(kCommonHeads.begin(), kCommonHeads.end(), [&](std::string_view head) {
    return lower.starts_with(head) && lower.size() < head.size() + 8;
  });
  if (common) return Error{Code::kInvalid, "the password is among the first that anybody would try: choose another"};
  return {};
}

}  // namespace gridtorrent::tracker::authority
