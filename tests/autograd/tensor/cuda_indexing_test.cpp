// Index ops on a GPU: values and gradients have the bits of the CPU, and the host never waits.
#include <functional>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

using IndexingOnCuda = OnCuda;
using IndexedOp = std::function<Tensor(const Tensor& x, const Tensor& index)>;

void expect_same(const IndexedOp& op, const Shape& sizes, const Shape& index_sizes,
                 std::int64_t high) {
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
    manual_seed(3);
    const Tensor x = randn(sizes, {.dtype = dtype}), index = randint(high, index_sizes);
    const Tensor here = x.clone().requires_grad_();
    const Tensor there = x.to(kCUDA).requires_grad_();
    const Tensor index_there = index.to(kCUDA);
    const Tensor y = op(here, index);
    const Tensor cotangent = randn(y.sizes(), {.dtype = y.requires_grad() ? y.dtype() : dtype});
    const Tensor cotangent_there = cotangent.to(kCUDA);
    const auto waits = cuda::host_waits();
    const Tensor y_there = op(there, index_there);
    if (y.requires_grad()) {
      y.backward(cotangent);
      y_there.backward(cotangent_there);
    }
    EXPECT_EQ(cuda::host_waits(), waits);
    EXPECT_EQ(y_there.to_vector<double>(), y.to_vector<double>());
    if (y.requires_grad()) {
      EXPECT_EQ(there.grad().to_vector<double>(), here.grad().to_vector<double>());
    }
  }
}

TEST_F(IndexingOnCuda, Gather) {
  expect_same([](const Tensor& x, const Tensor& i) { return gather(x, 1, i); }, {30, 40}, {30, 700},
              40);
  expect_same([](const Tensor& x, const Tensor& i) { return gather(x.t(), 0, i); }, {30, 40},
              {3, 20}, 40);
}

TEST_F(IndexingOnCuda, ScatterAdd) {
  expect_same([](const Tensor& x, const Tensor& i) { return scatter_add(zeros_like(x), 1, i, x); },
              {30, 700}, {30, 700}, 40);
}

TEST_F(IndexingOnCuda, IndexSelectAndEmbedding) {
  for (const std::int64_t width : {1, 3, 8, 64}) {
    expect_same([](const Tensor& x, const Tensor& i) { return embedding(x, i, 2); }, {50, width},
                {20, 30}, 50);
    expect_same([](const Tensor& x, const Tensor& i) { return index_select(x, 1, i); },
                {4, 50, width}, {600}, 50);
  }
}

TEST_F(IndexingOnCuda, OneHotAndArgmax) {
  expect_same([](const Tensor&, const Tensor& i) { return one_hot(i, 11); }, {1}, {40, 3}, 11);
  for (const std::int64_t n : {1, 256, 257, 100'000}) {
    expect_same([](const Tensor& x, const Tensor&) { return argmax(x, 1); }, {3, n}, {1}, 1);
    expect_same([](const Tensor& x, const Tensor&) { return argmin(x, 0); }, {n, 3}, {1}, 1);
  }
}

TEST_F(IndexingOnCuda, AnIndexOutOfRangeIsReportedByTheNextWait) {
  const Tensor x = ones({5}, {.device = kCUDA});
  const Tensor bad = tensor({1, 5, 2}).to(kCUDA), good = tensor({1, 4}).to(kCUDA);
  const Tensor y = index_select(x, 0, bad);  // only queued: not yet checked
  try {
    y.to_vector<float>();
    ADD_FAILURE() << "expected the read to report the index";
  } catch (const std::out_of_range& error) {
    EXPECT_NE(std::string(error.what())
                  .find("index_select: expected indices >= 0 and below the "
                        "size 5, got 5"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(index_select(x, 0, good).to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST_F(IndexingOnCuda, ClassTargetsAreCheckedToo) {
  const Tensor logits = randn({3, 4}, {.device = kCUDA});
  const Tensor loss = cross_entropy(logits, tensor({0, 9, 1}).to(kCUDA));
  EXPECT_THROW(loss.item<float>(), std::out_of_range);
}

}  // namespace
}  // namespace halfgrad
