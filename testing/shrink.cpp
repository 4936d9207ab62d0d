#include <halfgrad/testing/shrink.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

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
  using Clock = std::chrono::steady_clock;

 public:
  Shrinker(const KernelOp& op, const Dims& dims, const std::vector<Values>& operands,
           const RunCase& run, double seconds)
      : op_(op),
        run_(run),
        end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {
    const CaseResult result = run(dims, operands);
    fails_ = result.fault.has_value();
    if (fails_) best_ = {*result.fault, result.message, dims, operands};
  }
  bool fails() const { return fails_; }

  ShrunkCase best() {
    if (op_.any_dims) {
      while (shrink_dim(&Dims::m) || shrink_dim(&Dims::n) || shrink_dim(&Dims::k) ||
             (best_.dims.columns > 0 && shrink_dim(&Dims::columns))) {
      }
    }
    replace_runs([](double) { return 0.0; });
    replace_runs([](double) { return 1.0; });
    replace_runs([](double x) { return std::round(x); });
    return best_;
  }

 private:
  bool ended() const { return runs_ >= kMostRuns || Clock::now() > end_; }

  bool keep_if_it_fails(const Dims& dims, const std::vector<Values>& operands) {
    if (ended()) return false;
    ++runs_;
    const CaseResult result = run_(dims, operands);
    if (result.fault != best_.fault) return false;
    best_ = {*result.fault, result.message, dims, operands};
    return true;
  }

  /// Bisects between the largest size that passes and the smallest that fails.
  bool shrink_dim(std::int64_t Dims::*dim) {
    const std::int64_t before = best_.dims.*dim;
    std::int64_t passes = std::max<std::int64_t>(op_.least.*dim, 1) - 1;
    while (best_.dims.*dim - passes > 1 && !ended()) {
      const std::int64_t size =
          passes + (passes == 0 && best_.dims.*dim == before ? 1 : (best_.dims.*dim - passes) / 2);
      if (!fails_at(dim, size)) passes = size;
    }
    return best_.dims.*dim < before;
  }

  bool fails_at(std::int64_t Dims::*dim, std::int64_t size) {
    Dims dims = best_.dims;
    dims.*dim = size;
    const std::vector<OperandSpec> specs = op_.operands(dims);
    std::vector<Values> operands;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      operands.push_back(corner(best_.operands[i], specs[i].sizes));
      if (specs[i].kind == OperandSpec::Kind::number) continue;
      for (double& x : operands.back().data) x = std::fmin(x, specs[i].high);
    }
    return keep_if_it_fails(dims, operands);
  }

  /// Replaces ever shorter runs of elements, from whole operands down to single ones. The copies of
  /// a wide operand take longer than the runs, so that the time limit holds for each.
  template <class F>
  void replace_runs(const F& f) {
    const std::vector<OperandSpec> specs = op_.operands(best_.dims);
    for (std::size_t operand = 0; operand < specs.size(); ++operand) {
      if (specs[operand].kind != OperandSpec::Kind::number) continue;
      const std::size_t count = best_.operands[operand].data.size();
      for (std::size_t length = count; length > 0; length /= 2) {
        for (std::size_t first = 0; first < count; first += length) {
          if (ended()) return;
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
  Clock::time_point end_;
  bool fails_ = false;
  ShrunkCase best_;
  int runs_ = 0;
};

}  // namespace

std::optional<ShrunkCase> shrink(const KernelOp& op, const Dims& dims,
                                 const std::vector<Values>& operands, const RunCase& run,
                                 double seconds) {
  Shrinker shrinker(op, dims, operands, run, seconds);
  if (!shrinker.fails()) return std::nullopt;
  return shrinker.best();
}

}  // namespace halfgrad::testing
