#include "gui/views/search_filters.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <algorithm>
#include <array>

#include "gui/models/text.h"

namespace gridtorrent::gui {

namespace {

constexpr std::array<std::uint64_t, 4> kSizes{1'000'000'000, 10'000'000'000, 100'000'000'000, 1'000'000'000'000};
constexpr int kColumns = 3;  // pairs of name and field in a row

}  // namespace

SearchFilters::SearchFilters(const Format& format, QWidget* parent)
    : QWidget(parent),
      owner_(new QLineEdit),
      tag_(new QLineEdit),
      access_(new QComboBox),
      group_(new QComboBox),
      size_(new QComboBox),
      age_(new QComboBox) {
  access_->addItem(tr("any"), QByteArray());
  access_->addItem(tr("public"), QByteArray("public"));
  access_->addItem(tr("shared"), QByteArray("shared"));
  access_->addItem(tr("private"), QByteArray("private"));
  size_->addItem(tr("any"), qulonglong{0});
  for (const std::uint64_t bytes : kSizes) size_->addItem(tr("%1 or more").arg(format.bytes(bytes)), qulonglong{bytes});
  age_->addItem(tr("at any time"), 0);
  age_->addItem(tr("in the last week"), 7);
  age_->addItem(tr("in the last month"), 31);
  age_->addItem(tr("in the last year"), 366);
  set_groups({});

  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  int place = 0;
  const auto add = [&](const QString& title, QWidget* field) {
    auto* label = new QLabel(title);
    label->setBuddy(field);
    field->setAccessibleName(QString(title).remove(u'&'));
    const int column = place % kColumns * 2;
    grid->addWidget(label, place / kColumns, column, Qt::AlignRight | Qt::AlignVCenter);
    grid->addWidget(field, place / kColumns, column + 1);
    grid->setColumnStretch(column + 1, 1);
    ++place;
  };
  add(tr("&Owner"), owner_);
  add(tr("&Tag"), tag_);
  add(tr("&Access"), access_);
  add(tr("G&roup"), group_);
  add(tr("&Size"), size_);
  add(tr("P&ublished"), age_);
  for (QLineEdit* line : {owner_, tag_}) connect(line, &QLineEdit::textChanged, this, &SearchFilters::changed);
  for (QComboBox* box : {access_, group_, size_, age_}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(8);
    connect(box, &QComboBox::currentIndexChanged, this, &SearchFilters::changed);
  }
}

void SearchFilters::set_groups(const std::vector<std::string>& names) {
  const QByteArray chosen = group_->currentData().toByteArray();
  {
    const QSignalBlocker quiet(group_);
    group_->clear();
    group_->addItem(tr("any"), QByteArray());
    for (const std::string& name : names) group_->addItem(shown(name), QByteArray::fromStdString(name));
    group_->setCurrentIndex(std::max(0, group_->findData(chosen)));
  }
  if (group_->currentData().toByteArray() != chosen) Q_EMIT changed();
}

SearchQuery SearchFilters::query(const QString& text) const {
  SearchQuery query;
  query.text = text.trimmed().toStdString();
  query.owner = owner_->text().trimmed().toStdString();
  query.tag = tag_->text().trimmed().toStdString();
  query.access = access_->currentData().toByteArray().toStdString();
  query.group = group_->currentData().toByteArray().toStdString();
  query.min_bytes = size_->currentData().toULongLong();
  if (const int days = age_->currentData().toInt(); days > 0) query.within = std::chrono::days(days);
  return query;
}

}  // namespace gridtorrent::gui
