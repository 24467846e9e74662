#include "base/rpc/document.h"

#include "base/crypto/digest.h"
#include "common/hex.h"

namespace gridtorrent::rpc {

ReceivedDocument::~ReceivedDocument() {
  budget_.give_back(holder_, bytes_.size());
}

Status ReceivedDocument::append(const std::string& data) {
  if (!budget_.take(holder_, data.size())) {
    return Error{Code::kBusy, "the server takes in too much at once; try again in a minute"};
  }
  bytes_ += data;
  return {};
}

std::string ReceivedDocument::sha256_hex() const {
  return hex_encode(crypto::sha256(as_bytes(bytes_)));
}

}  // namespace gridtorrent::rpc
