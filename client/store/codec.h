#pragma once

#include <string>
#include <string_view>

#include "client/core/node_store.h"

/// Values as text in columns. Decoders refuse (kCorrupt) what the encoders do not write.
namespace gridtorrent::client::store {

std::string_view kind_name(TransferKind kind);
Result<TransferKind> parse_kind(std::string_view text);
std::string_view step_name(TransferStep step);
Result<TransferStep> parse_step(std::string_view text);
std::string_view task_state_name(TaskState state);
Result<TaskState> parse_task_state(std::string_view text);
Result<Code> parse_code(std::string_view text);

std::string encode_globs(const std::vector<std::string>& globs);
Result<std::vector<std::string>> decode_globs(const std::string& text);
/// Hex of one bit an entry, first entry first; what follows the last set bit is left out.
std::string encode_entries(const std::vector<bool>& entries);
/// As long as the bits that are there, rounded up to eight.
Result<std::vector<bool>> decode_entries(const std::string& text);
std::string encode_peers(const std::vector<PeerTotals>& peers);
Result<std::vector<PeerTotals>> decode_peers(const std::string& text);
/// Eight bytes each, the lowest first.
std::string encode_inodes(const std::vector<std::uint64_t>& inodes);
Result<std::vector<std::uint64_t>> decode_inodes(std::string_view bytes);
/// 32 bytes of the key and 16 of the node's id each.
std::string encode_members(const Audience& members);
Result<Audience> decode_members(std::string_view bytes);
std::string encode_content(const ContentInfo& content);
Result<ContentInfo> decode_content(const std::string& text);
/// Empty: nothing.
std::string encode_lasting(const std::optional<PublishRow::Lasting>& lasting);
Result<std::optional<PublishRow::Lasting>> decode_lasting(const std::string& text);
std::string encode_rules(const WalkRules& rules);
Result<WalkRules> decode_rules(const std::string& text);
std::string encode_work(const Task& task);
/// Fills `task.work`.
Status decode_work(const std::string& text, Task& task);

}  // namespace gridtorrent::client::store
