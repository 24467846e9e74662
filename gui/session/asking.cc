#include "gui/session/asking.h"

#include <QCoreApplication>

namespace gridtorrent::gui {

void Mailbox::post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (target_ != nullptr) QMetaObject::invokeMethod(target_, std::move(work), Qt::QueuedConnection);
}

void Mailbox::close() {
  const std::lock_guard lock(mutex_);
  if (target_ == nullptr) return;
  QCoreApplication::removePostedEvents(target_);
  // Not at once: this may be the event that it handles.
  std::exchange(target_, nullptr)->deleteLater();
}

void Asking::cancel() {
  if (box_) box_->close();
  call_.cancel();
  box_.reset();
  waits_ = false;
  failed_ = nullptr;
}

void Asking::fail(const Error& error) {
  const auto failed = std::exchange(failed_, nullptr);
  cancel();
  if (failed) failed(error);
}

std::shared_ptr<Mailbox> Asking::renew() {
  cancel();
  box_ = std::make_shared<Mailbox>();
  waits_ = true;
  return box_;
}

}  // namespace gridtorrent::gui
