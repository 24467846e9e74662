#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ccm/domain/ports.h"
#include "common/result.h"

namespace gridtorrent::ccm {

/// The first answer to this request id, if it was answered before; nothing if the work is still to be done. kConflict:
/// the id was used for another method. kInvalid: no proper request id.
Result<std::optional<std::string>> first_answer(Tx& tx, const UserId& caller, std::string_view request_id,
                                                std::string_view method);

/// For mutations whose answer is the object they were asked for: whether this is that request again. kConflict: the id
/// was used for another object.
Result<bool> was_done(Tx& tx, const UserId& caller, std::string_view request_id, std::string_view method,
                      std::string_view object);

/// Keeps the answer, in the transaction that does the work.
Status keep_answer(Tx& tx, const UserId& caller, std::string_view request_id, std::string_view method,
                   const std::string& answer, WallTime now);

}  // namespace gridtorrent::ccm
