#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/core/walk_rules.h"
#include "client/files/ignore_file.h"
#include "metainfo/glob.h"

namespace gridtorrent::client::files {

/// What of a folder is published: the rules that were asked for, and its ignore file. Pure; a value.
class Choice {
 public:
  Choice(WalkRules rules, IgnoreFile ignored);

  /// Why an entry is left out, as "excluded by '*.tmp'"; empty: it is not. A folder that is left out is not looked
  /// into, so nothing below it comes back.
  std::string left_out(std::string_view path, bool is_folder) const;
  /// Whether only some things are asked for, and not this one. Such a folder stays where something in it is.
  bool not_asked_for(std::string_view path) const;

 private:
  WalkRules rules_;
  std::vector<metainfo::Glob> excluded_, included_;  ///< of the rules, in their order
  IgnoreFile ignored_;
};

}  // namespace gridtorrent::client::files
