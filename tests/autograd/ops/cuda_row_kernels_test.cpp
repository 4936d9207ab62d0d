// layer_norm, rms_norm and cross_entropy on a GPU: the hand-written kernels, and the generic
// functors for operands that these refuse, both against float64 on the CPU.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

using RowKernelsOnCuda = OnCuda;
using RowsOp = std::function<Tensor(const std::vector<Tensor>& in)>;

constexpr std::int64_t kRows = 70;
// Rows for a warp or a block with 1, 2 or 4 packs per thread, and rows longer than registers hold.
constexpr std::int64_t kColumns[] = {8, 256, 264, 1000, 1032, 4096, 8192, 8200};

// Copies x to the GPU; `shifted` by one element, so that no row is aligned to 16 bytes.
Tensor there(const Tensor& x, DType dtype, bool shifted) {
  const Tensor buffer = zeros({x.numel() + 1}, {.dtype = dtype, .device = kCUDA});
  Tensor view = reshape(slice(buffer, 0, shifted, x.numel() + shifted), x.sizes());
  view.copy_(x.to(dtype));
  return view;
}

struct Result {
  std::vector<double> value;
  std::vector<std::vector<double>> gradients;

  friend bool operator==(const Result&, const Result&) = default;
};

// The value and the gradients of the floating operands for the cotangent dy.
Result run(const RowsOp& op, const std::vector<Tensor>& operands, const Tensor& dy) {
  std::vector<Tensor> in;
  for (const Tensor& x : operands) {
    in.push_back(x.is_floating_point() ? x.detach().requires_grad_() : x);
  }
  const auto waits = cuda::host_waits();
  const Tensor y = op(in);
  y.backward(dy.to(y.dtype()));
  EXPECT_EQ(cuda::host_waits(), waits);
  Result result{y.to_vector<double>(), {}};
  for (const Tensor& x : in) {
    if (x.requires_grad()) result.gradients.push_back(x.grad().to_vector<double>());
  }
  return result;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected,
                 double roundoffs, DType dtype) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double tolerance = roundoffs * roundoff(dtype) * std::fmax(1, std::abs(expected[i]));
    ASSERT_NEAR(actual[i], expected[i], tolerance) << i;
  }
}

// `operands` and the cotangent are float64. Runs op with the first operand in 16 and 32 bits and
// the others in float32; gradients of the others are sums over the rows.
void expect_same(const RowsOp& op, const std::vector<Tensor>& operands, const Tensor& cotangent) {
  for (const DType dtype : {kFloat, kHalf, kBFloat16}) {
    std::vector<Tensor> exact = operands;
    exact[0] = exact[0].to(dtype).to(kDouble);
    const Tensor dy = cotangent.to(dtype).to(kDouble);
    const Result expected = run(op, exact, dy);
    for (const bool shifted : {false, true}) {
      SCOPED_TRACE(std::string(name(dtype)) + (shifted ? " generic" : " by hand"));
      std::vector<Tensor> in;
      for (std::size_t i = 0; i < exact.size(); ++i) {
        const bool parameter = i > 0 && exact[i].is_floating_point();
        in.push_back(i == 0      ? there(exact[i], dtype, shifted)
                     : parameter ? there(exact[i], kFloat, shifted)
                                 : exact[i].to(kCUDA));
      }
      const Tensor dy_there = dy.dim() == 0 ? dy.to(dtype).to(kCUDA) : there(dy, dtype, shifted);
      const Result actual = run(op, in, dy_there);
      expect_near(actual.value, expected.value, 32, dtype);
      expect_near(actual.gradients[0], expected.gradients[0], 32, dtype);
      for (std::size_t i = 1; i < actual.gradients.size(); ++i) {
        expect_near(actual.gradients[i], expected.gradients[i], 32 * kRows, kFloat);
      }
      EXPECT_EQ(run(op, in, dy_there), actual) << "the same bits again";
    }
  }
}

Tensor drawn(const Shape& sizes) { return randn(sizes, {.dtype = kFloat}).to(kDouble); }

TEST_F(RowKernelsOnCuda, LayerNorm) {
  for (const std::int64_t n : kColumns) {
    SCOPED_TRACE(n);
    manual_seed(3);
    const RowsOp op = [n](const std::vector<Tensor>& in) {
      return layer_norm(in[0], {n}, in[1], in[2], 1e-3);
    };
    expect_same(op, {drawn({kRows, n}), drawn({n}), drawn({n})}, drawn({kRows, n}));
  }
}

TEST_F(RowKernelsOnCuda, RmsNorm) {
  for (const std::int64_t n : kColumns) {
    SCOPED_TRACE(n);
    manual_seed(3);
    const RowsOp op = [n](const std::vector<Tensor>& in) {
      return rms_norm(in[0], {n}, in[1], 1e-3);
    };
    expect_same(op, {drawn({kRows, n}), drawn({n})}, drawn({kRows, n}));
  }
}

TEST_F(RowKernelsOnCuda, CrossEntropy) {
  for (const std::int64_t n : kColumns) {
    SCOPED_TRACE(n);
    manual_seed(3);
    const Tensor classes = randint(n, {kRows});
    for (const Reduction reduction : {kMean, kNone}) {
      const RowsOp op = [reduction](const std::vector<Tensor>& in) {
        return cross_entropy(in[0], in[1], {.ignore_index = 3, .reduction = reduction});
      };
      expect_same(op, {drawn({kRows, n}), classes},
                  reduction == kMean ? ones({}, {.dtype = kDouble}) : drawn({kRows}));
    }
  }
}

// Several blocks share each row.
TEST_F(RowKernelsOnCuda, FewLongRows) {
  constexpr std::int64_t kRowsShared = 3;
  for (const std::int64_t n : {65'536, 100'001}) {
    SCOPED_TRACE(n);
    manual_seed(3);
    const RowsOp norm = [n](const std::vector<Tensor>& in) {
      return layer_norm(in[0], {n}, in[1], in[2], 1e-3);
    };
    const Shape sizes{kRowsShared, n};
    expect_same(norm, {drawn(sizes), drawn({n}), drawn({n})}, drawn(sizes));
    const RowsOp log_of = [](const std::vector<Tensor>& in) { return log_softmax(in[0], 1); };
    expect_same(log_of, {drawn(sizes)}, drawn(sizes));
  }
}

// A GPU that cannot run so many blocks at once shares the row among fewer, or does not share it.
TEST_F(RowKernelsOnCuda, OneLongRow) {
  manual_seed(3);
  const Tensor x = drawn({1, 65'536});
  expect_near(log_softmax(x.to(kFloat).to(kCUDA), 1).to_vector<double>(),
              log_softmax(x, 1).to_vector<double>(), 32, kFloat);
}

// The longest rows that fit into shared memory, of which the kernel needs some itself.
TEST_F(RowKernelsOnCuda, RowsThatFillSharedMemory) {
  for (const std::int64_t n : {11'872, 11'873, 12'000, 12'032, 12'160, 12'161, 12'288, 12'289}) {
    SCOPED_TRACE(n);
    manual_seed(3);
    const RowsOp deviation = [](const std::vector<Tensor>& in) { return std(in[0], 1); };
    const RowsOp variance = [](const std::vector<Tensor>& in) { return var(in[0], 1); };
    for (const RowsOp& op : {deviation, variance}) {
      const Tensor x = drawn({2, n}).to(kHalf).to(kDouble);
      const Result expected = run(op, {x}, ones({2}, {.dtype = kDouble}));
      const Tensor x_there = there(x, kHalf, false);
      expect_near(run(op, {x_there}, ones({2}, {.device = kCUDA})).value, expected.value, 32,
                  kHalf);
    }
  }
}

// The loss 1e6 + log(2) - 1e6 is 0.6931 only if the large terms are subtracted first.
TEST_F(RowKernelsOnCuda, CrossEntropyOfLargeLogits) {
  Tensor x = zeros({1, 512}, {.dtype = kFloat});
  slice(x, 1, 0, 2).fill_(1e6);
  const Tensor loss = cross_entropy(x.to(kCUDA), zeros({1}, {.dtype = kLong, .device = kCUDA}));
  EXPECT_NEAR(loss.item(), std::log(2.0), 4 * roundoff(kFloat));
}

// A logit of -inf is a probability of 0. A row of -inf only, +inf and NaN give no probabilities.
TEST_F(RowKernelsOnCuda, CrossEntropyOfNonFiniteLogits) {
  const auto loss = [](double fill, double first) {
    Tensor x = full({1, 512}, fill, {.dtype = kFloat});
    x[0][0].fill_(first);
    return cross_entropy(x.to(kCUDA), zeros({1}, {.dtype = kLong, .device = kCUDA})).item();
  };
  EXPECT_EQ(loss(-kInf, 2), 0);
  EXPECT_TRUE(std::isnan(loss(-kInf, -kInf)));
  EXPECT_TRUE(std::isnan(loss(kInf, 2)));
  EXPECT_TRUE(std::isnan(loss(std::nan(""), 2)));
}

}  // namespace
}  // namespace halfgrad
