#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/dist/data_parallel.h>
#include <halfgrad/halfgrad.h>

#include "ranks.h"

/// Models that ranks train in threads of the test.
namespace halfgrad::dist {

/// The handle that DataParallel takes, for a communicator that on_ranks() owns.
inline std::shared_ptr<Communicator> shared(Communicator& communicator) {
  return {std::shared_ptr<void>(), &communicator};
}

inline nn::Sequential make_net(DType dtype = kFloat32) {
  nn::Sequential net(nn::Linear(6, 20), nn::Tanh(), nn::Linear(20, 20), nn::ReLU(),
                     nn::Linear(20, 3));
  net.to(dtype);
  return net;
}

/// A net whose weights depend on the seed alone. Threads of several ranks may call it at once.
inline nn::Sequential seeded_net(int seed, DType dtype = kFloat32) {
  Generator generator;
  generator.manual_seed(static_cast<std::uint64_t>(seed));
  const halfgrad::detail::GeneratorScope random(generator);
  return make_net(dtype);
}

/// Rows of a batch that 1, 2, 3 and 4 ranks can cut into equal parts.
struct Batch {
  Tensor x, y;

  static Batch make(DType dtype = kFloat32) {
    const auto value = [](std::int64_t i, std::int64_t n) {
      return static_cast<double>(i * i * 7 % n) / static_cast<double>(n) - 0.5;
    };
    std::vector<double> x, y;
    for (std::int64_t i = 0; i < 12 * 6; ++i) x.push_back(value(i + 1, 101));
    for (std::int64_t i = 0; i < 12 * 3; ++i) y.push_back(value(i + 3, 53));
    return {tensor(x, {12, 6}).to(dtype), tensor(y, {12, 3}).to(dtype)};
  }
  Batch part(const Communicator& communicator) const {
    const std::int64_t rows = 12 / communicator.size(), first = rows * communicator.rank();
    return {x.slice(0, first, first + rows), y.slice(0, first, first + rows)};
  }
};

/// The elements of all tensors, one after another, in double.
inline std::vector<double> values_of(const std::vector<Tensor>& tensors) {
  std::vector<double> values;
  for (const Tensor& tensor : tensors) {
    const auto more = tensor.to_vector<double>();
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

inline std::vector<Tensor> gradients_of(const nn::Module& module) {
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : module.parameters()) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return gradients;
}

/// Calls f(communicator, model) on a thread for each rank, and returns what it returns, by rank.
/// The models are made by one thread, so they have the same random values every time.
template <class Make, class F>
auto on_models(int size, const Make& make, const F& f) {
  manual_seed(0);
  std::vector<decltype(make())> models;
  for (int r = 0; r < size; ++r) models.push_back(make());
  std::vector<decltype(f(std::declval<Communicator&>(), models[0]))> results(models.size());
  on_ranks(size, [&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    results[rank] = f(communicator, models[rank]);
  });
  return results;
}

/// The average of a number over all ranks.
inline double average(Communicator& communicator, double value) {
  const Array array = Array::full({1}, value, kFloat64);
  communicator.all_reduce(array, ReduceOp::average).wait();
  return array.item();
}

/// Expects that every rank has these values, bit for bit.
inline void expect_same_values(Communicator& communicator, const std::vector<double>& values) {
  const Array own = Array::empty({std::ssize(values)}, kFloat64);
  std::copy(values.begin(), values.end(), own.data_as<double>());
  const Array all = Array::empty({communicator.size() * own.numel()}, kFloat64);
  communicator.all_gather(all, own).wait();
  for (std::int64_t i = 0; i < all.numel(); ++i) {
    const std::int64_t rank = i / own.numel();
    ASSERT_EQ(std::bit_cast<std::uint64_t>(all.data_as<double>()[i]),
              std::bit_cast<std::uint64_t>(own.data_as<double>()[i - rank * own.numel()]))
        << "element " << i << " of rank " << rank;
  }
}

}  // namespace halfgrad::dist
