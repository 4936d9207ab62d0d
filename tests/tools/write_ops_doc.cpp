#include <cmath>
#include <iostream>

#include <halfgrad/testing/op_example.h>
#include <halfgrad/tests/tools/ops_doc.h>

// Prints docs/ops.md:  ops_doc > docs/ops.md
namespace {

constexpr auto kIntroduction = R"(# Ops

After this page you know every op of halfgrad, what autocast does with it, and how exact it is.

For example, the row of `softmax` says: its formula and gradient are in `softmax.cpp`; autocast runs
it in float32 (class `wide_accumulate`); tests allow an error of 16 roundoffs; and the largest error
that was measured in float16 is 0.5 roundoffs, the error of rounding the result.

* **Page** is the file that states the op's formula, gradient and reference.
* **Class** is how 16-bit dtypes affect the op (`autograd/precision.h`). Autocast decides by it.
* **Tolerance** is the largest error that the tests allow, in roundoffs of max(1, |expected|). The
  roundoff is 2^-53 in float64, 2^-24 in float32, 2^-11 in float16, 2^-8 in bfloat16.
* **float64 to bfloat16** are the largest measured errors, in roundoffs, rounded up: the op's
  examples against an independent float64 reference. They differ a little between instruction sets.
  16-bit results are computed in float32 and rounded once, which costs at most 1. A 0 in float64
  means that op and reference end in the same call of the C library.

The target `ops_doc` writes this page from `all_ops()`, and a test checks that it is not stale.

| Op | Page | Class | Gradient | Tolerance | float64 | float32 | float16 | bfloat16 |
|---|---|---|---|---|---|---|---|---|
)";

/// Rounds up to two significant digits.
double rounded_up(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double unit = std::pow(10, std::floor(std::log10(x)) - 1);
  return std::ceil(x / unit) * unit;
}

}  // namespace

int main() {
  std::cout << kIntroduction;
  const auto pages = halfgrad::ops_doc::pages();
  for (const halfgrad::OpEntry& op : halfgrad::all_ops()) {
    std::cout << halfgrad::ops_doc::row_start(op, pages.at(op.name));
    for (const halfgrad::DType dtype : halfgrad::ops_doc::kMeasuredDTypes) {
      std::cout << ' ' << rounded_up(halfgrad::measured_roundoffs(op, dtype)) << " |";
    }
    std::cout << '\n';
  }
}
