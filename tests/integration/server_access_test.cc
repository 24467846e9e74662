// Who may do what, through gRPC, against the model of tests/support/access_model.h.

#include <gtest/gtest.h>

#include "tests/integration/server_lab.h"
#include "tests/support/access_model.h"

namespace gridtorrent::test {
namespace {

using testing_support::AccessRun;
using testing_support::AccessWorld;
using testing_support::kPeople;

template <class T>
Status status_of(const Result<T>& result) {
  return result ? Status() : Status(result.error());
}

v1::Access to_wire(const ccm::Access& access) {
  v1::Access out;
  out.set_level(access.level == ccm::AccessLevel::kPublic    ? v1::Access::PUBLIC
                : access.level == ccm::AccessLevel::kPrivate ? v1::Access::PRIVATE
                                                             : v1::Access::SHARED);
  for (const auto& group : access.groups) out.add_groups(group.name);
  for (const auto& user : access.users) out.add_users(user);
  out.set_buddies(access.buddies);
  return out;
}

/// What a hidden thing must answer, word for word: the same as one that has never been.
class Missing {
 public:
  explicit Missing(ServerLab& lab, const std::string& token) {
    v1::GetContentRequest request;
    request.set_reference(kNever);
    const auto got = lab.call<v1::Contents>(&v1::Contents::Stub::GetContent, request, token);
    EXPECT_FALSE(got.ok());
    if (!got.ok()) error_ = got.error();
  }
  void expect_same(const Error& got, const std::string& id) const {
    std::string expected = error_.message;
    expected.replace(expected.find(kNever), kNever.size(), id);
    EXPECT_EQ(got.code, error_.code);
    EXPECT_EQ(got.message, expected);
  }

 private:
  static inline const std::string kNever = ContentId(ContentId::Bytes{1, 2, 3}).str();
  Error error_;
};

class GrpcWorld final : public AccessWorld {
 public:
  GrpcWorld() {
    for (int i = 0; i < kPeople; ++i) {
      users_.push_back(lab.add_user("user" + std::to_string(i)));
      nodes_.push_back(lab.enroll(users_.back(), "node" + std::to_string(i)));
    }
    missing_.emplace(lab, users_.front());
  }
  Result<ContentId> begin(int owner, const std::string& name, const ccm::Access& access) override {
    v1::BeginPublishRequest request;
    request.set_request_id(lab.request_id());
    request.set_name(name);
    *request.mutable_access() = to_wire(access);
    GT_ASSIGN(const auto begun, lab.call<v1::Contents>(&v1::Contents::Stub::BeginPublish, request, user(owner)));
    return ContentId::parse(begun.content_id());
  }
  Status finish(int who, const ContentId& content) override {
    return status_of(send(lab.channel(), user(who), upload_of(lab.request_id(), content.str(), one_file_metadata(5))));
  }
  Status set_access(int who, const ContentId& content, const ccm::Access& access) override {
    v1::SetAccessRequest request;
    request.set_request_id(lab.request_id());
    request.set_content_id(content.str());
    *request.mutable_access() = to_wire(access);
    return status_of(lab.call<v1::Contents>(&v1::Contents::Stub::SetAccess, request, user(who)));
  }
  Status unpublish(int who, const ContentId& content) override {
    v1::UnpublishRequest request;
    request.set_request_id(lab.request_id());
    request.set_content_id(content.str());
    return status_of(lab.call<v1::Contents>(&v1::Contents::Stub::Unpublish, request, user(who)));
  }
  Status restore(int who, const ContentId& content) override {
    v1::RestoreContentRequest request;
    request.set_request_id(lab.request_id());
    request.set_content_id(content.str());
    return status_of(lab.call<v1::Contents>(&v1::Contents::Stub::RestoreContent, request, user(who)));
  }
  Status create_group(int who, const std::string& name, bool hidden) override {
    v1::CreateGroupRequest request;
    request.set_request_id(lab.request_id());
    request.set_name(name);
    request.set_hidden(hidden);
    return status_of(lab.call<v1::Collaboration>(&v1::Collaboration::Stub::CreateGroup, request, user(who)));
  }
  Status delete_group(int who, const std::string& name) override {
    v1::DeleteGroupRequest request;
    request.set_request_id(lab.request_id());
    request.set_group(name);
    return status_of(lab.call<v1::Collaboration>(&v1::Collaboration::Stub::DeleteGroup, request, user(who)));
  }
  Status step(int who, const std::string& group, const std::string& person, ccm::MembershipStep step) override {
    v1::ChangeMembershipRequest request;
    request.set_request_id(lab.request_id());
    request.set_group(group);
    request.set_user(person);
    request.set_step(std::string(ccm::step_name(step)));
    return status_of(lab.call<v1::Collaboration>(&v1::Collaboration::Stub::ChangeMembership, request, user(who)));
  }
  Status buddy(int who, const std::string& other, bool add) override {
    v1::BuddyRequest request;
    request.set_request_id(lab.request_id());
    request.set_user(other);
    const auto method = add ? &v1::Collaboration::Stub::AddBuddy : &v1::Collaboration::Stub::RemoveBuddy;
    return status_of(lab.call<v1::Collaboration>(method, request, user(who)));
  }
  Status show(int who, const ContentId& content) override {
    v1::GetContentRequest request;
    request.set_reference(content.str());
    const auto got = lab.call<v1::Contents>(&v1::Contents::Stub::GetContent, request, user(who));
    if (!got) missing_->expect_same(got.error(), content.str());
    return status_of(got);
  }
  Status list_replicas(int who, const ContentId& content) override {
    v1::ListReplicasRequest request;
    request.set_content_id(content.str());
    const auto got = lab.call<v1::Contents>(&v1::Contents::Stub::ListReplicas, request, user(who));
    if (!got) missing_->expect_same(got.error(), content.str());
    return status_of(got);
  }
  Status announce(int who, const ContentId& content) override {
    v1::AnnounceRequest request;
    request.set_content_id(content.str());
    request.set_version(1);
    request.set_total_bytes(5);
    const auto got = lab.call<v1::Swarms>(&v1::Swarms::Stub::Announce, request, nodes_.at(at(who)).token);
    if (!got && got.error().code == Code::kNotFound) missing_->expect_same(got.error(), content.str());
    return status_of(got);
  }
  Result<std::set<std::string>> search(int who) override {
    v1::SearchRequest request;
    request.set_limit(200);
    GT_ASSIGN(const auto found, lab.call<v1::Contents>(&v1::Contents::Stub::Search, request, user(who)));
    std::set<std::string> ids;
    for (const auto& content : found.contents()) ids.insert(content.content_id());
    return ids;
  }
  Status show_group(int who, const std::string& group) override {
    v1::GetGroupRequest request;
    request.set_group(group);
    return status_of(lab.call<v1::Collaboration>(&v1::Collaboration::Stub::GetGroup, request, user(who)));
  }
  Result<bool> explain(int owner, const ContentId& content, const std::string& person) override {
    v1::ExplainAccessRequest request;
    request.set_content_id(content.str());
    request.set_user(person);
    GT_ASSIGN(const auto told, lab.call<v1::Contents>(&v1::Contents::Stub::ExplainAccess, request, user(owner)));
    return told.allowed();
  }
  std::optional<std::set<int>> audience(int, const ContentId&) override { return std::nullopt; }

  ServerLab lab;

 private:
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }
  const std::string& user(int number) const { return users_.at(at(number)); }
  std::vector<std::string> users_;
  std::vector<LabNode> nodes_;
  std::optional<Missing> missing_;
};

TEST(ServerAccess, EveryAnswerIsTheModels) {
  const std::uint64_t seed = testing_support::seed_of_run();
  SCOPED_TRACE("GT_SEED=" + std::to_string(seed));
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  GrpcWorld world;
  AccessRun run(world, seed);
  run.run(400, 40);
  EXPECT_GT(run.cases(), 1000);
}

}  // namespace
}  // namespace gridtorrent::test
