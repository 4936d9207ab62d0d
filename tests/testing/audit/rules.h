#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/testing/kernel_check.h>

/// The rules by which other harnesses judge kernels, written from their documents and sources, each
/// at the commit that docs/kernel_audit.md names. Every rule has one shape, random inputs and a
/// tolerance. The reference is the exact result, rounded to the dtype, in place of PyTorch's.
namespace halfgrad::testing::audit {

/// A kernel, and the one shape at which a harness would run it.
struct AuditKernel {
  const char* source;  ///< publication of the mistake or the loophole
  const char* op;
  DType dtype;
  const char* what;
  Dims shape;
  Kernel kernel;
};

struct Rule {
  const char* name;
  bool uniform;  ///< inputs are uniform on [0, 1), else standard normal
  int trials;    ///< each with other inputs
  double atol, rtol;
  bool either;     ///< one of the tolerances is enough, else |error| <= atol + rtol |expected|
  double matched;  ///< part of the elements that must be within tolerance
  double cap;      ///< largest absolute error of any element
  bool refuses_nonfinite;  ///< an infinity or NaN is a fault, even if it is right
};

/// The rules for kernels of this dtype.
std::vector<Rule> rules(DType dtype);

/// True if the kernel passes.
bool passes(const Rule& rule, const AuditKernel& kernel);

std::vector<AuditKernel> wrong_kernels();
std::vector<AuditKernel> right_kernels();
/// Attention and l2_normalize, which are among those above.
std::vector<AuditKernel> wrong_attention_kernels();
std::vector<AuditKernel> right_attention_kernels();

/// The op of a kernel: one of kernel_op()'s, "attention", "causal attention" or "l2_normalize".
KernelOp audit_op(const std::string& name);

/// A line of the table in docs/kernel_audit.md.
std::string row(const AuditKernel& kernel);

}  // namespace halfgrad::testing::audit
