#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/autograd/tensor.h>

/// Splits samples at random into those to train on and those to test with.
namespace halfgrad::data {

struct SplitOptions {
  double test_size = 0.25;  ///< share of the samples that the test gets; rounded to whole samples
  std::uint64_t seed = 0;   ///< determines the split, together with the number of samples
  bool stratify = false;    ///< gives both parts the same share of every class, see below
};

/// The indices of the samples of each part, in random order.
struct SplitIndices {
  std::vector<std::int64_t> train, test;
};

/// The samples of each part; the order is scikit-learn's.
struct TrainTestSplit {
  Tensor x_train, x_test, y_train, y_test;
};

/// Splits x `[n, ...]` and y `[n, ...]` along their first dimension:
///     auto [x_train, x_test, y_train, y_test] = data::train_test_split(x, y, {.stratify = true});
/// With `stratify`, y `[n]` holds classes, and a class of c samples gives c * test_size of them to
/// the test, as near as whole samples allow (largest remainders). Throws std::invalid_argument if n
/// differs, if a part would be empty, and if y holds no classes to stratify by.
TrainTestSplit train_test_split(const Tensor& x, const Tensor& y, SplitOptions options = {});

/// Splits 0 ... size - 1; `stratify` needs classes.
SplitIndices split_indices(std::int64_t size, SplitOptions options = {});
/// Splits 0 ... classes.size() - 1, stratified by the classes whether or not options.stratify.
SplitIndices split_indices(const std::vector<std::int64_t>& classes, SplitOptions options = {});

}  // namespace halfgrad::data
