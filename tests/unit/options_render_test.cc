#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/options/render.h"
#include "tests/unit/options_fixture.h"

namespace gridtorrent::options {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Help, IsAskedForInManyWays) {
  const World w;
  const std::string program = w.printed({"--help"});
  EXPECT_THAT(program, StartsWith("sample: tries what an option table can do\n\nUsage: sample [OPTION]... COMMAND"));
  EXPECT_EQ(w.printed({"-h"}), program);
  EXPECT_EQ(w.printed({"help"}), program);
  const std::string get = w.printed({"get", "--help"});
  EXPECT_THAT(get, StartsWith("sample get: fetch a content\n\nUsage: sample get [OPTION]... CONTENT\n"));
  EXPECT_EQ(w.printed({"help", "get"}), get);
  EXPECT_EQ(w.printed({"get", "x", "-h"}), get);
  EXPECT_THAT(w.printed({"node", "--help"}), HasSubstr("node show NODE"));
  EXPECT_THAT(w.printed({"node", "--help"}), Not(HasSubstr("search")));
  EXPECT_EQ(w.refusal({"help", "nothing"}), "unknown command 'nothing'; see 'sample --help'");
}

TEST(Help, TellsDefaultsChoicesAndExamples) {
  const World w;
  EXPECT_THAT(w.printed({"get", "--help"}), HasSubstr("--lanes N                 sockets a seeder (default: auto)\n"));
  EXPECT_THAT(w.printed({"get", "--help"}), HasSubstr("Examples:\n  sample get run42\n      fetches run42\n"));
  EXPECT_THAT(w.printed({"--help"}), HasSubstr("may be given several times"));
  EXPECT_THAT(w.printed({"--help"}), HasSubstr("one of text, json"));
  EXPECT_THAT(w.printed({"--help"}), Not(HasSubstr("help-man")));
}

TEST(Help, NamesTheVariableOfACommandsOption) {
  const World w;
  EXPECT_THAT(w.printed({"get", "--help"}), HasSubstr("In the environment --to is GRIDTORRENT_GET_TO, and so on"));
  EXPECT_THAT(w.printed({"node", "list", "--help"}), Not(HasSubstr("In the environment")));
}

TEST(Help, KeepsToItsWidth) {
  const std::string text = help_text(sample_program(), "", 80);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 80U) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(Version, NamesTheProgram) {
  EXPECT_THAT(World().printed({"--version"}), StartsWith("sample "));
}

TEST(ManPage, IsRoff) {
  const std::string page = man_page(sample_program(), "1.2.3");
  EXPECT_THAT(page, HasSubstr(".TH SAMPLE 1 \"\" \"GridTorrent 1.2.3\""));
  EXPECT_THAT(page, HasSubstr(".SH NAME\nsample \\- tries what an option table can do\n"));
  EXPECT_THAT(page, HasSubstr(".SS \\fBget\\fR [\\fIOPTION\\fR]... \\fICONTENT\\fR"));
  EXPECT_THAT(page, HasSubstr(".SS \\fBdrop\\fR [\\fIOPTION\\fR]... \\fIID\\fR...\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-\\-lanes\\fR \\fIN\\fR\nsockets a seeder (default: auto). Environment: "
                              "\\fBGRIDTORRENT_GET_LANES\\fR."));
  EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\n.TP\n\\fB0\\fR\ndone.\n"));
  EXPECT_EQ(World().printed({"--help-man"}).substr(0, 12), page.substr(0, 12));
}

TEST(Markdown, TablesEscapeTheirBars) {
  Program program = sample_program();
  program.options.push_back({.name = "odd", .value = "X", .help = "this | or that"});
  const std::string text = markdown_reference(program);
  EXPECT_THAT(text, HasSubstr("| `--odd X` | `GRIDTORRENT_ODD` | this \\| or that |\n"));
  EXPECT_THAT(text, HasSubstr("### `sample get [OPTION]... CONTENT`"));
}

TEST(Completion, RefusesAShellItDoesNotKnow) {
  EXPECT_FALSE(completion_script(sample_program(), "tcsh").ok());
  EXPECT_THAT(World().refusal({"--help-completion", "tcsh"}), HasSubstr("there is one for bash, zsh and fish"));
}

TEST(Completion, BashScriptIsAsItWas) {
  const Program program{
      .name = "s-p",
      .options = {{.name = "json", .help = "JSON"}},
      .commands = {{.name = "get",
                    .summary = "fetch",
                    .positionals = {{.name = "CONTENT", .help = ""}, {.name = "PATH", .help = "", .repeatable = true}},
                    .options = {{.name = "to", .value = "DIR", .help = "where"}}},
                   {.name = "node ls", .summary = "list", .positionals = {{.name = "PATH", .help = ""}}}}};
  EXPECT_EQ(completion_script(program, "bash").value(),
            R"(# bash completion for s-p; put it into ~/.local/share/bash-completion/completions/s-p
_s_p() {
  local IFS=$' \t\n'
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"
  local place='' taken=0 i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${place:+$place }${COMP_WORDS[i]}" in
      'get'|'node'|'node ls') place="${place:+$place }${COMP_WORDS[i]}" taken=0; continue ;;
    esac
    case "$place:${COMP_WORDS[i]}" in
      *:'='|*::) ((i++)) ;;
      *:--config|'get:--to') [[ "${COMP_WORDS[i+1]}" == '=' ]] || ((i++)) ;;
      *:-*) ;;
      *) ((taken++)) ;;
    esac
  done
  case "$place:$prev" in
    ':--config') compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    'get:--to') compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
    'get:--config') compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    'node:--config') compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    'node ls:--config') compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
  esac
  if [[ "$cur" == -* ]]; then
    case "$place" in
      '') COMPREPLY=($(compgen -W '--json --config --help --version' -- "$cur")) ;;
      'get') COMPREPLY=($(compgen -W '--to --json --config --help --version' -- "$cur")) ;;
      'node') COMPREPLY=($(compgen -W '--json --config --help --version' -- "$cur")) ;;
      'node ls') COMPREPLY=($(compgen -W '--json --config --help --version' -- "$cur")) ;;
    esac
    return
  fi
  case "$place:$taken" in
    ':0') COMPREPLY=($(compgen -W 'get node' -- "$cur")) ;;
    'get:0') COMPREPLY=() ;;
    'get:'*) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    'node:0') COMPREPLY=($(compgen -W 'ls' -- "$cur")) ;;
    'node ls:0') compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    *) COMPREPLY=() ;;
  esac
}
complete -F _s_p s-p
)");
}

TEST(Completion, ZshAndFishKnowCommandsAndOptions) {
  const std::string zsh = completion_script(sample_program(), "zsh").value();
  EXPECT_THAT(zsh, StartsWith("#compdef sample\n"));
  EXPECT_THAT(zsh, HasSubstr("'get:fetch a content'"));
  EXPECT_THAT(zsh, HasSubstr("'get:--to') _files -/; return ;;"));
  const std::string fish = completion_script(sample_program(), "fish").value();
  EXPECT_THAT(fish, HasSubstr("complete -c sample -n '__sample_place \\'get\\'' -l lanes -d 'sockets a seeder' -x\n"));
  EXPECT_THAT(fish, HasSubstr("complete -c sample -n '__sample_place \\'node\\' 0 0' -f -a 'show' -d 'show a node'\n"));
}

}  // namespace
}  // namespace gridtorrent::options
