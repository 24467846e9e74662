#include "base/net/tls_terminator.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace gridtorrent::net {
Result<std::unique_ptr<TlsTerminator>> TlsTerminator::start(Options options, const Clock& clock) {
  GT_ASSIGN(Listening listening, listen_tcp(options.host, options.port));
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets with write(2)
  Refused refused = options.refused;
  auto each_second = std::move(options.each_second);
  std::unique_ptr<TlsTerminator> made(new TlsTerminator(std::move(options), clock));
  TlsTerminator& self = *made;
  AcceptLoop::Parts parts{self.limits_,
                          [&self](Caller caller) {
                            EventLoop& loop = *self.handshakes_[self.next_handshake_++ % self.handshakes_.size()];
                            loop.add(std::make_unique<Handshake>(std::move(caller), self.handshake_parts_));
                          },
                          std::move(refused),
                          [&self, each_second = std::move(each_second)] {
                            self.strangers_.tick();
                            each_second(self.connections());
                          }};
  made->accept_ = std::make_unique<AcceptLoop>(std::move(listening), std::move(parts));
  return made;
}

TlsTerminator::TlsTerminator(Options options, const Clock& clock)
    : clock_(clock),
      strangers_(options.strangers, clock),
      handshake_parts_{.strangers = strangers_, .tls = {}, .protocol = {}, .refused = {}, .done = {}},
      pump_parts_{std::move(options.make_filter), std::move(options.open_backend), options.refused},
      limits_(options.limits) {
  handshake_parts_.tls = std::move(options.tls);
  handshake_parts_.protocol = std::move(options.protocol);
  handshake_parts_.refused = std::move(options.refused);
  handshake_parts_.done = [this](Caller caller, crypto::TlsSession tls) {
    next_pump_loop().add(std::make_unique<Pump>(std::move(caller), std::move(tls), pump_parts_));
  };
  for (std::size_t i = 0; i < std::max<std::size_t>(1, options.pump_threads); ++i) {
    pumps_.push_back(std::make_unique<EventLoop>("net-pump-" + std::to_string(i), clock_));
  }
  for (std::size_t i = 0; i < std::max<std::size_t>(1, options.handshake_threads); ++i) {
    handshakes_.push_back(std::make_unique<EventLoop>("net-shake-" + std::to_string(i), clock_));
  }
}

TlsTerminator::~TlsTerminator() {
  finish(std::chrono::milliseconds(0));
}

EventLoop& TlsTerminator::next_pump_loop() {
  return *pumps_[next_pump_++ % pumps_.size()];
}

void TlsTerminator::stop_accepting() {
  accept_->stop();
  strangers_.close();
  for (const auto& loop : handshakes_) loop->stop();
}

void TlsTerminator::finish(std::chrono::milliseconds patience) {
  if (accept_) stop_accepting();
  const MonoTime until = clock_.mono() + patience;
  for (const auto& loop : pumps_) {
    loop->wait_until_empty(std::chrono::ceil<std::chrono::milliseconds>(until - clock_.mono()));
  }
  for (const auto& loop : pumps_) loop->stop();
}

}  // namespace gridtorrent::net
