// What the programs of an older build sent to their server is sent to this one, byte for byte but for the ids and
// tokens that this one hands out. Each call ends with the status that it had, and answers what the older programs read.
// tests/recorded/record.py makes the recording and describes its format.

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/hex.h"
#include "tests/integration/server_lab.h"
#include "tracker/authority/enrollment.h"

namespace gridtorrent::test {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using Json = nlohmann::json;

struct RecordedCall {
  std::string method, bearer;
  std::vector<std::string> requests, replies;  ///< hex with placeholders
  int status = 0;
  const MethodDescriptor* descriptor() const {
    std::string name = method.substr(1);
    name[name.find('/')] = '.';
    return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
  }
  /// The caller ended the stream: the server said nothing at its end.
  bool ended_by_caller() const { return status == grpc::StatusCode::CANCELLED; }
};

struct Recording {
  std::vector<std::string> keys;  ///< PEM, of the nodes in the order of their enrolment
  std::vector<RecordedCall> calls;
};

Recording read_recording(const std::string& name) {
  std::ifstream file(std::string(GT_RECORDED_DIR) + "/" + name);
  std::string line;
  Recording recording;
  if (std::getline(file, line)) recording.keys = Json::parse(line).at("keys");
  while (std::getline(file, line)) {
    const Json json = Json::parse(line);
    recording.calls.push_back(
        {json.at("method"), json.at("bearer"), json.at("requests"), json.at("replies"), json.at("status")});
  }
  return recording;
}

/// A placeholder's value, of the size given.
using ValueOf = std::function<std::string(const std::string& name, std::size_t size)>;

/// "0a40{gtp_2:64}12" → bytes.
std::string fill(const std::string& text, const ValueOf& value_of) {
  std::string bytes;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = std::min(text.find('{', at), text.size());
    bytes += *hex_decode(text.substr(at, open - at));
    if (open == text.size()) break;
    const std::size_t colon = text.find(':', open), close = text.find('}', open);
    std::size_t size = 0;
    std::from_chars(text.data() + colon + 1, text.data() + close, size);
    bytes += value_of(text.substr(open + 1, colon - open - 1), size);
    at = close + 1;
  }
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

/// What this server handed out in place of the recorded values, by placeholder.
class Values {
 public:
  Values(std::vector<std::string> keys, std::string admin_token) : keys_(std::move(keys)) {
    known_["gtp_1"] = std::move(admin_token);
  }

  std::string request(const std::string& text, const std::string& bearer) const {
    return fill(text, [&](const std::string& name, std::size_t size) {
      std::string value = name.starts_with("proof_") ? proof(name, bearer, size)
                          : name == "now"            ? varint(static_cast<std::uint64_t>(SystemClock().wall().ms))
                                                     : token(name);
      EXPECT_EQ(value.size(), size) << name;
      return value;
    });
  }
  /// Placeholders stand in it as "<gtp_2------…": to be parsed, and found again.
  static std::string recorded_reply(const std::string& text) {
    return fill(text, [](const std::string& name, std::size_t size) {
      std::string stand_in = "<" + name;
      stand_in.resize(size, '-');
      return stand_in;
    });
  }
  /// False: it stands for another value than this one.
  bool take(const std::string& stand_in, const std::string& value) {
    const std::string name = stand_in.substr(1, stand_in.find('-') - 1);
    return known_.try_emplace(name, value).first->second == value;
  }
  std::string token(const std::string& name) const {
    if (name.empty()) return "";
    const auto found = known_.find(name);
    EXPECT_NE(found, known_.end()) << name << " was in no reply";
    return found == known_.end() ? "" : found->second;
  }

 private:
  /// Signatures differ in length by a byte or two.
  std::string proof(const std::string& name, const std::string& bearer, std::size_t size) const {
    const auto key = crypto::EcKey::from_pem(keys_.at(std::stoul(name.substr(6)) - 1));
    const std::string text = tracker::authority::kEnrollProofLabel + token(bearer);
    for (int i = 0; i < 1000; ++i) {
      std::string signature = *key->sign(text);
      if (signature.size() == size) return signature;
    }
    return "";
  }

  const std::vector<std::string> keys_;
  std::map<std::string, std::string> known_;
};

/// Compares two messages of one type, field by field.
class Coverage {
 public:
  explicit Coverage(Values& values) : values_(values) {}

  /// The first field that `recorded` has and `now` has not, or that has another placeholder's value; none: it covers
  /// it. A message without a field says nothing, and need not be there: a confirmation of no list waits for a
  /// heartbeat.
  std::optional<std::string> missing(const Message& recorded, const Message& now) {
    std::vector<const FieldDescriptor*> fields;
    recorded.GetReflection()->ListFields(recorded, &fields);
    for (const FieldDescriptor* field : fields) {
      const int wanted = says_nothing(recorded, *field) ? 0 : count(recorded, *field);
      if (count(now, *field) < wanted) return field->full_name();
      for (int i = 0; i < wanted; ++i) {
        if (auto found = missing_in(*field, i, recorded, now)) return found;
      }
    }
    return std::nullopt;
  }

 private:
  static int count(const Message& message, const FieldDescriptor& field) {
    const auto* reflection = message.GetReflection();
    return field.is_repeated() ? reflection->FieldSize(message, &field) : reflection->HasField(message, &field) ? 1 : 0;
  }
  static bool says_nothing(const Message& message, const FieldDescriptor& field) {
    return !field.is_repeated() && field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
           child(message, field, 0).ByteSizeLong() == 0;
  }
  static const Message& child(const Message& message, const FieldDescriptor& field, int i) {
    const auto* reflection = message.GetReflection();
    return field.is_repeated() ? reflection->GetRepeatedMessage(message, &field, i)
                               : reflection->GetMessage(message, &field);
  }
  static std::string text(const Message& message, const FieldDescriptor& field, int i) {
    const auto* reflection = message.GetReflection();
    return field.is_repeated() ? reflection->GetRepeatedString(message, &field, i)
                               : reflection->GetString(message, &field);
  }
  std::optional<std::string> missing_in(const FieldDescriptor& field, int i, const Message& recorded,
                                        const Message& now) {
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      return missing(child(recorded, field, i), child(now, field, i));
    }
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_STRING) return std::nullopt;
    const std::string was = text(recorded, field, i);
    if (!was.starts_with('<') || values_.take(was, text(now, field, i))) return std::nullopt;
    return field.full_name() + " (" + was + ")";
  }

  Values& values_;
};

/// One call as bytes. Each step waits; the deadline of the call bounds them all.
class RawCall {
 public:
  RawCall(grpc::GenericStub& stub, const std::string& method, const std::string& token) {
    rpc::prepare(context_, std::chrono::seconds(60), token);
    call_ = stub.PrepareCall(&context_, method, &queue_);
    call_->StartCall(this);
    wait();
  }
  ~RawCall() {
    queue_.Shutdown();
    while (wait()) {
    }
  }
  RawCall(const RawCall&) = delete;
  RawCall& operator=(const RawCall&) = delete;

  void write(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    call_->Write(grpc::ByteBuffer(&slice, 1), this);
    wait();
  }
  void end_writing() {
    call_->WritesDone(this);
    wait();
  }
  std::optional<std::string> read() {
    grpc::ByteBuffer buffer;
    call_->Read(&buffer, this);
    if (!wait()) return std::nullopt;
    grpc::Slice slice;
    if (!buffer.DumpToSingleSlice(&slice).ok()) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  void cancel() { context_.TryCancel(); }
  grpc::Status finish() {
    grpc::Status status;
    call_->Finish(&status, this);
    wait();
    return status;
  }

 private:
  bool wait() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

class ServerRecorded : public ::testing::Test {
 protected:
  void play_all() {
    for (const RecordedCall& recorded : recording_.calls) {
      SCOPED_TRACE(recorded.method + " by " + recorded.bearer);
      play(recorded);
      if (HasFailure()) return;
    }
    while (!streams_.empty()) end_stream(streams_.begin());
  }

 private:
  static std::unique_ptr<Message> parse(const MethodDescriptor& method, const std::string& bytes) {
    std::unique_ptr<Message> message(
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(method.output_type())->New());
    EXPECT_TRUE(message->ParseFromString(bytes));
    return message;
  }
  struct Stream {
    const RecordedCall& recorded;
    std::unique_ptr<RawCall> call;
    std::optional<std::string> first;  ///< reply
  };
  /// Sends it. What a stream answers after its first reply is read at its end: it may follow from later calls.
  void play(const RecordedCall& recorded) {
    ASSERT_NE(recorded.descriptor(), nullptr) << recorded.method << " is no method any more";
    const auto open = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& stream) {
      return stream.recorded.method == recorded.method && stream.recorded.bearer == recorded.bearer;
    });
    if (open != streams_.end()) end_stream(open);  // as the caller did: a node has one at a time
    auto call = std::make_unique<RawCall>(stub_, recorded.method, values_.token(recorded.bearer));
    for (const std::string& request : recorded.requests) call->write(values_.request(request, recorded.bearer));
    call->end_writing();
    auto first = call->read();
    if (recorded.descriptor()->server_streaming()) {
      streams_.push_back({recorded, std::move(call), std::move(first)});
    } else {
      expect_same_end(recorded, *call, std::move(first));
    }
  }
  void end_stream(std::list<Stream>::iterator stream) {
    SCOPED_TRACE(stream->recorded.method + " by " + stream->recorded.bearer);
    expect_same_end(stream->recorded, *stream->call, std::move(stream->first));
    streams_.erase(stream);
  }
  /// Reads until all replies that were recorded have been seen, of a stream that the server ended until it ends.
  void expect_same_end(const RecordedCall& recorded, RawCall& call, std::optional<std::string> bytes) {
    std::vector<std::unique_ptr<Message>> awaited;
    for (const std::string& reply : recorded.replies) {
      awaited.push_back(parse(*recorded.descriptor(), Values::recorded_reply(reply)));
    }
    std::string last_missing;
    for (; bytes; bytes = call.read()) {
      const auto now = parse(*recorded.descriptor(), *bytes);
      std::erase_if(awaited, [&](const auto& then) {
        const auto missing = Coverage(values_).missing(*then, *now);
        if (missing) last_missing = *missing;
        return !missing;
      });
      if (awaited.empty() && recorded.ended_by_caller()) break;
    }
    for (const auto& then : awaited) {
      ADD_FAILURE() << "no such reply; missing: " << last_missing << "\n" << then->DebugString();
    }
    if (recorded.ended_by_caller()) call.cancel();
    const grpc::Status status = call.finish();
    EXPECT_EQ(status.error_code(), recorded.status) << status.error_message();
  }

 protected:
  ServerLab lab_;
  const Recording recording_ = read_recording("node_ef69d6b.jsonl");

 private:
  grpc::GenericStub stub_{lab_.channel()};
  Values values_{recording_.keys, lab_.admin_token()};
  std::list<Stream> streams_;
};

TEST_F(ServerRecorded, AnOlderNodeAndItsPeopleAreServedAsBefore) {
  std::vector<std::string> methods;
  for (const RecordedCall& call : recording_.calls) methods.push_back(call.method.substr(call.method.rfind('/') + 1));
  ASSERT_THAT(methods, ::testing::IsSupersetOf({"Login", "Enroll", "Certify", "FinishPublish", "GetMetadata",
                                                "Announce", "CreateTask", "ReportTask", "RenewNode", "WatchNode"}));
  play_all();
}

}  // namespace
}  // namespace gridtorrent::test
