// drag_source PATH...: a small window at the upper left corner of the screen from which the mouse drags these paths, as
// out of a file manager. Prints "ready", then "accepted" once the mouse is over a window that would take them, and at
// the end "dropped" or "refused". It hides then and goes on: the target may ask for the paths later. For tests of
// windows.
#include <QApplication>
#include <QDrag>
#include <QLabel>
#include <QMimeData>
#include <QMouseEvent>
#include <QUrl>
#include <cstdio>
#include <utility>

namespace {

void say(const char* word) {
  std::puts(word);
  std::fflush(stdout);
}

class Source final : public QLabel {
 public:
  explicit Source(QList<QUrl> urls) : QLabel(QStringLiteral("drag me")), urls_(std::move(urls)) {
    setWindowFlags(Qt::FramelessWindowHint | Qt::WindowStaysOnTopHint | Qt::WindowDoesNotAcceptFocus);
    setGeometry(0, 0, 80, 40);
  }

 protected:
  void mousePressEvent(QMouseEvent*) override {}
  void mouseMoveEvent(QMouseEvent* event) override {
    if ((event->buttons() & Qt::LeftButton) == 0) return;
    auto* drag = new QDrag(this);  // Qt deletes it
    auto* paths = new QMimeData;
    paths->setUrls(urls_);
    drag->setMimeData(paths);
    connect(drag, &QDrag::actionChanged, this, [this](Qt::DropAction action) {
      if (action == Qt::CopyAction && !std::exchange(accepted_, true)) say("accepted");
    });
    const bool taken = drag->exec(Qt::CopyAction) == Qt::CopyAction;
    say(taken ? "dropped" : "refused");
    hide();
  }

 private:
  const QList<QUrl> urls_;
  bool accepted_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QApplication::setQuitOnLastWindowClosed(false);
  QList<QUrl> urls;
  for (const QString& path : QCoreApplication::arguments().mid(1)) urls.append(QUrl::fromLocalFile(path));
  if (urls.isEmpty()) {
    std::fputs("drag_source: name what is to be dragged: drag_source PATH...\n", stderr);
    return 2;
  }
  Source source(std::move(urls));
  source.show();
  say("ready");
  return QApplication::exec();
}
