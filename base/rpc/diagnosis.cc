#include "base/rpc/diagnosis.h"

#include "base/crypto/tls_probe.h"
#include "base/rpc/channel.h"
#include "common/local_time.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::rpc {
namespace {

std::string wrong_dates(const crypto::TlsProbe& probe, WallTime now) {
  const bool early = now < probe.not_before;
  const auto by = early ? probe.not_before - now : now - probe.not_after;
  return " is valid from " + local_time_text(probe.not_before) + " to " + local_time_text(probe.not_after) +
         ", but this machine's clock says " + local_time_text(now) + ", which is " + format_duration(by) +
         (early
              ? " before that: the clock is behind by at least that much; set it (timedatectl, NTP)"
              : " after that: set the clock if it is ahead (timedatectl, NTP), or else renew the server's certificate");
}

std::string other_names(const crypto::TlsProbe& probe) {
  std::string names;
  for (const std::string& name : probe.names) names += (names.empty() ? "" : ", ") + escape_for_display(name);
  return " is for " + (names.empty() ? std::string("nobody") : names) +
         ": use one of these addresses, or start the server with --advertise HOST:PORT";
}

}  // namespace

Error diagnose(const Error& error, const std::string& host_port, const std::string& ca_file, WallTime now) {
  if (error.code != Code::kUnreachable && error.code != Code::kTimeout) return error;
  const auto address = parse_host_port(host_port);
  if (!address) return error;
  const auto probe = crypto::probe_tls(address->host, address->port, ca_file);
  if (!probe) {
    return {Code::kUnreachable, "no server at " + host_port + " (" + probe.error().message +
                                    "): check that it runs, the address and the way there"};
  }
  const std::string certificate = "the certificate of " + host_port;
  if (!probe->chain_trusted) {
    return {error.code, certificate + " is not signed by " + escape_for_display(ca_file) +
                            ": give this server's own CA file with --ca; if that is the one, somebody is in between"};
  }
  if (now < probe->not_before || probe->not_after < now) return {error.code, certificate + wrong_dates(*probe, now)};
  if (!probe->name_matches) return {error.code, certificate + other_names(*probe)};
  return error.with_context("server " + host_port);
}

Result<WallTime> certificate_end(const std::string& host_port, const std::string& ca_file) {
  GT_ASSIGN(const HostPort address, parse_host_port(host_port));
  GT_ASSIGN(const crypto::TlsProbe probe, crypto::probe_tls(address.host, address.port, ca_file));
  return probe.not_after;
}

}  // namespace gridtorrent::rpc
