#include <iostream>

#include <halfgrad/tests/testing/planted/list.h>

// Prints docs/planted_bugs.md:  planted_bugs_doc > docs/planted_bugs.md
namespace {

constexpr auto kIntroduction = R"(# Planted bugs

After this page you know which mistakes in kernels [the checker](kernel_check.md) finds, and what it
calls them.

Each row is a right kernel with one line changed. For example, the first row is an `add` that leaves
out the tail: the elements after the last full vector. The checker reports that these elements of the
output are `unwritten`. The last column has the first fault that the checker reports.

The target `planted_bugs_doc` writes this page from `tests/testing/planted/list.h`. A test checks that
it is not stale, that every wrong kernel is found, and that no right one is accused.

| Op | dtype | The line | Result |
|---|---|---|---|
)";

constexpr auto kRight = R"(
These kernels are right, in another order, fused, or with a wider accumulation. The checker must
accept them.

| Op | dtype | How | Result |
|---|---|---|---|
)";

}  // namespace

int main() {
  using namespace halfgrad::testing::planted;
  std::cout << kIntroduction;
  for (const PlantedKernel& kernel : wrong_kernels()) std::cout << row(kernel) << '\n';
  std::cout << kRight;
  for (const PlantedKernel& kernel : right_kernels()) std::cout << row(kernel) << '\n';
}
