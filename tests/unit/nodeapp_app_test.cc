#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "client/app/config.h"
#include "client/app/cpu_quota.h"
#include "client/app/data_dir.h"
#include "client/app/listen_addresses.h"
#include "client/app/ready_file.h"
#include "client/app/reload.h"
#include "client/app/server_ca.h"
#include "client/app/thread_load.h"
#include "client/tuning/registry.h"
#include "common/host.h"
#include "tests/support/temp_folder.h"

namespace gridtorrent::testing {
namespace {

using namespace client::app;

Result<Config> configured(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--data-dir", "/data"});
  options::Environment nothing;
  nothing.variable = [](const std::string&) { return std::nullopt; };
  nothing.read_file = [](const std::string&) -> Result<std::optional<std::string>> {
    return std::optional<std::string>();
  };
  const auto outcome = options::parse(program(), arguments, nothing);
  if (const auto* error = std::get_if<Error>(&outcome)) return *error;
  return read_config(std::get<options::Parsed>(outcome));
}

TEST(NodeOptions, RefuseWhatMakesNoSense) {
  EXPECT_EQ(configured({"--share-root", "a=/x", "--share-root", "a=/y"}).error().code, Code::kInvalid);
  EXPECT_EQ(configured({"--address", "198.18.0.1,host"}).error().code, Code::kInvalid);
  EXPECT_EQ(configured({"--lane-ports", "50000-50020"}).error().code, Code::kInvalid)
      << "overlaps the encrypted lanes'";
  EXPECT_EQ(configured({"--lane-ports", "x"}).error().code, Code::kInvalid);
  EXPECT_EQ(configured({"--server", "host"}).error().code, Code::kInvalid);
  EXPECT_EQ(configured({"--max-fetching", "0"}).error().code, Code::kInvalid);
  EXPECT_EQ(configured({"--tuner", "guess"}).error().code, Code::kInvalid);
  EXPECT_EQ(configured({"--tuning-mode", "quiet"}).error().code, Code::kInvalid);
  const auto unheeded = configured({"--tuner", "fixed", "--tuning-mode", "background"});
  ASSERT_FALSE(unheeded.ok());
  EXPECT_NE(unheeded.error().message.find("--tuning-mode background"), std::string::npos) << unheeded.error().message;
  EXPECT_EQ(configured({"--lane-congestion-control", "BBR"}).error().code, Code::kInvalid);
  EXPECT_EQ(configured({"--lane-congestion-control", ","}).error().code, Code::kInvalid);
  EXPECT_EQ(configured({"--upload-limit", "fast"}).error().code, Code::kInvalid);
  EXPECT_EQ(configured({"--upload-limit", "10kbit"}).error().message.substr(0, 26), "--upload-limit 10.0 kbit/s");
}

TEST(NodeOptions, HaveTheDefaultsOfTheInterface) {
  ::setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
  const auto config = configured({});
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->lane_ports, (std::pair<std::uint16_t, std::uint16_t>(50000, 50015)));
  EXPECT_EQ(config->tls_lane_ports, (std::pair<std::uint16_t, std::uint16_t>(50016, 50031)));
  EXPECT_EQ(config->socket, "/run/user/7/gridtorrent/control.sock");
  EXPECT_EQ(config->max_fetching, 4u);
  EXPECT_EQ(config->tuning.tuner, client::tuning::kDefaultTuner);
  EXPECT_EQ(config->tuning.mode, client::TuningMode::kBalanced);
  EXPECT_EQ(config->limits, client::NodeLimits());
  EXPECT_TRUE(config->lane_congestion_controls.empty()) << "nobody is granted any";
  ::unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(default_socket("/data"), "/data/control.sock");
}

TEST(NodeOptions, ReadRootsAndAddresses) {
  const auto config = configured({"--address", "198.18.0.1,fd00::1", "--download-root", "in=/in", "--download-root",
                                  "b=/b", "--lane-ports", "0", "--tls-lane-ports", "0"});
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->addresses, (std::vector<std::string>{"198.18.0.1", "fd00::1"}));
  ASSERT_EQ(config->download_roots.size(), 2u);
  EXPECT_EQ(config->download_roots[1].name, "b");
  EXPECT_EQ(config->download_roots[1].path, "/b");
}

TEST(NodeOptions, NameTheCongestionControlsThatOthersMayAskFor) {
  const auto config = configured({"--lane-congestion-control", "bbr, cubic"});
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->lane_congestion_controls, (std::vector<std::string>{"bbr", "cubic"}));
}

TEST(Reload, SaysWhatTakesEffectAndWhatNeedsARestart) {
  const auto before = *configured({"--share-root", "a=/x", "--lane-ports", "0", "--tls-lane-ports", "0"});
  EXPECT_EQ(describe(compare(before, before)), "configuration read again: nothing new takes effect");
  auto now = *configured({"--share-root", "a=/y", "--download-root", "in=/in", "--max-fetching", "2", "--log-level",
                          "debug", "--log-format", "json", "--lane-ports", "0", "--tls-lane-ports", "0"});
  now.ca_pem = "another";
  EXPECT_EQ(describe(compare(before, now)),
            "configuration read again: log-format, log-level, ca, share-root, download-root, max-fetching changed");
  now = *configured({"--share-root", "a=/x", "--upload-limit", "200Mbit", "--download-limit", "1Gbit", "--lane-ports",
                     "0", "--tls-lane-ports", "0"});
  EXPECT_EQ(now.limits, (client::NodeLimits{200'000'000, 1'000'000'000}));
  EXPECT_EQ(describe(compare(before, now)), "configuration read again: upload-limit, download-limit changed");
  now = *configured({"--share-root", "a=/x", "--server", "host:1", "--address", "198.18.0.1", "--socket", "/s",
                     "--metrics-listen", "127.0.0.1:1", "--ready-file", "/r", "--lane-congestion-control", "bbr"});
  now.tuning.tuner = "another";
  now.data_dir = "/else";
  EXPECT_EQ(describe(compare(before, now)),
            "configuration read again: nothing new takes effect; a restart is needed for lane-congestion-control, "
            "tuner, data-dir, ready-file, "
            "server, "
            "address, lane-ports, tls-lane-ports, socket, metrics-listen");
}

AddressFacts facts_of(std::vector<std::string> towards_server, std::set<std::string> local) {
  return {[local = std::move(local)](const std::string& address) { return local.contains(address); },
          std::move(towards_server)};
}

using Addresses = std::vector<std::string>;

TEST(ListenAddresses, AreThoseThatTheServerSees) {
  EXPECT_EQ(choose_listen_addresses({}, facts_of({"192.0.2.7"}, {"192.0.2.7", "10.0.0.1", "127.0.0.1"})),
            Addresses{"192.0.2.7"});
  EXPECT_EQ(choose_listen_addresses({}, facts_of({"192.0.2.7", "2001:db8::7"}, {})),
            (Addresses{"192.0.2.7", "2001:db8::7"}))
      << "its name has both, and either may be used";
}

TEST(ListenAddresses, AreTheDeclaredOnesThatAreLocal) {
  EXPECT_EQ(choose_listen_addresses({"192.0.2.7", "2001:db8::7"}, facts_of({"10.0.0.1"}, {"192.0.2.7", "2001:db8::7"})),
            (Addresses{"192.0.2.7", "2001:db8::7"}));
  EXPECT_EQ(choose_listen_addresses({"192.0.2.7", "192.0.2.7"}, facts_of({}, {"192.0.2.7"})), Addresses{"192.0.2.7"});
}

TEST(ListenAddresses, AreAllWhereARouterForwardsOrNothingIsKnown) {
  EXPECT_EQ(choose_listen_addresses({"203.0.113.5"}, facts_of({"10.0.0.1"}, {"10.0.0.1"})), Addresses{"0.0.0.0"});
  EXPECT_EQ(choose_listen_addresses({"203.0.113.5", "2001:db8::7"}, facts_of({}, {"2001:db8::7"})),
            (Addresses{"0.0.0.0", "2001:db8::7"}));
  EXPECT_EQ(choose_listen_addresses({}, facts_of({}, {})), (Addresses{"0.0.0.0", "::"}));
}

TEST(ListenAddresses, OfThisMachineAreFound) {
  const AddressFacts facts = ServerRoute("127.0.0.1:7443").facts();
  EXPECT_EQ(facts.towards_server, Addresses{"127.0.0.1"});
  EXPECT_TRUE(facts.is_local("127.0.0.1"));
  EXPECT_FALSE(facts.is_local("192.0.2.1")) << "kept for documents (RFC 5737)";
  EXPECT_TRUE(ServerRoute("no.such.host.invalid:1").facts().towards_server.empty());
}

TEST(ServerCaFile, IsNamedAsGivenAndRememberedForLaterStarts) {
  TempFolder folder;
  EXPECT_NE(read_server_ca("", folder.path()).error().message.find("--ca is needed"), std::string::npos);
  const auto missing = read_server_ca(folder / "mine.pem", folder.path());
  EXPECT_EQ(missing.error().code, Code::kInvalid);
  EXPECT_NE(missing.error().message.find("mine.pem"), std::string::npos);
  std::ofstream(folder / "mine.pem") << "pem";
  const auto given = read_server_ca(folder / "mine.pem", folder.path());
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->file, folder / "mine.pem");
  ServerCaKeeper keeper(folder.path());
  ASSERT_TRUE(keeper.use(*given).ok());
  const auto later = read_server_ca("", folder.path());
  ASSERT_TRUE(later.ok());
  EXPECT_EQ(later->pem, "pem");
  EXPECT_TRUE(keeper.use(*later).ok());
  EXPECT_TRUE(keeper.proven(later->file).ok());
  EXPECT_EQ(read_server_ca("", folder.path())->pem, "pem");
}

TEST(ServerCaFile, IsReplacedOnlyOnceAServerProvedTheNewOne) {
  TempFolder folder;
  ServerCaKeeper keeper(folder.path());
  ASSERT_TRUE(keeper.use({"/first.pem", "first"}).ok());
  ASSERT_TRUE(keeper.use({"/wrong.pem", "wrong"}).ok());
  EXPECT_EQ(read_server_ca("", folder.path())->pem, "first");
  ASSERT_TRUE(keeper.proven("/first.pem").ok()) << "a connection made before";
  EXPECT_EQ(read_server_ca("", folder.path())->pem, "first");
  ASSERT_TRUE(keeper.use({"/second.pem", "second"}).ok());
  ASSERT_TRUE(keeper.proven("/second.pem").ok());
  EXPECT_EQ(read_server_ca("", folder.path())->pem, "second");
}

TEST(DataFolder, IsHeldByOneDaemonAlone) {
  TempFolder folder;
  const auto first = DataDir::open(folder / "data");
  ASSERT_TRUE(first.ok()) << first.error().message;
  const auto second = DataDir::open(folder / "data");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kConflict);
  const std::string holder = "gridtorrentd on " + host_name() + " with pid " + std::to_string(::getpid());
  EXPECT_NE(second.error().message.find(holder), std::string::npos) << second.error().message;
}

TEST(DataFolder, IsFreeAgainAfterItsDaemon) {
  TempFolder folder;
  {
    ASSERT_TRUE(DataDir::open(folder / "data").ok());
  }
  EXPECT_TRUE(DataDir::open(folder / "data").ok());
}

TEST(DataFolder, ThatCannotBeMadeIsNamed) {
  TempFolder folder;
  std::ofstream(folder / "file") << "x";
  const auto opened = DataDir::open(folder / "file/data");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Code::kDisk);
  EXPECT_NE(opened.error().message.find("file/data"), std::string::npos);
}

TEST(ReadyFile, SaysWhatScriptsLookFor) {
  TempFolder folder;
  ReadyInfo info;
  SeededRng rng(1);
  info.node = NodeId::make({1}, rng);
  info.control_socket = "/run/control.sock";
  info.lane_endpoints = {{"198.18.0.1", 50000, false, "wan"}};
  ASSERT_TRUE(write_ready_file(folder / "ready", ready_json(info, 42)).ok());
  const auto json = nlohmann::json::parse(std::ifstream(folder / "ready"));
  EXPECT_EQ(json.at("pid"), 42);
  EXPECT_EQ(json.at("node_id"), info.node.str());
  EXPECT_EQ(json.at("control_socket"), "/run/control.sock");
  const auto& endpoint = json.at("lane_endpoints").at(0);
  EXPECT_EQ(endpoint.at("address"), "198.18.0.1");
  EXPECT_EQ(endpoint.at("port"), 50000);
  EXPECT_EQ(endpoint.at("tls"), false);
  EXPECT_EQ(endpoint.at("path"), "wan");
  EXPECT_FALSE(write_ready_file(folder / "missing/ready", "x").ok());
}

TEST(ReadyFile, TurnsWildcardsIntoDeclaredAddresses) {
  const std::vector<client::LaneEndpoint> listening{
      {"0.0.0.0", 1, false, ""}, {"::", 1, false, ""}, {"127.0.0.1", 2, false, ""}};
  const auto endpoints = real_endpoints(listening, {"198.18.0.1", "fd00::1"});
  ASSERT_EQ(endpoints.size(), 3u);
  EXPECT_EQ(endpoints[0].address, "198.18.0.1");
  EXPECT_EQ(endpoints[1].address, "fd00::1");
  EXPECT_EQ(endpoints[2].address, "127.0.0.1");
  for (const auto& endpoint : real_endpoints(listening, {})) EXPECT_NE(endpoint.address, "0.0.0.0");
}

TEST(CpuQuota, IsOfTheGroupAndOfThoseAboveIt) {
  EXPECT_EQ(quota_folders("1:name=systemd:/x\n0::/user.slice/job.scope\n", "/c"),
            (std::vector<std::string>{"/c/user.slice/job.scope", "/c/user.slice"}));
  EXPECT_EQ(quota_folders("4:cpu,cpuacct:/batch/7\n3:cpuset:/\n2:memory:/m\n", "/c"),
            (std::vector<std::string>{"/c/cpu,cpuacct/batch/7", "/c/cpu,cpuacct/batch"}));
  EXPECT_TRUE(quota_folders("0::/\nnothing\n1:cpu\n", "/c").empty());
}
TEST(CpuQuota, CountsThePeriodsInWhichTheGroupWasStoppedMost) {
  const Quotas before{{"a", {100, 50}}, {"b", {100, 0}}, {"gone", {5, 5}}};
  EXPECT_EQ(stopped_share(before, {{"a", {200, 75}}, {"b", {200, 90}}, {"new", {10, 10}}}), 0.9);
  EXPECT_EQ(stopped_share(before, before), 0) << "it did not run";
  EXPECT_EQ(stopped_share(before, {{"a", {10, 10}}}), 0) << "another group of that name";
}
TEST(BusiestThread, IsTheOneThatRanOrWaitedForACoreMost) {
  using namespace std::chrono_literals;
  const Threads before{{1, {1'000, 0}}, {2, {500, 500}}, {3, {9'000, 9'000}}};
  const Threads after{{1, {1'200, 100}}, {2, {600, 1'150}}, {4, {5'000, 0}}};
  EXPECT_EQ(busiest_thread(before, after, 1000ns), (Busiest{2, 0.75})) << "thread 3 is gone, 4 is new";
}
TEST(BusiestThread, IsNeverMoreThanAllOfTheTimeAndNothingWithoutTime) {
  using namespace std::chrono_literals;
  const Threads before{{1, {0, 0}}}, after{{1, {900, 900}}};
  EXPECT_EQ(busiest_thread(before, after, 1000ns).share, 1);
  EXPECT_EQ(busiest_thread(before, after, 0ns), Busiest());
  EXPECT_EQ(busiest_thread(after, before, 1000ns), Busiest()) << "an id that another thread got";
}
TEST(BusiestThread, IsReadFromTheKernel) {
  const auto ran = [] {
    const Threads threads = threads_of_this_process();
    EXPECT_TRUE(threads.contains(::getpid()));
    return threads.contains(::getpid()) ? threads.at(::getpid()).ran : 1;
  };
  // The kernel counts at ticks and when a thread is taken off its core; a test that has just begun has seen neither.
  while (ran() == 0) {
  }
  EXPECT_NE(thread_name(::getpid()), "");
  EXPECT_EQ(thread_name(-1), "");
}
TEST(BusiestThread, IsNoneOfLowPriority) {
  const auto seen = [](int nice) {
    bool found = false;
    std::jthread([&] {
      ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice);
      found = threads_of_this_process().contains(::gettid());
    }).join();
    return found;
  };
  const int usual = ::getpriority(PRIO_PROCESS, 0);
  EXPECT_TRUE(seen(usual));
  EXPECT_FALSE(seen(std::min(usual + 5, 19))) << "it is verifying while others use the cores";
}

}  // namespace
}  // namespace gridtorrent::testing
