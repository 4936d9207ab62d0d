#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/nn/nn.h>

namespace halfgrad::nn {
namespace {

template <class Layer, class... Options>
std::shared_ptr<Module> made(Options... options) {
  return std::make_shared<Layer>(options...);
}

TEST(DefaultDType, IsThatOfTheParametersOfEveryLayer) {
  set_default_dtype(kDouble);
  const std::vector<std::shared_ptr<Module>> layers = {
      made<Linear>(2, 3),
      made<Embedding>(4, 2),
      made<LayerNorm>(2),
      made<RMSNorm>(2),
      made<GroupNorm>(1, 2),
      made<BatchNorm1d>(2),
      made<MultiheadAttention>(4, 2),
      made<TransformerEncoderLayer>(4, 2),
      made<TransformerDecoderLayer>(4, 2),
      std::make_shared<FusedMLP>(std::vector<std::int64_t>{2, 3, 1})};
  set_default_dtype(kFloat);
  for (const auto& layer : layers) {
    ASSERT_FALSE(layer->parameters().empty()) << layer->name();
    for (const auto& [name, parameter] : layer->named_parameters()) {
      EXPECT_EQ(parameter.dtype(), kDouble) << layer->name() << " " << name;
    }
  }
}

}  // namespace
}  // namespace halfgrad::nn
