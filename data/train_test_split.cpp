#include <halfgrad/data/train_test_split.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/math/philox.h>

namespace halfgrad::data {
namespace {

using halfgrad::detail::fail;

/// The random stream of splits. Random tensors count their streams up from 0, and a DataLoader uses
/// bits 63 and 62.
constexpr std::uint64_t kSplitStream = std::uint64_t{1} << 61;

std::int64_t test_count(std::int64_t size, const SplitOptions& options) {
  if (!(options.test_size > 0 && options.test_size < 1)) {
    fail("train_test_split", "expected 0 < test_size < 1, got {}", options.test_size);
  }
  const std::int64_t count = std::llround(static_cast<double>(size) * options.test_size);
  if (count < 1 || count >= size) {
    fail("train_test_split", "expected at least one sample in each part, got {} of {} in the test",
         count, size);
  }
  return count;
}

/// Returns how many samples of each class the test gets: the whole parts of count * test / size,
/// and one more for the largest remainders until the sum is `test`.
std::map<std::int64_t, std::int64_t> quotas(const std::vector<std::int64_t>& classes,
                                            std::int64_t test) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const std::int64_t value : classes) ++counts[value];
  const std::int64_t size = std::ssize(classes);
  std::vector<std::pair<std::int64_t, std::int64_t>> remainders;  // negative, to sort by; class
  std::map<std::int64_t, std::int64_t> quota;
  std::int64_t left = test;
  for (const auto& [value, count] : counts) {
    quota[value] = count * test / size;
    left -= quota[value];
    remainders.emplace_back(-(count * test % size), value);
  }
  std::ranges::sort(remainders);
  for (std::int64_t i = 0; i < left; ++i) ++quota[remainders[static_cast<std::size_t>(i)].second];
  return quota;
}

std::vector<std::int64_t> permutation(std::int64_t size, const SplitOptions& options) {
  return random_permutation(size, {.seed = options.seed, .stream = kSplitStream});
}

Tensor rows(const Tensor& tensor, const std::vector<std::int64_t>& indices) {
  return tensor.index_select(0, halfgrad::tensor(indices).to(tensor.device()));
}

}  // namespace

SplitIndices split_indices(std::int64_t size, SplitOptions options) {
  if (options.stratify) fail("split_indices", "expected classes to stratify by, got only a size");
  const std::int64_t test = test_count(size, options);
  const std::vector<std::int64_t> order = permutation(size, options);
  return {.train = {order.begin() + test, order.end()},
          .test = {order.begin(), order.begin() + test}};
}

SplitIndices split_indices(const std::vector<std::int64_t>& classes, SplitOptions options) {
  const std::int64_t size = std::ssize(classes);
  auto left = quotas(classes, test_count(size, options));
  SplitIndices split;
  for (const std::int64_t index : permutation(size, options)) {
    std::int64_t& quota = left[classes[static_cast<std::size_t>(index)]];
    (quota > 0 ? split.test : split.train).push_back(index);
    if (quota > 0) --quota;
  }
  return split;
}

TrainTestSplit train_test_split(const Tensor& x, const Tensor& y, SplitOptions options) {
  if (x.dim() == 0 || y.dim() == 0 || x.size(0) != y.size(0)) {
    fail("train_test_split", "expected one y for each x, got {} and {}", x.sizes(), y.sizes());
  }
  if (options.stratify && (y.dim() != 1 || y.is_floating_point())) {
    fail("train_test_split", "expected y [n] of whole numbers to stratify by, got {} of {}",
         y.sizes(), y.dtype());
  }
  const SplitIndices split = options.stratify ? split_indices(y.to_vector<std::int64_t>(), options)
                                              : split_indices(x.size(0), options);
  return {rows(x, split.train), rows(x, split.test), rows(y, split.train), rows(y, split.test)};
}

}  // namespace halfgrad::data
