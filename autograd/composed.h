#pragma once

/// Functions that are composed of the ops of ops.h, which define their gradients.
#include <halfgrad/autograd/composed/bits.h>
#include <halfgrad/autograd/composed/counting.h>
#include <halfgrad/autograd/composed/inverse.h>
#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/composed/pointwise.h>
#include <halfgrad/autograd/composed/products.h>
#include <halfgrad/autograd/composed/scans.h>
#include <halfgrad/autograd/composed/special.h>
#include <halfgrad/autograd/composed/statistics.h>
#include <halfgrad/autograd/composed/writing.h>
