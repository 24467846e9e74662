#include "ccm/domain/content.h"

#include <array>
#include <charconv>
#include <utility>

#include "common/text.h"

namespace gridtorrent::ccm {

namespace {
constexpr std::array<std::string_view, 3> kLevels = {"public", "private", "shared"};
constexpr std::array<std::string_view, 4> kStates = {"draft", "published", "withdrawn", "purged"};
}  // namespace

std::string_view access_level_name(AccessLevel level) {
  return kLevels.at(static_cast<std::size_t>(level));
}

Result<AccessLevel> parse_access_level(std::string_view text) {
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    if (kLevels[i] == text) return static_cast<AccessLevel>(i);
  }
  return Error{Code::kInvalid, "no access \"" + escape_for_display(text) + "\": there are public, private and shared"};
}

std::string to_text(const Access& access) {
  if (access.level != AccessLevel::kShared) return std::string(access_level_name(access.level));
  std::string text;
  const auto add = [&text](const std::string& target) { text += (text.empty() ? "" : ",") + target; };
  for (const GroupTarget& group : access.groups) add("group:" + group.name);
  for (const std::string& user : access.users) add("user:" + user);
  if (access.buddies) add("buddies");
  return text.empty() ? "shared" : text;
}

std::string_view content_state_name(ContentState state) {
  return kStates.at(static_cast<std::size_t>(state));
}

Result<ContentState> parse_content_state(std::string_view text) {
  for (std::size_t i = 0; i < kStates.size(); ++i) {
    if (kStates[i] == text) return static_cast<ContentState>(i);
  }
  return Error{Code::kInvalid, "no state \"" + escape_for_display(text) + "\" of a content"};
}

Result<ContentState> next_state(ContentState state, ContentEvent event) {
  switch (event) {
    case ContentEvent::kFinish:
      if (state == ContentState::kDraft) return ContentState::kPublished;
      return Error{Code::kConflict, "it is " + std::string(content_state_name(state)) + ", not a draft"};
    case ContentEvent::kWithdraw:
      if (state == ContentState::kPublished) return ContentState::kWithdrawn;
      return Error{Code::kConflict, "it is " + std::string(content_state_name(state)) + ", not published"};
    case ContentEvent::kRestore:
      if (state == ContentState::kWithdrawn) return ContentState::kPublished;
      return Error{Code::kConflict, "it is " + std::string(content_state_name(state)) + ", not withdrawn"};
    case ContentEvent::kPurge:
      if (state != ContentState::kPurged) return ContentState::kPurged;
      return Error{Code::kConflict, "it is purged already"};
  }
  return Error{Code::kInternal, "unknown step of a content"};
}

std::string encode_page(const PageCursor& cursor) {
  return std::to_string(cursor.published.ms) + "." + cursor.id.str();
}

Result<PageCursor> parse_page(std::string_view text) {
  const Error wrong{Code::kInvalid, "page \"" + escape_for_display(text.substr(0, 100)) +
                                        "\" is none that a search returned; start again without --page"};
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot == 0) return wrong;
  PageCursor cursor;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + dot, cursor.published.ms);
  if (failure != std::errc() || end != text.data() + dot) return wrong;
  auto id = ContentId::parse(text.substr(dot + 1));
  if (!id) return wrong;
  cursor.id = *id;
  return cursor;
}

}  // namespace gridtorrent::ccm
