#include "ccm/domain/once.h"

#include "common/request_id.h"

namespace gridtorrent::ccm {

Result<std::optional<std::string>> first_answer(Tx& tx, const UserId& caller, std::string_view request_id,
                                                std::string_view method) {
  GT_TRY(check_request_id(request_id));
  GT_ASSIGN(auto entry, tx.requests.find(caller, request_id));
  if (!entry) return std::optional<std::string>();
  if (entry->method != method) {
    return Error{Code::kConflict, "request_id " + std::string(request_id) + " was used for " + entry->method +
                                      "; make a new one for " + std::string(method)};
  }
  return std::optional<std::string>(std::move(entry->answer));
}

Result<bool> was_done(Tx& tx, const UserId& caller, std::string_view request_id, std::string_view method,
                      std::string_view object) {
  GT_ASSIGN(const auto answered, first_answer(tx, caller, request_id, method));
  if (!answered) return false;
  if (*answered == object) return true;
  return Error{Code::kConflict, "request_id " + std::string(request_id) + " was used for " + *answered +
                                    "; make a new one for " + std::string(object)};
}

Status keep_answer(Tx& tx, const UserId& caller, std::string_view request_id, std::string_view method,
                   const std::string& answer, WallTime now) {
  return tx.requests.put(caller, request_id, {std::string(method), answer}, now);
}

}  // namespace gridtorrent::ccm
