#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "common/page.h"
#include "tests/integration/server_lab.h"
#include "tracker/store/sqlite_store.h"

// Lists over the wire: each has pages, and no page outgrows what a client takes.

namespace gridtorrent::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

/// Replies that repeat messages without pages, and what bounds them. A new one without a line here fails the test.
const std::map<std::string, std::string> kBounded = {
    {"Accounts/GetQuotas", "one a kind of quota"},
    {"Accounts/ChangeQuotas", "one a kind of quota"},
    {"Accounts/ListAuditRecords", "pages by number: `below` and `limit`, at most 1000, of fields of at most 512 bytes"},
    {"Collaboration/GetInbox", "at most 200 of a kind; `more` says of which there are others"},
    {"Collaboration/WatchInbox", "as GetInbox"},
    {"Contents/ListVersions", "the newest 1000"},
    {"Nodes/Certify", "one a living generation of the data CA"},
    {"Nodes/ListDataCa", "one a rotation by an administrator"},
    {"Nodes/RotateDataCa", "one a rotation by an administrator"},
    {"Swarms/UpdateEndpoints", "at most 64"},
    {"Contents/PreviewAccess", "the targets that were asked about: at most 1,000"},
    {"Swarms/Announce", "as many peers as an announce gives"},
    {"Tasks/CreateTasks", "one a node that was asked for: at most 10,000, of 65 bytes each"},
    {"Tasks/WatchNode", "the lists of keys that a node follows, which it must have whole"},
};
/// Parts of one thing, bounded where it is written.
const std::set<std::string> kParts = {"gridtorrent.v1.Node.endpoints", "gridtorrent.v1.Group.members"};

/// Repeated messages in a reply and in what it holds.
void find_lists(const Descriptor& message, std::set<std::string>& found, std::set<const Descriptor*>& seen) {
  if (!seen.insert(&message).second) return;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    if (field.message_type() == nullptr) continue;
    if (field.is_repeated() && !kParts.contains(std::string(field.full_name()))) {
      found.insert(std::string(field.full_name()));
    }
    find_lists(*field.message_type(), found, seen);
  }
}

bool has(const Descriptor& message, const char* name, FieldDescriptor::Type type) {
  const FieldDescriptor* field = message.FindFieldByName(name);
  return field != nullptr && field->type() == type && !field->is_repeated();
}

TEST(ServerLists, EachListReplyHasPagesOrABound) {
  v1::LoginRequest::descriptor();  // linking alone does not load the descriptors
  v1::EnrollRequest::descriptor();
  int paged = 0;
  for (const char* name : {"gridtorrent/v1/ccm.proto", "gridtorrent/v1/tracker.proto"}) {
    const auto* file = google::protobuf::DescriptorPool::generated_pool()->FindFileByName(name);
    ASSERT_NE(file, nullptr);
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        const auto* method = file->service(s)->method(m);
        const std::string method_name = std::string(file->service(s)->name()) + "/" + std::string(method->name());
        std::set<std::string> lists;
        std::set<const Descriptor*> seen;
        find_lists(*method->output_type(), lists, seen);
        if (lists.empty() || kBounded.contains(method_name)) continue;
        ++paged;
        EXPECT_TRUE(has(*method->output_type(), "next_page", FieldDescriptor::TYPE_STRING)) << method_name;
        EXPECT_TRUE(has(*method->input_type(), "page", FieldDescriptor::TYPE_STRING)) << method_name;
        EXPECT_TRUE(has(*method->input_type(), "limit", FieldDescriptor::TYPE_UINT32)) << method_name;
      }
    }
  }
  EXPECT_GE(paged, 8);
}

TEST(ServerLists, OffersThatDoNotFitIntoAPageAreSaidToBeThereToOldClientsToo) {
  ServerLab lab;
  const std::string alice = lab.add_user("alice"), bob = lab.add_user("bob");
  for (const char* name : {"one", "two"}) {
    v1::OfferContentRequest offer;
    offer.set_request_id(lab.request_id());
    offer.set_content(lab.publish(alice, name, v1::Access::PRIVATE));
    offer.set_to("bob");
    ASSERT_TRUE(lab.call<v1::Collaboration>(&v1::Collaboration::Stub::OfferContent, offer, alice).ok());
  }
  const auto list = [&](const v1::ListOffersRequest& request) {
    return *lab.call<v1::Collaboration>(&v1::Collaboration::Stub::ListOffers, request, bob);
  };
  const v1::ListOffersReply all = list({});
  EXPECT_EQ(all.to_me_size(), 2);
  EXPECT_FALSE(all.cut());
  v1::ListOffersRequest request;
  request.set_limit(1);
  const v1::ListOffersReply first = list(request);
  EXPECT_TRUE(first.cut());
  request.set_page(first.next_page());
  const v1::ListOffersReply second = list(request);
  EXPECT_FALSE(second.cut());
  EXPECT_EQ(second.next_page(), "");
  ASSERT_EQ(first.to_me_size() + second.to_me_size(), 2);
  EXPECT_NE(first.to_me(0).content_id(), second.to_me(0).content_id());
}

TEST(ServerLists, LargeAuditRecordsThatAreThereFitIntoAPage) {
  ServerLab lab;
  lab.stop();
  {
    auto store = tracker::store::SqliteStore::open({lab.data_dir(), {}});
    ASSERT_TRUE(store.ok()) << store.error().message;
    std::string large;
    while (large.size() < 10'000) large += "ü数";
    const auto written = static_cast<ccm::Store&>(**store).write([&](ccm::Tx& tx) -> Status {
      for (int i = 0; i < 1000; ++i) {
        GT_TRY(tx.audit.append({WallTime{1}, UserId(), "mallory", "t", "::1", "old.record", large, large, large}));
      }
      return {};
    });
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  lab.restart();
  v1::ListAuditRecordsRequest request;
  request.set_action("old.record");
  request.set_limit(1000);
  const auto page = lab.call<v1::Accounts>(&v1::Accounts::Stub::ListAuditRecords, request, lab.admin_token());
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->records_size(), 1000);
  EXPECT_TRUE(page->records(0).request_id().ends_with("…"));
}

TEST(ServerLists, FilesAreListedToThoseWhoMayReadTheContent) {
  ServerLab lab;
  const std::string alice = lab.add_user("alice"), bob = lab.add_user("bob");
  v1::ListFilesRequest request;
  request.set_content_id(lab.publish(alice, "data", v1::Access::PRIVATE));
  const auto list = [&](const std::string& token) {
    return lab.call<v1::Contents>(&v1::Contents::Stub::ListFiles, request, token);
  };
  EXPECT_EQ(list(bob).error().code, Code::kNotFound);
  const auto files = list(alice);
  ASSERT_TRUE(files.ok()) << files.error().message;
  ASSERT_EQ(files->lines_size(), 1);
  EXPECT_EQ(files->lines(0).bytes(), 5U);
  EXPECT_EQ(files->lines(0).merkle_root().size(), 32U);
  EXPECT_EQ(files->total_bytes(), 5U);
  request.set_version(9);
  const auto none = list(alice);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::kInvalid) << "there is no such version: " << none.error().message;
}

class ServerTaskLists : public testing::Test {
 protected:
  void report(const std::string& task, const std::string& result) {
    v1::ReportTaskRequest request;
    request.set_task_id(task);
    request.set_state("done");
    request.set_result_json(result);
    ASSERT_TRUE(lab_.call<v1::Tasks>(&v1::Tasks::Stub::ReportTask, request, node_.token).ok());
  }
  std::string create(const v1::TaskWork& work) {
    v1::CreateTaskRequest request;
    request.set_request_id(lab_.request_id());
    request.set_node("lab");
    *request.mutable_work() = work;
    const auto made = lab_.call<v1::Tasks>(&v1::Tasks::Stub::CreateTask, request, alice_);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    return made.ok() ? made->task().task_id() : "";
  }
  Result<v1::ListTasksReply> list(const std::string& page = "") {
    v1::ListTasksRequest request;
    request.set_include_ended(true);
    request.set_page(page);
    return lab_.call<v1::Tasks>(&v1::Tasks::Stub::ListTasks, request, alice_);
  }

  ServerLab lab_;
  std::string alice_ = lab_.add_user("alice");
  LabNode node_ = lab_.enroll(alice_, "lab");
};

TEST_F(ServerTaskLists, AreReadableAfterLargeResults) {
  v1::TaskWork folder;
  folder.mutable_list_folder()->set_root_path("");
  const std::string large = '"' + std::string(1'000'000, 'x') + '"';
  std::string last;
  for (int i = 0; i < 6; ++i) report(last = create(folder), large);
  const auto listed = list();
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  ASSERT_EQ(listed->tasks_size(), 6);
  EXPECT_EQ(listed->tasks(0).result_bytes(), large.size());
  EXPECT_EQ(listed->tasks(0).result_json(), "");
  v1::GetTaskRequest request;
  request.set_task_id(last);
  const auto one = lab_.call<v1::Tasks>(&v1::Tasks::Stub::GetTask, request, alice_);
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(one->task().result_json(), large);
}

TEST_F(ServerTaskLists, APageIsCutByBytesToo) {
  v1::TaskWork get;
  get.mutable_get()->set_content_id(lab_.publish(alice_, "data", v1::Access::PUBLIC));
  for (int i = 0; i < 60; ++i) get.mutable_get()->add_globs(std::string(1000, 'x'));
  constexpr int kTasks = 30;  // 60 kB each
  for (int i = 0; i < kTasks; ++i) create(get);
  const auto first = list();
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_LT(first->tasks_size(), kTasks);
  EXPECT_LT(first->ByteSizeLong(), kMaxPageBytes + 100'000);
  ASSERT_NE(first->next_page(), "");
  const auto second = list(first->next_page());
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(first->tasks_size() + second->tasks_size(), kTasks);
  EXPECT_EQ(second->next_page(), "");
  EXPECT_EQ(list("nonsense").error().code, Code::kInvalid);
}

}  // namespace
}  // namespace gridtorrent::test
