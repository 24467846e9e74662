#include "client/cli/doctor.h"

#include <algorithm>

namespace gridtorrent::client::cli {

std::string findings_text(const std::vector<Finding>& findings) {
  std::size_t column = 0;
  for (const Finding& finding : findings) column = std::max(column, finding.check.size());
  std::string text;
  std::size_t warnings = 0;
  for (const Finding& finding : findings) {
    text += (finding.ok ? "ok    " : "warn  ") + finding.check + std::string(column + 2 - finding.check.size(), ' ') +
            finding.message + "\n";
    if (!finding.fix.empty()) text += "      " + std::string(column + 2, ' ') + "-> " + finding.fix + "\n";
    if (!finding.ok) ++warnings;
  }
  return text +
         (warnings == 0 ? "all is well\n" : std::to_string(warnings) + (warnings == 1 ? " warning\n" : " warnings\n"));
}

Json findings_json(const std::vector<Finding>& findings) {
  Json checks = Json::array();
  std::size_t warnings = 0;
  for (const Finding& finding : findings) {
    checks.push_back({{"check", finding.check},
                      {"status", finding.ok ? "ok" : "warn"},
                      {"message", json_text(finding.message)},
                      {"fix", finding.fix.empty() ? Json() : Json(finding.fix)}});
    if (!finding.ok) ++warnings;
  }
  return {{"checks", std::move(checks)}, {"warnings", warnings}};
}

Status doctor(Context& context) {
  std::vector<Finding> findings;
  const auto append = [&](std::vector<Finding> more) {
    for (Finding& finding : more) findings.push_back(std::move(finding));
  };
  const WallTime now = context.clock.wall();
  std::optional<v1::StatusReply> node;
  if (const auto connected = context.node(); !connected) {
    findings.push_back({"node", false, connected.error().message, ""});
  } else if (auto status = (*connected)->status(); !status) {
    findings.push_back({"node", false, status.error().message, ""});
  } else {
    node = std::move(status).value();
    append(judge_node(*node, now));
  }
  append(judge_server(ask_server(context), now));
  if (node) append(judge_disks(read_disk_facts(*node)));
  append(judge_kernel(read_kernel_facts(), lane_port_ranges(node ? &*node : nullptr)));
  if (context.json) {
    context.print(findings_json(findings));
  } else {
    context.terminal.result(findings_text(findings));
  }
  return {};
}

}  // namespace gridtorrent::client::cli
