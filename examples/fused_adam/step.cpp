#include "fused_adam.h"

// A build without CUDA has no other device.
void step(const FusedAdam& adam, halfgrad::Device /*device*/) { step_on_cpu(adam); }
