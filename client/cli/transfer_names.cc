#include "client/cli/transfer_names.h"

#include <algorithm>

#include "common/ids.h"
#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

constexpr std::string_view kIdPrefix = "x_";
constexpr std::size_t kMostCandidates = 5;

bool is_named(const NamedTransfer& one, std::string_view text) {
  return text == one.name || text == one.content_id || text == one.owner + "/" + one.name;
}

std::string shown(const NamedTransfer& one) {
  return one.id + " (" + escape_for_display(one.owner + "/" + one.name) + ", " + one.note + ")";
}

Error ambiguous(std::string_view text, const std::vector<const NamedTransfer*>& candidates) {
  std::string list;
  for (std::size_t i = 0; i < candidates.size() && i < kMostCandidates; ++i)
    list += (i == 0 ? "" : ", ") + shown(*candidates[i]);
  if (candidates.size() > kMostCandidates)
    list += " and " + std::to_string(candidates.size() - kMostCandidates) + " more";
  return {Code::kConflict, "'" + escape_for_display(text) + "' names " + std::to_string(candidates.size()) +
                               " transfers; give the id of one: " + list};
}

Error unknown(std::string_view text) {
  return {Code::kNotFound, "no transfer '" + escape_for_display(text) +
                               "' on this node, by id or by the name of its content; 'gridtorrent transfers' lists " +
                               "them"};
}

bool is_whole_id(const std::string& text) {
  return TransferId::parse(text).ok();
}

NamedTransfer named(const v1::Transfer& transfer) {
  const std::string where = transfer.path().empty() ? "" : " at " + escape_for_display(transfer.path());
  return {transfer.transfer_id(), transfer.content_id(), transfer.owner(), transfer.name(), transfer.state() + where};
}

Result<std::vector<NamedTransfer>> all_transfers(api::NodeApi& node) {
  GT_ASSIGN(const v1::ListTransfersReply reply, node.list_transfers());
  std::vector<NamedTransfer> all;
  all.reserve(static_cast<std::size_t>(reply.transfers_size()));
  for (const v1::Transfer& transfer : reply.transfers()) all.push_back(named(transfer));
  return all;
}

}  // namespace

Result<std::string> find_transfer(std::string_view text, const std::vector<NamedTransfer>& all) {
  std::vector<const NamedTransfer*> by_name, by_begin;
  for (const NamedTransfer& one : all) {
    if (one.id == text) return one.id;
    if (is_named(one, text)) by_name.push_back(&one);
    if (text.size() > kIdPrefix.size() && text.starts_with(kIdPrefix) && one.id.starts_with(text))
      by_begin.push_back(&one);
  }
  const auto& found = by_name.empty() ? by_begin : by_name;
  if (found.empty()) return unknown(text);
  if (found.size() > 1) return ambiguous(text, found);
  return found.front()->id;
}

Result<std::string> transfer_named(Context& context, const std::string& text) {
  if (is_whole_id(text)) return text;
  GT_ASSIGN(api::NodeApi* const node, context.node());
  GT_ASSIGN(const std::vector<NamedTransfer> all, all_transfers(*node));
  return find_transfer(text, all);
}

Result<std::string> tuning_named(Context& context, const std::string& text) {
  if (is_whole_id(text)) return text;
  GT_ASSIGN(api::NodeApi* const node, context.node());
  GT_ASSIGN(std::vector<NamedTransfer> all, all_transfers(*node));
  GT_ASSIGN(const v1::ListTuningsReply tunings, node->list_tunings());
  for (const v1::Tuning& tuning : tunings.tunings()) {
    const bool listed =
        std::ranges::any_of(all, [&](const NamedTransfer& one) { return one.id == tuning.transfer_id(); });
    const std::size_t slash = tuning.name().find('/');
    if (listed || slash == std::string::npos) continue;
    all.push_back({tuning.transfer_id(), "", tuning.name().substr(0, slash), tuning.name().substr(slash + 1), "ended"});
  }
  return find_transfer(text, all);
}

}  // namespace gridtorrent::client::cli
