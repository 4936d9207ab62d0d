#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <halfgrad/programs/option_checks.h>
#include <halfgrad/report/trace/traced_run.h>
#include <CLI/CLI.hpp>

/// Options of programs that record their trainings. Their definitions are here, because the library
/// of the programs does not link those of halfgrad.
namespace programs {

/// Adds --report FILE.html.
inline CLI::Option* add_report(CLI::App& app, std::filesystem::path& file,
                               const std::string& meaning) {
  return app.add_option("--report", file, meaning)
      ->check(checks::writable)
      ->option_text("FILE.html");
}

/// Adds --trace FILE and --tensorboard DIR to a command line.
class TraceOptions {
 public:
  explicit TraceOptions(CLI::App& app) {
    app.add_option("--trace", trace_, "Also write a timeline for ui.perfetto.dev to this file")
        ->check(checks::writable)
        ->option_text("FILE");
    app.add_option("--tensorboard", tensorboard_, "Also write event files for TensorBoard here")
        ->option_text("DIR");
  }
  TraceOptions(const TraceOptions&) = delete;  // the command line refers to the members
  TraceOptions& operator=(const TraceOptions&) = delete;

  bool has_trace() const { return !trace_.empty(); }
  const std::filesystem::path& trace() const { return trace_; }
  bool has_tensorboard() const { return !tensorboard_.empty(); }
  /// Returns the files; nullptr if neither option was given. Throws files::WriteError.
  std::shared_ptr<halfgrad::report::TraceFiles> open() const {
    if (trace_.empty() && tensorboard_.empty()) return nullptr;
    return std::make_shared<halfgrad::report::TraceFiles>(trace_, tensorboard_);
  }

 private:
  std::filesystem::path trace_, tensorboard_;
};

}  // namespace programs
