#pragma once

/// Everything. `namespace hg = halfgrad;` is the customary short name.
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/function.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/nn/activation.h>
#include <halfgrad/nn/dropout.h>
#include <halfgrad/nn/embedding.h>
#include <halfgrad/nn/functional.h>
#include <halfgrad/nn/init.h>
#include <halfgrad/nn/linear.h>
#include <halfgrad/nn/loss.h>
#include <halfgrad/nn/module.h>
#include <halfgrad/nn/norm.h>
#include <halfgrad/nn/ordered_dict.h>
#include <halfgrad/nn/sequential.h>
