#pragma once

/// Includes the whole library except `data`, `io`, `dist`, `testing` and `report`. Users usually
/// write `namespace hg = halfgrad;`.
#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/custom_function.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/loss_scalers/loss_scalers.h>
#include <halfgrad/amp/master_weights.h>
#include <halfgrad/amp/module_policy.h>
#include <halfgrad/async/async_grad_scaler.h>
#include <halfgrad/async/async_optimizer.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/capture.h>
#include <halfgrad/autograd/checkpoint.h>
#include <halfgrad/autograd/composed.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/function.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/gradient_hooks.h>
#include <halfgrad/autograd/indexing.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/optim/optim.h>
