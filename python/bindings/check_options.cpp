#include <halfgrad/python/bindings/check.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include <nanobind/stl/array.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/bindings.h>

namespace halfgrad::python {
namespace {

using testing::dtype_named;
using testing::Hostile;
using testing::KernelCheckOptions;
using testing::Layout;

std::string text(nb::handle value) { return read<std::string>(value, "check", "a name"); }

/// Layouts have the names of the command line: "page_end".
Layout layout_named(const std::string& wanted) {
  for (int i = 0; i <= static_cast<int>(Layout::page_end); ++i) {
    std::string known = testing::name(static_cast<Layout>(i));
    for (char& c : known) c = c == ' ' ? '_' : c;
    if (known == wanted) return static_cast<Layout>(i);
  }
  detail::fail("check",
               "expected contiguous, misaligned, page_end, padded_rows, every_second or transposed "
               "as layout, got {}",
               wanted);
}

Hostile kind_named(const std::string& wanted) {
  for (int i = 0; i < testing::kHostileKinds; ++i) {
    if (testing::name(static_cast<Hostile>(i)) == wanted) return static_cast<Hostile>(i);
  }
  detail::fail("check", "expected a kind of inputs, such as \"near max\", got {}", wanted);
}

void set_accumulate(KernelCheckOptions& options, const std::string& wanted) {
  options.leniency.tf32 = wanted == "tf32";
  if (!options.leniency.tf32) options.accumulate = dtype_named(wanted);
}

void set_dims(KernelCheckOptions& options, nb::handle given) {
  for (nb::handle dims : nb::borrow<nb::object>(given)) {
    std::array<std::int64_t, 3> sizes{};
    std::array<std::int64_t, 4> with_columns{};
    if (nb::try_cast(dims, sizes)) {
      options.dims.push_back({sizes[0], sizes[1], sizes[2]});
    } else if (nb::try_cast(dims, with_columns)) {
      const auto [m, n, k, columns] = with_columns;
      options.dims.push_back({m, n, k, columns});
    } else {
      detail::fail("check", "expected triples (m, n, k) as dims, got {}", text(nb::repr(dims)));
    }
  }
}

/// Dtypes by position, of operands or outputs: {2: "float32"}. JSON has positions as text.
std::map<std::size_t, DType> dtypes_by_position(nb::handle given) {
  std::map<std::size_t, DType> dtypes;
  for (const auto& [position, dtype] : read<nb::dict>(given, "check", "dtypes by position")) {
    std::size_t number = 0;
    if (!nb::try_cast(nb::int_(position), number)) {
      detail::fail("check", "expected the position of an operand or output, got {}",
                   text(nb::repr(position)));
    }
    dtypes[number] = dtype_named(text(dtype));
  }
  return dtypes;
}

/// Sets a parameter of the op, and tells whether it is one.
bool set_parameter(testing::OpParameters& parameters, const std::string& option, nb::handle value) {
  if (option == "eps") {
    parameters.eps = read<double>(value, "check", option);
  } else if (option == "dim") {
    parameters.dim = read<std::int64_t>(value, "check", option);
  } else if (option == "ndim") {
    parameters.ndim = read<std::int64_t>(value, "check", option);
  } else if (option == "reduction") {
    parameters.reduction = testing::reduction_named(text(value));
  } else if (option == "operand_dtypes") {
    parameters.operand_dtypes = dtypes_by_position(value);
  } else if (option == "output_dtypes") {
    parameters.output_dtypes = dtypes_by_position(value);
  } else {
    return false;
  }
  return true;
}

void set(KernelCheckOptions& options, const std::string& option, nb::handle value) {
  if (set_parameter(options.parameters, option, value)) return;
  if (option == "dtype") {
    options.dtype = dtype_named(text(value));
  } else if (option == "output") {
    options.output = dtype_named(text(value));
  } else if (option == "accumulate") {
    set_accumulate(options, text(value));
  } else if (option == "device") {
    options.device = Device(text(value));
  } else if (option == "layouts") {
    options.layouts.clear();
    for (nb::handle layout : nb::borrow<nb::object>(value)) {
      options.layouts.push_back(layout_named(text(layout)));
    }
  } else if (option == "without") {
    for (nb::handle kind : nb::borrow<nb::object>(value)) {
      options.without.push_back(kind_named(text(kind)));
    }
  } else if (option == "dims") {
    set_dims(options, value);
  } else if (option == "seed") {
    options.seed = read<std::uint64_t>(value, "check", option);
  } else if (option == "repeat") {
    options.repeat = read<std::int64_t>(value, "check", option);
  } else if (option == "flush_subnormals") {
    options.leniency.flush_subnormals = read<bool>(value, "check", option);
  } else if (option == "any_nan") {
    options.leniency.any_nan = read<bool>(value, "check", option);
  } else if (option == "fast_math") {
    options.leniency.fast_math = read<bool>(value, "check", option);
  } else if (option == "any_order") {
    options.leniency.any_order = read<bool>(value, "check", option);
  } else if (option == "max_abs") {
    options.leniency.max_abs = read<double>(value, "check", option);
  } else if (option == "empty") {
    options.empty = read<bool>(value, "check", option);
  } else if (option == "in_place") {
    options.in_place = read<bool>(value, "check", option);
  } else if (option == "shrink") {
    options.shrink = read<bool>(value, "check", option);
  } else if (option == "stop_at_first") {
    options.stop_at_first = read<bool>(value, "check", option);
  } else {
    throw nb::type_error(("check: unknown option " + option).c_str());
  }
}

}  // namespace

testing::OpParameters op_parameters(const nb::dict& given) {
  testing::OpParameters parameters;
  for (const auto& [name, value] : given) set_parameter(parameters, text(name), value);
  return parameters;
}

KernelCheckOptions check_options(const nb::dict& given) {
  KernelCheckOptions options;
  for (const auto& [option, value] : given) {
    if (!value.is_none()) set(options, text(option), value);
  }
  return options;
}

}  // namespace halfgrad::python
