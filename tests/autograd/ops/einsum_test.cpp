#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

using Einsum = TensorsOnDevice;
HALFGRAD_ON_DEVICES(Einsum);

// `spelled` is the equation with a letter for each dimension and an arrow.
struct EinsumCase {
  std::string equation;
  std::vector<Shape> shapes;
  std::string spelled = {};
};

std::ostream& operator<<(std::ostream& out, const EinsumCase& c) { return out << c.equation; }

const EinsumCase kEinsumCases[] = {
    {"ij,jk->ik", {{2, 3}, {3, 4}}},
    {"ij,jk->ki", {{2, 3}, {3, 4}}},
    {"bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}},
    {"bhqd,bhkd->bhqk", {{2, 2, 3, 4}, {2, 2, 5, 4}}},
    {"ik,jkl,il->ij", {{2, 3}, {4, 3, 2}, {2, 2}}},
    {"i,i->", {{5}, {5}}},
    {"i,j->ij", {{2}, {3}}},
    {"i,j,k,l->lkji", {{2}, {3}, {1}, {2}}},
    {"ij,ij->ij", {{2, 3}, {2, 3}}},
    {"ij,ij->", {{2, 3}, {2, 3}}},
    {"ij,kl->", {{2, 3}, {3, 2}}},
    {"ij,kj->i", {{2, 3}, {4, 3}}},
    {"ij->ji", {{2, 3}}},
    {"ij->", {{2, 3}}},
    {"ij->j", {{2, 3}}},
    {"ijk->ki", {{2, 3, 4}}},
    {"ii->i", {{3, 3}}},
    {"ii->", {{3, 3}}},
    {"iii->i", {{3, 3, 3}}},
    {"iji->j", {{3, 2, 3}}},
    {"ijij->ji", {{3, 2, 3, 2}}},
    {"ii,i->i", {{3, 3}, {3}}},
    {"ij,jj->i", {{2, 3}, {3, 3}}},
    {"->", {{}}},
    {",->", {{}, {}}},
    {",i->i", {{}, {3}}},
    {"ij,jk,kl,lm->im", {{2, 3}, {3, 2}, {2, 4}, {4, 2}}},
    {"ab,bc,ca->", {{2, 3}, {3, 4}, {4, 2}}},
    // Without an arrow
    {"ij,jk", {{2, 3}, {3, 4}}, "ij,jk->ik"},
    {"ba", {{2, 3}}, "ba->ab"},
    {"aB", {{2, 3}}, "aB->Ba"},
    {"ii", {{3, 3}}, "ii->"},
    {"i,i,i", {{3}, {3}, {3}}, "i,i,i->"},
    {"", {{}}, "->"},
    {" i j , j k ", {{2, 3}, {3, 4}}, "ij,jk->ik"},
    // Ellipsis
    {"...ij,...jk->...ik", {{2, 3, 4}, {2, 4, 5}}, "aij,ajk->aik"},
    {"...ij,...jk", {{2, 2, 3, 4}, {2, 4, 5}}, "abij,bjk->abik"},
    {"...ij,...jk->...ik", {{3, 4}, {2, 4, 5}}, "ij,ajk->aik"},
    {"i...->...i", {{2, 3, 4}}, "iab->abi"},
    {"i...", {{2, 3, 4}}, "iab->abi"},
    {"i...j->j...i", {{2, 3, 4, 2}}, "iabj->jabi"},
    {"...->...", {{2, 3}}, "ab->ab"},
    {"i...->i", {{2, 3, 4}}, "iab->i"},
    {"i->...i", {{2}}, "i->i"},
    {"ij...->ji", {{2, 3}}, "ij->ji"},
    {"...,...", {{2, 3}, {3}}, "ab,b->ab"},
    {"i...i->...", {{3, 2, 3}}, "iai->a"},
    // Broadcast sizes of 1
    {"ij,jk->ik", {{2, 1}, {3, 4}}},
    {"ij,ij->ij", {{2, 1}, {1, 3}}},
    {"ij,ij->i", {{1, 3}, {2, 1}}},
    {"ij,jk->ik", {{2, 1}, {1, 4}}},
    {"...i,...i->...", {{2, 1, 3}, {4, 3}}, "abi,bi->ab"},
    // Empty operands
    {"ij,jk->ik", {{2, 0}, {0, 3}}},
    {"ij,jk->ik", {{0, 2}, {2, 3}}},
    {"ij->", {{2, 0}}},
    {"i,i->i", {{0}, {1}}},
    // Up to 8 dimensions
    {"abcdefgh,h->abcdefg", {{1, 2, 1, 2, 1, 2, 1, 2}, {2}}},
};

struct EinsumTerms {
  std::vector<std::string> operands;
  std::string result;
};

EinsumTerms terms_of(const EinsumCase& c) {
  const std::string text = c.spelled.empty() ? c.equation : c.spelled;
  EinsumTerms found{{""}, text.substr(text.find("->") + 2)};
  for (const char letter : text.substr(0, text.find("->"))) {
    if (letter == ',') {
      found.operands.emplace_back();
    } else {
      found.operands.back() += letter;
    }
  }
  return found;
}

struct SumsByHand {
  Shape sizes;
  Doubles values, magnitudes;  // the sums, and those of absolute values
};

// Computes each element by a loop over every letter.
SumsByHand sums_by_hand(const EinsumCase& c, const std::vector<Tensor>& tensors) {
  const auto [operands, result] = terms_of(c);
  std::map<char, std::int64_t> sizes, at;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t d = 0; d < operands[i].size(); ++d) {
      const std::int64_t size = tensors[i].size(static_cast<std::int64_t>(d));
      std::int64_t& common = sizes.try_emplace(operands[i][d], size).first->second;
      if (size != 1) common = size;
    }
  }
  std::vector<Doubles> factors;
  for (const Tensor& tensor : tensors) factors.push_back(elements(tensor.to(kDouble).cpu()));
  SumsByHand expected;
  std::int64_t count = 1, all = 1;
  for (const char letter : result) {
    expected.sizes.push_back(sizes.at(letter));
    count *= sizes.at(letter);
  }
  expected.values.assign(static_cast<std::size_t>(count), 0);
  expected.magnitudes = expected.values;
  for (const auto& [letter, size] : sizes) all *= size;
  for (std::int64_t flat = 0; flat < all; ++flat) {
    std::int64_t rest = flat;
    for (const auto& [letter, size] : sizes) {
      at[letter] = rest % size;
      rest /= size;
    }
    double product = 1;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      std::int64_t position = 0;
      for (std::size_t d = 0; d < operands[i].size(); ++d) {
        const std::int64_t size = tensors[i].size(static_cast<std::int64_t>(d));
        position = position * size + (size == 1 ? 0 : at[operands[i][d]]);
      }
      product *= factors[i][static_cast<std::size_t>(position)];
    }
    std::int64_t position = 0;
    for (const char letter : result) position = position * sizes.at(letter) + at[letter];
    expected.values[static_cast<std::size_t>(position)] += product;
    expected.magnitudes[static_cast<std::size_t>(position)] += std::abs(product);
  }
  return expected;
}

std::vector<Tensor> drawn_factors(const EinsumCase& c, DType dtype, Device device) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < c.shapes.size(); ++i) {
    tensors.push_back(
        random_tensor(c.shapes[i], -1, 1, {.seed = 5, .stream = i}).to(dtype).to(device));
  }
  return tensors;
}

void expect_as_by_hand(const EinsumCase& c, const std::vector<Tensor>& tensors) {
  const Tensor actual = einsum(c.equation, tensors);
  const SumsByHand expected = sums_by_hand(c, tensors);
  const DType dtype = tensors[0].dtype();
  EXPECT_EQ(actual.dtype(), dtype);
  ASSERT_EQ(actual.sizes(), expected.sizes);
  const Doubles values = elements(actual);
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Each operand may cost two roundings of a stored value, before and after its product.
    const double roundings = 2 * static_cast<double>(tensors.size()) + 14;
    EXPECT_NEAR(values[i], expected.values[i],
                roundings * roundoff(dtype) * expected.magnitudes[i]);
  }
}

TEST_P(Einsum, IsTheSumOverEveryLetter) {
  for (const EinsumCase& c : kEinsumCases) {
    SCOPED_TRACE(c);
    for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
      expect_as_by_hand(c, drawn_factors(c, dtype, device()));
    }
  }
}

TEST_P(Einsum, TakesOperandsThatAreNotContiguous) {
  for (const EinsumCase& c : kEinsumCases) {
    SCOPED_TRACE(c);
    std::vector<Tensor> tensors = drawn_factors(c, kDouble, device());
    for (Tensor& tensor : tensors) {
      Shape backwards;
      for (std::int64_t dim = tensor.dim() - 1; dim >= 0; --dim) backwards.push_back(dim);
      tensor = tensor.permute(backwards).contiguous().permute(backwards);
    }
    expect_as_by_hand(c, tensors);
  }
}

TEST_P(Einsum, HasTheGradientsOfFiniteDifferences) {
  for (const EinsumCase& c : kEinsumCases) {
    SCOPED_TRACE(c);
    std::vector<Tensor> tensors = drawn_factors(c, kDouble, device());
    for (Tensor& tensor : tensors) tensor.requires_grad_();
    const auto f = [&](const std::vector<Tensor>& in) { return einsum(c.equation, in); };
    EXPECT_TRUE(autograd::gradcheck(f, tensors));
  }
}

// In float16 a sum of ones stops at 2048, and a sum of 30s is rounded from there on.
TEST_P(Einsum, RoundsASumOfProductsOnce) {
  const Tensor x = ones({1, 2049}, in(kHalf));
  EXPECT_EQ(einsum("ij,kj->ik", {x, x}).item(), 2048);
  EXPECT_EQ(einsum("ij,ij->", {x.slice(1, 1), x.slice(1, 1) * 30}).item(), 61440);
}

TEST_P(Einsum, ReturnsAViewIfNothingIsComputed) {
  const Tensor x = zeros({3, 3}, in(kFloat));
  einsum("ii->i", {x}).fill_(1);
  einsum("ij->ji", {x}).select(0, 2).fill_(5);
  EXPECT_EQ(elements(x), (Doubles{1, 0, 5, 0, 1, 5, 0, 0, 5}));
}

TEST(EinsumOfIntegersOnCpu, IsExactAndCountsMasks) {
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  const Tensor x = tensor({odd, std::int64_t{2}});
  EXPECT_EQ(einsum("i,i->", {x, tensor({1, -1})}).item<std::int64_t>(), odd - 2);
  EXPECT_EQ(einsum("i,j->ij", {x, x.to(kInt)}).dtype(), kLong);
  EXPECT_EQ(einsum("i->", {x > 0}).item<std::int64_t>(), 2);
}

TEST(EinsumErrors, SayWhatWasExpected) {
  const Tensor x = zeros({2, 3});
  const auto refusal = [](const char* equation, const std::vector<Tensor>& tensors) {
    return message_of([&] { einsum(equation, tensors); });
  };
  EXPECT_EQ(refusal("ij", {}), "einsum: expected 1 tensors for 'ij', got 0");
  EXPECT_EQ(refusal("ij,jk->ik", {x}), "einsum: expected 2 tensors for 'ij,jk->ik', got 1");
  EXPECT_EQ(refusal("ij", {x, x}), "einsum: expected 1 tensors for 'ij', got 2");
  EXPECT_EQ(refusal("ijk", {x}),
            "einsum: expected a letter for each dimension of shape [2, 3], got 'ijk'");
  EXPECT_EQ(refusal("i", {x}),
            "einsum: expected a letter for each dimension of shape [2, 3], got 'i'");
  EXPECT_EQ(refusal("ij...k", {x}),
            "einsum: expected at most one letter for each dimension of shape [2, 3], got 'ij.k'");
  for (const char* term : {"i1", "i.", "i..", "...i...", "i.j", "i- >j", "i;"}) {
    EXPECT_EQ(refusal(term, {x}), std::string("einsum: expected letters and at most one ... in a "
                                              "term, got '") +
                                      term + "'");
  }
  EXPECT_EQ(refusal("ij->i->j", {x}),
            "einsum: expected letters and at most one ... in a term, got 'i->j'");
  EXPECT_EQ(refusal("ij->ik", {x}),
            "einsum: expected letters of the operands, each once, after ->, got 'k'");
  EXPECT_EQ(refusal("ij->ii", {x}),
            "einsum: expected letters of the operands, each once, after ->, got 'i'");
  EXPECT_EQ(refusal("ii", {x}), "einsum: expected equal sizes of 'i' in an operand, got 2 and 3");
  EXPECT_EQ(refusal("ij,jk", {x, x}),
            "einsum: expected sizes of 'j' that are equal or 1, got 3 and 2");
  EXPECT_EQ(refusal("...,...", {x, zeros({4, 3})}),
            "einsum: expected sizes of ... that are equal or 1, got 2 and 4");
  const Tensor five = zeros({1, 1, 1, 1, 1});
  EXPECT_EQ(refusal("abcde,fghij->", {five, five}), "no error");
  EXPECT_EQ(refusal("abcde,fghij", {five, five}),
            "einsum: expected products of at most 8 dimensions, got 10");
  EXPECT_THROW(einsum("ij,kj->ik", {x, x.to(kHalf)}), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
