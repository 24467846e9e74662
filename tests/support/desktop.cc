#include <gtest/gtest.h>

#include <QApplication>
#include <cstdlib>
#include <memory>

namespace {

/// One application for all tests of a program, with no screen, in one locale.
class Desktop final : public testing::Environment {
 public:
  void SetUp() override {
    ::setenv("QT_QPA_PLATFORM", "offscreen", 0);
    ::setenv("QT_ACCESSIBILITY", "1", 1);
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedKingdom));
    static int count = 1;
    static char name[] = "test";
    static char* arguments[] = {name, nullptr};
    application_ = std::make_unique<QApplication>(count, arguments);
  }
  void TearDown() override { application_.reset(); }

 private:
  std::unique_ptr<QApplication> application_;
};

[[maybe_unused]] const auto* const kDesktop = testing::AddGlobalTestEnvironment(new Desktop);

}  // namespace
