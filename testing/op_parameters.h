#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <halfgrad/autograd/losses.h>
#include <halfgrad/core/dtype.h>

namespace halfgrad::testing {

/// The parameters of an op that a kernel may choose. An empty one is the op's default.
struct OpParameters {
  std::optional<double> eps = {};  ///< added to the variance or divisor of a norm or of Adam
  /// The dimension along which a softmax, a reduction or a norm goes; by default the last one.
  std::optional<std::int64_t> dim = {};
  /// The number of dimensions of the operand of such an op: 2 (the default) or 3.
  std::optional<std::int64_t> ndim = {};
  /// The reduction of a loss; by default the mean.
  std::optional<Reduction> reduction = {};
  /// Dtypes of single operands and outputs, by their positions from 0 on: float32 statistics beside
  /// 16-bit operands. Indices may be int32.
  std::map<std::size_t, DType> operand_dtypes = {}, output_dtypes = {};

  friend bool operator==(const OpParameters&, const OpParameters&) = default;
};

/// "eps = 1e-06, dim = 0"; empty if all are defaults.
std::string to_string(const OpParameters& parameters);
/// A JSON object of the parameters that are not defaults, with the names of the members above.
std::string to_json(const OpParameters& parameters);

/// The dtype of that name. Throws std::invalid_argument for another name.
DType dtype_named(const std::string& wanted);

/// "none", "mean" or "sum".
std::string_view reduction_name(Reduction reduction);
/// Throws std::invalid_argument for another name.
Reduction reduction_named(const std::string& wanted);

}  // namespace halfgrad::testing
