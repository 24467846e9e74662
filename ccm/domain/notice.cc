#include "ccm/domain/notice.h"

#include <array>

#include "common/text.h"

namespace gridtorrent::ccm {

namespace {
constexpr std::array<std::string_view, 12> kNames = {"request-accepted",    "request-declined", "invitation-accepted",
                                                     "invitation-declined", "removed",          "left",
                                                     "made-manager",        "manager-no-more",  "group-deleted",
                                                     "offer-accepted",      "offer-declined",   "new-version"};
}  // namespace

std::string_view notice_kind_name(NoticeKind kind) {
  return kNames.at(static_cast<std::size_t>(kind));
}

Result<NoticeKind> parse_notice_kind(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<NoticeKind>(i);
  }
  return Error{Code::kInvalid, "no kind of notice \"" + escape_for_display(text) + "\""};
}

}  // namespace gridtorrent::ccm
