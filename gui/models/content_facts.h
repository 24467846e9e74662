#pragma once

#include <QString>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/format.h"

namespace gridtorrent::gui {

/// One node that holds a content. Strings are bytes that others wrote.
struct ReplicaFacts {
  std::string node;
  std::string owner;
  bool complete = false;
  bool served = false;  ///< complete, and offered to others now
  bool online = false;
};

/// What the server says of one content. Strings are bytes that others wrote.
struct ContentFacts {
  std::string id;
  std::string description;  ///< may have line breaks
  std::vector<std::string> tags;
  std::string license;
  std::string access;  ///< "public", "group:lab,user:mia"
  std::uint32_t version = 0;
  std::optional<std::vector<ReplicaFacts>> replicas;  ///< nothing: not known yet
};

/// All of it in lines of plain text. Translated.
QString content_text(const ContentFacts& facts, const Format& format);

}  // namespace gridtorrent::gui
