#pragma once

#include <string>
#include <vector>

#include "client/cli/context.h"
#include "client/doctor/doctor.h"

namespace gridtorrent::client::cli {

// Facts for the judgements of client/doctor: reads /proc, asks node and server.
KernelFacts read_kernel_facts();
std::vector<DiskFacts> read_disk_facts(const v1::StatusReply& node);
ServerFacts ask_server(Context& context);

std::string findings_text(const std::vector<Finding>& findings);
Json findings_json(const std::vector<Finding>& findings);

/// The command.
Status doctor(Context& context);

}  // namespace gridtorrent::client::cli
