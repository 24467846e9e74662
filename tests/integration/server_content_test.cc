// Publishing, finding and reading contents through gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/crypto/digest.h"
#include "common/hex.h"
#include "tests/integration/server_lab.h"

namespace gridtorrent::test {
namespace {

using ::testing::HasSubstr;

class ServerContent : public ::testing::Test {
 protected:
  Result<v1::BeginPublishReply> begin(const std::string& token, const std::string& name,
                                      const std::string& request_id) {
    v1::BeginPublishRequest request;
    request.set_request_id(request_id);
    request.set_name(name);
    request.mutable_access()->set_level(v1::Access::PUBLIC);
    return lab_.call<v1::Contents>(&v1::Contents::Stub::BeginPublish, request, token);
  }
  Result<v1::GetContentReply> get(const std::string& token, const std::string& reference) {
    v1::GetContentRequest request;
    request.set_reference(reference);
    return lab_.call<v1::Contents>(&v1::Contents::Stub::GetContent, request, token);
  }
  Result<v1::SearchReply> search(const std::string& token, const v1::SearchRequest& request) {
    return lab_.call<v1::Contents>(&v1::Contents::Stub::Search, request, token);
  }
  Result<v1::FinishPublishReply> send(const Upload& upload) { return test::send(lab_.channel(), alice_, upload); }

  ServerLab lab_;
  const std::string alice_ = lab_.add_user("alice");
  const std::string bob_ = lab_.add_user("bob");
};

TEST_F(ServerContent, APublicContentIsFoundAndReadByOthers) {
  const std::string id = lab_.publish(alice_, "climate", v1::Access::PUBLIC, 3'000'000);
  v1::SearchRequest request;
  request.set_query("CLIM");
  const auto found = search(bob_, request);
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->contents_size(), 1);
  EXPECT_EQ(found->contents(0).content_id(), id);
  EXPECT_EQ(found->contents(0).bytes(), 3'000'000u);
  EXPECT_EQ(found->contents(0).files(), 1u);
  for (const std::string& reference : {id, std::string("climate"), std::string("alice/climate")}) {
    const auto content = get(bob_, reference);
    ASSERT_TRUE(content.ok()) << reference;
    EXPECT_EQ(content->content().content_id(), id);
    EXPECT_EQ(content->content().state(), "published");
  }
  const auto document = download(lab_.channel(), bob_, id);
  ASSERT_TRUE(document.ok()) << document.error().message;
  EXPECT_EQ(*document, metainfo::encode(one_file_metadata(3'000'000)));
}

TEST_F(ServerContent, APrivateContentDoesNotExistForOthers) {
  const std::string id = lab_.publish(alice_, "secret", v1::Access::PRIVATE);
  const auto hidden = get(bob_, id);
  const auto missing = get(bob_, "c_" + std::string(26, 'a'));
  ASSERT_FALSE(hidden.ok());
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(hidden.error().code, Code::kNotFound);
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_FALSE(download(lab_.channel(), bob_, id).ok());
  const auto found = search(bob_, v1::SearchRequest());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->contents_size(), 0);
  EXPECT_TRUE(get(alice_, "secret").ok());
}

TEST_F(ServerContent, ARepeatedRequestIsDoneOnce) {
  const std::string request_id = lab_.request_id();
  const auto first = begin(alice_, "twice", request_id);
  const auto second = begin(alice_, "twice", request_id);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->content_id(), second->content_id());
  EXPECT_EQ(first->torrent_names(0), second->torrent_names(0));
  const Upload upload = upload_of(lab_.request_id(), first->content_id(), one_file_metadata(10));
  ASSERT_TRUE(send(upload).ok());
  const auto again = send(upload);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->content().content_id(), first->content_id());
}

TEST_F(ServerContent, ANameIsTakenOnce) {
  lab_.publish(alice_, "data", v1::Access::PUBLIC);
  const auto second = begin(alice_, "data", lab_.request_id());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_TRUE(begin(bob_, "data", lab_.request_id()).ok()) << "names are per owner";
}

TEST_F(ServerContent, AnUploadThatIsNotWhatItSaidIsRefused) {
  const auto ticket = begin(alice_, "broken", lab_.request_id());
  ASSERT_TRUE(ticket.ok());
  const Upload good = upload_of(lab_.request_id(), ticket->content_id(), one_file_metadata(1000));

  Upload cut = good;
  cut.document.pop_back();
  EXPECT_EQ(send(cut).error().code, Code::kInvalid);
  Upload longer = good;
  longer.document += "x";
  EXPECT_EQ(send(longer).error().code, Code::kInvalid);
  Upload altered = good;
  altered.document.back() = 'x';
  EXPECT_EQ(send(altered).error().code, Code::kCorrupt);
  Upload huge = good;
  huge.total = metainfo::kMaxMetadataBytes + 1;
  EXPECT_EQ(send(huge).error().code, Code::kInvalid);
  Upload nothing = good;
  nothing.document.clear();
  EXPECT_EQ(send(nothing).error().code, Code::kInvalid);
  EXPECT_FALSE(get(bob_, "alice/broken").ok()) << "nothing of it may show";
  EXPECT_TRUE(send(good).ok());
}

TEST_F(ServerContent, HostileMetadataIsRefused) {
  const auto ticket = begin(alice_, "hostile", lab_.request_id());
  ASSERT_TRUE(ticket.ok());
  metainfo::VersionMetadata metadata = one_file_metadata(1000);
  metadata.manifest.base_name = "..";
  const auto sent = send(upload_of(lab_.request_id(), ticket->content_id(), metadata));
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code, Code::kInvalid) << sent.error().message;
}

TEST_F(ServerContent, NobodyFinishesAnothersContent) {
  const auto ticket = begin(alice_, "mine", lab_.request_id());
  ASSERT_TRUE(ticket.ok());
  const Upload upload = upload_of(lab_.request_id(), ticket->content_id(), one_file_metadata(10));
  const auto sent = test::send(lab_.channel(), bob_, upload);
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code, Code::kNotFound);
}

TEST_F(ServerContent, ALargeDocumentTravelsInChunks) {
  const auto ticket = begin(alice_, "large", lab_.request_id());
  ASSERT_TRUE(ticket.ok());
  Upload upload = upload_of(lab_.request_id(), ticket->content_id(), one_file_metadata(std::uint64_t{180} << 30));
  ASSERT_GT(upload.document.size(), std::size_t{512} << 10) << "more than two chunks of the download";
  upload.chunk = std::size_t{256} << 10;
  ASSERT_TRUE(send(upload).ok());
  const auto document = download(lab_.channel(), bob_, ticket->content_id());
  ASSERT_TRUE(document.ok()) << document.error().message;
  EXPECT_TRUE(*document == upload.document);
}

TEST_F(ServerContent, SearchGoesPageByPage) {
  for (int i = 0; i < 5; ++i) lab_.publish(alice_, "set-" + std::to_string(i), v1::Access::PUBLIC);
  std::vector<std::string> names;
  v1::SearchRequest request;
  request.set_limit(2);
  do {
    const auto page = search(bob_, request);
    ASSERT_TRUE(page.ok()) << page.error().message;
    for (const auto& content : page->contents()) names.push_back(content.name());
    request.set_page(page->next_page());
  } while (!request.page().empty());
  EXPECT_THAT(names, ::testing::ElementsAre("set-4", "set-3", "set-2", "set-1", "set-0"));
}

TEST_F(ServerContent, AccessCanBeTakenBackAndExplained) {
  const std::string id = lab_.publish(alice_, "open", v1::Access::PUBLIC);
  v1::SetAccessRequest request;
  request.set_request_id(lab_.request_id());
  request.set_content_id(id);
  request.mutable_access()->set_level(v1::Access::PRIVATE);
  EXPECT_FALSE(lab_.call<v1::Contents>(&v1::Contents::Stub::SetAccess, request, bob_).ok());
  ASSERT_TRUE(lab_.call<v1::Contents>(&v1::Contents::Stub::SetAccess, request, alice_).ok());
  EXPECT_FALSE(get(bob_, id).ok());
  v1::ExplainAccessRequest why;
  why.set_content_id(id);
  why.set_user("bob");
  const auto told = lab_.call<v1::Contents>(&v1::Contents::Stub::ExplainAccess, why, alice_);
  ASSERT_TRUE(told.ok()) << told.error().message;
  EXPECT_FALSE(told->allowed());
  EXPECT_FALSE(told->reason().empty());
}

TEST_F(ServerContent, AccessThatSomebodyElseHasChangedMeanwhileIsNotReplaced) {
  const std::string id = lab_.publish(alice_, "open", v1::Access::PUBLIC);
  v1::SetAccessRequest request;
  request.set_request_id(lab_.request_id());
  request.set_content_id(id);
  request.mutable_access()->set_level(v1::Access::PRIVATE);
  request.mutable_expected()->set_level(v1::Access::SHARED);
  request.mutable_expected()->add_users("bob");
  const auto refused = lab_.call<v1::Contents>(&v1::Contents::Stub::SetAccess, request, alice_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kConflict) << refused.error().message;
  EXPECT_TRUE(get(bob_, id).ok()) << "it is open as it was";
  request.set_request_id(lab_.request_id());
  request.mutable_expected()->Clear();
  request.mutable_expected()->set_level(v1::Access::PUBLIC);
  ASSERT_TRUE(lab_.call<v1::Contents>(&v1::Contents::Stub::SetAccess, request, alice_).ok());
  EXPECT_FALSE(get(bob_, id).ok());
}

TEST_F(ServerContent, APreviewTellsWhoWillGetIt) {
  v1::PreviewAccessRequest request;
  request.mutable_access()->set_level(v1::Access::SHARED);
  request.mutable_access()->add_users("nobody");
  const auto refused = lab_.call<v1::Contents>(&v1::Contents::Stub::PreviewAccess, request, alice_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("nobody"));
  request.mutable_access()->set_users(0, "bob");
  const auto told = lab_.call<v1::Contents>(&v1::Contents::Stub::PreviewAccess, request, alice_);
  ASSERT_TRUE(told.ok()) << told.error().message;
  EXPECT_EQ(told->people(), 1u);
  EXPECT_EQ(told->users(0), "bob");
  EXPECT_THAT(told->text(), HasSubstr("bob can find and fetch this."));
}

TEST_F(ServerContent, WithdrawnContentIsNoLongerFound) {
  const std::string id = lab_.publish(alice_, "gone", v1::Access::PUBLIC);
  v1::UnpublishRequest request;
  request.set_request_id(lab_.request_id());
  request.set_content_id(id);
  const auto gone = lab_.call<v1::Contents>(&v1::Contents::Stub::Unpublish, request, alice_);
  ASSERT_TRUE(gone.ok()) << gone.error().message;
  EXPECT_EQ(gone->content().state(), "withdrawn");
  const auto found = search(bob_, v1::SearchRequest());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->contents_size(), 0);
}

TEST_F(ServerContent, ChecksumsComeLater) {
  const std::string id = lab_.publish(alice_, "sums", v1::Access::PUBLIC);
  EXPECT_EQ(download(lab_.channel(), bob_, id, /*checksums=*/true).error().code, Code::kNotFound);

  const auto add = [&](const std::string& token, const std::string& digests) {
    grpc::ClientContext context;
    rpc::prepare(context, std::chrono::seconds(20), token);
    v1::AddChecksumsReply reply;
    const auto stub = v1::Contents::NewStub(lab_.channel());
    const auto writer = stub->AddChecksums(&context, &reply);
    v1::AddChecksumsChunk chunk;
    chunk.set_content_id(id);
    chunk.set_version(1);
    chunk.set_data(digests);
    writer->Write(chunk);
    writer->WritesDone();
    return writer->Finish();
  };
  EXPECT_FALSE(add(alice_, "too short").ok());
  EXPECT_FALSE(add(bob_, std::string(32, 's')).ok());
  const grpc::Status added = add(alice_, std::string(32, 's'));
  ASSERT_TRUE(added.ok()) << added.error_message();
  const auto sums = download(lab_.channel(), bob_, id, /*checksums=*/true);
  ASSERT_TRUE(sums.ok()) << sums.error().message;
  EXPECT_EQ(*sums, std::string(32, 's'));
  EXPECT_TRUE(get(bob_, id)->content().has_checksums());
}

TEST_F(ServerContent, ALargeDocumentGoesThroughAFileThatDoesNotStay) {
  metainfo::VersionMetadata large;
  large.manifest.base_name = "large";
  large.manifest.entries.resize(1);
  large.manifest.entries.front().kind = metainfo::EntryKind::kFolder;
  large.manifest.entries.front().mode = 0755;
  for (int i = 0; i < 40'000; ++i) {
    metainfo::ManifestEntry empty;
    empty.path = "an empty file, and its number is " + std::to_string(1'000'000 + i);
    empty.mode = 0644;
    large.manifest.entries.push_back(empty);
  }
  const auto ticket = begin(alice_, "large", lab_.request_id());
  ASSERT_TRUE(ticket.ok()) << ticket.error().message;
  Upload upload = upload_of(lab_.request_id(), ticket->content_id(), large);
  upload.chunk = 50'000;
  ASSERT_GT(upload.document.size(), std::size_t{512} << 10);
  const auto sent = test::send(lab_.channel(), alice_, upload);
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_EQ(*download(lab_.channel(), bob_, ticket->content_id()), upload.document);
  EXPECT_TRUE(std::filesystem::is_empty(lab_.data_dir() + "/uploads"));
}

TEST_F(ServerContent, WhatWasAcknowledgedIsThereAfterARestart) {
  const std::string id = lab_.publish(alice_, "durable", v1::Access::PUBLIC);
  lab_.restart();
  const auto content = get(bob_, id);
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_TRUE(download(lab_.channel(), bob_, id).ok());
}

}  // namespace
}  // namespace gridtorrent::test
