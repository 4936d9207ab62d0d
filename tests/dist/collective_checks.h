#pragma once

#include <halfgrad/dist/communicator.h>

/// Checks that every rank of a communicator calls together, over threads or over MPI.
namespace halfgrad::dist {

/// Every dtype, op and a list of sizes, with edge values, against a loop over the ranks' elements.
void check_all_reduce(Communicator& communicator);
void check_reduce_scatter(Communicator& communicator);
void check_all_gather(Communicator& communicator);
void check_broadcast(Communicator& communicator);
/// The bits of a sum do not depend on how the elements are cut into calls.
void check_cuts(Communicator& communicator);
/// Collectives that run beside each other end with the right results, in whatever order they are
/// waited for.
void check_order(Communicator& communicator);
/// Arrays above the 64 MiB that ranks combine before they meet, and those of 4 MiB that they send.
void check_pieces(Communicator& communicator);
/// The three collectives of arrays from Communicator::empty() give the bits that others give.
void check_own_memory(Communicator& communicator);

void check_all(Communicator& communicator);

}  // namespace halfgrad::dist
