#include <algorithm>

#include "base/options/layout.h"
#include "base/options/render.h"

namespace gridtorrent::options {

namespace {

/// Text as roff takes it literally: backslashes, hyphens that are typed, and lines that would look like requests.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) {
  return "\\fB" + roff(text) + "\\fR";
}
std::string italic(std::string_view text) {
  return "\\fI" + roff(text) + "\\fR";
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string paragraphs(const std::string& text) {
  std::string out;
  for (const std::string& paragraph : paragraphs_of(text)) out += ".PP\n" + roff(paragraph) + "\n";
  return out;
}

std::string option_terms(std::string_view command, const std::vector<Option>& options) {
  std::string out;
  for (const Option& option : options) {
    const std::string heading = option_heading(option);
    const std::string flags = heading.substr(0, heading.size() - (option.value.empty() ? 0 : option.value.size() + 1));
    out += ".TP\n" + bold(flags) + (option.value.empty() ? "" : " " + italic(option.value)) + "\n" + roff(option.help);
    const std::string notes = option_notes(option);
    if (!notes.empty()) out += " (" + roff(notes) + ")";
    if (!option.command_line_only) out += ". Environment: " + bold(environment_name(command, option.name));
    out += ".\n";
  }
  return out;
}

std::string example_terms(const std::vector<Example>& examples) {
  std::string out;
  for (const Example& example : examples) {
    out += ".PP\n.nf\n.RS\n" + bold(example.line) + "\n.RE\n.fi\n";
    if (!example.explains.empty()) out += ".RS\n" + roff(example.explains) + "\n.RE\n";
  }
  return out;
}

std::string command_section(const Command& command) {
  std::string usage = command.options.empty() ? "" : " [" + italic("OPTION") + "]...";
  for (const Positional& p : command.positionals)
    usage += (p.required ? " " : " [") + italic(p.name) + (p.repeatable ? "..." : "") + (p.required ? "" : "]");
  std::string out = ".SS " + bold(command.name) + usage + "\n" + roff(command.summary) + ".\n";
  out += paragraphs(command.description);
  for (const Positional& p : command.positionals) out += ".TP\n" + italic(p.name) + "\n" + roff(p.help) + ".\n";
  out += option_terms(command.name, shown_options(command.options, false));
  return out + example_terms(command.examples);
}

std::string term_list(const std::vector<std::pair<std::string, std::string>>& terms) {
  std::string out;
  for (const auto& [term, meaning] : terms) out += ".TP\n" + bold(term) + "\n" + roff(meaning) + ".\n";
  return out;
}

}  // namespace

std::string man_page(const Program& program, std::string_view version) {
  std::string out = ".\\\" Generated from the option table of " + program.name + "; do not edit.\n.TH " +
                    upper(program.name) + " " + std::to_string(program.man_section) + " \"\" \"GridTorrent " +
                    std::string(version) + "\" \"GridTorrent\"\n";
  out += ".SH NAME\n" + roff(program.name) + " \\- " + roff(program.summary) + "\n.SH SYNOPSIS\n" + bold(program.name) +
         " [" + italic("OPTION") + "]...";
  if (!program.commands.empty())
    out += program.needs_command ? " " + italic("COMMAND") + " [" + italic("ARGUMENT") + "]..."
                                 : " [" + italic("COMMAND") + "]";
  out += "\n.SH DESCRIPTION\n" + roff(program.summary) + ".\n" + paragraphs(program.description);
  if (!program.commands.empty()) {
    out += ".SH COMMANDS\n";
    for (const Command& command : program.commands)
      if (!command.hidden) out += command_section(command);
  }
  out += ".SH OPTIONS\n" + option_terms("", shown_options(program.options, true));
  if (!program.examples.empty()) out += ".SH EXAMPLES\n" + example_terms(program.examples);
  out +=
      ".SH ENVIRONMENT\nEvery option can be set by the variable that stands with it; one that may be given several "
      "times takes its values separated by semicolons. The command line wins over the environment, that over the "
      "user's file, that over the system's file.\n";
  std::vector<std::pair<std::string, std::string>> files{
      {"$XDG_CONFIG_HOME/gridtorrent/" + program.name + ".toml",
       "the user's configuration (TOML), else below ~/.config"},
      {"/etc/gridtorrent/" + program.name + ".toml", "the system's configuration"}};
  files.insert(files.end(), program.files.begin(), program.files.end());
  out += ".SH FILES\n" + term_list(files);
  if (!program.exit_codes.empty()) out += ".SH EXIT STATUS\n" + term_list(program.exit_codes);
  if (!program.see_also.empty()) {
    std::string list;
    for (const std::string& page : program.see_also) list += (list.empty() ? "" : ", ") + roff(page);
    out += ".SH SEE ALSO\n" + list + "\n";
  }
  return out;
}

}  // namespace gridtorrent::options
