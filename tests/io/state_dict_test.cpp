#include <halfgrad/io/state_dict.h>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/tests/folder.h>

namespace halfgrad::io {
namespace {

TEST(StateDictFile, CarriesAModelFromProgramToProgram) {
  const tests::Folder folder;
  nn::Standardize scale(2);
  scale.fit(tensor({{1.0, 2.0}, {3.0, 7.0}}));
  const nn::Sequential model(scale, nn::Linear(2, 3), nn::ReLU());
  save_state_dict(folder / "net.safetensors", model.state_dict(), {{"classes", "a,b,c"}});

  nn::Sequential other(nn::Standardize(2), nn::Linear(2, 3), nn::ReLU());
  other.load_state_dict(load_state_dict(folder / "net.safetensors"));
  const Tensor x = tensor({{0.5, -1.0}});
  EXPECT_TRUE(equal(model(x), other(x)));

  const Safetensors file = load_safetensors(folder / "net.safetensors");
  EXPECT_EQ(file.metadata.at("classes"), "a,b,c");
  EXPECT_TRUE(equal(file.tensors.at("1.bias"), model.state_dict()["1.bias"]));
  EXPECT_EQ(file.tensors.size(), 4U);
}

}  // namespace
}  // namespace halfgrad::io
