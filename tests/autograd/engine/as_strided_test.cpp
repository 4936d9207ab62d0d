#include <functional>
#include <string>
#include <vector>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// as_strided(): views with given sizes, strides and offset, checked one element at a time.
namespace halfgrad {
namespace {

using AsStrided = TensorsOnDevice;
HALFGRAD_ON_DEVICES(AsStrided);

constexpr std::int64_t kStorage = 12;

struct StridedView {
  const char* name;
  std::function<Tensor(const Tensor&)> view;  // x, given the whole storage
  Shape size, stride;
  std::int64_t offset;
  bool sees_only_x = true;
};

const std::vector<StridedView> kStridedViews = {
    {"all of it", [](const Tensor& all) { return all; }, {3, 4}, {4, 1}, 0},
    {"transposed", [](const Tensor& all) { return all; }, {4, 3}, {1, 4}, 0},
    {"a part", [](const Tensor& all) { return all; }, {2, 3}, {5, 2}, 1},
    {"overlapping", [](const Tensor& all) { return all; }, {3, 4}, {1, 2}, 2},
    {"repeated", [](const Tensor& all) { return all; }, {2, 3, 2}, {0, 3, 0}, 4},
    {"overlapping and repeated", [](const Tensor& all) { return all; }, {2, 2, 2}, {0, 1, 1}, 3},
    {"empty", [](const Tensor& all) { return all; }, {2, 0}, {1, 1}, 1LL << 40},
    {"a scalar", [](const Tensor& all) { return all; }, {}, {}, 11},
    {"one element", [](const Tensor& all) { return all; }, {1, 1}, {7, 0}, 5},
    {"of a transpose",
     [](const Tensor& all) {
       return all.reshape({3, 4}).t();
     },
     {6},
     {2},
     1},
    {"of every second element",
     [](const Tensor& all) { return all.slice(0, 0, 12, 2); },
     {3, 2},
     {2, 2},
     2},
    {"of a scalar", [](const Tensor& all) { return all[7]; }, {2}, {0}, 7},
    {"of repeats",
     [](const Tensor& all) {
       return all.reshape({2, 6}).unsqueeze(1).expand({2, 4, 6});
     },
     {2, 3},
     {5, 2},
     1},
    {"of overlapping rows",
     [](const Tensor& all) {
       return all.as_strided({2, 4}, {2, 2}, 0);
     },
     {3},
     {4},
     0},
    {"of other elements", [](const Tensor& all) { return all.slice(0, 2, 6); }, {8}, {1}, 4, false},
    {"of later elements", [](const Tensor& all) { return all.slice(0, 8); }, {3}, {1}, 0, false},
    {"of no elements", [](const Tensor& all) { return all.slice(0, 3, 3); }, {3}, {1}, 0, false},
};

// Returns the position of each element in the storage, in row-major order.
std::vector<std::size_t> positions(const Shape& size, const Shape& stride, std::int64_t offset) {
  std::vector<std::size_t> all;
  for (std::int64_t i = 0; i < numel(size); ++i) {
    std::int64_t rest = i, position = offset;
    for (int d = size.size() - 1; d >= 0; --d) {
      position += rest % size[d] * stride[d];
      rest /= size[d];
    }
    all.push_back(static_cast<std::size_t>(position));
  }
  return all;
}

// All values are small integers, divided by powers of two: exact in every dtype.
TEST_P(AsStrided, ReadsTheStorageAndAddsUpItsGradients) {
  for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
    for (const StridedView& c : kStridedViews) {
      SCOPED_TRACE(std::string(c.name) + " in " + std::string(name(dtype)));
      const Tensor leaf = arange(kStorage).to(dtype).to(device()).requires_grad_();
      const Tensor x = c.view(leaf * 1);
      const Tensor y = as_strided(x, c.size, c.stride, c.offset);
      EXPECT_EQ(y.array().storage(), x.array().storage());
      const Tensor with_offset =
          (arange(y.numel() + 1) * 7 - 20).to(dtype).to(device()).slice(0, 1);
      const Tensor cotangent = with_offset.reshape(c.size);

      Doubles shown, gradient(kStorage);
      const std::vector<std::size_t> seen = positions(c.size, c.stride, c.offset);
      for (std::size_t i = 0; i < seen.size(); ++i) {
        shown.push_back(static_cast<double>(seen[i]));
        gradient[seen[i]] += elements(cotangent)[i];
      }
      std::vector<bool> of_x(kStorage);
      for (const std::size_t position : positions(x.sizes(), x.strides(), x.storage_offset())) {
        of_x[position] = true;
      }
      for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] *= of_x[i];
      EXPECT_EQ(elements(y), shown);
      EXPECT_EQ(elements(autograd::grad({y}, {leaf}, {cotangent})[0]), gradient);
    }
  }
}

TEST_P(AsStrided, AgreesWithFiniteDifferencesTwice) {
  const std::vector<Tensor> inputs = {
      random_tensor({kStorage}, -2, 2, {.seed = 5}).to(device()).requires_grad_()};
  for (const StridedView& c : kStridedViews) {
    if (!c.sees_only_x) continue;
    SCOPED_TRACE(c.name);
    const auto f = [&](const std::vector<Tensor>& in) {
      return as_strided(c.view(in[0] * in[0]), c.size, c.stride, c.offset);
    };
    EXPECT_TRUE(autograd::gradcheck(f, inputs));
    EXPECT_TRUE(autograd::gradgradcheck(f, inputs));
  }
}

TEST_P(AsStrided, StartsAtTheOffsetOfTheTensor) {
  const Tensor x = arange(6).to(device()).slice(0, 2);
  EXPECT_EQ(elements(x.as_strided({2}, {3})), (Doubles{2, 5}));
  EXPECT_EQ(elements(x.as_strided({2}, {3}, 0)), (Doubles{0, 3}));
}

// Expected values are PyTorch's.
TEST_P(AsStrided, SharesAGradientEquallyAmongElementsOfOneAddress) {
  const Tensor pair = elements({1, 2}).requires_grad_();
  const Tensor repeated = (pair * 1).expand({4, 2});
  repeated.as_strided({2}, {1}).sum().backward({}, true);
  EXPECT_EQ(elements(pair.grad()), (Doubles{1, 1}));
  const Tensor y = repeated.as_strided({2}, {1});
  EXPECT_EQ(elements(autograd::grad({sum(y)}, {repeated})[0]), Doubles(8, 0.25));
}

// float16 cannot count the 2^17 elements that share one address.
TEST_P(AsStrided, SharesAGradientAmongMoreElementsThanSixteenBitsCount) {
  const Tensor x = elements({1}, kHalf).requires_grad_();
  const Tensor y = (x * 1).expand({1 << 17}).as_strided({1}, {1});
  y.backward(elements({1024}, kHalf));
  EXPECT_EQ(elements(x.grad()), Doubles{1024});
}

TEST_P(AsStrided, RefusesViewsOutsideTheStorage) {
  const Tensor x = arange(6).to(device());
  const auto message = [&](const Shape& size, const Shape& stride, std::int64_t offset) {
    return message_of([&] { x.as_strided(size, stride, offset); });
  };
  EXPECT_EQ(message({7}, {1}, 0),
            "as_strided: expected a view inside the storage's 6 elements, got sizes [7], strides "
            "[1], offset 0");
  EXPECT_EQ(message({2, 2}, {1}, 0),
            "as_strided: expected as many strides as sizes, got [2, 2] and [1]");
  EXPECT_EQ(message({2}, {-1}, 3),
            "as_strided: expected strides and an offset >= 0, got strides [-1] and offset 3");
  EXPECT_EQ(message({2}, {1}, -1),
            "as_strided: expected strides and an offset >= 0, got strides [1] and offset -1");
  EXPECT_THROW(x.as_strided({-1}, {1}), std::invalid_argument);
  EXPECT_THROW(x.as_strided({2}, {INT64_MAX}), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
