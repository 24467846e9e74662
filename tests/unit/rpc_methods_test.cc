// What the services declare to the door, against the wire contract and the table that administrators read.

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ccm/domain/quotas.h"
#include "ccm/rpc/accounts_rpc.h"
#include "ccm/rpc/collaboration_rpc.h"
#include "ccm/rpc/contents_rpc.h"
#include "tracker/rpc/nodes_rpc.h"
#include "tracker/rpc/swarms_rpc.h"
#include "tracker/rpc/tasks_rpc.h"

namespace gridtorrent::rpc {
namespace {

std::vector<Method> declared() {
  std::vector<Method> all;
  for (const Methods methods :
       {ccm::rpc::AccountsRpc::methods(), ccm::rpc::ContentsRpc::methods(), ccm::rpc::CollaborationRpc::methods(),
        tracker::rpc::NodesRpc::methods(), tracker::rpc::SwarmsRpc::methods(), tracker::rpc::TasksRpc::methods()}) {
    for (const Method* method : methods) all.push_back(*method);
  }
  return all;
}

/// "Contents/Search" and so on, with whether the contract lets a call change anything.
std::map<std::string, bool> in_the_contract() {
  std::map<std::string, bool> writes;
  for (const auto* file : {v1::LoginRequest::descriptor()->file(), v1::EnrollRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        const auto& method = *file->service(s)->method(m);
        writes[method.service()->name() + "/" + method.name()] =
            method.options().idempotency_level() != google::protobuf::MethodOptions::NO_SIDE_EFFECTS;
      }
    }
  }
  return writes;
}

TEST(Methods, EachOfTheContractIsDeclaredOnceAndNothingElseIs) {
  std::multiset<std::string> names, contract;
  for (const Method& method : declared()) names.insert(method.name);
  for (const auto& [name, writes] : in_the_contract()) contract.insert(name);
  EXPECT_EQ(names, contract);
}

TEST(Methods, WhatMayChangeSomethingHasARateAndWhatDoesNotIsNotSaidTo) {
  const auto contract = in_the_contract();
  for (const Method& method : declared()) {
    SCOPED_TRACE(method.name);
    ASSERT_TRUE(contract.contains(method.name));
    EXPECT_EQ(method.allowance.writes, contract.at(method.name));
    if (method.allowance.writes) {
      EXPECT_GE(method.allowance.burst, 1);
    } else {
      EXPECT_EQ(method.allowance.bytes, 0u);
    }
    EXPECT_EQ(method.allowance.burst > 0, method.allowance.rate_per_s > 0);
  }
}

TEST(Methods, TheQuotasThatTheyNameExist) {
  for (const Method& method : declared()) {
    for (const std::string_view name : {method.allowance.quota, method.allowance.own_rate}) {
      if (name.empty()) continue;
      EXPECT_TRUE(ccm::parse_quota(name).ok()) << method.name << ": " << name;
    }
  }
}

TEST(Methods, EverybodysRateOfPublishingIsTheQuotaThatPeopleAreShown) {
  for (const Method& method : declared()) {
    if (method.allowance.own_rate.empty()) continue;
    const ccm::Quotas everybodys;
    EXPECT_EQ(method.allowance.rate_per_s * 3600,
              static_cast<double>(everybodys.at(*ccm::parse_quota(method.allowance.own_rate))))
        << method.name;
  }
}

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

/// As it stands in docs/operating.md.
std::string row_of(const Method& method) {
  const Allowance& allowance = method.allowance;
  const std::string caller = method.need.anonymous ? "address" : method.need.node ? "node" : "account";
  const auto a_minute = static_cast<std::uint64_t>(std::lround(allowance.rate_per_s * 60));
  const std::string quota = allowance.quota.empty() ? "" : "`" + std::string(allowance.quota) + "`";
  return "| `" + std::string(method.name) + "` | " + caller + " | " + with_commas(a_minute) + " | " +
         with_commas(static_cast<std::uint64_t>(allowance.burst)) + " | " + quota + " | " +
         (allowance.writes ? with_commas(allowance.bytes) : "") + " |";
}

TEST(Methods, TheTableOfTheManualIsWhatIsDeclared) {
  std::ifstream file(GT_SOURCE_DIR "/docs/operating.md");
  ASSERT_TRUE(file.is_open());
  std::vector<std::string> rows, expected;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `") && line.find("/") < line.find("` |")) {
      if (in_the_contract().contains(line.substr(3, line.find("` |") - 3))) rows.push_back(line);
    }
  }
  for (const Method& method : declared()) {
    if (method.allowance.burst > 0) expected.push_back(row_of(method));
  }
  std::ostringstream table;
  for (const std::string& row : expected) table << row << "\n";
  EXPECT_EQ(rows, expected) << "the table should be:\n" << table.str();
}

TEST(Methods, ACallIsCountedByAccountNodeOrAddress) {
  SystemRng rng;
  Principal principal;
  principal.user = UserId::make(WallTime{1}, rng);
  principal.node = NodeId::make(WallTime{1}, rng);
  EXPECT_EQ(caller_key({"a/B", Need::nobody()}, principal, "2001:db8:1:2:3::4"), "2001:db8:1:2::/64");
  EXPECT_EQ(caller_key({"a/B", Need::node_scope(1)}, principal, "192.0.2.1"), principal.node.str());
  EXPECT_EQ(caller_key({"a/B", Need::scope(1)}, principal, "192.0.2.1"), principal.user.str())
      << "all of a person's nodes publish at that person's rate";
}

TEST(Methods, AnAccountsOwnRateTakesThePlaceOfTheDeclaredOne) {
  constexpr Allowance kAllowance{.rate_per_s = 1, .burst = 600};
  EXPECT_EQ(rate_of(kAllowance, std::nullopt), (Rate{1, 600}));
  EXPECT_EQ(rate_of(kAllowance, 36'000), (Rate{10, 600}));
  EXPECT_EQ(rate_of(kAllowance, 36), (Rate{0.01, 36}));
  RateLimiter limiter({.rate_per_s = 1, .burst = 600});
  EXPECT_EQ(limiter.take("BeginPublish", "alice", MonoTime(), rate_of(kAllowance, 0)).error().code, Code::kExhausted);
}

}  // namespace
}  // namespace gridtorrent::rpc
