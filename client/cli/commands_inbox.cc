#include <algorithm>

#include "client/cli/context.h"
#include "client/cli/interrupt.h"
#include "client/cli/people_view.h"
#include "client/cli/text_view.h"

namespace gridtorrent::client::cli {

namespace {

void print(Context& c, const v1::Inbox& inbox, bool unread_only) {
  if (c.json) {
    c.print(to_json(inbox, unread_only));
  } else {
    c.terminal.result(inbox_text(inbox, unread_only));
  }
}

/// The newest line that was shown: what comes meanwhile stays unread.
std::int64_t newest(const v1::Inbox& inbox) {
  std::int64_t ms = inbox.read_until_ms();
  for (const v1::Content& content : inbox.shares()) ms = std::max(ms, content.shared_ms());
  for (const v1::Notice& notice : inbox.notices()) ms = std::max(ms, notice.at_ms());
  return ms;
}

Status watch(Context& c, api::ServerApi& server) {
  Interrupt interrupt;
  const bool unread_only = !c.options.flag("all");
  const Status ended = server.collaboration().watch_inbox(
      [&](const v1::Inbox& inbox) {
        if (c.json) {
          Json line = event("inbox", {inbox.now_ms()});
          line.update(to_json(inbox, unread_only));
          c.emit(line);
        } else {
          c.terminal.clear_screen();
          c.terminal.result(cut_lines(inbox_text(inbox, unread_only), c.terminal.out_width()));
        }
        return c.terminal.finish().ok();
      },
      interrupt.token());
  return interrupt.stopped() ? Status() : ended;
}

Status inbox(Context& c) {
  const bool watches = c.options.flag("watch") && !c.options.gives_way("watch", "mark-read");
  const bool marks = c.options.flag("mark-read") && !c.options.gives_way("mark-read", "watch");
  if (watches && marks) return Error{Code::kInvalid, "--watch and --mark-read are two commands; give one of them"};
  GT_ASSIGN(api::ServerApi* const server, c.server());
  if (watches) return watch(c, *server);
  GT_ASSIGN(const v1::Inbox inbox, server->collaboration().inbox());
  print(c, inbox, !c.options.flag("all"));
  if (marks) return server->collaboration().mark_inbox_read(newest(inbox));
  return {};
}

}  // namespace

std::vector<CommandEntry> inbox_commands() {
  return {{{.name = "inbox",
            .summary = "show what waits for your answer, what is newly shared with you, and what happened",
            .options =
                {{.name = "all", .help = "also what you have read"},
                 {.name = "mark-read", .help = "what is shown counts as read from now on", .command_line_only = true},
                 {.name = "watch", .help = "show it again each time it changes, until interrupted"}},
            .examples = {{"gridtorrent inbox --mark-read", ""},
                         {"gridtorrent inbox --watch --json", "one object a line, for a program"}},
            .group = "People"},
           inbox}};
}

}  // namespace gridtorrent::client::cli
