#include "tracker/app/options.h"

#include "tracker/core/address.h"

namespace gridtorrent::tracker::app {

namespace {

options::Program make_program() {
  options::Program program;
  program.name = "gridtorrent-server";
  program.summary = "holds who may have what, and tells nodes about each other";
  program.description =
      "The collaboration and content manager and the tracker of a GridTorrent installation. It keeps accounts, "
      "contents "
      "and task lists in a database in its data folder and serves them over gRPC with TLS; the data itself flows "
      "between "
      "nodes and never through it.\n\n"
      "The first start makes the database, a certificate authority, the server's certificate and the account admin; "
      "the "
      "ready file names the address to connect to, the CA file for clients and the file with admin's first token. It "
      "stays in the foreground. SIGTERM lets calls finish, a second one does not wait; SIGHUP reads configuration and "
      "certificates anew.";
  program.options = options::join(
      {options::daemon_options(),
       {{.name = "listen",
         .value = "HOST:PORT",
         .help = "where to take connections; port 0 takes a free one",
         .default_value = "[::]:7443",
         .check = options::is_host_port},
        {.name = "advertise",
         .value = "HOST:PORT",
         .help = "the address that clients use; its host goes into the certificate",
         .check = options::is_server_address},
        {.name = "max-connections-per-address",
         .value = "N",
         .help = "TLS connections of one IPv4 address or IPv6 /64 at a time; more where many nodes share an address",
         .default_value = "512",
         .check = options::integer_between(4, 100'000)},
        {.name = "metrics-listen",
         .value = "HOST:PORT",
         .help = "serve figures for Prometheus here over plain HTTP; a loopback address, or a guarded network",
         .check = options::is_host_port},
        {.name = "sealing-key",
         .value = "FILE",
         .help = "secret under which the data CA's keys are sealed in the database; made where there is none yet. "
                 "Default: sealing-key in the data folder; better on another disk, and never in the same backup"},
        {.name = "dial-back-allow",
         .value = "CIDR",
         .help = "also try whether endpoints in this network can be reached; otherwise only where a node is seen, and "
                 "in the /24 (IPv6: /56) around that",
         .repeatable = true,
         .check = [](std::string_view text) -> Status {
           const auto network = Network::parse(text);
           return network ? Status() : Status(network.error());
         }},
        {.name = "managers-invite",
         .help = "let managers of groups invite people who have no account yet; otherwise only administrators do"},
        {.name = "new",
         .help = "start a new server in a data folder whose database is lost, with the CA that is there. Accounts and "
                 "contents are gone. Refused where a database exists",
         .command_line_only = true},
        {.name = "reflection", .help = "let anybody list the gRPC services; for debugging"}},
       options::logging_options()});
  program.commands = {
      {.name = "check",
       .summary = "check database and metadata, then exit",
       .description = "Reads everything once. Works while a server runs."},
      {.name = "backup",
       .summary = "write database and metadata into one file, then exit",
       .description = "Works while a server runs. Keys and certificates are not part of it: keep a copy of ca.pem, "
                      "ca-key.pem, tls.pem and the sealing key in another safe place.",
       .positionals = {{.name = "FILE", .help = "must not exist yet"}}},
      {.name = "restore",
       .summary = "put a backup in the place of database and metadata, then exit",
       .description = "Refused while a server uses the data folder. What was there is kept beside it.",
       .positionals = {{.name = "FILE", .help = "made by backup"}}}};
  program.examples = {
      {"gridtorrent-server --data-dir /var/lib/gridtorrent --advertise data.example.org:7443", "a server for a site"},
      {"gridtorrent-server --data-dir /var/lib/gridtorrent backup /backup/gridtorrent-monday",
       "a backup while it runs"}};
  program.files = {{"/etc/gridtorrent/gridtorrent-server.toml", "configuration"},
                   {"DATA-DIR/gridtorrent.db", "accounts, contents, nodes, tasks, audit records"},
                   {"DATA-DIR/metadata/", "manifests and piece hashes"},
                   {"DATA-DIR/ca.pem", "give this to clients: --ca"},
                   {"DATA-DIR/ca-key.pem", "secret: signs the server's certificate"},
                   {"DATA-DIR/tls.pem", "secret: the server's key and certificate"},
                   {"DATA-DIR/sealing-key", "secret: opens the data CA's keys, which are in the database"},
                   {"DATA-DIR/admin-token", "secret: admin's first token"}};
  program.exit_codes = {
      {"0", "done"},
      {"2", "wrong usage"},
      {"4", "not allowed"},
      {"6", "the port or the data folder is in use, or a file is in the way"},
      {"7", "the database is missing or empty beside the rest of a server, or it or a metadata document is damaged"},
      {"8", "disk full or not writable"},
      {"1", "anything else"}};
  program.man_section = 8;
  program.see_also = {"gridtorrent(1)", "gridtorrentd(8)"};
  return program;
}

}  // namespace

const options::Program& program() {
  static const options::Program table = make_program();
  return table;
}

}  // namespace gridtorrent::tracker::app
