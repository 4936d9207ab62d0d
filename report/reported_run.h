#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/scoped_value.h>
#include <halfgrad/report/run_record.h>
#include <halfgrad/report/run_report.h>
#include <halfgrad/report/scale_watch.h>
#include <halfgrad/report/step_observer.h>
#include <halfgrad/report/step_timer.h>

namespace halfgrad::report {

/// A run while it trains: fills its RunRecord step by step.
class ReportedRun {
 public:
  explicit ReportedRun(const RunOptions& options);

  /// Records the end of a step.
  void step(double loss, double score);
  void step(const Tensor& loss, double score);
  void step(const FinishedStep& step);
  RunRecord& record() { return record_; }
  /// The record so far, with the losses that wait on a GPU.
  RunRecord snapshot();
  /// Stops observing, and returns the record.
  RunRecord end();

 private:
  /// An installed observer; it may end on another thread than it began on.
  template <class Observer>
  struct Installed {
    explicit Installed(std::shared_ptr<Observer> to_install)
        : observer(std::move(to_install)),
          guard("RunReport", detail::op_observer, observer.get(), observer) {}
    std::shared_ptr<Observer> observer;
    detail::GuardedValue<OpObserver*> guard;
  };

  struct Waiting {
    Array loss;
    StepRow row;
  };

  StepRow end_step(double score);
  void begin_step();
  void look_at_scale();
  void read_losses();

  double scale() const { return scale_.is_watching() ? scale_.scale() : told_scale_; }
  void add(ScaleChange change);
  void add(StepRow row, double loss);

  amp::NamedModel model_;
  Device device_;
  bool is_training_;
  RunRecord record_;
  ScaleWatch scale_;
  double told_scale_ = 1;  // by a FinishedStep
  std::int64_t steps_ = 0;
  Sampled<double> seconds_{1, 4096};  // a step that was not observed
  std::int64_t timed_ = 0;
  std::chrono::steady_clock::time_point began_;
  std::optional<Installed<StepObserver>> observer_;  // every n-th step
  std::shared_ptr<StepTimer> timer_;
  std::optional<Installed<StepTimer>> timing_;  // the step after an observed one
  std::vector<Waiting> waiting_;
};

}  // namespace halfgrad::report
