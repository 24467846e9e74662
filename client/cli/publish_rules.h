#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/options/options.h"
#include "client/cli/context.h"

namespace gridtorrent::client::cli {

/// --links, --exclude, --include and --dry-run of `publish`.
std::vector<options::Option> publish_rule_options();
/// Whether any of the first three was given.
bool has_publish_rules(const options::Parsed& options);
v1::PublishRules read_publish_rules(const options::Parsed& options);

/// What publishing would take and what it would leave out, and why; nothing is published.
Status dry_run(Context& context);

/// Shows the first few of many lines; the rest is counted in one.
class FoldedLines {
 public:
  explicit FoldedLines(Terminal& terminal) : terminal_(terminal) {}
  void add(const std::string& line);
  /// `in_all`: how many there were, where not all were added.
  void end(std::size_t in_all = 0);

 private:
  Terminal& terminal_;
  std::size_t count_ = 0;
};

}  // namespace gridtorrent::client::cli
