#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <halfgrad/testing/hostile_inputs.h>
#include <halfgrad/testing/kernel_formula.h>
#include <halfgrad/testing/kernel_ops/judged_op.h>

/// Conversions to and from the formats of 8 bits of "FP8 Formats for Deep Learning" (Micikevicius
/// et al., 2022) and the OCP 8-bit Floating Point Specification, with a scale for all elements or
/// for each row. Codes are uint8.
namespace halfgrad::testing::detail {
namespace {

/// Scales from 2^-6 to 2^6.
void set_scales(Values& scales) {
  for (double& scale : scales.data) scale = scale_from(scale, -6, 12);
}

/// The scale of an element of x.
double scale_for(const std::vector<Values>& in, std::size_t element) {
  const std::size_t rows = in[1].data.size();
  if (in[1].sizes.empty()) return in[1].data[0];
  return in[1].data[element / (in[0].data.size() / rows)];
}

/// Mixes the bits of x and a position to a number that depends on each of them.
std::uint64_t mixed(double x, std::size_t position) {
  std::uint64_t bits = std::bit_cast<std::uint64_t>(x) + position * 0x9e3779b97f4a7c15U;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebU;
  return bits ^ bits >> 31;
}

/// A magnitude of every exponent of the format, from half of the smallest subnormal to twice the
/// largest value: a value of the format, halfway to the next, or elsewhere between the two.
double aimed(const NumberFormat& format, std::uint64_t random) {
  const int smallest = format.min_exponent() - format.fraction_bits;
  const int exponents = std::ilogb(decode(format.max_finite(), format)) - smallest + 3;
  const auto take = [&](std::uint64_t count) {
    const std::uint64_t part = random % count;
    random /= count;
    return static_cast<double>(part);
  };
  const int exponent = smallest - 1 + static_cast<int>(take(static_cast<std::uint64_t>(exponents)));
  const double steps = std::ldexp(1, format.fraction_bits);
  const double magnitude =
      std::ldexp(1 + take(static_cast<std::uint64_t>(steps)) / steps, exponent);
  const double step =
      std::ldexp(1, std::max(exponent, format.min_exponent()) - format.fraction_bits);
  constexpr double kParts[] = {0, 0.5, 0.5, 0.5, 0.25, 0.75};
  return (std::floor(magnitude / step) + kParts[static_cast<std::size_t>(take(6))]) * step;
}

/// Kinds whose finite elements are ordinary values.
bool is_ordinary(Hostile kind) {
  return kind == Hostile::normal || kind == Hostile::offset || kind == Hostile::cancelling ||
         kind == Hostile::ties || (kind >= Hostile::inf_first && kind <= Hostile::nan_last) ||
         kind >= Hostile::special_rows;
}

/// Replaces ordinary elements by ones whose product with the scale is a value of the format, a tie
/// or the neighbour of a tie; and puts the special of the last operand, a scale, into x.
void aim(const NumberFormat& format, const DrawnCase& drawn, std::vector<Values>& in) {
  set_scales(in[1]);
  std::vector<double>& x = in[0].data;
  for (std::size_t i = 0; is_ordinary(drawn.kind) && i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || x[i] == 0) continue;
    const std::uint64_t random = mixed(x[i], i);
    x[i] =
        rounded_to(drawn.dtype, std::copysign(aimed(format, random / 4) / scale_for(in, i), x[i]));
    if (!std::isfinite(x[i])) continue;
    if (random % 4 == 0) x[i] += ulp_at(x[i], drawn.dtype);
    if (random % 4 == 1) x[i] -= ulp_at(x[i], drawn.dtype);
  }
  if (drawn.kind != Hostile::inf_last && drawn.kind != Hostile::nan_last) return;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double special = drawn.kind == Hostile::nan_last ? std::nan("") : kInfinity;
  const auto columns = static_cast<std::size_t>(in[0].sizes.back());
  for (std::size_t end = columns; columns > 0 && end <= x.size(); end += columns) {
    x[end - 1] = std::copysign(special, x[end - 1]);
  }
}

/// The product, rounded to `accumulate` or not, to nearest in the format; beyond it the largest
/// finite value. Rounding twice may differ at what is nearly a tie.
Elements quantized(const NumberFormat& format, const std::vector<Values>& in, DType accumulate,
                   const Leniency& leniency) {
  const auto nearest = [&](double x) { return rounded_to(format, x, {.saturate = true}); };
  const FormatLimits limits = limits_of(accumulate);
  const double normal = limits.smallest / (2 * limits.roundoff);
  Elements out;
  for (std::size_t i = 0; i < in[0].data.size(); ++i) {
    const double x = in[0].data[i], product = x * scale_for(in, i);
    const double once = nearest(product);
    const double twice = nearest(rounded_to(accumulate, product));
    const bool may_be_zero =
        leniency.flushes() && (std::fabs(x) < normal || std::fabs(product) < normal);
    out.push_back({once, may_be_zero        ? std::fabs(once)
                         : std::isnan(once) ? 0
                                            : std::fabs(once - twice)});
  }
  return out;
}

KernelOp quantize(const std::string& name, const NumberFormat& format, const FormulaInput& scale) {
  KernelOp op;
  op.name = name;
  op.signature = scale.at({}).sizes.empty() ? "[m, k], [] -> uint8 codes [m, k]"
                                            : "[m, k], [m] -> uint8 codes [m, k]";
  op.operands = [scale](const Dims& d) { return Specs{{.sizes = {d.m, d.k}}, scale.at(d)}; };
  op.output = same_matrix;
  op.output_dtype = [](DType) { return kUInt8; };
  op.decoded = [&format](double code) { return decode(static_cast<std::uint32_t>(code), format); };
  op.adjusted = [&format](const DrawnCase& drawn, std::vector<Values>& in) {
    aim(format, drawn, in);
  };
  op.bounded = [&format](const std::vector<Values>& in, DType accumulate, DType,
                         const Leniency& leniency) {
    return quantized(format, in, accumulate, leniency);
  };
  op.rounded = [&format](const std::vector<Values>& in, const NumberFormat&) {
    return values_of(quantized(format, in, kFloat32, {}));
  };
  op.operand_dtypes = {{1, kFloat32}};
  return op;
}

KernelOp dequantize(const std::string& name, const NumberFormat& format,
                    const FormulaInput& scale) {
  const bool is_scalar = scale.at({}).sizes.empty();
  KernelOp op =
      kernel_op({.name = name,
                 .inputs = {FormulaInput{"m", "k"}.indices_below(256), scale},
                 .reference =
                     [&format, is_scalar](const std::vector<BoundedArray>& in) {
                       Elements x;
                       for (const Bounded& code : in[0].elements()) {
                         x.push_back({decode(static_cast<std::uint32_t>(code.value), format)});
                       }
                       return BoundedArray(in[0].arithmetic(), in[0].sizes(), x) *
                              (is_scalar ? in[1] : unsqueeze(in[1], 1));
                     },
                 .signature = is_scalar ? "uint8 codes [m, k], [] -> [m, k]"
                                        : "uint8 codes [m, k], [m] -> [m, k]"});
  op.adjusted = [](const DrawnCase& drawn, std::vector<Values>& in) {
    set_scales(in[1]);
    // Codes are drawn alike for all kinds of inputs.
    for (double& code : in[0].data) {
      code = std::fmod(code + 37 * static_cast<int>(drawn.kind), 256);
    }
  };
  op.operand_dtypes = {{0, kUInt8}, {1, kFloat32}};
  return op;
}

}  // namespace

std::vector<KernelOp> float8_ops() {
  std::vector<KernelOp> ops;
  for (const NumberFormat* format : {&kFp8E4M3Fn, &kFp8E5M2}) {
    const std::string suffix(format->name);
    for (const bool by_rows : {false, true}) {
      const FormulaInput scale = by_rows ? FormulaInput{"m"} : FormulaInput::scalar();
      const std::string rows = by_rows ? "rows_" : "";
      ops.push_back(quantize("quantize_" + rows + suffix, *format, scale));
      ops.push_back(dequantize("dequantize_" + rows + suffix, *format, scale));
    }
  }
  return ops;
}

}  // namespace halfgrad::testing::detail
