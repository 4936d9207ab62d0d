#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/tests/message_of.h>

// Products of integers, which wrap around.
namespace halfgrad {
namespace {

class IntegerProductsOnCpu : public ::testing::TestWithParam<DType> {
 protected:
  // Random values that use all bits of the dtype.
  static Tensor operand(const Shape& sizes, std::uint64_t seed) {
    std::vector<std::int64_t> elements;
    for (std::int64_t i = 0; i < numel(sizes); ++i) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      elements.push_back(static_cast<std::int64_t>(seed));
    }
    return tensor(elements, sizes, {.dtype = kLong}).to(GetParam());
  }

  static std::vector<std::int64_t> wrapped(const std::vector<std::uint64_t>& elements) {
    std::vector<std::int64_t> result;
    for (const std::uint64_t value : elements) {
      result.push_back(visit(GetParam(), [&](auto tag) -> std::int64_t {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T>) return static_cast<T>(value);
        throw std::logic_error("no integers");
      }));
    }
    return result;
  }

  // alpha a b + beta c of matrices, by a loop; without c if it is undefined.
  static std::vector<std::int64_t> expected(const Tensor& a, const Tensor& b,
                                            std::int64_t alpha = 1, const Tensor& c = {},
                                            std::int64_t beta = 0) {
    const auto left = a.to_vector<std::int64_t>(), right = b.to_vector<std::int64_t>();
    const auto addend = c.defined() ? c.to_vector<std::int64_t>() : std::vector<std::int64_t>();
    const auto m = static_cast<std::size_t>(a.size(0)), depth = static_cast<std::size_t>(a.size(1));
    const auto n = static_cast<std::size_t>(b.size(1));
    std::vector<std::uint64_t> elements(m * n, 0);
    for (std::size_t i = 0; i < m * n; ++i) {
      for (std::size_t k = 0; k < depth; ++k) {
        elements[i] += static_cast<std::uint64_t>(left[i / n * depth + k]) *
                       static_cast<std::uint64_t>(right[k * n + i % n]);
      }
      elements[i] *= static_cast<std::uint64_t>(alpha);
      if (c.defined()) {
        elements[i] += static_cast<std::uint64_t>(beta) * static_cast<std::uint64_t>(addend[i]);
      }
    }
    return wrapped(elements);
  }

  static void expect_equal(const Tensor& actual, const std::vector<std::int64_t>& expected) {
    EXPECT_EQ(actual.dtype(), GetParam());
    EXPECT_EQ(actual.to_vector<std::int64_t>(), expected);
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, IntegerProductsOnCpu,
                         ::testing::Values(kLong, kInt, kShort, kChar, kByte),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST_P(IntegerProductsOnCpu, MatchLoopsForMatrices) {
  for (const std::int64_t m : {0, 1, 7, 40}) {
    for (const std::int64_t n : {0, 1, 300, 513}) {
      for (const std::int64_t k : {0, 1, 37}) {
        const Tensor a = operand({m, k}, 1), b = operand({k, n}, 2);
        expect_equal(mm(a, b), expected(a, b));
      }
    }
  }
}

TEST_P(IntegerProductsOnCpu, MatchLoopsForTransposedAndSlicedMatrices) {
  const Tensor a = operand({5, 8}, 1).t().slice(0, 0, 8, 2), b = operand({7, 5}, 2).t();
  expect_equal(mm(a, b), expected(a, b));
  expect_equal(mm(b.t(), a.t()), expected(b.t(), a.t()));
}

TEST_P(IntegerProductsOnCpu, MatchLoopsForBatches) {
  const Tensor a = operand({3, 4, 5}, 1), b = operand({3, 5, 2}, 2);
  const Tensor batch = bmm(a, b), shared = matmul(a, b[1]),
               by_vector = matmul(a, b[0].select(1, 1));
  for (std::int64_t i = 0; i < 3; ++i) {
    expect_equal(batch[i], expected(a[i], b[i]));
    expect_equal(shared[i], expected(a[i], b[1]));
    expect_equal(by_vector[i], expected(a[i], b[0].slice(1, 1)));
  }
}

TEST_P(IntegerProductsOnCpu, MatchLoopsForVectors) {
  const Tensor a = operand({4, 5}, 1), x = operand({5}, 2), y = operand({4}, 3);
  expect_equal(mv(a, x), expected(a, x.unsqueeze(1)));
  expect_equal(matmul(y, a), expected(y.unsqueeze(0), a));
  expect_equal(dot(x, a[1]), expected(x.unsqueeze(0), a[1].unsqueeze(1)));
  expect_equal(dot(x.slice(0, 0, 0), x.slice(0, 0, 0)), {0});
  expect_equal(outer(x, y), expected(x.unsqueeze(1), y.unsqueeze(0)));
}

TEST_P(IntegerProductsOnCpu, MatchLoopsWithAddends) {
  const Tensor a = operand({4, 5}, 1), b = operand({5, 3}, 2), c = operand({4, 3}, 3);
  expect_equal(addmm(c, a, b, 2, -3), expected(a, b, -3, c, 2));
  expect_equal(addmm(c[1], a, b), expected(a, b, 1, c[1].expand({4, 3}), 1));
  expect_equal(addmm(c, a.slice(1, 0, 0), b.slice(0, 0, 0), 3),
               expected(c, eye(3).to(GetParam()), 3));
  expect_equal(linear(a, b.t(), c[0]), expected(a, b, 1, c[0].expand({4, 3}), 1));
  expect_equal(linear(a, b.t()), expected(a, b));
}

// As in PyTorch, fractions are cut off: 2.5 counts as 2, and 0.5 as 0.
TEST_P(IntegerProductsOnCpu, TruncateFactorsToIntegers) {
  const Tensor a = operand({4, 5}, 1), b = operand({5, 3}, 2), c = operand({4, 3}, 3);
  expect_equal(addmm(c, a, b, 0.5, 2.5), expected(a, b, 2));
  EXPECT_THROW(addmm(c, a, b, 1, 1e30), std::invalid_argument);
  EXPECT_THROW(addmm(c, a, b, std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
}

TEST(IntegerProductsThatWrapOnCpu, AreThoseOfPyTorch) {
  const auto product = [](std::int64_t large, DType dtype) {
    const CreationOptions options{.dtype = dtype};
    return dot(tensor({large, large}, options), tensor({2, 3}, options)).item<std::int64_t>();
  };
  EXPECT_EQ(product(std::int64_t{1} << 62, kLong), std::int64_t{1} << 62);
  EXPECT_EQ(product(1 << 30, kInt), 1 << 30);
  EXPECT_EQ(product(200, kByte), 1000 - 3 * 256);
}

TEST_P(IntegerProductsOnCpu, AreTheSameForAnyNumberOfThreads) {
  const Tensor a = operand({100, 200}, 1), b = operand({200, 300}, 2);
  const int threads = get_num_threads();
  set_num_threads(1);
  const Tensor one = mm(a, b);
  set_num_threads(3);
  expect_equal(mm(a, b), one.to_vector<std::int64_t>());
  set_num_threads(threads);
}

TEST(IntegerProductErrorsOnCpu, NameTheDTypes) {
  const Tensor x = ones({2, 2}, {.dtype = kLong});
  EXPECT_EQ(message_of([&] { mm(x, x.to(kFloat)); }),
            "mm: expected operands of one dtype, got int64 and float32");
  EXPECT_EQ(message_of([&] { bmm(x.unsqueeze(0), x.to(kInt).unsqueeze(0)); }),
            "bmm: expected operands of one dtype, got int64 and int32");
  EXPECT_THROW(linear(x, x, ones({2})), std::invalid_argument);
  EXPECT_THROW(addmm(ones({2, 2}), x, x), std::invalid_argument);
  const std::vector<std::function<void(const Tensor&)>> products{
      [](const Tensor& b) { mm(b, b); }, [](const Tensor& b) { dot(b[0], b[0]); },
      [](const Tensor& b) { addmm(b, b, b); }, [](const Tensor& b) { linear(b, b); }};
  for (const auto& product : products) {
    const std::string message = message_of([&] { product(x.to(kBool)); });
    EXPECT_NE(message.find("expected numeric tensors, got bool"), std::string::npos) << message;
  }
  EXPECT_THROW(linear_relu(x, x), std::invalid_argument);
  EXPECT_THROW(linear_gelu(x, x), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
