#include "base/metrics/metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <exception>
#include <mutex>

#include "common/text.h"

namespace gridtorrent::metrics {

void Counter::add(double amount) {
  counter_->Increment(amount);
}
double Counter::value() const {
  return counter_->Value();
}
void Gauge::set(double value) {
  gauge_->Set(value);
}
void Gauge::add(double amount) {
  gauge_->Increment(amount);
}
double Gauge::value() const {
  return gauge_->Value();
}
void Histogram::observe(double value) {
  histogram_->Observe(value);
}

namespace {

/// Gauges whose value is asked at each scrape. Thread-safe by its mutex.
class CallbackGauges final : public prometheus::Collectable {
 public:
  struct Entry {
    std::string name, help;
    Labels labels;
    std::function<double()> read;
  };

  void add(Entry entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
  }

  std::vector<prometheus::MetricFamily> Collect() const override {
    const std::lock_guard lock(mutex_);
    std::map<std::string, prometheus::MetricFamily> families;
    for (const Entry& entry : entries_) {
      prometheus::MetricFamily& family = families[entry.name];
      family.name = entry.name;
      family.help = entry.help;
      family.type = prometheus::MetricType::Gauge;
      prometheus::ClientMetric metric;
      for (const auto& [name, value] : entry.labels) metric.label.push_back({name, value});
      metric.gauge.value = entry.read();
      family.metric.push_back(std::move(metric));
    }
    std::vector<prometheus::MetricFamily> result;
    for (auto& [name, family] : families) result.push_back(std::move(family));
    return result;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace

struct Registry::Impl {
  std::shared_ptr<prometheus::Registry> registry =
      std::make_shared<prometheus::Registry>(prometheus::Registry::InsertBehavior::Merge);
  std::shared_ptr<CallbackGauges> callbacks = std::make_shared<CallbackGauges>();
  std::unique_ptr<prometheus::Exposer> exposer;
};

Registry::Registry() : impl_(std::make_unique<Impl>()) {}
Registry::~Registry() = default;

Counter Registry::counter(const std::string& name, const std::string& help, const Labels& labels) {
  return Counter(&prometheus::BuildCounter().Name(name).Help(help).Register(*impl_->registry).Add(labels));
}

Gauge Registry::gauge(const std::string& name, const std::string& help, const Labels& labels) {
  return Gauge(&prometheus::BuildGauge().Name(name).Help(help).Register(*impl_->registry).Add(labels));
}

Histogram Registry::histogram(const std::string& name, const std::string& help, const std::vector<double>& bounds,
                              const Labels& labels) {
  return Histogram(&prometheus::BuildHistogram().Name(name).Help(help).Register(*impl_->registry).Add(labels, bounds));
}

void Registry::gauge_callback(const std::string& name, const std::string& help, const Labels& labels,
                              std::function<double()> read) {
  impl_->callbacks->add({name, help, labels, std::move(read)});
}

Result<int> Registry::expose(const std::string& host_port) {
  try {
    impl_->exposer = std::make_unique<prometheus::Exposer>(host_port, 1);
    impl_->exposer->RegisterCollectable(impl_->registry);
    impl_->exposer->RegisterCollectable(impl_->callbacks);
    return impl_->exposer->GetListeningPorts().at(0);
  } catch (const std::exception&) {  // civetweb says no more than "null context"
    impl_->exposer.reset();
    return Error{Code::kConflict, "cannot serve metrics at " + escape_for_display(host_port) +
                                      ": the port is in use, or no such address is here; choose another with "
                                      "--metrics-listen"};
  }
}

std::string Registry::text() const {
  std::vector<prometheus::MetricFamily> families = impl_->registry->Collect();
  for (auto& family : impl_->callbacks->Collect()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace gridtorrent::metrics
