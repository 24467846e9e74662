#include <gtest/gtest.h>

#include "client/cli/doctor.h"

namespace gridtorrent::client::cli {
namespace {

TEST(DoctorOutput, IsTextAndJson) {
  const std::vector<Finding> findings{{"node", true, "runs", ""}, {"rmem_max", false, "little", "sysctl x"}};
  EXPECT_EQ(findings_text(findings),
            "ok    node      runs\nwarn  rmem_max  little\n                -> sysctl x\n1 warning\n");
  EXPECT_EQ(findings_text({findings[0]}), "ok    node  runs\nall is well\n");
  EXPECT_EQ(one_line(findings_json(findings)),
            R"({"checks":[{"check":"node","status":"ok","message":"runs","fix":null},)"
            R"({"check":"rmem_max","status":"warn","message":"little","fix":"sysctl x"}],"warnings":1})");
}

TEST(DoctorFacts, AreReadFromThisMachine) {
  const KernelFacts facts = read_kernel_facts();
  EXPECT_TRUE(facts.open_files.has_value());
  v1::StatusReply node;
  node.set_data_dir("/");
  auto* root = node.add_download_roots();
  root->set_name("gone");
  root->set_path("/no/such/folder");
  const auto disks = read_disk_facts(node);
  ASSERT_EQ(disks.size(), 2U);
  EXPECT_TRUE(disks[0].free_bytes.has_value());
  EXPECT_FALSE(disks[1].free_bytes.has_value());
}

}  // namespace
}  // namespace gridtorrent::client::cli
