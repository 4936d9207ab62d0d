#include <halfgrad/testing/shrink.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace halfgrad::testing {
namespace {

constexpr int kMostRuns = 2000;

/// The leading corner of x with these sizes.
Values corner(const Values& x, const Shape& sizes) {
  Values part{sizes, {}};
  const Shape strides = contiguous_strides(x.sizes);
  for (std::int64_t i = 0; i < numel(sizes); ++i) {
    std::int64_t rest = i, at = 0;
    for (int dim = sizes.size() - 1; dim >= 0; --dim) {
      at += rest % sizes[dim] * strides[dim];
      rest /= sizes[dim];
    }
    part.data.push_back(x.data[static_cast<std::size_t>(at)]);
  }
  return part;
}

class Shrinker {
 public:
  Shrinker(const KernelOp& op, const Dims& dims, const std::vector<Values>& operands,
           const RunCase& run)
      : op_(op), run_(run), specs_(op.operands(dims)) {
    const CaseResult result = run(dims, operands);
    if (!result.fault) throw std::logic_error("shrink: expected a case that fails, got none");
    best_ = {*result.fault, result.message, dims, operands};
  }

  ShrunkCase best() {
    if (op_.any_dims) {
      while (shrink_dim(&Dims::m) || shrink_dim(&Dims::n) || shrink_dim(&Dims::k)) {
      }
    }
    replace_runs([](double) { return 0.0; });
    replace_runs([](double) { return 1.0; });
    replace_runs([](double x) { return std::round(x); });
    return best_;
  }

 private:
  bool keep_if_it_fails(const Dims& dims, const std::vector<Values>& operands) {
    if (++runs_ > kMostRuns) return false;
    const CaseResult result = run_(dims, operands);
    if (result.fault != best_.fault) return false;
    best_ = {*result.fault, result.message, dims, operands};
    return true;
  }

  /// Shrinks a dim to 1, to half, or by one.
  bool shrink_dim(std::int64_t Dims::*dim) {
    const std::int64_t size = best_.dims.*dim;
    for (const std::int64_t smaller : {std::int64_t{1}, size / 2, size - 1}) {
      if (smaller < 1 || smaller >= size) continue;
      if (smaller < op_.least.*dim) continue;
      Dims dims = best_.dims;
      dims.*dim = smaller;
      const std::vector<OperandSpec> specs = op_.operands(dims);
      std::vector<Values> operands;
      for (std::size_t i = 0; i < specs.size(); ++i) {
        operands.push_back(corner(best_.operands[i], specs[i].sizes));
        if (specs[i].kind == OperandSpec::Kind::number) continue;
        for (double& x : operands.back().data) x = std::fmin(x, specs[i].high);
      }
      if (keep_if_it_fails(dims, operands)) return true;
    }
    return false;
  }

  /// Replaces ever shorter runs of elements, from whole operands down to single ones.
  template <class F>
  void replace_runs(const F& f) {
    for (std::size_t operand = 0; operand < specs_.size(); ++operand) {
      if (specs_[operand].kind != OperandSpec::Kind::number) continue;
      const std::size_t count = best_.operands[operand].data.size();
      for (std::size_t length = count; length > 0; length /= 2) {
        for (std::size_t first = 0; first < count; first += length) {
          std::vector<Values> simpler = best_.operands;
          std::vector<double>& data = simpler[operand].data;
          for (std::size_t i = first; i < std::min(first + length, count); ++i) {
            if (data[i] != 0) data[i] = f(data[i]);
          }
          if (data != best_.operands[operand].data) keep_if_it_fails(best_.dims, simpler);
        }
      }
    }
  }

  const KernelOp& op_;
  const RunCase& run_;
  std::vector<OperandSpec> specs_;
  ShrunkCase best_;
  int runs_ = 0;
};

}  // namespace

ShrunkCase shrink(const KernelOp& op, const Dims& dims, const std::vector<Values>& operands,
                  const RunCase& run) {
  return Shrinker(op, dims, operands, run).best();
}

}  // namespace halfgrad::testing
