#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/testing/distribution_report.h>

namespace halfgrad::testing {

/// Random decisions, one for each element: whether it is kept, or the class that was drawn.
using Decisions = std::vector<std::int32_t>;
using Bits = Decisions;

/// Tests that elements agree with those some places on as often as independent ones would, with
/// probability `agreement`: up to 256 places, powers of two, and up to 8 whole rows. Pairs are
/// disjoint, so that their agreements are independent. `of` ends the message.
void expect_independent(DistributionReport& report, const Decisions& elements, std::int64_t row,
                        double agreement, const std::string& of);

/// Tests that elements agree with those of another call, shifted by up to 64 places either way.
void expect_independent(DistributionReport& report, const Decisions& first, const Decisions& other,
                        double agreement, const std::string& of);

}  // namespace halfgrad::testing
