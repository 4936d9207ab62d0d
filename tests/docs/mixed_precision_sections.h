#pragma once

#include "page.h"

/// The later sections of docs/mixed-precision.md: each function computes the figures of one section
/// and compares them with the page.
namespace halfgrad::tests {

void expect_reasons_of_the_scale(Page& page);
void expect_scaler(Page& page);
void expect_autocast(Page& page);
void expect_tensor_cores(Page& page);
void expect_masters(Page& page);

}  // namespace halfgrad::tests
