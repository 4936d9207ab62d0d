#pragma once

#include <cstdint>

#include "training.h"

/// Returns the first loss scale that the gradients of the first batches allow: the largest power of
/// two with which none of them exceeds float16's 65504. Trains nothing. Prints a sentence.
double recommended_scale(const Task& task, const Precision& precision, std::uint64_t seed);
