#include "client/cli/publishing.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "client/cli/follow.h"
#include "client/cli/interrupt.h"
#include "client/cli/local_node.h"
#include "client/cli/pace.h"
#include "client/cli/publish_rules.h"
#include "client/cli/speed.h"
#include "client/cli/text_view.h"
#include "common/ids.h"
#include "common/rng.h"
#include "common/shell_words.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

constexpr std::chrono::milliseconds kRetryInterval{1000};
constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kPreviewDeadline{3000};

/// Of a new version: how much of it is as it was, and what had to be read in spite of that.
std::string read_again(const v1::Published& published) {
  const std::uint64_t changed = published.bytes() - std::min(published.bytes(), published.unchanged_bytes());
  std::string text = format_bytes(published.unchanged_bytes()) + " in " + std::to_string(published.unchanged_files()) +
                     (published.unchanged_files() == 1 ? " file" : " files") + " did not change; " +
                     format_bytes(published.read_bytes()) + " were read";
  if (published.read_bytes() <= changed) return text;
  return text + ", " + format_bytes(published.read_bytes() - changed) +
         " of them from files that did not change, since their pieces moved or hold changed bytes, too";
}

/// One publish as the node tells of it.
class PublishPrinter {
 public:
  /// `audience`: who will be able to get it, to be said before it is hashed; empty: nothing is. `owner`: of the
  /// content; empty: an older node does not say.
  explicit PublishPrinter(Context& c, std::string audience = {}, std::string owner = {})
      : c_(c),
        began_(c.clock.mono()),
        audience_(std::move(audience)),
        owner_(std::move(owner)),
        warnings_(c.terminal) {}

  bool take(const v1::PublishEvent& event) {
    if (event.has_hashing()) hashing(event.hashing());
    if (event.event_case() == v1::PublishEvent::kWarning) warning(event.warning());
    if (event.has_published()) published_ = event.published();
    return true;
  }
  /// Of a publish that goes on by itself. kUnreachable where the server has been away for too long to wait for it here.
  Status take(const v1::Transfer& transfer) {
    const std::string& phase = transfer.publish().phase();
    if (phase == "hash" || phase == "upload") tell_audience();
    if (transfer.state() == "hashing" && phase != "scan" && transfer.total_bytes() > 0) {
      v1::PublishProgress progress;
      progress.set_done_bytes(transfer.verified_bytes());
      progress.set_total_bytes(transfer.total_bytes());
      hashing(progress);
    } else if (!c_.json) {
      c_.terminal.progress(progress_line(transfer, c_.terminal.progress_width(), c_.clock.wall()));
    }
    return waiting(transfer);
  }
  /// Once. Only when the files were listed: what cannot be published is told in one line.
  void tell_audience() {
    if (!audience_.empty()) c_.terminal.message(escape_for_display(std::exchange(audience_, {})));
  }
  bool is_published() const { return published_.has_value(); }

  Status end() {
    warnings_.end(published_->skipped());
    tell_audience();
    GT_ASSIGN(const v1::Access access, api::parse_access(published_->access()));
    if (published_->seconds() == 0)
      published_->set_seconds(std::chrono::duration<double>(c_.clock.mono() - began_).count());
    if (c_.json) {
      c_.emit(published_event(*published_, access, c_.clock.wall()));
      return {};
    }
    tell_published(c_, *published_, owner_);
    return {};
  }

 private:
  void hashing(const v1::PublishProgress& progress) {
    if (!c_.json) {
      const bool update = c_.options.has("update");
      c_.terminal.progress(hashing_line(update ? "hashing what has to be read" : "hashing", progress.done_bytes(),
                                        progress.total_bytes(), c_.terminal.progress_width(),
                                        meter_.note(c_.clock.mono(), progress.done_bytes(), progress.total_bytes())));
      return;
    }
    if (progress.done_bytes() == progress.total_bytes()) pace_.hurry();
    if (pace_.due(c_.clock.mono())) c_.emit(hashing_event(progress, c_.clock.wall()));
  }

  Status waiting(const v1::Transfer& transfer) {
    if (transfer.message().empty() || transfer.publish().phase() != "wait") {
      waiting_since_.reset();
      return {};
    }
    if (std::exchange(told_, transfer.message()) != transfer.message())
      c_.terminal.message(escape_for_display(transfer.message()));
    if (!waiting_since_) waiting_since_ = c_.clock.mono();
    if (c_.clock.mono() - *waiting_since_ <= kPatience) return {};
    return Error{Code::kUnreachable, transfer.message() +
                                         "; publishing goes on once it answers: 'gridtorrent transfer "
                                         "wait " +
                                         transfer.transfer_id() + "' waits for it"};
  }

  void warning(const std::string& text) {
    if (c_.json) {
      Json json = event("warning", c_.clock.wall());
      json["message"] = json_text(text);
      c_.emit(json);
    }
    warnings_.add("warning: " + escape_for_display(text));
  }

  Context& c_;
  const MonoTime began_;
  std::string audience_;
  const std::string owner_;
  FoldedLines warnings_;
  std::optional<v1::Published> published_;
  std::optional<MonoTime> waiting_since_;
  std::string told_;
  Pace pace_;
  SpeedMeter meter_;
};

Result<v1::PublishRequest> request_of(Context& c) {
  v1::PublishRequest request;
  GT_ASSIGN(*request.mutable_path(), Context::absolute(c.options.str("PATH")));
  request.set_update(c.options.str("update"));
  if (request.update().empty()) describe_new(request, c.options);
  request.set_strict(c.options.flag("strict"));
  const bool gives_rules = gives_publish_rules(c.options);
  if (gives_rules || has_publish_rules(c.options)) *request.mutable_rules() = read_publish_rules(c.options);
  request.set_as_before(!request.update().empty() && !gives_rules);
  // One id for all attempts, so that a publish whose answer was lost is done once.
  SystemRng rng;
  request.set_request_id(make_request_id(c.clock.wall(), rng));
  return request;
}

/// The server's sentence on who will be able to get it. Empty where it gives none: publishing is the node's call, and
/// says what is wrong.
std::string audience_of(Context& c, const std::string& access) {
  const auto parsed = api::parse_access(access);
  if (!parsed) return {};
  const auto server = c.server(kPreviewDeadline);
  if (!server) return {};
  const auto reply = (*server)->contents().preview_access(*parsed);
  return reply ? reply->text() : std::string();
}

/// Calls again where the node went away or cannot reach its server: `call` is one that may be repeated.
Status patiently(Context& c, Interrupt& interrupt, const std::function<Status(api::NodeApi&)>& call) {
  std::optional<MonoTime> unreachable_since;
  std::string told;
  for (;;) {
    Status status;
    const auto node = c.node();
    if (!node && !unreachable_since) return node.error();
    status = node ? call(**node) : Status(node.error());
    if (status || status.error().code != Code::kUnreachable) return status;
    if (!unreachable_since) unreachable_since = c.clock.mono();
    if (interrupt.stopped() || c.clock.mono() - *unreachable_since > kPatience) return status;
    if (told != status.error().message) c.terminal.message(status.error().message + "; trying again");
    told = status.error().message;
    c.forget_node();
    interrupt.wait_for(kRetryInterval);
  }
}

/// The node tells of it, or ends the call too early.
Status publish_by_call(Context& c, Interrupt& interrupt, const v1::PublishRequest& request, PublishPrinter& printer) {
  return patiently(c, interrupt, [&](api::NodeApi& node) -> Status {
    const Status status =
        node.publish(request, [&](const v1::PublishEvent& event) { return printer.take(event); }, interrupt.token());
    if (printer.is_published()) return {};
    if (interrupt.stopped())
      return Error{Code::kCancelled, "publishing was stopped; the same command goes on where it was"};
    if (status) return Error{Code::kUnreachable, "the node ended the call before the content was published"};
    return status;
  });
}

Status publish_with_older_node(Context& c, const v1::PublishRequest& request) {
  if (c.options.flag("detach") && c.options.given("detach"))
    return Error{Code::kUnsupported,
                 "this node is of an older version, and publishes only while somebody waits for it: update "
                 "gridtorrentd, or leave out --detach"};
  PublishPrinter printer(c);
  Interrupt interrupt;
  GT_TRY(publish_by_call(c, interrupt, request, printer));
  return printer.end();
}

/// The node's line, and what can be done about it.
Error with_way_out(const Error& error, const v1::Transfer& transfer) {
  // What cannot be published as it is fails each time.
  const char* const again = error.code == Code::kInvalid ? " (once that is mended, the same command tries again; '"
                                                         : " (the same command tries again, '";
  return {error.code,
          error.message + again + "gridtorrent transfer cancel " + transfer.transfer_id() + "' gives it up)"};
}

Status follow_publish(Context& c, v1::PublishRequest request, const v1::Transfer& started, std::string audience) {
  PublishPrinter printer(c, std::move(audience), started.owner());
  Interrupt interrupt;
  const auto last = watch_to_end(c, started, interrupt, [&](const v1::Transfer& now) { return printer.take(now); });
  GT_TRY(last);
  if (last->state() == "failed") return with_way_out(outcome_of(*last).error(), *last);
  GT_TRY(outcome_of(*last));
  // It may have been begun by an earlier command. Done, it is not done again.
  if (!started.publish().request_id().empty()) request.set_request_id(started.publish().request_id());
  GT_TRY(publish_by_call(c, interrupt, request, printer));
  return printer.end();
}

Result<v1::Transfer> start(Context& c, const v1::PublishRequest& request) {
  const auto call = [&](Interrupt& interrupt) -> Result<v1::GetReply> {
    v1::GetReply reply;
    GT_TRY(patiently(c, interrupt, [&](api::NodeApi& node) -> Status {
      GT_ASSIGN(*reply.mutable_transfer(), node.start_publish(request, interrupt.token()));
      return {};
    }));
    return reply;
  };
  GT_ASSIGN(const v1::GetReply begun, begin_transfer(c, call));
  return begun.transfer();
}

}  // namespace

namespace {

std::string nothing_changed(std::uint32_t version, const std::string& name, const std::string& content_id) {
  return "nothing changed since version " + std::to_string(version) + " of " + escape_for_display(name) + " (" +
         content_id + "): no new version was made";
}

}  // namespace

void tell_published(Context& c, const v1::Published& published, const std::string& owner) {
  tell_rules_before(c, published.rules_as_before());
  if (published.unchanged()) {
    c.terminal.result(nothing_changed(published.version(), published.name(), published.content_id()));
    return;
  }
  const bool is_newer = published.version() > 1;
  c.terminal.result("published " + escape_for_display(published.name()) +
                    (is_newer ? ", version " + std::to_string(published.version()) : std::string()) + " (" +
                    published.content_id() + "): " + format_bytes(published.bytes()) + " in " +
                    std::to_string(published.files()) + (published.files() == 1 ? " file, " : " files, ") +
                    published.access());
  if (published.access() == "private" && !is_newer) {
    // With its owner: somebody else's content of that name would be meant as well.
    const std::string reference = owner.empty() ? published.content_id() : owner + "/" + published.name();
    c.terminal.message("to open it to every user: gridtorrent access --set public " + shell_arguments({reference}));
  }
  if (is_newer) c.terminal.message(read_again(published));
  if (published.skipped() > 0)
    c.terminal.message("skipped because neither file nor folder: " + std::to_string(published.skipped()) +
                       " (--strict makes that an error, --links keep or follow takes symbolic links)");
}

Status publish_here(Context& c) {
  GT_ASSIGN(v1::PublishRequest request, request_of(c));
  GT_ASSIGN(api::NodeApi* const node, node_for_work(c));
  GT_TRY(node_knows(c, *node, "update", "publish.update"));
  std::string audience = c.json || !request.update().empty() ? std::string() : audience_of(c, request.access());
  const std::string renamed = request.update().empty() ? std::string() : renamed_warning_at(c, request.path());
  const auto started = start(c, request);
  const bool older = !started && started.error().code == Code::kUnsupported;
  if (older && has_publish_rules(c.options))
    return Error{Code::kUnsupported,
                 "this node is of an older version and heeds no --links, --exclude, --include: "
                 "update gridtorrentd"};
  if (older) return publish_with_older_node(c, request);
  GT_TRY(started);
  if (!renamed.empty()) c.warn(renamed);
  if (!c.options.flag("detach")) return follow_publish(c, std::move(request), *started, std::move(audience));
  PublishPrinter(c, std::move(audience)).tell_audience();
  return detach(c, *started);
}

}  // namespace gridtorrent::client::cli
