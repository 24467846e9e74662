#include "common/host.h"

#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "common/text.h"

namespace gridtorrent {

std::string host_name() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "here";
  name.resize(name.find('\0'));
  const bool could_be_a_file = !name.empty() && !name.starts_with('.') && name.find('/') == std::string::npos;
  return could_be_a_file ? name : "here";
}

Status require_local_disk(const std::string& folder, const std::string& way_out) {
  static constexpr std::array<std::pair<unsigned long, const char*>, 9> kNetworked = {{{0x6969, "NFS"},
                                                                                       {0x0BD00BD0, "Lustre"},
                                                                                       {0x47504653, "GPFS"},
                                                                                       {0x19830326, "BeeGFS"},
                                                                                       {0xFF534D42, "CIFS"},
                                                                                       {0xFE534D42, "SMB"},
                                                                                       {0x517B, "SMB"},
                                                                                       {0x00C36400, "Ceph"},
                                                                                       {0x5346414F, "AFS"}}};
  struct statfs found = {};
  if (::statfs(folder.c_str(), &found) != 0) {
    return Error{Code::kDisk, "cannot look at " + escape_for_display(folder) + ": " + errno_text(errno)};
  }
  for (const auto& [type, name] : kNetworked) {
    if ((static_cast<unsigned long>(found.f_type) & 0xFFFFFFFF) != type) continue;
    return Error{Code::kUnsupported,
                 escape_for_display(folder) + " lies on " + name + ", where a database is not safe; " + way_out};
  }
  return {};
}

}  // namespace gridtorrent
