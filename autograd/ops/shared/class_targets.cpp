#include <halfgrad/autograd/ops/shared/class_targets.h>

#include <array>
#include <stdexcept>

#include <halfgrad/autograd/ops/shared/total.h>
#include <halfgrad/core/cuda/kernels/indices.h>
#include <halfgrad/core/engines/parallel.h>
#include <halfgrad/core/engines/reduce.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/numbers/convert.h>

namespace halfgrad::detail {
namespace {

// Row kernels read a class index from a row of floats, which hold integers exactly up to 2^24.
constexpr std::int64_t kMaxClasses = 1 << 24;

// Returns the classes, contiguous and -1 where ignored.
Array checked_classes(const char* op, const Array& target, std::int64_t classes,
                      std::optional<std::int64_t> ignore_index) {
  if (target.device().is_cuda()) {
    return checked_indices_on_cuda(op, target.contiguous(), classes, ignore_index);
  }
  const Array checked = Array::empty(target.sizes(), DType::i64);
  checked.copy_(target);
  auto* const index = checked.data_as<std::int64_t>();
  for (std::int64_t i = 0; i < checked.numel(); ++i) {
    if (index[i] == ignore_index) {
      index[i] = -1;
    } else if (index[i] < 0 || index[i] >= classes) {
      fail<std::out_of_range>(op, "expected classes from 0 to {}, got {} at row {}", classes - 1,
                              index[i], i);
    }
  }
  return checked;
}

template <class T>
struct Encode {
  const std::int64_t* classes;
  const T* weights;  // null: all 1
  T* out;

  HG_HD void operator()(std::int64_t row) const {
    const std::int64_t c = classes[row];
    out[2 * row] = static_cast<T>(c);
    out[2 * row + 1] = c < 0 ? T(0) : weights != nullptr ? weights[c] : T(1);
  }
};

template <class T>
void encode(const char* op, const Array& encoded, const Array& classes, const Array& weight) {
  const Array weights = weight.defined() ? weight.to(encoded.dtype()).contiguous() : weight;
  const Encode<T> f{classes.data_as<std::int64_t>(),
                    weights.defined() ? weights.data_as<T>() : nullptr, encoded.data_as<T>()};
  parallel_for_each(op, encoded.device(), classes.numel(), f);
}

}  // namespace

Tensor widened_classes(const Tensor& target) {
  return target.dtype() == kByte ? target.to(kLong) : target;
}

void check_class_targets(const char* op, const Array& input, const Array& target,
                         const Array& weight) {
  expect_one_device(op, input, std::array{&target, &weight});
  const std::int64_t classes = input.sizes()[1];
  if (target.dtype() != DType::i64) {
    fail(op, "expected int64 or uint8 class indices, got {}", target.dtype());
  }
  if (target.sizes() != Shape{input.sizes()[0]}) {
    fail(op, "expected class indices of shape {}, got {}", Shape{input.sizes()[0]}, target.sizes());
  }
  if (weight.defined() && weight.sizes() != Shape{classes}) {
    fail(op, "expected weights of shape {}, got {}", Shape{classes}, weight.sizes());
  }
  if (weight.defined() && (weight.dtype() == DType::f64) != (input.dtype() == DType::f64)) {
    fail(op, "expected weights of float64 if and only if the input is, got {} for {}",
         weight.dtype(), input.dtype());
  }
  if (classes > kMaxClasses) {
    fail(op, "expected at most {} classes, got {}", kMaxClasses, classes);
  }
}

ClassTargets::ClassTargets(const char* op, const Array& input, const Array& target,
                           const Array& weight, std::optional<std::int64_t> ignore_index) {
  check_class_targets(op, input, target, weight);
  const Array classes = checked_classes(op, target, input.sizes()[1], ignore_index);
  const DType compute = promote_types(input.dtype(), DType::f32);
  encoded = Array::empty({input.sizes()[0], 2}, compute, input.device());
  if (compute == DType::f64) {
    encode<double>(op, encoded, classes, weight);
  } else {
    encode<float>(op, encoded, classes, weight);
  }
}

Array ClassTargets::total_weight() const {
  const Array total = Array::empty({}, encoded.dtype(), encoded.device());
  reduce(Total{}, DType::f64, total, encoded.slice(1, 1, 2), kAllDims);
  return total;
}

namespace {

// q_i = (1 - e) w_t [i = t] + e w_i / classes,  e the smoothing
struct ProbabilitiesRow {
  double smoothing;

  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> target, Row<const T> weight, Row<T> q) const {
    const ClassTarget<T> row(target);
    const T share = static_cast<T>(smoothing / static_cast<double>(q.size()));
    team.each(q.size(), [&](auto i) { q.set(i, row.ignored() ? T(0) : share * weight(i)); });
    if (row.ignored()) return;
    team.once([&] { q.set(row.index, q(row.index) + static_cast<T>(1 - smoothing) * row.weight); });
  }
};

}  // namespace

Array class_probabilities(const Array& encoded, std::int64_t classes, const Array& weight,
                          double smoothing) {
  const std::int64_t rows = encoded.sizes()[0];
  const Array ones = Array::full({}, 1, encoded.dtype(), encoded.device());
  const Array weights = (weight.defined() ? weight : ones).expand({rows, classes});
  Array q = Array::empty({rows, classes}, encoded.dtype(), encoded.device());
  parallel_rows(ProbabilitiesRow{smoothing}, encoded.dtype(), rows,
                std::array<const Array*, 2>{&encoded, &weights}, std::array<const Array*, 1>{&q});
  return q;
}

}  // namespace halfgrad::detail
