#include <halfgrad/autograd/ops/class_targets.h>

#include <stdexcept>
#include <string>

namespace halfgrad::detail {
namespace {

// A class index is carried in a row of floats, which hold whole numbers up to here.
constexpr std::int64_t kMaxClasses = 1 << 24;

[[noreturn]] void expected(const char* op, const std::string& what, const std::string& got) {
  throw std::invalid_argument(std::string(op) + ": expected " + what + ", got " + got);
}

void check(const char* op, const Array& input, const Array& target, const Array& weight) {
  const std::int64_t classes = input.sizes()[1];
  if (target.dtype() != DType::i64) {
    expected(op, "int64 class indices", std::string(name(target.dtype())));
  }
  if (target.sizes() != Shape{input.sizes()[0]}) {
    expected(op, "class indices of shape " + to_string(Shape{input.sizes()[0]}),
             to_string(target.sizes()));
  }
  if (weight.defined() && weight.sizes() != Shape{classes}) {
    expected(op, "weights of shape " + to_string(Shape{classes}), to_string(weight.sizes()));
  }
  if (weight.defined() && (weight.dtype() == DType::f64) != (input.dtype() == DType::f64)) {
    expected(op, "float64 weights for float64 input only",
             std::string(name(weight.dtype())) + " for " + std::string(name(input.dtype())));
  }
  if (classes > kMaxClasses) {
    expected(op, "at most " + std::to_string(kMaxClasses) + " classes", std::to_string(classes));
  }
}

}  // namespace

ClassTargets::ClassTargets(const char* op, const Array& input, const Array& target,
                           const Array& weight, std::int64_t ignore_index) {
  check(op, input, target, weight);
  const std::int64_t rows = input.sizes()[0];
  const std::int64_t classes = input.sizes()[1];
  const Array weights = weight.defined() ? weight.to(DType::f64).contiguous() : Array();
  const Array indices = target.contiguous();
  const auto* const index = indices.data_as<std::int64_t>();
  for (std::int64_t i = 0; i < rows; ++i) {
    if (index[i] != ignore_index && (index[i] < 0 || index[i] >= classes)) {
      throw std::out_of_range(std::string(op) + ": expected classes from 0 to " +
                              std::to_string(classes - 1) + ", got " + std::to_string(index[i]) +
                              " at row " + std::to_string(i));
    }
  }
  const auto encode = [&](auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    for (std::int64_t i = 0; i < rows; ++i) {
      const bool ignored = index[i] == ignore_index;
      const double w = ignored ? 0 : weights.defined() ? weights.data_as<double>()[index[i]] : 1;
      out[2 * i] = static_cast<T>(ignored ? -1 : index[i]);
      out[2 * i + 1] = static_cast<T>(w);
      total_weight += w;
    }
  };
  encoded = Array::empty({rows, 2}, promote_types(input.dtype(), DType::f32), input.device());
  if (encoded.dtype() == DType::f64) {
    encode(encoded.data_as<double>());
  } else {
    encode(encoded.data_as<float>());
  }
}

namespace {

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
