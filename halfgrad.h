#pragma once

/// Everything. `namespace hg = halfgrad;` is the customary short name.
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/function.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/tensor.h>
