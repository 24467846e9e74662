#include <algorithm>
#include <map>

#include "client/cli/context.h"
#include "client/cli/text_view.h"
#include "common/text.h"

// The options that this machine's node runs with.

namespace gridtorrent::client::cli {

namespace {

template <class Values>
std::string joined(const Values& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + escape_for_display(value);
  return text.empty() ? "none" : text;
}

std::string from_text(const v1::Setting& setting) {
  if (setting.source() != "set") return setting.source();
  return "node set; configured: " + joined(setting.configured());
}

Json settings_json(const v1::Settings& settings) {
  const auto texts = [](const auto& values) {
    Json array = Json::array();
    for (const std::string& value : values) array.push_back(json_text(value));
    return array;
  };
  Json list = Json::array();
  for (const v1::Setting& setting : settings.settings()) {
    list.push_back({{"name", setting.name()},
                    {"values", texts(setting.values())},
                    {"configured", texts(setting.configured())},
                    {"source", setting.source()},
                    {"changeable", setting.changeable()},
                    {"repeatable", setting.repeatable()},
                    {"choices", texts(setting.choices())},
                    {"help", json_text(setting.help())}});
  }
  return {{"settings", std::move(list)}};
}

Error explained(Error error) {
  if (error.code == Code::kUnsupported) return error.with_context("this node is older, and tells no settings");
  return error;
}

Status settings(Context& c) {
  GT_ASSIGN(api::NodeApi* const node, c.node());
  const auto settings = node->settings();
  if (!settings) return explained(settings.error());
  if (c.json) {
    c.print(settings_json(*settings));
    return {};
  }
  const bool all = c.options.flag("all");
  Table table({"SETTING", "VALUE", "FROM"});
  for (const v1::Setting& setting : settings->settings()) {
    if (all || setting.changeable()) table.row({setting.name(), joined(setting.values()), from_text(setting)});
  }
  c.terminal.result(table.text("no settings"));
  return {};
}

/// "NAME=VALUE" once for each value; "NAME=" alone is a list of none.
Result<v1::SetSettingsRequest> to_request(const std::vector<std::string>& texts,
                                          const std::vector<std::string>& resets) {
  std::map<std::string, std::vector<std::string>> values;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{Code::kInvalid, "'" + escape_for_display(text) +
                                       "' sets nothing: write NAME=VALUE, as in max-fetching=8; 'gridtorrent node "
                                       "settings' lists the names"};
    }
    auto& list = values[text.substr(0, equals)];
    if (equals + 1 < text.size()) list.push_back(text.substr(equals + 1));
  }
  v1::SetSettingsRequest request;
  for (const auto& [name, list] : values) {
    v1::SettingChange& change = *request.add_changes();
    change.set_name(name);
    for (const std::string& value : list) change.add_values(value);
  }
  for (const std::string& name : resets) {
    v1::SettingChange& change = *request.add_changes();
    change.set_name(name);
    change.set_reset(true);
  }
  if (request.changes().empty()) {
    return Error{Code::kInvalid,
                 "nothing to set: write NAME=VALUE or --reset NAME; 'gridtorrent node settings' lists "
                 "the names"};
  }
  return request;
}

Status set(Context& c) {
  GT_ASSIGN(v1::SetSettingsRequest request, to_request(c.options.list("SETTING"), c.options.list("reset")));
  GT_ASSIGN(api::NodeApi* const node, c.node());
  const auto settings = node->set_settings(request);
  if (!settings) return explained(settings.error());
  if (c.json) {
    c.print(settings_json(*settings));
    return {};
  }
  for (const v1::Setting& setting : settings->settings()) {
    const bool named =
        std::ranges::find(request.changes(), setting.name(), &v1::SettingChange::name) != request.changes().end();
    if (named)
      c.terminal.message(setting.name() + " is " + joined(setting.values()) + " now (" + from_text(setting) + ")");
  }
  return {};
}

}  // namespace

std::vector<CommandEntry> settings_commands() {
  const std::string group = "Nodes";
  return {
      {{.name = "node settings",
        .summary = "list what can be set while this machine's node runs, and where each value comes from",
        .description = "Values come from 'gridtorrent node set', else from the node's command line, its environment, "
                       "~/.config/gridtorrent/gridtorrentd.toml, /etc/gridtorrent/gridtorrentd.toml, or they are "
                       "the defaults.",
        .options = {{.name = "all", .help = "also those that need a restart"}},
        .group = group},
       settings},
      {{.name = "node set",
        .summary = "set options of this machine's node; they take effect at once, and are kept",
        .description = "They come before the node's command line and its configuration files, also after a restart, "
                       "until they are reset. For a limit until the next restart use 'gridtorrent node limit'.",
        .positionals = {{.name = "SETTING",
                         .help = "NAME=VALUE; of a list once for each of its values, or NAME= for none",
                         .required = false,
                         .repeatable = true}},
        .options = {{.name = "reset",
                     .value = "NAME",
                     .help = "back to what is configured",
                     .repeatable = true,
                     .command_line_only = true,
                     .check = options::is_not_empty}},
        .examples = {{"gridtorrent node set max-fetching=8 upload-limit=200Mbit", ""},
                     {"gridtorrent node set share-root=scratch=/scratch share-root=home=/home/mia/share",
                      "a list; it replaces the one before"},
                     {"gridtorrent node set --reset upload-limit", ""}},
        .group = group},
       set}};
}

}  // namespace gridtorrent::client::cli
