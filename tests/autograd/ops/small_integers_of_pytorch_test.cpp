// Ops of uint8, int8 and int16 with PyTorch's values, from tests/expected/small_integers.py.
#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/json.h>

namespace halfgrad {
namespace {

using tests::Json;

using SmallIntegersOfPyTorch = TensorsOnDevice;
HALFGRAD_ON_DEVICES(SmallIntegersOfPyTorch);

const Json& expectation() {
  static const Json expected = tests::expected("small_integers.json");
  return expected;
}

DType dtype_named(const std::string& wanted) {
  for (const DType dtype : kAllDTypes) {
    if (name(dtype) == wanted) return dtype;
  }
  throw std::invalid_argument(wanted);
}

Doubles doubles(const Json& list) {
  Doubles values;
  for (const Json& item : list.items) {
    values.push_back(item.text == "nan" ? kNan : item.text == "inf" ? kInf : item.number);
  }
  return values;
}

using Unary = std::function<Tensor(const Tensor&)>;
using Binary = std::function<Tensor(const Tensor&, const Tensor&)>;

// The ops of the script, by its names.
const std::map<std::string, Unary> kUnary = {
    {"neg", [](const Tensor& x) { return neg(x); }},
    {"abs", [](const Tensor& x) { return abs(x); }},
    {"square", [](const Tensor& x) { return square(x); }},
    {"pow3", [](const Tensor& x) { return pow(x, 3); }},
    {"relu", [](const Tensor& x) { return relu(x); }},
    {"clamp", [](const Tensor& x) { return clamp(x, 2, 100); }},
    {"logical_not", [](const Tensor& x) { return logical_not(x); }},
    {"sqrt", [](const Tensor& x) { return sqrt(x); }},
    {"add_scalar", [](const Tensor& x) { return x + 100; }},
    {"sub_scalar", [](const Tensor& x) { return x - 100; }},
    {"scalar_sub", [](const Tensor& x) { return 100 - x; }},
    {"mul_scalar", [](const Tensor& x) { return x * 3; }},
    {"mul_fraction", [](const Tensor& x) { return x * 0.5; }},
    {"div_scalar", [](const Tensor& x) { return x / 4; }},
    {"floor_divide_scalar", [](const Tensor& x) { return floor_divide(x, 3); }},
    {"remainder_scalar", [](const Tensor& x) { return x % 3; }},
    {"eq_scalar", [](const Tensor& x) { return x == 1; }},
    {"lt_fraction", [](const Tensor& x) { return x < 0.5; }},
    {"masked_fill", [](const Tensor& x) { return masked_fill(x, x == 1, 7); }},
    {"sum", [](const Tensor& x) { return sum(x); }},
    {"sum_own", [](const Tensor& x) { return sum(x, x.dtype()); }},
    {"prod", [](const Tensor& x) { return prod(x); }},
    {"cumsum", [](const Tensor& x) { return cumsum(x, 0); }},
    {"mean", [](const Tensor& x) { return mean(x); }},
    {"mean_float", [](const Tensor& x) { return mean(x, kFloat); }},
    {"max", [](const Tensor& x) { return max(x); }},
    {"min", [](const Tensor& x) { return min(x); }},
    {"argmax", [](const Tensor& x) { return argmax(x); }},
    {"argmin", [](const Tensor& x) { return argmin(x); }},
    {"any", [](const Tensor& x) { return any(x); }},
    {"all", [](const Tensor& x) { return all(x); }},
    {"sort", [](const Tensor& x) { return std::get<0>(sort(x)); }},
    {"argsort_descending", [](const Tensor& x) { return argsort(x, -1, true); }},
    {"flip", [](const Tensor& x) { return flip(x, {0}); }},
    {"tril",
     [](const Tensor& x) {
       return tril(x.reshape({2, 3}));
     }},
    {"index_select",
     [](const Tensor& x) {
       return index_select(x, 0, tensor({5, 0, 5}).to(x.device()));
     }},
    {"gather_by_int64",
     [](const Tensor& x) {
       return gather(x, 0, tensor({4, 4, 1}).to(x.device()));
     }},
    {"scatter_add",
     [](const Tensor& x) {
       return scatter_add(x, 0, tensor({0, 0, 5, 5, 1, 1}).to(x.device()), x);
     }},
    {"softmax", [](const Tensor& x) { return softmax(x, 0); }},
};

const std::map<std::string, Unary> kUnaryOnCpu = {
    {"mm",
     [](const Tensor& x) {
       return mm(x.reshape({2, 3}), x.reshape({3, 2}));
     }},
};

const std::map<std::string, Binary> kBinary = {
    {"add", [](const Tensor& x, const Tensor& y) { return x + y; }},
    {"sub", [](const Tensor& x, const Tensor& y) { return x - y; }},
    {"mul", [](const Tensor& x, const Tensor& y) { return x * y; }},
    {"div", [](const Tensor& x, const Tensor& y) { return x / y; }},
    {"div_trunc", [](const Tensor& x, const Tensor& y) { return div(x, y, "trunc"); }},
    {"floor_divide", [](const Tensor& x, const Tensor& y) { return floor_divide(x, y); }},
    {"remainder", [](const Tensor& x, const Tensor& y) { return remainder(x, y); }},
    {"fmod", [](const Tensor& x, const Tensor& y) { return fmod(x, y); }},
    {"maximum", [](const Tensor& x, const Tensor& y) { return maximum(x, y); }},
    {"minimum", [](const Tensor& x, const Tensor& y) { return minimum(x, y); }},
    {"eq", [](const Tensor& x, const Tensor& y) { return x == y; }},
    {"lt", [](const Tensor& x, const Tensor& y) { return x < y; }},
    {"ge", [](const Tensor& x, const Tensor& y) { return x >= y; }},
    {"logical_xor", [](const Tensor& x, const Tensor& y) { return logical_xor(x, y); }},
    {"where", [](const Tensor& x, const Tensor& y) { return where(x > y, x, y); }},
    {"cat",
     [](const Tensor& x, const Tensor& y) {
       return cat({x, y});
     }},
};

// A result of integers is exact; one of floats is PyTorch's within 2 roundoffs.
void expect_output(const std::function<Tensor()>& call, const Json& row) {
  const std::string output = row["output"].text;
  if (output == "error") {
    EXPECT_THROW(call(), std::invalid_argument);
    return;
  }
  const Tensor result = call();
  EXPECT_EQ(name(result.dtype()), output);
  const Doubles expected = doubles(row["values"]);
  if (!result.is_floating_point()) return expect_values(result.flatten(), expected);
  EXPECT_LE(worst_error(result.flatten(), elements(expected)).roundoffs, 2);
}

// Every case runs contiguous, and with a stride of 2 and a broadcast dimension.
TEST_P(SmallIntegersOfPyTorch, GiveWhatPyTorchGives) {
  const auto operand = [this](const std::string& dtype, std::size_t place) {
    return elements(doubles(expectation()["operands"][dtype].items[place]), dtype_named(dtype));
  };
  const auto strided = [](const Tensor& x) { return stack({x, x}, 1).select(1, 1); };
  std::size_t known = 0;
  for (const Json& row : expectation()["cases"].items) {
    const std::string op = row["op"].text;
    std::vector<Tensor> in;
    std::string trace = op;
    for (const Json& dtype : row["inputs"].items) {
      in.push_back(operand(dtype.text, in.size()));
      trace += ' ' + dtype.text;
    }
    SCOPED_TRACE(trace);
    if (in.size() == 2) {
      const Binary& f = kBinary.at(op);
      expect_output([&] { return f(in[0], in[1]); }, row);
      expect_output([&] { return f(strided(in[0]), strided(in[1])); }, row);
    } else if (kUnary.contains(op) || device().is_cpu()) {
      const Unary& f = kUnary.contains(op) ? kUnary.at(op) : kUnaryOnCpu.at(op);
      expect_output([&] { return f(in[0]); }, row);
      expect_output([&] { return f(strided(in[0])); }, row);
    }
    ++known;
  }
  EXPECT_EQ(known, expectation()["cases"].items.size());
}

TEST_P(SmallIntegersOfPyTorch, AreCutOffAndWrappedFromFloats) {
  const Tensor from = elements(doubles(expectation()["cast_from"]), kDouble);
  for (const Json& row : expectation()["casts"].items) {
    const DType dtype = dtype_named(row["output"].text);
    expect_values(from.to(dtype), doubles(row["values"]));
    expect_values(from.to(kFloat).to(dtype), doubles(row["values"]));
  }
  for (const DType dtype :
       {kUInt8, kInt8, kInt16}) {  // values that int64 does not hold: docs/dtypes.md
    expect_values(elements({kNan, kInf, -kInf, 1e19, -1e300}).to(dtype), Doubles(5, 0));
  }
}

}  // namespace
}  // namespace halfgrad
