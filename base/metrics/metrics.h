#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

/// Figures for Prometheus (prometheus-cpp behind this door). Names are gridtorrent_<thing>_<unit>, counters end in
/// _total.
namespace gridtorrent::metrics {

using Labels = std::map<std::string, std::string>;

/// Handles are cheap to copy and stay good as long as their Registry; their methods are lock-free or nearly,
/// thread-safe.
class Counter {
 public:
  explicit Counter(prometheus::Counter* counter) : counter_(counter) {}
  void add(double amount = 1);
  double value() const;

 private:
  prometheus::Counter* counter_;
};

class Gauge {
 public:
  explicit Gauge(prometheus::Gauge* gauge) : gauge_(gauge) {}
  void set(double value);
  void add(double amount);
  double value() const;

 private:
  prometheus::Gauge* gauge_;
};

class Histogram {
 public:
  explicit Histogram(prometheus::Histogram* histogram) : histogram_(histogram) {}
  void observe(double value);

 private:
  prometheus::Histogram* histogram_;
};

/// All figures of a program. Thread-safe. Asking twice for the same name and labels gives the same figure.
class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  Counter counter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  /// `bounds`: upper edges of the buckets, ascending; those of the first call for a name count.
  Histogram histogram(const std::string& name, const std::string& help, const std::vector<double>& bounds,
                      const Labels& labels = {});
  /// A gauge that is asked when somebody looks. `read` runs on the exposer's thread and must stay callable until
  /// the registry ends.
  void gauge_callback(const std::string& name, const std::string& help, const Labels& labels,
                      std::function<double()> read);

  /// Serves http://HOST:PORT/metrics from now on; returns the port really bound. Without TLS or login: for loopback or
  /// a guarded network. kConflict: the port is in use. Call once.
  Result<int> expose(const std::string& host_port);

  /// What /metrics would say now, in Prometheus' text form.
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gridtorrent::metrics
