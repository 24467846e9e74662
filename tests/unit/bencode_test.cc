#include "metainfo/bencode.h"

#include <gtest/gtest.h>

namespace gridtorrent::metainfo {
namespace {

TEST(Bencode, RefusesEverySecondSpelling) {
  for (const std::string_view text : {"i-0e",
                                      "i00e",
                                      "i01e",
                                      "i-01e",
                                      "ie",
                                      "i-e",
                                      "i+1e",
                                      "i 1e",
                                      "i1 e",
                                      "i9223372036854775808e",
                                      "i1",
                                      "i111111111111111111111111111111e",
                                      "00:",
                                      "01:a",
                                      "-1:",
                                      "+1:a",
                                      "2:a",
                                      "1a",
                                      "99999999999999999999999999:a",
                                      "18446744073709551617:a",
                                      "l",
                                      "li1e",
                                      "d",
                                      "d1:a",
                                      "d1:ai1e",
                                      "di1ei1ee",
                                      "d1:bi1e1:ai1ee",
                                      "d1:ai1e1:ai1ee",
                                      "e",
                                      "",
                                      "x",
                                      "i1ei1e",
                                      "de ",
                                      "1:ab"}) {
    const auto value = bencode_decode(text);
    EXPECT_FALSE(value) << text;
    if (!value) {
      EXPECT_EQ(value.error().code, Code::kInvalid);
    }
  }
}

TEST(Bencode, RefusesDeepNestingAndTooManyValues) {
  const std::string deep = std::string(1'000'000, 'l') + std::string(1'000'000, 'e');
  EXPECT_FALSE(bencode_decode(deep));
  EXPECT_TRUE(bencode_decode(std::string(16, 'l') + std::string(16, 'e')));
  EXPECT_FALSE(bencode_decode(std::string(17, 'l') + std::string(17, 'e')));
  BencodeLimits limits;
  limits.max_values = 3;
  EXPECT_TRUE(bencode_decode("li1ei2ee", limits));
  EXPECT_FALSE(bencode_decode("li1ei2ei3ee", limits));
}

TEST(Bencode, ReadsWhatTheWriterWrote) {
  BencodeWriter writer;
  writer.begin_dict();
  writer.string("list");
  writer.begin_list();
  writer.integer(INT64_MIN);
  writer.integer(INT64_MAX);
  writer.integer(0);
  writer.end();
  writer.string("text");
  writer.string(std::string_view("a\0b", 3));
  writer.end();
  const std::string text = writer.take();
  const auto value = bencode_decode(text);
  ASSERT_TRUE(value) << value.error().message;
  const BencodeList& list = *value->find("list")->as_list();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(*list[0].as_int(), INT64_MIN);
  EXPECT_EQ(*list[1].as_int(), INT64_MAX);
  EXPECT_EQ(*value->find("text")->as_string(), std::string_view("a\0b", 3));
  EXPECT_EQ(value->find("other"), nullptr);
  EXPECT_EQ(list[0].find("list"), nullptr);
}

TEST(Bencode, RefusesEveryTruncation) {
  const std::string text = "d1:ali1ei-22e3:abcd1:x0:ee1:bl4:spame1:ci99ee";
  ASSERT_TRUE(bencode_decode(text));
  for (std::size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(bencode_decode(text.substr(0, size))) << size;
}

}  // namespace
}  // namespace gridtorrent::metainfo
