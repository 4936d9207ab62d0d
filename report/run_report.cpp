#include <halfgrad/report/run_report.h>

#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include <halfgrad/core/error.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/core/warning.h>
#include <halfgrad/files/replace_file.h>
#include <halfgrad/report/reported_run.h>
#include <halfgrad/report/write_files.h>
#include <halfgrad/report/write_json.h>
#include <halfgrad/report/write_page.h>

namespace halfgrad {
namespace {

constexpr std::chrono::seconds kWriteEvery{30};

void warn_of(const std::exception& error) {
  detail::warn(std::string("RunReport: ") + error.what());
}

}  // namespace

struct RunReport::State {
  std::filesystem::path file;
  report::PageRecord page = {};
  std::optional<report::ReportedRun> run = {};
  std::chrono::steady_clock::time_point written = std::chrono::steady_clock::now();
  bool is_finished = false;

  report::ReportedRun& current() {
    if (!run)
      throw halfgrad::detail::Raised<std::logic_error>(
          "RunReport: expected begin_run() first, got no run");
    return *run;
  }

  /// The run that is under way, or the one that ended last.
  report::RunRecord& last() {
    return run || page.runs.empty() ? current().record() : page.runs.back();
  }

  /// The page with the run that is under way.
  report::PageRecord snapshot() {
    report::PageRecord all = page;
    if (run) all.runs.push_back(run->snapshot());
    return all;
  }

  template <class... Figures>
  void step(const Figures&... figures) {
    current().step(figures...);
    is_finished = false;
    if (std::chrono::steady_clock::now() - written < kWriteEvery) return;
    try {
      report::write_files(file, snapshot());
    } catch (const files::WriteError& error) {
      warn_of(error);  // the training goes on
    }
    written = std::chrono::steady_clock::now();
  }
};

RunReport::RunReport(std::filesystem::path file) : state_(std::make_unique<State>()) {
  state_->file = std::move(file);
  state_->page.title = "Training report";
  state_->page.threads = get_num_threads();
  report::check_writable(state_->file);
}

RunReport::RunReport(std::filesystem::path file, const RunOptions& run)
    : RunReport(std::move(file)) {
  begin_run(run);
}

RunReport::~RunReport() {
  if (state_ == nullptr || state_->is_finished) return;
  try {
    finish();
  } catch (const std::exception& error) {
    warn_of(error);
  }
}

RunReport::RunReport(RunReport&&) noexcept = default;
RunReport& RunReport::operator=(RunReport&&) noexcept = default;

void RunReport::describe(const std::string& title, const std::string& command) {
  state_->page.title = title;
  state_->page.command = command;
}

void RunReport::note(const std::string& sentence) { state_->page.notes.push_back(sentence); }
void RunReport::set_interrupted() { state_->page.interrupted = true; }

void RunReport::begin_run(const RunOptions& run) {
  end_run();
  state_->is_finished = false;
  state_->run.emplace(run);
}

void RunReport::end_run() {
  if (!state_->run) return;
  state_->page.runs.push_back(state_->run->end());
  state_->run.reset();
}

void RunReport::step(const Tensor& loss, double score) { state_->step(loss, score); }
void RunReport::step(double loss, double score) { state_->step(loss, score); }
void RunReport::step(const FinishedStep& step) { state_->step(step); }

void RunReport::result(const std::string& name, double value) {
  state_->last().results.emplace_back(name, value);
}

void RunReport::launches(const std::vector<report::Launches>& rows) {
  state_->last().launches = rows;
}

void RunReport::finish() {
  end_run();
  state_->is_finished = true;  // also if it cannot be written: the destructor would fail as well
  report::write_files(state_->file, state_->page);
}

const std::filesystem::path& RunReport::file() const { return state_->file; }
std::string RunReport::html() const { return report::page_of(state_->snapshot()); }
std::string RunReport::json() const { return report::json_of(state_->snapshot()); }

RunScope::RunScope(RunReport* report, const RunOptions& run) : report_(report) {
  if (report_ != nullptr) report_->begin_run(run);
}

RunScope::~RunScope() {
  if (report_ == nullptr) return;
  try {
    report_->end_run();
  } catch (const std::exception& error) {
    warn_of(error);
  }
}

}  // namespace halfgrad
