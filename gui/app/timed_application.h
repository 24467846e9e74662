#pragma once

#include <QApplication>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gridtorrent::gui {

/// The application that measures itself, for `./dev bench gui`: how long each event kept the GUI thread, and when the
/// window was first painted. It writes that to a file when it ends. Events within another one (a dialog that waits)
/// count as part of that one. GUI thread only.
class TimedApplication final : public QApplication {
 public:
  TimedApplication(int& argc, char** argv, std::string file);
  ~TimedApplication() override;

  bool notify(QObject* receiver, QEvent* event) override;

 private:
  static constexpr std::size_t kSteps = 1000;  ///< of 100 µs; the last one has all that took longer
  static constexpr std::int64_t kSlowNs = 10'000'000;
  static constexpr std::size_t kMostSlow = 10'000;

  struct Event {
    std::int64_t began_ns, cpu_ns, wall_ns;  ///< the beginning by CLOCK_MONOTONIC
    const char* receiver;                    ///< class
    int type;                                ///< QEvent::Type
  };

  void add(const Event& event);
  void follow_start(std::int64_t now_ns);

  const std::string file_;
  bool inside_ = false;
  bool paints_ = false;  ///< the event that is under way has painted something
  std::int64_t first_paint_ns_ = 0, first_answer_ns_ = 0;
  std::array<std::uint64_t, kSteps> by_cpu_{};
  std::vector<Event> slow_;
};

}  // namespace gridtorrent::gui
