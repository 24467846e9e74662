#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "client/cli/context.h"
#include "tests/unit/options_fixture.h"

namespace gridtorrent::client::cli {

/// The whole program but main: an environment of its own, and what it prints.
class CommandLine : public ::testing::Test {
 protected:
  CommandLine() {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"}) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::setenv(name, folder_.c_str(), 1);
    }
  }
  ~CommandLine() override {
    for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"}) {
      if (before_.count(name) != 0) {
        ::setenv(name, before_[name].c_str(), 1);
      } else {
        ::unsetenv(name);
      }
    }
    std::filesystem::remove_all(folder_);
  }

  int run(const std::vector<std::string>& arguments) {
    char* out_text = nullptr;
    char* err_text = nullptr;
    std::size_t out_size = 0, err_size = 0;
    std::FILE* out = open_memstream(&out_text, &out_size);
    std::FILE* err = open_memstream(&err_text, &err_size);
    int code = 0;
    {
      const options::Outcome outcome = world_.parse(arguments, program());
      if (const auto* refused = std::get_if<Error>(&outcome)) {
        std::fprintf(err, "gridtorrent: %s\n", refused->message.c_str());
        code = 2;
      } else {
        Terminal terminal(traits_, clock_, out, err);
        code = run_command(std::get<options::Parsed>(outcome), terminal, clock_);
      }
    }
    std::fclose(out);
    std::fclose(err);
    out_ = std::string(out_text, out_size);
    err_ = std::string(err_text, err_size);
    std::free(out_text);
    std::free(err_text);
    return code;
  }

  std::string folder_ = (std::filesystem::temp_directory_path() / "gt-cli-XXXXXX").string();
  std::map<std::string, std::string> before_;
  /// What a file and variables say, for the command line alone.
  void habits(const std::string& toml) { world_.files["/home/u/.config/gridtorrent/gridtorrent.toml"] = toml; }
  options::World world_;
  TerminalTraits traits_;
  ManualClock clock_;
  std::string out_, err_;
};

}  // namespace gridtorrent::client::cli
