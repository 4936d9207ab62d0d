#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>

// The functions of compat/ at the ends of a dtype's range, at kinks and at ties.
namespace {

namespace torch = halfgrad;
namespace F = torch::nn::functional;
using torch::Tensor;

TEST(FunctionEdges, GumbelSoftmaxHasNoNaN) {
  for (const torch::DType dtype : {torch::kFloat, torch::kHalf, torch::kBFloat16}) {
    torch::manual_seed(0);
    const Tensor y = F::gumbel_softmax(torch::zeros({20000, 10}, dtype));
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_FALSE(y.isnan().any().item<bool>()) << dtype;
    // Each class is the largest equally often: within 5 standard deviations.
    const Tensor counts = torch::bincount(y.to(torch::kFloat).argmax(1), {}, 10);
    const double deviation = std::sqrt(20000 * 0.1 * 0.9);
    EXPECT_LT((counts - 2000).abs().max().item<double>(), 5 * deviation) << counts;
  }
}

}  // namespace
