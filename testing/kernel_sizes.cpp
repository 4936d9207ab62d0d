#include <algorithm>
#include <set>

#include <halfgrad/testing/kernel_check.h>

/// The sizes of a default check. docs/kernel_faults.md says which mistakes each of them shows.
namespace halfgrad::testing {
namespace {

bool depends_on_n(const KernelOp& op) {
  const auto one = op.operands({1, 1, 1}), two = op.operands({1, 2, 1});
  const auto alike = [](const OperandSpec& a, const OperandSpec& b) { return a.sizes == b.sizes; };
  return !std::equal(one.begin(), one.end(), two.begin(), alike);
}

bool has_three_dims(const KernelOp& op) {
  for (const OperandSpec& spec : op.operands({})) {
    if (spec.sizes.size() > 2) return true;
  }
  return false;
}

Dims raised_to_least(const KernelOp& op, const Dims& d) {
  return {std::max(d.m, op.least.m), std::max(d.n, op.least.n), std::max(d.k, op.least.k),
          d.columns};
}

/// The number of elements of the largest operand or result.
std::int64_t largest_array(const KernelOp& op, const Dims& dims) {
  std::int64_t most = 0;
  for (const Shape& shape : output_shapes(op, dims)) most = std::max(most, numel(shape));
  for (const OperandSpec& spec : op.operands(dims)) most = std::max(most, numel(spec.sizes));
  return most;
}

std::vector<Dims> small_dims(const KernelOp& op) {
  if (!op.any_dims) return {{}};
  if (op.elementwise) return {{1, 1}, {1, 7}, {3, 17}, {8, 64}, {1, 1031}, {0, 5}, {4, 0}};
  if (!depends_on_n(op)) {
    return {{1, 1, 1}, {3, 1, 7}, {5, 1, 64}, {2, 1, 257}, {1, 1, 4099}, {0, 1, 5}, {3, 1, 0}};
  }
  const bool deep = has_three_dims(op);
  const Dims odd{deep ? 2 : 17, 9, 33}, even = deep ? Dims{4, 3, 64} : Dims{8, 16, 64};
  const std::int64_t columns = has_columns(op) ? 4 : 0;
  return {{1, 1, 1}, {3, 5, 7, columns}, odd, even, {1, 2, 2051}, {0, 3, 4}, {3, 0, 4}, {3, 4, 0}};
}

/// Sizes of one row length follow each other, so that a plan for the wrong number of rows shows.
std::vector<Dims> more_dims(const KernelOp& op) {
  if (!op.any_dims) return {};
  if (op.elementwise) {
    return {{1, 2},    {3, 6},    {5, 9},     {2, 11},    {12, 12},   {130, 33}, {18, 66},
            {1, 16},   {1, 128},  {1, 256},   {16, 32},   {128, 32},  {1, 1024}, {2, 2054},
            {1, 8203}, {3, 9216}, {1, 33001}, {1, 66001}, {131075, 1}};
  }
  if (!depends_on_n(op)) {
    return {{2, 1, 2},     {4, 1, 6},     {18, 1, 13},   {3, 1, 37},   {7, 1, 12},    {12, 1, 12},
            {33, 1, 33},   {66, 1, 18},   {300, 1, 162}, {36, 1, 314}, {16, 1, 16},   {32, 1, 32},
            {64, 1, 128},  {128, 1, 4},   {3, 1, 96},    {2, 1, 768},  {10007, 1, 3}, {3, 1, 256},
            {5, 1, 512},   {4, 1, 1024},  {1, 1, 4096},  {2, 1, 2054}, {2, 1, 8203},  {3, 1, 9216},
            {1, 1, 33001}, {33001, 1, 1}, {1, 1, 66001}, {65540, 1, 2}};
  }
  if (has_three_dims(op)) {
    std::vector<Dims> dims = {{4, 4, 4},    {5, 9, 10},   {9, 4, 4},     {6, 35, 3},   {33, 2, 5},
                              {2, 66, 9},   {2, 130, 3},  {16, 16, 16},  {32, 32, 8},  {4, 64, 16},
                              {37, 34, 6},  {66, 70, 2},  {2, 128, 4},   {2, 5, 96},   {2, 4, 1024},
                              {2, 3, 2054}, {2, 3, 8194}, {66001, 1, 1}, {2, 1, 66001}};
    if (has_columns(op)) {
      for (const Dims& d : {Dims{2, 3, 5, 9}, Dims{5, 18, 33, 6}, Dims{2, 66, 9, 34},
                            Dims{3, 4, 16, 70}, Dims{2, 130, 4, 8}}) {
        dims.push_back(d);
      }
    }
    // Many keys or channels, and several tiles of both queries and keys, where that is affordable.
    for (const Dims& d : {Dims{1, 300, 2}, Dims{2, 2056, 2}, Dims{140, 150, 5}, Dims{70, 130, 64},
                          Dims{1, 66001, 1}}) {
      if (largest_array(op, raised_to_least(op, d)) < 150'000) dims.push_back(d);
    }
    return dims;
  }
  return {{12, 12, 12},  {5, 12, 12},    {12, 12, 5},  {12, 5, 12},    {4, 6, 34},    {6, 10, 37},
          {9, 7, 18},    {33, 34, 10},   {66, 70, 40}, {130, 131, 73}, {16, 16, 16},  {32, 32, 32},
          {64, 64, 256}, {128, 128, 96}, {4, 768, 32}, {4, 256, 32},   {256, 4, 16},  {5, 7, 96},
          {2, 3, 768},   {3, 5, 1024},   {2, 2056, 3}, {3, 8203, 2},   {1, 33001, 1}, {1, 66001, 2},
          {66001, 1, 2}, {2, 3, 8194},   {1, 1, 66001}};
}

/// Raises the dims to the least ones, and leaves out those whose shapes are already there.
std::vector<Dims> distinct(const KernelOp& op, const std::vector<Dims>& all,
                           std::set<std::string>& seen) {
  std::vector<Dims> kept;
  for (Dims d : all) {
    d = raised_to_least(op, d);
    std::string shapes;
    for (const OperandSpec& spec : op.operands(d)) shapes += to_string(spec.sizes);
    if (seen.insert(shapes).second) kept.push_back(d);
  }
  return kept;
}

}  // namespace

CheckDims check_dims_of(const KernelOp& op) {
  std::set<std::string> seen;
  std::vector<Dims> small = distinct(op, small_dims(op), seen);
  return {std::move(small), distinct(op, more_dims(op), seen)};
}

std::vector<Dims> emulated_dims(const KernelOp& op) {
  std::vector<Dims> dims = check_dims_of(op).all_kinds;
  if (op.any_dims && op.elementwise) dims.push_back({2, 1024});
  if (op.any_dims && !op.elementwise && !depends_on_n(op)) dims.push_back({2, 1, 1024});
  return dims;
}

std::vector<Dims> check_dims(const KernelOp& op) {
  CheckDims dims = check_dims_of(op);
  dims.all_kinds.insert(dims.all_kinds.end(), dims.few_kinds.begin(), dims.few_kinds.end());
  return dims.all_kinds;
}

}  // namespace halfgrad::testing
