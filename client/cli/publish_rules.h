#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/options/options.h"
#include "client/cli/context.h"

namespace gridtorrent::client::cli {

/// --links, --exclude, --include and --dry-run of `publish`.
std::vector<options::Option> publish_rule_options();
/// Whether any of the first three says something, be it by habit.
bool has_publish_rules(const options::Parsed& options);
/// Whether the command line gives any of them. Otherwise a new version is published by the rules of the one before,
/// where the node knows them.
bool gives_publish_rules(const options::Parsed& options);
v1::PublishRules read_publish_rules(const options::Parsed& options);
/// Says that there are rules of the version before; nothing where `as_before` is empty.
void tell_rules_before(Context& context, const std::string& as_before);

/// What is said of a new version that is called otherwise on disk than the newest one, whose name there is
/// `before`: `get --update` refuses it. Empty where both are the same, or one is not known. Pure.
std::string renamed_warning(const std::string& before, const std::string& now);
/// The same of a new version of what --update names, published from `path`. Empty also where the server does not answer
/// soon.
std::string renamed_warning_at(Context& context, const std::string& path);

/// Name, access and what else is said of a content that is new; a new version keeps all of it.
template <class Request>
void describe_new(Request& request, const options::Parsed& options) {
  request.set_name(options.str("name"));
  request.set_access(options.str("access"));
  request.set_description(options.str("description"));
  for (const std::string& tag : options.list("tag")) request.add_tags(tag);
  request.set_license(options.str("license"));
}

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
