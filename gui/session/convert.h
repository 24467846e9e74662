#pragma once

#include <vector>

#include "client/api/server/values.h"
#include "gridtorrent/v1/control.pb.h"
#include "gui/models/content_facts.h"
#include "gui/models/explanation.h"
#include "gui/models/file_tree.h"
#include "gui/models/peers_model.h"
#include "gui/models/publish_draft.h"
#include "gui/models/rate_history.h"
#include "gui/models/search_model.h"
#include "gui/models/search_query.h"
#include "gui/models/transfer_row.h"

namespace gridtorrent::gui {

// What server and node say, as values of the window's models. Pure, any thread.

TransferRow transfer_row(const v1::Transfer& transfer);
std::vector<PeerRow> peer_rows(const v1::Transfer& transfer);
/// `here`: this node has it, or fetches it.
FoundRow found_row(const v1::Content& content, bool here);
ReplicaFacts replica_facts(const v1::Replica& replica);
/// Without replicas.
ContentFacts content_facts(const v1::Content& content);
/// Times are counted back from `now_ms`.
v1::SearchRequest search_request(const SearchQuery& query, std::int64_t now_ms);
/// Paths are those below the base, which the patterns of a get are for; a content that is a single file has its base
/// alone. Folders are left out: the tree makes them of the paths. Sorts; up to a million files.
FileTree file_tree(const std::vector<client::api::FileEntry>& entries);
/// Without user and request id.
v1::PublishRequest publish_request(const PublishDraft& draft);
PublishScan publish_scan(const v1::ScannedFiles& scanned, bool complete);

/// `lanes_now` of the transfer, and the reason of its plan.
Explanation explanation(const v1::Tuning& tuning, std::uint32_t lanes_now, const std::string& plan);
/// A later message of a watched tuning into what was known: new samples and decisions are added, changed decisions
/// replaced, and all else taken over.
void merge_tuning(v1::Tuning& known, const v1::Tuning& news);
/// The samples and decisions as times of the wall clock, where the last look was at `now_ms`.
RateHistory tuning_history(const v1::Tuning& tuning, std::int64_t now_ms);
RateHistory rate_history(const v1::RateHistoryReply& reply);
/// What ended after the last point that was known, into what was known. Keeps a day.
void merge_rates(RateHistory& known, const RateHistory& news);

}  // namespace gridtorrent::gui
