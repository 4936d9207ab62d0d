#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/inspector/named_model.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/optim/optimizer.h>
#include <halfgrad/report/run_record.h>

namespace halfgrad {

/// One training of a RunReport.
struct RunOptions {
  std::string name = "run";  ///< "fp16"
  std::string task = {};     ///< runs of one task share their charts
  std::string score = {};    ///< the meaning and unit of step()'s score: "accuracy (%)"
  /// For the names of gradients and modules; by default they have none.
  amp::NamedModel model = {};
  /// In the order of their steps, for the names of parameters in the causes of skipped steps: a
  /// scaler counts the parameters through an optimizer's groups. Without them a cause names
  /// parameter 2, for example. Not needed after the beginning of the run.
  std::vector<const optim::Optimizer*> optimizers = {};
  /// Must live until the run ends: see RunScope. With GradScalerOptions::history, at least 64, the
  /// report gives the cause of every skipped step.
  const amp::GradScaler* scaler = nullptr;
  /// Observes the ops and gradients of step 0, this step, twice this step, ..., and times the ops
  /// of the step after each; 0: of none. An observed step copies its gradients to the host.
  std::int64_t every = 100;
  /// False for a replay: its steps have no times and no memory.
  bool is_training = true;
};

/// A step of a loop whose scaler the report cannot ask, or of a replay that trains nothing.
struct FinishedStep {
  std::optional<double> loss = {};
  double score = std::numeric_limits<double>::quiet_NaN();
  double scale = 1;       ///< this step's loss was multiplied by it
  double next_scale = 1;  ///< the next step's loss
  bool skipped = false;
  std::string cause = {};  ///< why the scale changed or the step was skipped; empty: not known
};

/// The report of one or several trainings: a page that any browser shows without a network, and
/// beside it the same data as JSON and CSV (docs/report.md has their schema).
///
///   hg::RunReport report("run.html", {.model = hg::amp::NamedModel(model),
///                                     .optimizers = {&optimizer}, .scaler = &scaler});
///   for (...) {
///     ...                                          // a training step, ending in scaler.update()
///     report.step(loss);
///   }
///
/// Installs an OpObserver for the steps that it observes, so it belongs to the thread that trains.
/// It writes its files at the end, and every 30 seconds before, atomically: the page can be opened
/// while the training runs.
class RunReport {
 public:
  /// Begins a run. Throws files::WriteError if the files cannot be written; none is changed yet.
  RunReport(std::filesystem::path file, const RunOptions& run);
  /// Makes a page without a run.
  explicit RunReport(std::filesystem::path file);
  /// Calls finish(), and warns on standard error if it throws.
  ~RunReport();
  RunReport(RunReport&&) noexcept;
  RunReport& operator=(RunReport&&) noexcept;

  /// The heading of the page, and the command that made it.
  void describe(const std::string& title, const std::string& command = "");
  /// A sentence under the heading.
  void note(const std::string& sentence);
  /// States that the training was interrupted.
  void set_interrupted();

  /// Ends the last run, and begins another.
  void begin_run(const RunOptions& run);
  /// Ends the last run, which no longer needs its scaler.
  void end_run();

  static constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

  /// Records a step of the last run, after its update. Throws std::logic_error without a run. A
  /// loss on a GPU is read later, together with others, so that most steps do not wait.
  void step(const Tensor& loss, double score = kNoScore);
  void step(double loss, double score = kNoScore);
  void step(const FinishedStep& step);

  /// A figure of the last run for the overview: "test accuracy (%)", 97.2.
  void result(const std::string& name, double value);
  /// Launches of the last run, as the GPU emulator counted them.
  void launches(const std::vector<report::Launches>& rows);

  /// Ends the last run and writes the files. Throws files::WriteError.
  void finish();

  const std::filesystem::path& file() const;
  /// The whole page.
  std::string html() const;
  /// The data of the page.
  std::string json() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Begins a run of a report of several, and ends it with the scope, before its scaler is destroyed.
/// Without a report it does nothing.
class RunScope {
 public:
  RunScope(RunReport* report, const RunOptions& run);
  ~RunScope();
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

 private:
  RunReport* report_;
};

}  // namespace halfgrad
