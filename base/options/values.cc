#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "base/options/options.h"
#include "common/text.h"
#include "common/unique_fd.h"
#include "common/units.h"

namespace gridtorrent::options {

namespace {
constexpr std::size_t kLargestSecret = 64 * 1024;
}

const Parsed::Value& Parsed::at(std::string_view name) const {
  const auto found = values_.find(name);
  GT_CHECK(found != values_.end());
  return found->second;
}

bool Parsed::has(std::string_view name) const {
  return !at(name).values.empty();
}

bool Parsed::flag(std::string_view name) const {
  return str(name) == "true";
}

const std::string& Parsed::str(std::string_view name) const {
  static const std::string none;
  const Value& value = at(name);
  return value.values.empty() ? none : value.values.back();
}

const std::vector<std::string>& Parsed::list(std::string_view name) const {
  return at(name).values;
}

std::int64_t Parsed::integer(std::string_view name) const {
  const std::string& text = str(name);
  std::int64_t number = 0;
  if (!text.empty()) GT_CHECK(std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{});
  return number;
}

std::uint64_t Parsed::bytes(std::string_view name) const {
  return has(name) ? parse_bytes(str(name)).value() : std::uint64_t{0};
}

std::uint64_t Parsed::bits_per_s(std::string_view name) const {
  return has(name) ? parse_bits_per_s(str(name)).value() : std::uint64_t{0};
}

std::chrono::milliseconds Parsed::duration(std::string_view name) const {
  return has(name) ? parse_duration(str(name)).value() : std::chrono::milliseconds(0);
}

Source Parsed::source(std::string_view name) const {
  return at(name).source;
}

bool Parsed::given(std::string_view name) const {
  return source(name) == Source::kCommandLine;
}

Result<std::string> Parsed::secret(std::string_view name) const {
  const std::string& path = str(name);
  const std::string shown = "--" + std::string(name) + " " + escape_for_display(path);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return Error{Code::kInvalid, shown + " cannot be read: " + errno_text(errno)};
  std::string text;
  std::array<char, 4096> buffer{};
  while (text.size() <= kLargestSecret) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{Code::kInvalid, shown + " cannot be read: " + errno_text(errno)};
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  text.resize(std::min(text.size(), text.find('\n')));
  if (text.ends_with('\r')) text.pop_back();
  if (text.empty()) return Error{Code::kInvalid, shown + " is empty; its first line must be the secret"};
  if (text.size() > kLargestSecret) return Error{Code::kInvalid, shown + " is too long for a secret"};
  return text;
}

}  // namespace gridtorrent::options
