#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cli/context.h"

/// Which transfer a command line means.
namespace gridtorrent::client::cli {

/// A transfer that can be named, with what tells it from others.
struct NamedTransfer {
  std::string id, content_id, owner, name;
  std::string note;  ///< for people: its state, and where it is
};

/// The id of the one that `text` names: by its id, by the name of its content (also OWNER/NAME, or the content's id),
/// or by a begin of its id that no other has. kNotFound, or kConflict with the candidates.
Result<std::string> find_transfer(std::string_view text, const std::vector<NamedTransfer>& all);

/// The same among the transfers of the local node. A whole id is taken as it is, without asking the node.
Result<std::string> transfer_named(Context& context, const std::string& text);
/// Among those that can be explained, too: the node keeps their tuning longer than them.
Result<std::string> tuning_named(Context& context, const std::string& text);

/// Whether `transfer clear` takes it off the list: nothing of it is going on, and nothing begins again by itself.
bool may_be_cleared(const v1::Transfer& transfer, bool failed_only);

/// The help of a positional that takes such a name.
inline constexpr char kTransferHelp[] = "its id, the begin of its id, or the name of its content";

}  // namespace gridtorrent::client::cli
