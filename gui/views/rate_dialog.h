#pragma once

#include <QDialog>
#include <cstdint>

class QLabel;
class QLineEdit;
class QPushButton;

namespace gridtorrent::gui {

/// Asks for a rate as the command line takes it, "30 Mbit" or "25MB". Says at once what it does not understand. GUI
/// thread only.
class RateDialog final : public QDialog {
  Q_OBJECT

 public:
  RateDialog(const QString& title, const QString& question, QWidget* parent = nullptr);

 Q_SIGNALS:
  /// Bits a second; 0: none.
  void chosen(quint64 bits_per_s);

 private:
  void check();

  QLineEdit* rate_;
  QLabel* fault_;
  QPushButton* ok_;
};

}  // namespace gridtorrent::gui
