#include <functional>
#include <vector>

#include <halfgrad/autograd/composed/products.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Expected values are PyTorch's.
namespace halfgrad {
namespace {

using ProductsComposed = TensorsOnDevice;
HALFGRAD_ON_DEVICES(ProductsComposed);

TEST_P(ProductsComposed, TensordotAgreesWithEinsum) {
  const Tensor a = arange(24, in(kDouble)).reshape({2, 3, 4});
  const Tensor b = arange(60, in(kDouble)).reshape({4, 5, 3});
  const Tensor y = tensordot(a, b, {1, -1}, {-1, 0});
  EXPECT_EQ(y.sizes(), (Shape{2, 5}));
  EXPECT_EQ(elements(y), elements(einsum("aij,jbi->ab", {a, b})));
  EXPECT_EQ(elements(tensordot(a, b, 2, 0)), elements(einsum("aij,jbc->aibc", {a, b})));
  EXPECT_EQ(tensordot(a, b, {}, {}).sizes(), (Shape{2, 3, 4, 4, 5, 3}));
  EXPECT_EQ(elements(tensordot(transpose(a, 0, 1), b.select(1, 0).t(), {}, {})).size(), 24u * 12u);
  EXPECT_EQ(tensordot(a, a, {0, 1, 2}, {0, 1, 2}).item(), 4324);
  EXPECT_EQ(tensordot(zeros({2, 0}, in(kDouble)), zeros({0, 3}, in(kDouble)), 1, 0).sizes(),
            (Shape{2, 3}));
  EXPECT_EQ(elements(tensordot(zeros({1, 0}, in(kDouble)), zeros({0, 1}, in(kDouble)), 1, 0)),
            Doubles{0});
}

TEST_P(ProductsComposed, TensordotBroadcastsSizeOne) {
  const Tensor a = elements({1, 2, 3, 4}).reshape({2, 2}), b = elements({5, 6}).reshape({1, 2});
  EXPECT_EQ(elements(tensordot(a, b, 1, 0)), (Doubles{15, 18, 35, 42}));
  EXPECT_EQ(elements(tensordot(b, a, 0, 1)), (Doubles{15, 35, 18, 42}));
}

TEST_P(ProductsComposed, TensordotRefuses) {
  const Tensor a = ones({2, 3}, in(kDouble));
  EXPECT_EQ(message_of([&] { tensordot(a, a, 0, 1); }),
            "tensordot: expected pairs of equal sizes, got dims [0] of [2, 3] and [1] of [2, 3]");
  EXPECT_THROW(tensordot(a, a, {0, 1}, 0), std::invalid_argument);
  EXPECT_THROW(tensordot(a, a, {0, -2}, {0, 0}), std::invalid_argument);
  EXPECT_THROW(tensordot(a, a, 2, 2), std::out_of_range);
  EXPECT_THROW(tensordot(sum(a), a, 0, 0), std::invalid_argument);
  EXPECT_THROW(tensordot(a, a.to(kFloat32), 0, 0), std::invalid_argument);
}

TEST_P(ProductsComposed, Inner) {
  const Tensor a = elements({1, 2, 3, 4}).reshape({2, 2}), v = elements({1, -1});
  EXPECT_EQ(inner(v, elements({5, 3})).item(), 2);
  EXPECT_EQ(inner(v, v).sizes(), Shape());
  EXPECT_EQ(elements(inner(a, v)), (Doubles{-1, -1}));
  EXPECT_EQ(elements(inner(a, a)), (Doubles{5, 11, 11, 25}));
  EXPECT_EQ(elements(inner(a, sum(a))), (Doubles{10, 20, 30, 40}));
  EXPECT_EQ(inner(elements(Doubles()), elements(Doubles())).item(), 0);
  EXPECT_EQ(message_of([&] {
              inner(a, elements({1, 2, 3}));
            }),
            "inner: expected last dimensions of one size, got [2, 2] and [3]");
}

TEST_P(ProductsComposed, Kron) {
  const Tensor a = elements({1, 2, 3, 4}).reshape({2, 2}), b = elements({0, 5, 6, 7});
  EXPECT_EQ(elements(kron(a, b.reshape({2, 2}))),
            (Doubles{0, 5, 0, 10, 6, 7, 12, 14, 0, 15, 0, 20, 18, 21, 24, 28}));
  EXPECT_EQ(kron(a, b).sizes(), (Shape{2, 8}));
  EXPECT_EQ(elements(kron(elements({1, 2}), a)), (Doubles{1, 2, 2, 4, 3, 4, 6, 8}));
  EXPECT_EQ(kron(sum(a), sum(b)).item(), 180);
  EXPECT_EQ(kron(a, zeros({0}, in(kDouble))).sizes(), (Shape{2, 0}));
  EXPECT_EQ(elements(kron(a.t(), elements({1}))), (Doubles{1, 3, 2, 4}));
  EXPECT_EQ(kron(elements({1}, kHalf), elements({2}, kLong)).dtype(), kHalf);
  EXPECT_EQ(kron(ones({1, 2, 1, 2}), ones({2, 1, 2, 1})).sizes(), (Shape{2, 2, 2, 2}));
  EXPECT_EQ(message_of([&] {
              kron(ones({1, 1, 1, 1, 2}), ones({2}));
            }),
            "kron: expected at most 4 dimensions, got [1, 1, 1, 1, 2] and [2]");
}

TEST_P(ProductsComposed, AddmvAndAddr) {
  const Tensor m = elements({1, 2, 3, 4, 5, 6}).reshape({2, 3}), v = elements({1, 0, -1});
  const Tensor s = elements({10, 20});
  EXPECT_EQ(elements(addmv(s, m, v)), (Doubles{8, 18}));
  EXPECT_EQ(elements(addmv(s, m, v, 2, -1)), (Doubles{22, 42}));
  EXPECT_EQ(elements(addmv(elements({1}), m, v)), (Doubles{-1, -1}));
  EXPECT_EQ(elements(addmv(sum(s), m, v)), (Doubles{28, 28}));
  EXPECT_EQ(elements(addmv(s * kNan, m, v, 0)), (Doubles{-2, -2}));
  EXPECT_EQ(elements(addmv(s, m * kNan, v, 1, 0)), (Doubles{10, 20}));
  EXPECT_EQ(elements(addr(m, s, v)), (Doubles{11, 2, -7, 24, 5, -14}));
  EXPECT_EQ(elements(addr(v, s, v, 2, 0.5)), (Doubles{7, 0, -7, 12, 0, -12}));
  EXPECT_EQ(elements(addr(m * kNan, s, v, 0)), elements(ger(s, v)));
  EXPECT_EQ(elements(ger(s, v)), (Doubles{10, 0, -10, 20, 0, -20}));
  EXPECT_EQ(addr(zeros({0, 3}, in(kDouble)), zeros({0}, in(kDouble)), v).sizes(), (Shape{0, 3}));
  // The product overflows float16 before the addition.
  EXPECT_EQ(elements(addr(elements({-6e4}, kHalf), elements({300}, kHalf), elements({300}, kHalf))),
            Doubles{3e4});
  EXPECT_EQ(message_of([&] { addmv(s, m, s); }),
            "addmv: expected a matrix [n, m] and a vector [m], got [2, 3] and [2]");
  EXPECT_THROW(addmv(v, m, v), std::invalid_argument);
  EXPECT_THROW(addmv(m, m, v), std::invalid_argument);
  EXPECT_THROW(addr(m, v, s), std::invalid_argument);
  EXPECT_THROW(addr(m, m, v), std::invalid_argument);
}

TEST_P(ProductsComposed, ChainMatmul) {
  const Tensor a = arange(6, in(kDouble)).reshape({2, 3}),
               b = arange(12, in(kDouble)).reshape({3, 4});
  const Tensor c = arange(4, in(kDouble)).reshape({4, 1}),
               d = arange(5, in(kDouble)).reshape({1, 5});
  EXPECT_EQ(elements(chain_matmul({a, b, c, d})), elements(mm(mm(mm(a, b), c), d)));
  EXPECT_EQ(elements(chain_matmul({a, b})), elements(mm(a, b)));
  EXPECT_EQ(elements(chain_matmul({a})), elements(a));
  EXPECT_EQ(chain_matmul({zeros({2, 0}), zeros({0, 3}), zeros({3, 4})}).sizes(), (Shape{2, 4}));
  // Left to right needs 2^40 elements for the first product.
  const Tensor tall = ones({1 << 20, 1}, in(kFloat32)), wide = ones({1, 1 << 20}, in(kFloat32));
  EXPECT_EQ(chain_matmul({tall, wide, tall})[0].item(), 1 << 20);
  EXPECT_EQ(message_of([&] {
              chain_matmul({a, c});
            }),
            "chain_matmul: expected matrices [n, m] and [m, k], got [2, 3] and [4, 1]");
  EXPECT_THROW(chain_matmul({}), std::invalid_argument);
  EXPECT_THROW(chain_matmul({elements({1})}), std::invalid_argument);
}

TEST_P(ProductsComposed, MatrixPower) {
  const Tensor x = elements({1, 1, 1, 0}).reshape({2, 2});  // its powers are Fibonacci's sequence
  EXPECT_EQ(elements(matrix_power(x, 10)), (Doubles{89, 55, 55, 34}));
  EXPECT_EQ(elements(matrix_power(x, 7)), (Doubles{21, 13, 13, 8}));
  EXPECT_EQ(elements(matrix_power(x, 1)), elements(x));
  EXPECT_NE(matrix_power(x, 1).array().storage(), x.array().storage());
  EXPECT_EQ(elements(matrix_power(x.expand({2, 2, 2}), 0)), (Doubles{1, 0, 0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(elements(matrix_power(stack({x, x * 2}), 2)), (Doubles{2, 1, 1, 1, 8, 4, 4, 4}));
  EXPECT_EQ(matrix_power(zeros({0, 0}), 3).sizes(), (Shape{0, 0}));
  EXPECT_EQ(message_of([&] { matrix_power(x, -1); }), "matrix_power: expected n >= 0, got -1");
  EXPECT_THROW(matrix_power(ones({2, 3}), 2), std::invalid_argument);
  EXPECT_THROW(matrix_power(ones({2}), 2), std::invalid_argument);
}

TEST_P(ProductsComposed, ProductsOfIntegers) {
  if (device().is_cuda()) GTEST_SKIP() << "products of integers are on the CPU only";
  const Tensor x = elements({1, 1, 1, 0}, kLong).reshape({2, 2}), v = elements({2, 3}, kLong);
  EXPECT_EQ(elements(matrix_power(x, 10)), (Doubles{89, 55, 55, 34}));
  EXPECT_EQ(matrix_power(x, 0).dtype(), kLong);
  EXPECT_EQ(elements(addmv(v, x, v)), (Doubles{7, 5}));
  EXPECT_EQ(inner(v, v).item(), 13);
  EXPECT_THROW(addr(x, v, v, 0.5), std::invalid_argument);
  EXPECT_THROW(addmv(v, x, v, 1, 0.5), std::invalid_argument);
}

TEST_P(ProductsComposed, GradientsAgreeWithFiniteDifferences) {
  struct Case {
    const char* name;
    std::function<Tensor(const std::vector<Tensor>&)> function;
  };
  using In = std::vector<Tensor>;
  const Case cases[] = {{"tensordot",
                         [](const In& in) {
                           return tensordot(in[0], in[1], {0, 1}, {1, 0});
                         }},
                        {"tensordot, size 1",
                         [](const In& in) { return tensordot(in[0], in[2].unsqueeze(0), 1, 0); }},
                        {"inner", [](const In& in) { return inner(in[0], in[2]); }},
                        {"kron", [](const In& in) { return kron(in[0], in[2]); }},
                        {"addmv", [](const In& in) { return addmv(in[2], in[1], in[2], 2, 3); }},
                        {"addr", [](const In& in) { return addr(in[0], in[2], in[2], 2, 3); }},
                        {"ger", [](const In& in) { return ger(in[2], in[2]); }},
                        {"chain_matmul",
                         [](const In& in) {
                           return chain_matmul({in[0], in[1], in[0]});
                         }},
                        {"matrix_power", [](const In& in) { return matrix_power(in[0], 5); }}};
  In inputs;
  for (std::uint64_t stream = 0; stream < 3; ++stream) {
    const Shape sizes = stream == 2 ? Shape{3} : Shape{3, 3};
    const Tensor x = random_tensor(sizes, -1, 1, {.seed = 8, .stream = stream});
    inputs.push_back(x.to(device()).requires_grad_());
  }
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_TRUE(autograd::gradcheck(c.function, inputs));
    EXPECT_TRUE(autograd::gradgradcheck(c.function, inputs));
  }
}

}  // namespace
}  // namespace halfgrad
