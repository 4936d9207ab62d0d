#pragma once

#include "options.h"

/// Trains on handwritten digits on all ranks of an MPI job, as docs/distributed.md shows. Rank 0
/// prints. Returns the exit status.
int run_distributed(const Options& options);
