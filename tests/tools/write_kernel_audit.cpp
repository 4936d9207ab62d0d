#include <iostream>

#include <halfgrad/tests/testing/audit/rules.h>

// Prints the rows of the tables in docs/kernel_audit.md.
int main() {
  using namespace halfgrad::testing::audit;
  for (const AuditKernel& kernel : wrong_kernels()) std::cout << row(kernel) << std::endl;
  std::cout << '\n';
  for (const AuditKernel& kernel : right_kernels()) std::cout << row(kernel) << std::endl;
}
