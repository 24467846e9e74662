// drag_source PATH...: a small window at the upper left corner of the screen from which the mouse drags these paths, as
// out of a file manager. Prints "dropped" or "refused" at the end of the drag and hides, but goes on: the target may
// ask for the paths later. For tests of windows that take files.
#include <QApplication>
#include <QDrag>
#include <QLabel>
#include <QMimeData>
#include <QMouseEvent>
#include <QUrl>
#include <cstdio>

namespace {

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
    const bool taken = drag->exec(Qt::CopyAction) == Qt::CopyAction;
    std::puts(taken ? "dropped" : "refused");
    std::fflush(stdout);
    hide();
  }

 private:
  const QList<QUrl> urls_;
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
  std::puts("ready");
  std::fflush(stdout);
  return QApplication::exec();
}
