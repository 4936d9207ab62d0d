#include <halfgrad/testing/op_parameters.h>

#include <functional>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/json_text.h>

namespace halfgrad::testing {
namespace {

/// Calls f(name, value in JSON) for each parameter that is not the default.
void each_parameter(const OpParameters& parameters,
                    const std::function<void(const std::string&, const std::string&)>& f) {
  const auto dtypes = [&](const char* name, const std::map<std::size_t, DType>& all) {
    if (all.empty()) return;
    f(name, '{' + joined(all, [](const auto& item) {
              return json_string(std::to_string(item.first)) + ": " +
                     json_string(std::string(halfgrad::name(item.second)));
            }) + '}');
  };
  if (parameters.eps) f("eps", json_number(*parameters.eps));
  if (parameters.dim) f("dim", std::to_string(*parameters.dim));
  if (parameters.ndim) f("ndim", std::to_string(*parameters.ndim));
  if (parameters.reduction) {
    f("reduction", json_string(std::string(reduction_name(*parameters.reduction))));
  }
  dtypes("operand_dtypes", parameters.operand_dtypes);
  dtypes("output_dtypes", parameters.output_dtypes);
}

}  // namespace

std::string to_string(const OpParameters& parameters) {
  std::string text;
  each_parameter(parameters, [&](const std::string& name, const std::string& value) {
    text += (text.empty() ? "" : ", ") + name + " = ";
    for (const char c : value) text += c == '"' ? "" : std::string(1, c);
  });
  return text;
}

std::string to_json(const OpParameters& parameters) {
  std::string text;
  each_parameter(parameters, [&](const std::string& name, const std::string& value) {
    text += (text.empty() ? "" : ", ") + json_string(name) + ": " + value;
  });
  return '{' + text + '}';
}

DType dtype_named(const std::string& wanted) {
  std::string known;
  for (const DType dtype : kAllDTypes) {
    if (halfgrad::name(dtype) == wanted) return dtype;
    known += (known.empty() ? "" : ", ") + std::string(halfgrad::name(dtype));
  }
  halfgrad::detail::fail("dtype", "expected one of {}, got {}", known, wanted);
}

std::string_view reduction_name(Reduction reduction) {
  constexpr std::string_view names[] = {"none", "mean", "sum"};
  return names[static_cast<std::size_t>(reduction)];
}

Reduction reduction_named(const std::string& wanted) {
  for (const Reduction known : {Reduction::none, Reduction::mean, Reduction::sum}) {
    if (reduction_name(known) == wanted) return known;
  }
  halfgrad::detail::fail("reduction", "expected none, mean or sum, got {}", wanted);
}

}  // namespace halfgrad::testing
