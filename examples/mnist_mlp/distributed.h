#pragma once

#include "options.h"

/// Trains on handwritten digits on all ranks of an MPI job, as docs/distributed.md shows. Rank 0
/// prints. On GPUs, rank k of a node computes on cuda:k. Returns the exit status.
int run_distributed(Options options);
