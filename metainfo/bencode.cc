#include "metainfo/bencode.h"

#include "metainfo/bencode_cursor.h"

namespace gridtorrent::metainfo {

namespace {

class TreeReader {
 public:
  TreeReader(std::string_view input, const BencodeLimits& limits) : cursor_(input), limits_(limits) {}

  Result<BencodeValue> document() {
    GT_ASSIGN(BencodeValue root, value(0));
    if (!cursor_.at_end()) return cursor_.fail("bytes after the end of the value");
    return root;
  }

 private:
  Result<BencodeValue> value(std::size_t depth) {
    if (depth >= limits_.max_depth) return cursor_.fail("nested too deeply");
    if (++values_ > limits_.max_values) return cursor_.fail("too many values");
    switch (cursor_.peek()) {
      case 'i': {
        GT_ASSIGN(const std::int64_t number, cursor_.integer());
        return BencodeValue{number};
      }
      case 'l':
        return list(depth);
      case 'd':
        return dict(depth);
      default: {
        GT_ASSIGN(const std::string_view text, cursor_.string());
        return BencodeValue{text};
      }
    }
  }

  Result<BencodeValue> list(std::size_t depth) {
    GT_TRY(cursor_.expect('l'));
    BencodeList items;
    while (cursor_.peek() != 'e') {
      GT_ASSIGN(BencodeValue item, value(depth + 1));
      items.push_back(std::move(item));
    }
    GT_TRY(cursor_.expect('e'));
    return BencodeValue{std::move(items)};
  }

  Result<BencodeValue> dict(std::size_t depth) {
    GT_TRY(cursor_.expect('d'));
    BencodeDict items;
    while (cursor_.peek() != 'e') {
      GT_ASSIGN(const std::string_view key, cursor_.string());
      if (!items.empty() && items.back().key >= key) return cursor_.fail("dictionary keys out of order or twice");
      GT_ASSIGN(BencodeValue item, value(depth + 1));
      items.push_back({key, std::move(item)});
    }
    GT_TRY(cursor_.expect('e'));
    return BencodeValue{std::move(items)};
  }

  BencodeCursor cursor_;
  const BencodeLimits limits_;
  std::size_t values_ = 0;
};

}  // namespace

const BencodeValue* BencodeValue::find(std::string_view key) const {
  const BencodeDict* dict = as_dict();
  if (dict == nullptr) return nullptr;
  for (const auto& [name, item] : *dict)
    if (name == key) return &item;
  return nullptr;
}

Result<BencodeValue> bencode_decode(std::string_view input, const BencodeLimits& limits) {
  return TreeReader(input, limits).document();
}

void BencodeWriter::integer(std::int64_t value) {
  out_ += 'i';
  out_ += std::to_string(value);
  out_ += 'e';
}

void BencodeWriter::string(std::string_view value) {
  out_ += std::to_string(value.size());
  out_ += ':';
  out_ += value;
}

}  // namespace gridtorrent::metainfo
