#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/report/trace/traced_run.h>

/// Options of the command line. The defaults are nanoGPT's for a small model of characters.
struct Options {
  std::string model = "gpt";
  std::filesystem::path data;  ///< empty: a built-in text
  std::string precision = "fp16";
  std::int64_t steps = 500;
  std::int64_t batch = 16;
  std::int64_t accumulation = 1;  ///< batches in an update
  std::int64_t context = 64;      ///< number of characters that the model sees
  std::int64_t layers = 4, heads = 4, width = 128;
  double dropout = 0;
  bool checkpoint = false;
  double lr = 1e-3;
  std::int64_t warm_up = 50;
  double weight_decay = 0.1;
  double clip = 1;
  std::int64_t validate_every = 100;
  std::int64_t validation_batches = 20;
  std::int64_t samples = 300;
  std::uint64_t seed = 0;
  std::filesystem::path save, resume;                    ///< checkpoints; empty: none
  std::filesystem::path report;                          ///< page with charts; empty: none
  std::shared_ptr<halfgrad::report::TraceFiles> traces;  ///< options --trace, --tensorboard
  std::int64_t until = INT64_MAX;                        ///< stops after this update
  halfgrad::Device device;
  std::vector<std::string> command;  ///< the program's name and its arguments

  std::int64_t last_step() const { return std::min(steps, until); }
  /// The dtype in which autocast runs matrix products; nullopt if autocast is off.
  std::optional<halfgrad::DType> autocast() const;
};

/// Parses the command line. Ends the program after --help, and with status 2 after an error
/// message.
Options parse_options(int argc, char** argv);
