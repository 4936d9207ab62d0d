#include <halfgrad/compat/torch.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/message_of.h>

/// Lines of programs for libtorch that did not compile, or that did something else.
namespace {

namespace torch = halfgrad;
namespace c10 = halfgrad;
namespace nn = torch::nn;
using torch::message_of;

struct SmallNetImpl : nn::Module {
  nn::Linear hidden = register_module("hidden", nn::Linear(2, 3));
  torch::Tensor offset = register_buffer("offset", torch::ones({3}));
};
TORCH_MODULE(SmallNet);

template <class T>
std::string stream_text(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

struct QuietBlockImpl : nn::Module {
  nn::Linear fc = register_module("fc", nn::Linear(2, 3));
  torch::Tensor forward(const torch::Tensor& x) { return fc->forward(x); }
  void pretty_print(std::ostream& out) const override { out << "QuietBlock(width=3)"; }
};
TORCH_MODULE(QuietBlock);

TEST(MovedPrograms, PrintTheirOwnTextOfAModule) {
  EXPECT_EQ(stream_text(QuietBlock()),
            "QuietBlock(width=3)(\n  (fc): Linear(in_features=2, out_features=3, bias=true)\n)");
  EXPECT_EQ(torch::str(*QuietBlock()),
            "QuietBlock(width=3)(\n  (fc): torch::nn::Linear(in_features=2, out_features=3, "
            "bias=true)\n)");
  EXPECT_EQ(stream_text(nn::Sequential(QuietBlock())),
            "Sequential(\n  (0): QuietBlock(width=3)(\n"
            "    (fc): Linear(in_features=2, out_features=3, bias=true)\n  )\n)");
}

// A frozen layer: it stays in evaluation mode whatever its parent does.
struct FrozenImpl : nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return x; }
  void train(bool /*on*/ = true) override { nn::Module::train(false); }
};
TORCH_MODULE(Frozen);

TEST(MovedPrograms, OverrideTrain) {
  Frozen frozen;
  nn::Dropout dropout;
  nn::Sequential net(nn::Sequential(frozen), dropout);
  net->eval();
  net->train();
  EXPECT_FALSE(frozen->is_training());
  EXPECT_TRUE(dropout->is_training());
  EXPECT_TRUE(net->is_training());
}

TEST(MovedPrograms, FillWithATensor) {
  const torch::Tensor value = torch::tensor(3.0).requires_grad_();
  const torch::Tensor x = torch::zeros({2, 2});
  x.fill_(value);
  EXPECT_TRUE(x.equal(torch::full({2, 2}, 3.0F)));
  x.sum().backward();
  EXPECT_EQ(value.grad().item<double>(), 4);
  EXPECT_EQ(message_of([&] { x.fill_(torch::ones({1})); }),
            "fill_: expected a 0-dim tensor, got one of [1]");
}

TEST(MovedPrograms, SwitchGradModeByItsNameInAutograd) {
  torch::autograd::GradMode::set_enabled(false);
  EXPECT_FALSE(torch::GradMode::is_enabled());
  torch::autograd::GradMode::set_enabled(true);
  const torch::autograd::AutoGradMode off(false);
  EXPECT_FALSE(torch::autograd::GradMode::is_enabled());
}

TEST(MovedPrograms, UseTheNormOfClippedGradientsAsANumber) {
  const torch::Tensor p = torch::zeros({2}).requires_grad_();
  p.set_grad(torch::tensor({3.0F, 4.0F}));
  const double norm = nn::utils::clip_grad_norm_(p, 2.5);
  EXPECT_EQ(norm, 5);
  EXPECT_NEAR(p.grad()[1].item<double>(), 2, 1e-6);
  double total = 0;
  total += nn::utils::clip_grad_norm_({p}, 1e9);
  EXPECT_NEAR(total, 2.5, 1e-6);
  const auto again = nn::utils::clip_grad_norm_(std::vector<torch::Tensor>{p}, 1e9);
  EXPECT_TRUE(again > 2 && again < 3 && !std::isnan(again));
  EXPECT_EQ(again.item<float>(), again.tensor().item<float>());
  EXPECT_EQ(stream_text(again), stream_text(static_cast<double>(again)));
  static_assert(!std::is_trivially_copyable_v<std::remove_const_t<decltype(again)>>,
                "printf would print the bytes of the object");
}

TEST(MovedPrograms, CatchExceptionsByTheirNames) {
  EXPECT_THROW(torch::ones({2}).sum(5), c10::IndexError);
  EXPECT_THROW(torch::ones({2})[2], c10::IndexError);
  EXPECT_THROW(torch::ones({2}).view({3}), c10::ValueError);
  EXPECT_THROW(TORCH_CHECK_TYPE(false, "no"), c10::TypeError);
  EXPECT_THROW(TORCH_CHECK_NOT_IMPLEMENTED(false, "no"), std::runtime_error);
  try {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "mode ", 3);
    FAIL() << "expected an exception";
  } catch (const c10::NotImplementedError& error) {
    EXPECT_EQ(error.msg(), "mode 3");
  }
}

TEST(MovedPrograms, CheckPairsOfValues) {
  const int n = 3;
  EXPECT_NO_THROW(TORCH_CHECK_EQ(n, 3));
  EXPECT_NO_THROW(TORCH_CHECK_NE(n, 4));
  EXPECT_NO_THROW(TORCH_CHECK_LT(n, 4));
  EXPECT_NO_THROW(TORCH_CHECK_LE(n, 3));
  EXPECT_NO_THROW(TORCH_CHECK_GT(n, 2));
  EXPECT_EQ(message_of([&] { TORCH_CHECK_GE(n, 2 + 2); }), "expected n >= 2 + 2, got 3 and 4");
}

TEST(MovedPrograms, SaveModulesInArchives) {
  const SmallNet net;
  torch::serialize::OutputArchive output;
  net->save(output);
  output.write("epoch", torch::IValue(7));
  output.write("lr", torch::IValue(0.5));
  output.write("best", torch::IValue(true));
  output.write("name", torch::IValue("mlp"));
  std::stringstream stream;
  output.save_to(stream);
  torch::serialize::InputArchive input;
  input.load_from(stream);
  SmallNet other;
  other->load(input);
  EXPECT_TRUE(other->hidden->weight.equal(net->hidden->weight));
  torch::IValue epoch, lr, best, name, missing;
  input.read("epoch", epoch);
  input.read("lr", lr);
  input.read("best", best);
  EXPECT_TRUE(input.try_read("name", name));
  EXPECT_EQ(epoch.toInt(), 7);
  EXPECT_EQ(lr.toDouble(), 0.5);
  EXPECT_TRUE(best.toBool());
  EXPECT_EQ(name.toStringRef(), "mlp");
  EXPECT_EQ(epoch.toTensor().dtype(), torch::kInt64);
  EXPECT_FALSE(input.try_read("nothing", missing));
  EXPECT_TRUE(missing.isNone());
  EXPECT_EQ(message_of([&] { static_cast<void>(lr.toInt()); }),
            "toInt: expected an integer (0-dim, int64), got a tensor of float64 with sizes []");
  EXPECT_EQ(message_of([&] { static_cast<void>(missing.toBool()); }),
            "toBool: expected a truth value (0-dim, bool), got no value");
}

TEST(MovedPrograms, StreamIntoArchives) {
  const SmallNet net;
  torch::serialize::OutputArchive output;
  output << net;
  std::stringstream stream;
  output.save_to(stream);
  torch::serialize::InputArchive input;
  input.load_from(stream);
  SmallNet other;
  torch::NoGradGuard no_grad;
  other->offset.zero_();
  input >> other;
  EXPECT_TRUE(other->offset.equal(net->offset));
}

// A map without entries would be a wrong answer: state().clear() would reset nothing.
TEST(MovedPrograms, AskTheLibrarysOptimizersForStatesOfAParameter) {
  const torch::Tensor w = torch::ones({2}).requires_grad_();
  torch::optim::SGD sgd({w}, torch::optim::SGDOptions(0.1).momentum(0.9));
  EXPECT_EQ(message_of([&] { sgd.state().clear(); }),
            "state: expected an optimizer with options of its own, got SGD; its state of a "
            "parameter is state(parameter)");
  w.sum().backward();
  sgd.step();
  EXPECT_EQ(sgd.state(w).count("momentum_buffer"), 1);
}

TEST(MovedPrograms, PrintWhatAPlateauChanges) {
  const torch::Tensor w = torch::ones({2}).requires_grad_();
  torch::optim::SGD sgd({w}, 0.5);
  using Scheduler = torch::optim::ReduceLROnPlateauScheduler;
  Scheduler scheduler(sgd, Scheduler::min, 0.5F, 0, 1e-4, Scheduler::rel, 0,
                      std::vector<float>{0.125F}, 1e-8, /*verbose=*/true);
  testing::internal::CaptureStdout();
  for (int i = 0; i < 5; ++i) scheduler.step(1);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "Epoch 2: reducing learning rate of group 0 to 0.25\n"
            "Epoch 3: reducing learning rate of group 0 to 0.125\n");
  EXPECT_EQ(sgd.param_groups()[0].get_lr(), 0.125);
}

TEST(MovedPrograms, SaveVectorsAndTextsInAContext) {
  torch::autograd::AutogradContext context;
  context.saved_data["mode"] = "tanh";
  context.saved_data["sizes"] = std::vector<std::int64_t>{2, 3};
  context.saved_data["rates"] = std::vector<double>{0.5};
  context.saved_data["list"] = std::vector<torch::Tensor>{torch::ones({2})};
  EXPECT_EQ(context.saved_data["mode"].toStringRef(), "tanh");
  EXPECT_EQ(context.saved_data["sizes"].toIntVector(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(context.saved_data["rates"].toDoubleVector(), std::vector<double>{0.5});
  EXPECT_EQ(context.saved_data["list"].toTensorVector().size(), 1);
}

struct Total : torch::data::transforms::Collation<int, std::vector<int>> {
  int apply_batch(std::vector<int> batch) override {
    return std::accumulate(batch.begin(), batch.end(), 0);
  }
};

TEST(MovedPrograms, NameTheTypeOfABatchAndUseArraysAsShapes) {
  EXPECT_EQ(Total().apply_batch({1, 2, 3}), 6);
  const std::array<std::int64_t, 2> shape{2, 3};
  EXPECT_EQ(torch::zeros(shape).sizes(), (torch::Shape{2, 3}));
}

// The sum of the second derivatives of a network with respect to its input.
torch::Tensor laplacian(nn::Sequential& net) {
  const torch::Tensor x = torch::tensor({{0.5, -0.2}}, torch::kDouble).requires_grad_();
  const torch::Tensor slope =
      torch::autograd::grad({net->forward(x).sum()}, {x}, {}, true, true)[0];
  torch::Tensor sum = torch::zeros({}, torch::kDouble);
  for (int i = 0; i < 2; ++i) {
    sum = sum + torch::autograd::grad({slope[0][i]}, {x}, {}, true, true)[0][0][i];
  }
  return sum;
}

TEST(MovedPrograms, TrainByTheLaplacianOfANetwork) {
  nn::Sequential net(nn::Linear(2, 4), nn::SiLU(), nn::LayerNorm(nn::LayerNormOptions({4})),
                     nn::Linear(4, 1));
  net->to(torch::kDouble);
  const torch::Tensor weight = net[0]->as<nn::Linear>()->weight;
  {
    const torch::NoGradGuard no_grad;
    int k = 0;
    for (const torch::Tensor& p : net->parameters()) {
      p.copy_((torch::arange(p.numel(), torch::kDouble) * 0.37 * ++k).sin().view(p.sizes()) * 0.4);
    }
  }
  laplacian(net).backward();
  for (std::int64_t i = 0; i < weight.numel(); ++i) {
    constexpr double h = 1e-5;
    const auto moved = [&](double by) {
      {
        const torch::NoGradGuard no_grad;
        weight.view(-1)[i] += by;
      }
      return laplacian(net).item<double>();
    };
    const double high = moved(h), low = moved(-2 * h);
    moved(h);
    EXPECT_NEAR(weight.grad().view(-1)[i].item<double>(), (high - low) / (2 * h), 1e-6);
  }
}

TEST(MovedPrograms, AskAndPrintTensors) {
  torch::Tensor x = torch::tensor({0.5});
  EXPECT_TRUE(x.is_nonzero());
  EXPECT_FALSE(torch::is_nonzero(x * 0));
  EXPECT_TRUE(message_of([&] { torch::ones({2}).is_nonzero(); }).starts_with("is_nonzero: "));
  EXPECT_FALSE(x.is_sparse() || x.is_quantized());
  testing::internal::CaptureStdout();
  x.print();
  torch::print(x);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), stream_text(x) + "\n" + stream_text(x) + "\n");
  std::ostringstream out;
  torch::print(out, x, 40);
  EXPECT_EQ(out.str(), stream_text(x));
  const torch::Tensor other = x;
  x.reset();
  EXPECT_FALSE(x.defined());
  EXPECT_TRUE(other.defined());
  EXPECT_EQ(stream_text(std::vector<std::string>{"a", "b"}), "a b");
  const auto accessor = other.accessor<float, 1>();
  EXPECT_EQ(accessor.sizes()[0], 1);
  EXPECT_EQ(accessor.strides()[0], 1);
}

}  // namespace
