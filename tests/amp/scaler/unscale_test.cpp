#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/unscale.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/tests/amp/scaler/tensors.h>

namespace halfgrad::detail {
namespace {

using amp::kInfinite;
using amp::kNaN;

Array array(const std::vector<double>& values, DType dtype) {
  return tensor(values, {.dtype = dtype}).array();
}

std::vector<double> values(const Array& array) { return Tensor(array).to_vector<double>(); }

struct UnscaleCase {
  const char* what;
  DType dtype;
  std::vector<double> before;
  double inv_scale;
  std::vector<double> after;
  double found_inf;           // gradients as they are
  double found_inf_unscaled;  // gradients after unscaling
};

const UnscaleCase kUnscales[] = {
    {"f32", kFloat, {1, -2, 0.5}, 0.5, {0.5, -1, 0.25}, 0, 0},
    {"f64 by the float32 inverse", kDouble, {1}, 1.0 / 3, {0.3333333432674408}, 0, 0},
    {"bf16 rounds once", kBFloat16, {3}, 1.0 / 3, {1}, 0, 0},
    {"f16", kHalf, {3}, 0.5, {1.5}, 0, 0},
    {"inf", kFloat, {1, kInfinite}, 0.5, {0.5, kInfinite}, 1, 1},
    {"-inf", kFloat, {-kInfinite, 4}, 0.5, {-kInfinite, 2}, 1, 1},
    {"NaN", kFloat, {kNaN, 4}, 0.5, {kNaN, 2}, 1, 1},
    {"NaN with inverse 1", kFloat, {kNaN, 4}, 1, {kNaN, 4}, 1, 1},
    {"f16 inf", kHalf, {kInfinite}, 0.5, {kInfinite}, 1, 1},
    {"bf16 NaN", kBFloat16, {kNaN}, 0.5, {kNaN}, 1, 1},
    {"f64 beyond float is finite", kDouble, {1e300}, 0.5, {5e299}, 0, 0},
    // The check is on the scaled value, as in PyTorch: overflow in unscaling itself is only noticed
    // with check_after_unscale.
    {"overflow by unscaling", kFloat, {1e30}, 1e20, {kInfinite}, 0, 1},
    {"f16 overflow by unscaling", kHalf, {6e4}, 2, {kInfinite}, 0, 1},
    {"f16 just fits", kHalf, {32752}, 2, {65504}, 0, 0},
    {"f16 rounds to infinity", kHalf, {52416}, 1.25, {kInfinite}, 0, 1},  // 65520
    {"bf16 rounds to infinity", kBFloat16, {0x1p127}, 0x1.ffp0, {kInfinite}, 0, 1},
    {"bf16 just fits", kBFloat16, {0x1p127}, 0x1.fep0, {0x1.fep127}, 0, 0},
    {"bf16 overflow by unscaling", kBFloat16, {0x1.fep127}, 1.004, {kInfinite}, 0, 1},
    {"inverse of an infinite scale", kFloat, {1, kInfinite}, 0, {0, kNaN}, 1, 1},
    {"inverse of a zero scale", kFloat, {0, 0}, kInfinite, {kNaN, kNaN}, 0, 1},
    {"no elements", kFloat, {}, 0.5, {}, 0, 0},
};

void expect_same(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i])))
        << "element " << i << ": " << got[i] << ", expected " << expected[i];
  }
}

TEST(Unscale, ChecksAndMultiplies) {
  for (const UnscaleCase& c : kUnscales) {
    for (const Check check : {Check::scaled, Check::unscaled}) {
      SCOPED_TRACE(std::string(c.what) + (check == Check::unscaled ? ", unscaled" : ""));
      const double expected = check == Check::scaled ? c.found_inf : c.found_inf_unscaled;
      const Array inv_scale = full({}, c.inv_scale, {.dtype = kFloat}).array();
      const std::vector<Array> grads{array(c.before, c.dtype)};

      const Array only_checked = full({}, 0, {.dtype = kFloat}).array();
      check_finite(grads, inv_scale, only_checked, check);
      EXPECT_EQ(only_checked.item(), expected);
      expect_same(values(grads[0]), values(array(c.before, c.dtype)));

      const Array found_inf = full({}, 0, {.dtype = kFloat}).array();
      unscale(grads, inv_scale, found_inf, check);
      EXPECT_EQ(found_inf.item(), expected);
      expect_same(values(grads[0]), c.after);
    }
  }
}

TEST(Unscale, NeverClearsFoundInf) {
  const Array found_inf = full({}, 1, {.dtype = kFloat}).array();
  const std::vector<Array> grads{array({1, 2}, kFloat)};
  unscale(grads, full({}, 0.5, {.dtype = kFloat}).array(), found_inf, Check::scaled);
  EXPECT_EQ(found_inf.item(), 1);
}

TEST(Unscale, AcceptsListsOfSeveralDTypes) {
  const std::vector<Array> grads{array({2}, kFloat), array({4}, kDouble), array({6}, kBFloat16)};
  const Array found_inf = full({}, 0, {.dtype = kFloat}).array();
  unscale(grads, full({}, 0.5, {.dtype = kFloat}).array(), found_inf, Check::scaled);
  EXPECT_EQ(grads[0].item(), 1);
  EXPECT_EQ(grads[1].item(), 2);
  EXPECT_EQ(grads[2].item(), 3);
  unscale({}, full({}, 0.5, {.dtype = kFloat}).array(), found_inf, Check::scaled);
  EXPECT_EQ(found_inf.item(), 0);
}

// A caller of unscale_() reads the gradients next, whatever found_inf is.
TEST(Unscale, GradientsAfterABadOneAreUnscaledToo) {
  const std::vector<Array> grads{array({kNaN}, kFloat), array({4}, kFloat), array({6}, kDouble)};
  const Array found_inf = full({}, 0, {.dtype = kFloat}).array();
  unscale(grads, full({}, 0.5, {.dtype = kFloat}).array(), found_inf, Check::scaled);
  EXPECT_EQ(found_inf.item(), 1);
  EXPECT_EQ(grads[1].item(), 2);
  EXPECT_EQ(grads[2].item(), 3);
}

TEST(Unscale, StridedViewsChangeOnlyTheirElements) {
  const Array whole = full({4, 6}, 8, {.dtype = kFloat}).array();
  const std::vector<Array> grads{whole.slice(1, 0, 6, 2).transpose(0, 1)};
  unscale(grads, full({}, 0.5, {.dtype = kFloat}).array(), full({}, 0, {.dtype = kFloat}).array(),
          Check::scaled);
  const std::vector<double> elements = Tensor(whole).to_vector<double>();
  for (std::size_t i = 0; i < elements.size(); ++i) EXPECT_EQ(elements[i], i % 2 == 0 ? 4 : 8);
}

TEST(Unscale, IsAnInPlaceChange) {
  const std::vector<Array> grads{array({1}, kFloat)};
  const std::uint32_t before = grads[0].storage()->version();
  check_finite(grads, full({}, 0.5, {.dtype = kFloat}).array(),
               full({}, 0, {.dtype = kFloat}).array(), Check::scaled);
  EXPECT_EQ(grads[0].storage()->version(), before);
  unscale(grads, full({}, 0.5, {.dtype = kFloat}).array(), full({}, 0, {.dtype = kFloat}).array(),
          Check::scaled);
  EXPECT_NE(grads[0].storage()->version(), before);
}

// One bad element at any position of an array longer than a tile, a task of the pool and a pack.
TEST(Unscale, FindsASingleBadElement) {
  constexpr std::int64_t kSize = 3 * 32768 + 1024 + 13;
  const Array inv_scale = full({}, 0.5, {.dtype = kFloat}).array();
  for (const DType dtype : {kFloat, kDouble, kBFloat16}) {
    const std::vector<Array> grads{full({kSize}, 2, {.dtype = dtype}).array()};
    for (const std::int64_t at : {std::int64_t{0}, std::int64_t{1023}, std::int64_t{32768},
                                  std::int64_t{65535}, kSize - 1}) {
      const Array element = grads[0].select(0, at);
      element.fill_(kNaN);
      const Array found_inf = full({}, 0, {.dtype = kFloat}).array();
      check_finite(grads, inv_scale, found_inf, Check::scaled);
      EXPECT_EQ(found_inf.item(), 1) << name(dtype) << " at " << at;
      element.fill_(2);
      const Array good = full({}, 0, {.dtype = kFloat}).array();
      check_finite(grads, inv_scale, good, Check::scaled);
      EXPECT_EQ(good.item(), 0);
    }
    unscale(grads, inv_scale, full({}, 0, {.dtype = kFloat}).array(), Check::scaled);
    EXPECT_EQ(values(grads[0]), std::vector<double>(kSize, 1));
  }
}

}  // namespace
}  // namespace halfgrad::detail
