#include "ccm/domain/quotas.h"

#include <array>
#include <string>
#include <utility>

#include "common/text.h"

namespace gridtorrent::ccm {

namespace {

struct Known {
  std::string_view name;
  std::uint64_t Quotas::* limit;
};
constexpr std::array<Known, kQuotaCount> kKnown = {{{"contents", &Quotas::contents},
                                                    {"metadata-bytes", &Quotas::metadata_bytes},
                                                    {"nodes", &Quotas::nodes},
                                                    {"tokens", &Quotas::tokens},
                                                    {"enroll-tokens", &Quotas::enroll_tokens},
                                                    {"groups", &Quotas::groups},
                                                    {"open-requests", &Quotas::open_requests_and_invitations},
                                                    {"buddies", &Quotas::buddies},
                                                    {"tasks", &Quotas::tasks},
                                                    {"publishes-per-hour", &Quotas::publishes_per_hour}}};

const Known& known(Quota quota) {
  return kKnown.at(static_cast<std::size_t>(quota));
}

}  // namespace

std::string_view quota_name(Quota quota) {
  return known(quota).name;
}

Result<Quota> parse_quota(std::string_view text) {
  std::string names;
  for (std::size_t i = 0; i < kKnown.size(); ++i) {
    if (kKnown[i].name == text) return static_cast<Quota>(i);
    names += (names.empty() ? "" : ", ") + std::string(kKnown[i].name);
  }
  return Error{Code::kInvalid, "no quota \"" + escape_for_display(text) + "\": there are " + names};
}

std::uint64_t& Quotas::at(Quota quota) {
  return this->*known(quota).limit;
}
std::uint64_t Quotas::at(Quota quota) const {
  return this->*known(quota).limit;
}

Quotas with_limits(Quotas everybodys, const std::vector<QuotaLimit>& own) {
  for (const QuotaLimit& limit : own) everybodys.at(limit.quota) = limit.limit;
  return everybodys;
}

}  // namespace gridtorrent::ccm
