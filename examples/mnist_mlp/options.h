#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/core/device.h>
#include <halfgrad/report/trace/traced_run.h>

#include "precision.h"

/// Options of the command line.
struct Options {
  std::string task = "all";
  std::filesystem::path data;  ///< empty: synthetic digits
  std::vector<Precision> precisions;
  std::vector<std::int64_t> hidden = {512, 512};
  std::int64_t epochs = 10;
  static constexpr std::int64_t kAllSteps = std::numeric_limits<std::int64_t>::max();
  std::int64_t steps = kAllSteps;  ///< at most so many in each training
  std::int64_t batch = 128;
  double lr = 1e-3;
  std::string optimizer = "adam";
  std::optional<InitScale> init_scale;  ///< nullopt: the GradScaler's own
  halfgrad::Device device;
  std::filesystem::path save, resume;  ///< checkpoints of the digits task; empty: none
  std::int64_t save_every = std::numeric_limits<std::int64_t>::max();  ///< in steps
  bool distributed = false;  ///< trains on all ranks of an MPI job, in the digits task
  bool graph = false;        ///< replays a captured step, in the digits task
  std::uint64_t seed = 0;
  int seeds = 1;
  std::filesystem::path json;    ///< empty: none
  std::filesystem::path report;  ///< empty: none
  /// Counted by halfgrad-emulate, for the report; empty: none.
  std::filesystem::path launches;
  std::shared_ptr<halfgrad::report::TraceFiles> traces;  ///< options --trace, --tensorboard
  std::vector<std::string> command;                      ///< the program's name and its arguments

  bool limits_steps() const { return steps != kAllSteps; }
  bool scales_a_loss() const { return std::ranges::any_of(precisions, &Precision::scales_loss); }
  bool runs(const std::string& name) const { return task == name || task == "all"; }
};

/// Parses the command line. Ends the program after --help, and with status 2 after an error
/// message.
Options parse_options(int argc, char** argv);
