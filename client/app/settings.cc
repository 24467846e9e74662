#include "client/app/settings.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/crypto/keys.h"
#include "base/logging/logging.h"
#include "common/text.h"

namespace gridtorrent::client::app {
namespace {

/// What takes effect while the node runs and cannot keep it from starting again.
constexpr std::array<std::string_view, 7> kChangeable{"share-root",     "download-root", "max-fetching", "upload-limit",
                                                      "download-limit", "limits",        "log-level"};

bool is_changeable(std::string_view name) {
  return std::ranges::find(kChangeable, name) != kChangeable.end();
}

std::string_view source_name(options::Source source) {
  switch (source) {
    case options::Source::kDefault:
      return "default";
    case options::Source::kSystemFile:
      return "system file";
    case options::Source::kUserFile:
      return "user file";
    case options::Source::kEnvironment:
      return "environment";
    case options::Source::kCommandLine:
      return "command line";
    case options::Source::kOverride:
      return "set";
  }
  return "";
}

Status check_name(const std::string& name) {
  const auto& all = program().options;
  if (std::ranges::find(all, name, &options::Option::name) == all.end()) {
    return Error{Code::kInvalid,
                 "'" + escape_for_display(name) + "' is no setting of a node: 'gridtorrent node settings' lists them"};
  }
  if (is_changeable(name)) return {};
  return Error{Code::kInvalid, "'" + name + "' cannot be set while the node runs: change it where it is configured (" +
                                   program().name + ".toml or the command line), then start the node again"};
}

Status check(const control::SettingChange& change) {
  const std::string& name = change.name;
  GT_TRY(check_name(name));
  if (change.reset && !change.values.empty()) return Error{Code::kInvalid, name + " is to be set and reset at once"};
  if (!std::ranges::all_of(change.values, is_valid_utf8)) {
    return Error{Code::kInvalid,
                 name + ": what is set while the node runs has to be UTF-8; the command line takes any"};
  }
  return {};
}

/// `set` with the changes.
Result<options::Overrides> changed(options::Overrides set, const std::vector<control::SettingChange>& changes) {
  std::set<std::string_view> named;
  for (const control::SettingChange& change : changes) {
    GT_TRY(check(change));
    if (!named.insert(change.name).second) return Error{Code::kInvalid, change.name + " is given twice"};
    if (change.reset) {
      set.erase(change.name);
    } else {
      set[change.name] = change.values;
    }
  }
  return set;
}

std::string text_of(const std::vector<control::SettingChange>& changes) {
  std::string text;
  for (const control::SettingChange& change : changes) {
    text += (text.empty() ? "" : ", ") + change.name;
    if (change.reset) {
      text += " as configured";
      continue;
    }
    text += " =";
    for (const std::string& value : change.values) text += " " + escape_for_display(value);
    if (change.values.empty()) text += " none";
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<Settings>> Settings::open(options::Parsed started) {
  GT_ASSIGN(const Config plain, read_config(started));
  std::unique_ptr<Settings> settings(new Settings(std::move(started), plain.data_dir + "/settings.toml"));
  GT_ASSIGN(settings->set_, settings->read_file());
  GT_ASSIGN(settings->config_, settings->config_by_file(settings->configured_, settings->set_));
  return settings;
}

Result<options::Overrides> Settings::read_file() const {
  const std::string shown = escape_for_display(file_);
  const auto text = options::Environment::of_process().read_file(file_);
  if (!text) return text.error().with_context(shown);
  if (!text->has_value()) return options::Overrides();
  return options::parse_overrides(**text, shown);
}

Result<Config> Settings::config_of(const options::Parsed& started, const options::Overrides& set) const {
  for (const auto& [name, values] : set) GT_TRY(check_name(name));
  GT_ASSIGN(const options::Parsed parsed, options::override_values(program(), started, set));
  return read_config(parsed);
}

Result<Config> Settings::config_by_file(const options::Parsed& started, const options::Overrides& set) const {
  auto config = config_of(started, set);
  if (!config && config_of(started, {})) {
    return config.error().with_context(escape_for_display(file_) + ", which may be mended or removed");
  }
  return config;
}

void Settings::take(const Config& now) {
  config_.log_format = now.log_format;
  config_.log_level = now.log_level;
  config_.ca_pem = now.ca_pem;
  config_.share_roots = now.share_roots;
  config_.download_roots = now.download_roots;
  config_.max_fetching = now.max_fetching;
  config_.limits = now.limits;
  config_.limit_hours = now.limit_hours;
}

Result<ConfigChanges> Settings::read_again(const Apply& apply) {
  const std::lock_guard lock(mutex_);
  GT_ASSIGN(options::Parsed configured, options::reload(program(), configured_));
  GT_ASSIGN(options::Overrides set, read_file());
  GT_ASSIGN(Config now, config_by_file(configured, set));
  GT_TRY(apply(config_, now));
  const ConfigChanges changes = compare(config_, now);
  // What needs a restart goes on as it was, and is named again the next time.
  take(now);
  configured_ = std::move(configured);
  set_ = std::move(set);
  return changes;
}

Status Settings::change(const std::vector<control::SettingChange>& changes, const Apply& apply) {
  if (changes.empty()) return {};
  const std::lock_guard lock(mutex_);
  GT_ASSIGN(const options::Overrides before, read_file());  // a person may have edited it
  GT_TRY(config_by_file(configured_, before));
  GT_ASSIGN(options::Overrides set, changed(before, changes));
  GT_ASSIGN(Config now, config_of(configured_, set));
  now.ca_pem = config_.ca_pem;
  GT_TRY(crypto::write_secret_file(file_, options::overrides_text(set)));
  if (const Status applied = apply(config_, now); !applied) {
    GT_TRY(crypto::write_secret_file(file_, options::overrides_text(before)));
    return applied;
  }
  take(now);
  set_ = std::move(set);
  logging::info("set by this node's owner: " + text_of(changes));
  return {};
}

std::vector<control::Setting> Settings::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<control::Setting> settings;
  for (const options::Option& option : program().options) {
    if (option.hidden || option.secret_file) continue;
    const auto set = set_.find(option.name);
    const bool is_set = set != set_.end();
    control::Setting& setting = settings.emplace_back();
    setting.name = option.name;
    setting.changeable = is_changeable(option.name);
    // What needs a restart is as it was at the start.
    const options::Parsed& running = setting.changeable ? configured_ : started_;
    setting.configured = configured_.list(option.name);
    setting.values = is_set ? set->second : running.list(option.name);
    setting.source = source_name(is_set ? options::Source::kOverride : running.source(option.name));
    setting.repeatable = option.repeatable;
    setting.placeholder = option.value;
    setting.help = option.help;
    setting.choices = option.choices;
  }
  return settings;
}

}  // namespace gridtorrent::client::app
