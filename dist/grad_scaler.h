#pragma once

#include <memory>
#include <vector>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/async/async_grad_scaler.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {

/// Makes a GradScaler skip on all ranks if one rank finds an inf or a NaN: from now on found_inf is
/// the maximum over ranks before any rank steps. Every rank calls it once, and then makes the same
/// calls of the scaler in the same order:
///
///   amp::GradScaler scaler;
///   dist::synchronize(scaler, communicator);
///
/// Gradients that differ between ranks need it, as the parts of a ZeroRedundancyOptimizer do.
/// Averages over all ranks, as a DataParallel makes them, are the same bits everywhere, so each
/// rank finds the same without it. If the communicator works on the GPU, the host does not wait.
void synchronize(amp::GradScaler& scaler, std::shared_ptr<Communicator> communicator);
/// Deleted: the update thread and the main thread would call collectives in an order that differs
/// between ranks.
void synchronize(amp::AsyncGradScaler& scaler, std::shared_ptr<Communicator> communicator) = delete;

/// Does what nn::utils::clip_grad_norm_() does if each rank holds a part of the gradients: returns
/// the norm of all parts, in the dtype of the gradients, and multiplies each part by
/// min(1, max_norm / (norm + 1e-6)). All ranks must call it, with equal options.
///
/// The p-th powers of the parts' norms are added up in the order of ranks, in double. `norm_type`
/// is p > 0, or infinite for the largest magnitude. Throws std::invalid_argument for any other, and
/// std::runtime_error for gradients that carry a GradScaler's scale.
Tensor clip_grad_norm_(const std::vector<Tensor>& shards, double max_norm,
                       Communicator& communicator, double norm_type = 2);

}  // namespace halfgrad::dist
