#include <halfgrad/core/engines/sequences.h>

#include <halfgrad/core/engines/multi_tensor.h>
#include <halfgrad/core/engines/parallel.h>

namespace halfgrad::detail {
namespace {

// Unsigned, because the product may overflow.
struct IntegerSteps {
  std::uint64_t start, step;
  std::int64_t* out;

  HG_HD void operator()(std::int64_t i) const {
    out[i] = static_cast<std::int64_t>(start + static_cast<std::uint64_t>(i) * step);
  }
};

struct Steps {
  double start, step;
  double* out;

  HG_HD void operator()(std::int64_t i) const {
    out[i] = start + rounded_product(static_cast<double>(i), step);
  }
};

struct Between {
  double first, last, step;
  std::int64_t count;
  double* out;

  HG_HD void operator()(std::int64_t i) const {
    const bool near_first = i <= (count - 1) / 2;
    const std::int64_t steps = near_first ? i : count - 1 - i;
    const double distance = rounded_product(step, static_cast<double>(steps));
    out[i] = near_first ? first + distance : last - distance;
  }
};

struct Identity {
  std::int64_t columns;
  double* out;

  HG_HD void operator()(std::int64_t row, std::int64_t column) const {
    out[row * columns + column] = row == column ? 1 : 0;
  }
};

}  // namespace

void fill_steps(const char* op, const Array& out, std::int64_t start, std::int64_t step) {
  parallel_for_each(op, out.device(), out.numel(),
                    IntegerSteps{static_cast<std::uint64_t>(start),
                                 static_cast<std::uint64_t>(step), out.data_as<std::int64_t>()});
}

void fill_steps(const char* op, const Array& out, double start, double step) {
  parallel_for_each(op, out.device(), out.numel(), Steps{start, step, out.data_as<double>()});
}

void fill_between(const char* op, const Array& out, double first, double last) {
  const std::int64_t count = out.numel();
  const double step = count > 1 ? (last - first) / static_cast<double>(count - 1) : 0;
  parallel_for_each(op, out.device(), count,
                    Between{first, last, step, count, out.data_as<double>()});
}

void fill_identity(const char* op, const Array& out) {
  const Shape sizes = out.sizes();
  parallel_for_each(op, out.device(), sizes[0], sizes[1],
                    Identity{sizes[1], out.data_as<double>()});
}

}  // namespace halfgrad::detail
