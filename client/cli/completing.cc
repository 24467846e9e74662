#include "client/cli/completing.h"

#include <algorithm>
#include <map>

#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

/// Somebody holds the tab key: no answer is better than a late one.
constexpr std::chrono::milliseconds kDeadline{700};
constexpr std::uint32_t kMostOffers = 200;

bool is_printable(const std::string& word) {
  std::string escaped;
  for (const char c : word) escaped += c == '\\' ? std::string("\\\\") : std::string(1, c);
  return !word.empty() && escape_for_display(word) == escaped;
}

Result<std::vector<Offer>> contents(Context& c, std::string_view begin) {
  GT_ASSIGN(api::ServerApi* const server, c.server(kDeadline));
  v1::SearchRequest request;
  const std::size_t slash = begin.find('/');
  if (slash != std::string_view::npos) request.set_owner(std::string(begin.substr(0, slash)));
  request.set_query(std::string(slash == std::string_view::npos ? begin : begin.substr(slash + 1)));
  request.set_limit(kMostOffers);
  GT_ASSIGN(const v1::SearchReply reply, server->contents().search(request));
  return content_offers({reply.contents().begin(), reply.contents().end()}, begin);
}

Result<std::vector<Offer>> groups(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server(kDeadline));
  GT_ASSIGN(const std::vector<v1::Group> list, server->collaboration().list_groups(false));
  std::vector<Offer> offers;
  for (const v1::Group& group : list) offers.push_back({group.name(), group.standing()});
  return offers;
}

Result<std::vector<Offer>> nodes(Context& c, std::string_view begin) {
  GT_ASSIGN(api::ServerApi* const server, c.server(kDeadline));
  GT_ASSIGN(const api::Listed<v1::Node> list, server->nodes().list(kMostOffers));
  return node_offers(list.items, begin);
}

Result<std::vector<Offer>> tasks(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server(kDeadline));
  GT_ASSIGN(const api::Listed<v1::Task> list, server->tasks().list("", false, kMostOffers));
  std::vector<Offer> offers;
  for (const v1::Task& task : list.items) offers.push_back({task.task_id(), task.kind() + ", " + task.state()});
  return offers;
}

Result<std::vector<Offer>> transfers(Context& c, std::string_view begin) {
  GT_ASSIGN(api::NodeApi* const node, c.node(kDeadline));
  GT_ASSIGN(const v1::ListTransfersReply list, node->list_transfers());
  return transfer_offers({list.transfers().begin(), list.transfers().end()}, begin);
}

Result<std::vector<Offer>> offers_of(Context& c, const std::string& kind, std::string_view begin) {
  if (kind == "transfer") return transfers(c, begin);
  // Without a login `server` might make one, and would say so.
  const auto login = c.known_login();
  if (!login || login->server.empty()) return std::vector<Offer>();
  if (kind == "content") return contents(c, begin);
  if (kind == "group") return groups(c);
  if (kind == "node") return nodes(c, begin);
  return tasks(c);
}

Status complete(Context& c) {
  const std::string& begin = c.options.str("BEGIN");
  // Whatever fails: a shell has no place for a message, and offers nothing then.
  const auto offers = offers_of(c, c.options.str("KIND"), begin);
  const std::string lines = offers ? offer_lines(*offers, begin) : "";
  if (!lines.empty()) c.terminal.result(lines);
  return {};
}

}  // namespace

std::string offer_lines(std::vector<Offer> offers, std::string_view begin) {
  std::erase_if(offers,
                [&](const Offer& offer) { return !offer.word.starts_with(begin) || !is_printable(offer.word); });
  std::ranges::sort(offers, {}, &Offer::word);
  const auto again = std::ranges::unique(offers, {}, &Offer::word);
  offers.erase(again.begin(), again.end());
  std::string lines;
  for (const Offer& offer : offers)
    lines += offer.word + (offer.meaning.empty() ? "" : "\t" + escape_for_display(offer.meaning)) + "\n";
  return lines;
}

std::vector<Offer> content_offers(const std::vector<v1::Content>& contents, std::string_view begin) {
  std::map<std::string, int> bearers;
  for (const v1::Content& content : contents) ++bearers[content.name()];
  std::vector<Offer> offers;
  for (const v1::Content& content : contents) {
    const bool owner_too = begin.find('/') != std::string_view::npos || bearers[content.name()] > 1;
    offers.push_back(owner_too ? Offer{content.owner() + "/" + content.name(), ""}
                               : Offer{content.name(), "of " + content.owner()});
  }
  return offers;
}

std::vector<Offer> node_offers(const std::vector<v1::Node>& nodes, std::string_view begin) {
  const std::string before(begin.substr(0, begin.rfind(',') + 1));
  std::vector<Offer> offers;
  for (const v1::Node& node : nodes) {
    const bool again = ("," + before).find("," + node.name() + ",") != std::string::npos;
    if (!again) offers.push_back({before + node.name(), node.online() ? "online" : "offline"});
  }
  return offers;
}

std::vector<Offer> transfer_offers(const std::vector<v1::Transfer>& transfers, std::string_view begin) {
  std::map<std::string, int> bearers;
  for (const v1::Transfer& transfer : transfers) ++bearers[transfer.name()];
  std::vector<Offer> offers;
  for (const v1::Transfer& transfer : transfers) {
    const bool unique = bearers[transfer.name()] == 1;
    if (unique) offers.push_back({transfer.name(), transfer.state()});
    if (!unique || !begin.empty())
      offers.push_back({transfer.transfer_id(), transfer.name() + ", " + transfer.state()});
  }
  return offers;
}

void complete_by_placeholder(options::Command& command) {
  const bool of_transfer = command.name.starts_with("transfer ") || command.name.starts_with("tune ");
  const auto kind_of = [&](const std::string& placeholder) -> std::string {
    if (placeholder == "CONTENT" || placeholder == "CONTENT|PATH") return "content";
    if (placeholder == "GROUP") return "group";
    if (placeholder == "NODE" || placeholder == "NODES") return "node";
    if (placeholder != "ID") return "";
    return of_transfer ? "transfer" : command.name.starts_with("task ") ? "task" : "";
  };
  for (options::Positional& positional : command.positionals) positional.completes = kind_of(positional.name);
  for (options::Option& option : command.options) option.completes = kind_of(option.value);
}

std::vector<CommandEntry> completing_commands() {
  return {{{.name = kCompleter,
            .summary = "print what a shell may offer",
            .positionals =
                {{.name = "KIND", .help = "of what", .choices = {"content", "group", "node", "task", "transfer"}},
                 {.name = "BEGIN", .help = "what is typed", .required = false, .any_bytes = true}},
            .group = "Help",
            .hidden = true},
           complete}};
}

}  // namespace gridtorrent::client::cli
