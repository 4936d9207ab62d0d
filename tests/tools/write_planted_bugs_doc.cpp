#include <iostream>

#include <halfgrad/tests/testing/planted/list.h>

// Prints docs/planted_bugs.md:  planted_bugs_doc > docs/planted_bugs.md
namespace {

constexpr auto kIntroduction = R"(# Planted bugs

Written by the target `planted_bugs_doc` from `tests/testing/planted/list.h`; a test checks that it is not
stale, that every wrong kernel is found, and that no right one is accused.

A wrong kernel is a right one with one line changed. The last column says what the checker calls it first.

| Op | dtype | The line | Result |
|---|---|---|---|
)";

constexpr auto kRight = R"(
Right kernels: other orders, fused, wider accumulation.

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
