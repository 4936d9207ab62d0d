#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <halfgrad/core/device.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/testing/guarded_array.h>
#include <halfgrad/testing/kernel_check.h>

/// The cases of a check: sizes, layouts and kinds of inputs.
namespace halfgrad::testing {
namespace {

/// Kinds for the code of a kernel that only long rows or sums reach: a variance by E[x^2] - E[x]^2,
/// the place of equal elements, a maximum of a part, lost elements, operands rounded to 16 bits.
std::vector<Hostile> long_kinds(const KernelOp& op, const Dims& dims) {
  constexpr std::int64_t kLong = 512, kTooLong = 50'000;
  std::vector<Hostile> kinds;
  const bool is_long = dims.k >= kLong && dims.k < kTooLong;
  const bool is_affordable = is_long && (dims.k < 9'000 || op.operands(dims).size() == 1);
  if (is_affordable && !op.elementwise && !op.moves) {
    kinds = {Hostile::offset, Hostile::equal, Hostile::peak_last, Hostile::inf_first};
  }
  // Sums over rows or columns, such as those of a weight's gradient: those of normal inputs are
  // near 0, with any number of terms.
  const bool is_tall = std::max(dims.m, dims.n) >= kLong;
  if (is_tall && !op.elementwise && !op.moves && op.operands(dims).size() > 1) {
    kinds.push_back(Hostile::positive);
  }
  const bool has_many_rows = dims.m > 20'000 && dims.m < kTooLong;
  if (op.exact_sums && (is_long || has_many_rows)) kinds.push_back(Hostile::wide_integers);
  if (op.exact_sums && is_affordable && op.operands(dims).size() > 1) {
    kinds.push_back(Hostile::wide_others);
  }
  return kinds;
}

/// True if each element of some output depends on more rows of the first operand than the bound of
/// a sum tells apart: with 65540 rows it allows a few rows less.
bool sums_many_rows(const KernelOp& op, const Dims& dims) {
  constexpr std::int64_t kMany = 60'000;
  const Shape first = op.operands(dims).front().sizes;
  const std::int64_t columns = first.empty() ? 1 : std::max<std::int64_t>(first.back(), 1);
  const std::int64_t rows = numel(first) / columns;
  const std::vector<Shape> outputs = output_shapes(op, dims);
  return rows > kMany && std::any_of(outputs.begin(), outputs.end(),
                                     [&](const Shape& shape) { return numel(shape) < rows; });
}

/// One set of normal inputs and, unless there are many elements, specials in some rows. NaN at the
/// end of a long row shows positions and counts of 16 bits.
std::vector<Hostile> usual_kinds(const KernelOp& op, const Dims& dims) {
  constexpr std::int64_t kMany = 20'000, kFew = 2000;
  std::int64_t elements = 0;
  for (const OperandSpec& spec : op.operands(dims)) elements += numel(spec.sizes);
  if (elements < kMany) {
    std::vector<Hostile> kinds{Hostile::normal, Hostile::special_rows, Hostile::inf_runs,
                               Hostile::one_sided};
    if (op.operands(dims).size() > 2) kinds.push_back(Hostile::special_between);
    // A few last elements of each size: enough ties for a loop of their own.
    if (op.elementwise && elements < kFew) kinds.push_back(Hostile::ties);
    return kinds;
  }
  if (sums_many_rows(op, dims)) return {Hostile::normal, Hostile::last_row};
  if (dims.m == 1) return {Hostile::normal, Hostile::nan_last};
  return {Hostile::normal};
}

std::vector<Hostile> few_kinds(const KernelOp& op, const Dims& dims) {
  std::vector<Hostile> kinds = usual_kinds(op, dims);
  for (const Hostile kind : long_kinds(op, dims)) kinds.push_back(kind);
  return kinds;
}

/// True if rows of the first operand are whole vectors of 16 elements.
bool has_whole_vectors(const KernelOp& op, const Dims& dims) {
  const Shape first = op.operands(dims).front().sizes;
  return !first.empty() && numel(first) > 0 && first.back() % 16 == 0;
}

/// True if an operand or the result has no elements.
bool has_empty(const KernelOp& op, const Dims& dims) {
  for (const OperandSpec& spec : op.operands(dims)) {
    if (numel(spec.sizes) == 0) return true;
  }
  return numel(op.output(dims)) == 0;
}

/// All kinds but those that need another number of operands or other sizes.
std::vector<Hostile> all_kinds(const KernelOp& op) {
  std::vector<Hostile> kinds;
  for (int kind = 0; kind < kHostileKinds; ++kind) kinds.push_back(static_cast<Hostile>(kind));
  std::erase(kinds, Hostile::last_row);
  if (op.operands({}).size() < 3) std::erase(kinds, Hostile::special_between);
  if (op.operands({}).size() < 2) std::erase(kinds, Hostile::wide_others);
  return kinds;
}

/// The kinds but those in `without`.
std::vector<Hostile> allowed(const std::vector<Hostile>& kinds,
                             const std::vector<Hostile>& without) {
  std::vector<Hostile> kept;
  std::copy_if(kinds.begin(), kinds.end(), std::back_inserter(kept), [&](Hostile kind) {
    return std::find(without.begin(), without.end(), kind) == without.end();
  });
  return kept;
}

// Returns the sizes to check: those of the options, or the op's own. Throws std::invalid_argument
// for sizes that the op does not take.
CheckDims dims_to_check(const KernelOp& op, const KernelCheckOptions& options) {
  CheckDims dims = check_dims_of(op);
  const bool are_default = options.dims.empty() || options.dims == dims.all_kinds;
  if (!are_default && !op.any_dims) {
    halfgrad::detail::fail("check_kernel",
                           "expected no dims, as {} has the shapes of its example in docs/ops.md, "
                           "got {}; check other shapes by a formula",
                           op.name, options.dims.size());
  }
  if (!options.dims.empty()) dims = {options.dims, {}};
  for (auto* list : {&dims.all_kinds, &dims.few_kinds}) {
    for (const Dims& d : *list) expect_dims(op, d);
    if (!options.empty) std::erase_if(*list, [&](const Dims& d) { return has_empty(op, d); });
  }
  return dims;
}

// The groups of one check. Each size has a round of its own, which places its arrays.
class GroupList {
 public:
  GroupList(const KernelOp& op, const KernelCheckOptions& options)
      : op_(op), options_(options), contracts_(contracts(op, dtypes_of(op, options), options)) {}

  std::vector<CaseGroup> take() { return std::move(groups_); }

  // Every kind of operands with the first layout, and normal operands with the others.
  void add_all_kinds(const Dims& d) {
    ++round_;
    for (const KernelContract& contract : contracts_) {
      const bool first = contract.layout == contracts_.front().layout;
      add(d, contract, round_, first ? all_kinds(op_) : std::vector<Hostile>{Hostile::normal},
          true);
    }
  }

  // One group for each array, which alone is misaligned: a vector path may check the alignment of
  // some arrays, and forget another one.
  void add_one_misaligned(const Dims& d) {
    const KernelContract* const misaligned = first_with(Layout::misaligned);
    if (misaligned == nullptr) return;
    const std::size_t arrays = op_.operands(d).size() + output_shapes(op_, d).size();
    for (std::uint32_t array = 0; array < arrays; ++array) {
      add(d, *misaligned, kOneMisaligned + array, {Hostile::normal}, false);
    }
  }

  // The few kinds that show errors of this size, with the first layout.
  void add_few_kinds(const Dims& d) {
    ++round_;
    std::vector<Hostile> kinds = few_kinds(op_, d);
    // Special rows lie before a page that no kernel may read: each size has a tail of its own.
    const KernelContract* const page_end = first_with(Layout::page_end);
    if (page_end != nullptr && std::erase(kinds, Hostile::special_rows) > 0) {
      add(d, *page_end, round_, {Hostile::special_rows}, false);
    }
    add(d, contracts_.front(), round_, kinds, false);
    // More rounds of independent offsets, for a kernel that is wrong for some of them.
    const KernelContract* const misaligned = first_with(Layout::misaligned);
    if (misaligned != nullptr && kinds.size() > 2) {
      add(d, *misaligned, round_, {kinds.front()}, false);
    }
  }

 private:
  const KernelContract* first_with(Layout layout) const {
    const auto found =
        std::find_if(contracts_.begin(), contracts_.end(),
                     [=](const KernelContract& each) { return each.layout == layout; });
    return found == contracts_.end() ? nullptr : &*found;
  }

  void add(const Dims& d, KernelContract contract, std::uint32_t round, std::vector<Hostile> kinds,
           bool with_others) {
    contract.round = round;
    kinds = allowed(kinds, options_.without);
    if (kinds.empty()) return;
    groups_.push_back(
        {{.dims = d, .contract = contract, .seed = options_.seed}, kinds, with_others});
  }

  const KernelOp& op_;
  const KernelCheckOptions& options_;
  const std::vector<KernelContract> contracts_;
  std::vector<CaseGroup> groups_;
  std::uint32_t round_ = 0;
};

}  // namespace

std::vector<KernelContract> contracts(const KernelOp& op, const KernelContract& dtypes,
                                      const KernelCheckOptions& options) {
  if (options.layouts.empty()) {
    halfgrad::detail::fail("check_kernel", "expected layouts to run in, got none");
  }
  if (options.in_place && !op.may_work_in_place) {
    halfgrad::detail::fail("check_kernel", "expected an op that may work in place, got {}",
                           op.name);
  }
  const DType first = operand_dtype(op, 0, dtypes.dtype);
  if (options.in_place && dtypes.output != first) {
    halfgrad::detail::fail("check_kernel",
                           "expected the operands' dtype in place, {}, got an output of {}", first,
                           dtypes.output);
  }
  if (op.decoded && dtypes.output != op.output_dtype(dtypes.dtype)) {
    halfgrad::detail::fail(op.name, "expected an output of {}, got {}",
                           op.output_dtype(dtypes.dtype), dtypes.output);
  }
  const DeviceGuard guard(options.device);
  std::vector<KernelContract> all;
  const auto add = [&](Layout layout, bool in_place) {
    all.push_back({dtypes.dtype, dtypes.output, dtypes.accumulate, layout, options.device, in_place,
                   0, options.leniency});
  };
  for (const Layout layout : options.layouts) add(layout, false);
  if (options.in_place) add(options.layouts.front(), true);
  return all;
}

KernelContract dtypes_of(const KernelOp& op, const KernelCheckOptions& options) {
  return {.dtype = options.dtype,
          .output = options.output ? *options.output : op.output_dtype(options.dtype),
          .accumulate = options.accumulate          ? *options.accumulate
                        : options.dtype == kFloat64 ? kFloat64
                                                    : kFloat32};
}

KernelReport empty_report(const KernelOp& op, const KernelCheckOptions& options) {
  const KernelContract dtypes = dtypes_of(op, options);
  KernelReport report;
  report.op = op.name;
  report.parameters = op.parameters;
  report.dtype = dtypes.dtype;
  report.output = dtypes.output;
  report.accumulate = dtypes.accumulate;
  report.seed = options.seed;
  return report;
}

std::vector<CaseGroup> case_groups(const KernelOp& op, const KernelCheckOptions& options) {
  const CheckDims dims = dims_to_check(op, options);
  GroupList list(op, options);
  for (const Dims& d : dims.all_kinds) list.add_all_kinds(d);
  const auto vectors = std::find_if(dims.all_kinds.begin(), dims.all_kinds.end(),
                                    [&](const Dims& d) { return has_whole_vectors(op, d); });
  if (vectors != dims.all_kinds.end()) list.add_one_misaligned(*vectors);
  for (const Dims& d : dims.few_kinds) list.add_few_kinds(d);
  return list.take();
}

}  // namespace halfgrad::testing
