#pragma once

#include <string>
#include <vector>

#include <halfgrad/dist/data_parallel.h>
#include <halfgrad/io/checkpoint.h>

#include "zero_runs.h"

/// Checks of training that every rank of a communicator calls together, over threads or over MPI.
namespace halfgrad::dist {

/// The figures of a training, which are the same on every rank.
struct Training {
  std::vector<double> losses, parameters;

  friend bool operator==(const Training&, const Training&) = default;
};

/// 50 steps of SGD without ranks, with the whole batch.
Training train_alone(DType dtype);
/// The same steps with DataParallel, on this rank's part of the batch. Each rank begins with other
/// weights, which become those of rank 0.
Training train_together(Communicator& communicator, DType dtype,
                        const DataParallelOptions& options = {});

/// The losses are those of one rank with the whole batch. Returns losses and parameters.
std::vector<double> check_losses(Communicator& communicator);
/// float16 with a GradScaler, with DataParallel, ZeroRedundancyOptimizer and both. If a gradient
/// overflows on one rank, all ranks skip, and have the scale of one rank with the whole batch. All
/// three ways lead to the same parameters, which are returned.
std::vector<double> check_scales(Communicator& communicator);
/// Each rank has its share of the optimizer's state.
void check_share_of_state(Communicator& communicator);

/// Two steps of ZeroRedundancyOptimizer, with masters for 16-bit weights, from the checkpoint, or
/// from the beginning if it is empty. Returns the checkpoint after them, on every rank. All ranks
/// have the same gradients.
io::Checkpoint train_from(Communicator& communicator, const io::Checkpoint& saved,
                          const Factory& make, DType dtype);
/// The bytes of each tensor of a checkpoint.
std::map<std::string, std::string> bytes_of(const io::Checkpoint& checkpoint);

/// Calls the three checks above, and returns the bits of what they return.
std::string check_training(Communicator& communicator);

}  // namespace halfgrad::dist
