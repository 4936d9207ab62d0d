#include <halfgrad/nn/module.h>

#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/nn/linear.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::nn {
namespace {

using Names = std::vector<std::string>;

struct Scale : Callable<Scale> {
  explicit Scale(std::int64_t n) : Callable("Scale", "n=" + std::to_string(n)) {
    factor = register_parameter("factor", ones({n}));
    mean = register_buffer("mean", zeros({n}));
    calls = register_buffer("calls", zeros({}, {.dtype = kInt64}));
  }
  Tensor forward(const Tensor& x) const { return x * factor + mean; }

  Tensor factor, mean, calls;
};

struct Net : Callable<Net> {
  Net() : Callable("Net") {}
  Tensor forward(const Tensor& x) const { return scale(output(x)) + shift; }

  Linear output = register_module("output", Linear(3, 2));
  Scale scale = register_module("scale", Scale(2));
  Tensor shift = register_parameter("shift", zeros({2}));
};

struct Wrong : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Calls its registered child or an unregistered module, or throws.
struct Outer : Callable<Outer> {
  Outer() : Callable("Outer") {}
  Tensor forward(const Tensor& x) const {
    if (x.dim() == 1) throw Wrong("an error of a derived class");
    if (x.dim() == 2) throw std::runtime_error("not about an argument");
    return x.dim() == 3 ? net(x) : unregistered(x);
  }

  Net net = register_module("net", Net());
  Linear unregistered{3, 2};
};

TEST(Module, ErrorsOfACallNameTheInnermostModule) {
  const std::string linear = message_of<std::invalid_argument>([] {
    Linear(3, 2)(ones({1, 1, 4}));
  });
  EXPECT_TRUE(linear.starts_with("linear: ")) << linear;
  const Outer outer;
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              outer(ones({1, 1, 4}));
            }),
            "Outer.net.output (Linear): " + linear);
  const std::string of_shape = message_of<std::invalid_argument>([] {
    Linear(3, 2)(ones({1, 1, 1, 4}));
  });
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              outer(ones({1, 1, 1, 4}));
            }),
            of_shape)
      << "a module that is not registered has no path";
  EXPECT_EQ(message_of<Wrong>([&] { outer(ones({3})); }), "an error of a derived class");
  EXPECT_EQ(message_of<std::runtime_error>([&] { outer(ones({1, 3})); }), "not about an argument");
}

TEST(Module, NamesFollowRegistration) {
  const Net net;
  EXPECT_EQ(net.named_parameters().keys(),
            (Names{"shift", "output.weight", "output.bias", "scale.factor"}));
  EXPECT_EQ(net.named_parameters(false).keys(), (Names{"shift"}));
  EXPECT_EQ(net.named_buffers().keys(), (Names{"scale.mean", "scale.calls"}));
  EXPECT_TRUE(net.named_buffers(false).is_empty());
  EXPECT_EQ(net.named_children().keys(), (Names{"output", "scale"}));
  EXPECT_EQ(net.named_modules().keys(), (Names{"", "output", "scale"}));
  EXPECT_EQ(net.state_dict().keys(), (Names{"shift", "output.weight", "output.bias", "scale.factor",
                                            "scale.mean", "scale.calls"}));
  for (const Tensor& parameter : net.parameters()) EXPECT_TRUE(parameter.requires_grad());
  for (const Tensor& buffer : net.buffers()) EXPECT_FALSE(buffer.requires_grad());
}

TEST(Module, CopiesAreTheSameModule) {
  Net net;
  Net copy = net;
  EXPECT_TRUE(copy.is_same(net));
  EXPECT_TRUE(copy.output.weight.is_same(net.parameters()[1]));
  copy.register_buffer("late", ones({1}));
  EXPECT_TRUE(net.named_buffers().contains("late"));
  EXPECT_FALSE(Net().is_same(net));
}

TEST(Module, SharedTensorsAreListedOnceAndSavedUnderEachName) {
  Module model("Tied");
  const Linear layer = model.register_module("a", Linear(2, 2));
  model.register_module("b", layer);
  model.register_parameter("own", layer.weight);
  EXPECT_EQ(model.named_parameters().keys(), (Names{"own", "a.bias"}));
  EXPECT_EQ(model.named_modules().keys(), (Names{"", "a"}));
  EXPECT_EQ(model.state_dict().keys(), (Names{"own", "a.weight", "a.bias", "b.weight", "b.bias"}));
}

TEST(Module, RefusesNamesThatWouldBeAmbiguous) {
  Net net;
  for (const char* name : {"", "a.b", "shift", "scale"}) {
    const std::string got = ": expected a new name without dots, got \"" + std::string(name);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { net.register_parameter(name, ones({1})); }),
              "register_parameter" + got + "\" in Net");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { net.register_buffer(name, ones({1})); }),
              "register_buffer" + got + "\" in Net");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { net.register_module(name, Net()); }),
              "register_module" + got + "\" in Net");
  }
}

TEST(Module, RefusesToContainItself) {
  Module outer("Outer"), middle("Middle"), inner("Inner");
  outer.register_module("middle", middle);
  middle.register_module("inner", inner);
  for (const Module& module : {outer, middle, inner}) {
    EXPECT_EQ(message_of<std::invalid_argument>([&] { inner.register_module("loop", module); }),
              "register_module: expected a module that does not contain this Inner, got \"loop\", "
              "which does");
  }
  EXPECT_EQ(outer.named_modules().keys(), (Names{"", "middle", "middle.inner"}));
}

TEST(Module, TrainSetsTheModeOfEveryModule) {
  Net net;
  for (const bool training : {false, true}) {
    net.train(training);
    for (const auto& module : net.modules()) EXPECT_EQ(module->is_training(), training);
    EXPECT_EQ(net.scale.is_training(), training);
  }
  net.eval();
  EXPECT_FALSE(net.output.is_training());
}

TEST(Module, ConvertingKeepsTheHandles) {
  Net net;
  const std::vector<Tensor> before = net.parameters();
  net.output.weight.set_grad(ones({2, 3}));
  for (const DType dtype : {kFloat16, kBFloat16, kFloat64}) {
    net.to(dtype);
    EXPECT_EQ(net.output.weight.grad().dtype(), dtype);
    EXPECT_EQ(net.output.weight.grad().to_vector<double>(), std::vector<double>(6, 1.0));
    EXPECT_FALSE(net.output.bias.grad().defined());
    EXPECT_EQ(net.scale.mean.dtype(), dtype);
    EXPECT_EQ(net.scale.calls.dtype(), kInt64);
    const std::vector<Tensor> after = net.parameters();
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_TRUE(after[i].is_same(before[i]));
      EXPECT_EQ(before[i].dtype(), dtype);
      EXPECT_TRUE(before[i].is_leaf() && before[i].requires_grad());
    }
  }
  net.to(Device("cpu"));
  EXPECT_TRUE(net.parameters()[0].is_same(before[0]));
  EXPECT_EQ(message_of<std::invalid_argument>([&] { net.to(kInt64); }),
            "Module::to: expected a floating-point dtype, got int64");
}

TEST(Module, MovesToTheGpuAndBack) {
  if (!cuda::is_available()) GTEST_SKIP() << "needs a GPU";
  Net net;
  const std::vector<float> weight = net.output.weight.to_vector<float>();
  net.to(kCUDA);
  for (const auto& [name, tensor] : net.state_dict())
    EXPECT_TRUE(tensor.device().is_cuda()) << name;
  EXPECT_EQ(net.output.weight.to_vector<float>(), weight);
  net.to(kCPU);
  EXPECT_EQ(net.output.weight.to_vector<float>(), weight);
}

TEST(Module, ZeroGradDropsOrClears) {
  Net net;
  const Tensor gradient = ones({2});
  net.shift.set_grad(gradient);
  net.zero_grad(false);
  EXPECT_EQ(net.shift.grad().array().data(), gradient.array().data())
      << "captured graphs hold this address";
  EXPECT_EQ(net.shift.grad().to_vector<double>(), (std::vector<double>{0, 0}));
  EXPECT_FALSE(net.output.bias.grad().defined());
  net.zero_grad();
  EXPECT_FALSE(net.shift.grad().defined());
}

TEST(Module, GradientsReachEveryParameter) {
  const Net net;
  const Tensor x = ones({4, 3});
  net(x).sum().backward();
  for (const auto& [name, parameter] : net.named_parameters()) {
    ASSERT_TRUE(parameter.grad().defined()) << name;
    for (const double g : parameter.grad().to_vector<double>()) EXPECT_NE(g, 0) << name;
  }
}

TEST(Module, AppliesToParentsFirst) {
  Net net;
  Names names;
  net.apply([&](Module& module) { names.push_back(module.name()); });
  EXPECT_EQ(names, (Names{"Net", "Linear", "Scale"}));
}

TEST(Module, PrintsItsNesting) {
  Module model("Outer", "depth=2");
  model.register_module("net", Net());
  std::ostringstream out;
  out << model << '\n' << Module();
  EXPECT_EQ(out.str(),
            "Outer(depth=2\n"
            "  (net): Net(\n"
            "    (output): Linear(in_features=3, out_features=2, bias=true)\n"
            "    (scale): Scale(n=2)\n"
            "  )\n"
            ")\n"
            "Module()");
}

TEST(StateDict, SharesStorageAndNeedsNoGradient) {
  Net net;
  const StateDict state = net.state_dict();
  EXPECT_FALSE(state["shift"].requires_grad());
  state["shift"].array().fill_(7);
  EXPECT_EQ(net.shift.to_vector<double>(), (std::vector<double>{7, 7}));
  EXPECT_THROW(state["shif"], std::out_of_range);
}

TEST(StateDict, LoadingCopiesAndConverts) {
  Net source;
  Net target;
  target.to(kFloat64);
  source.scale.calls.array().fill_(3);
  const Tensor handle = target.output.weight;
  const auto version = handle._version();
  const IncompatibleKeys keys = target.load_state_dict(source.state_dict());
  EXPECT_TRUE(keys.missing_keys.empty() && keys.unexpected_keys.empty());
  EXPECT_EQ(handle.to_vector<double>(), source.output.weight.to_vector<double>());
  EXPECT_EQ(handle.dtype(), kFloat64);
  EXPECT_GT(handle._version(), version);
  EXPECT_EQ(target.scale.calls.item<std::int64_t>(), 3);
  source.shift.array().fill_(1);
  EXPECT_EQ(target.shift.to_vector<double>(), (std::vector<double>{0, 0}));
}

const StateDict kMismatched{{"shift", full({2}, 5.0)},        {"output.weight", ones({3, 3})},
                            {"scale.factor", full({2}, 5.0)}, {"scale.mean", full({3}, 5.0)},
                            {"old.weight", ones({1})},        {"old.bias", ones({1})}};

TEST(StateDict, StrictLoadingListsEverythingAndChangesNothing) {
  Net net;
  EXPECT_EQ(message_of<std::invalid_argument>([&] { net.load_state_dict(kMismatched); }),
            "load_state_dict: expected the state of this Net, got\n"
            "  missing: \"output.bias\" \"scale.calls\"\n"
            "  unexpected: \"old.weight\" \"old.bias\"\n"
            "  size mismatch for \"output.weight\": expected [2, 3], got [3, 3]\n"
            "  size mismatch for \"scale.mean\": expected [2], got [3]");
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { net.load_state_dict(kMismatched, {.strict = false}); }),
            "load_state_dict: expected the state of this Net, got\n"
            "  size mismatch for \"output.weight\": expected [2, 3], got [3, 3]\n"
            "  size mismatch for \"scale.mean\": expected [2], got [3]");
  EXPECT_EQ(net.shift.to_vector<double>(), (std::vector<double>{0, 0}));
  EXPECT_EQ(net.scale.factor.to_vector<double>(), (std::vector<double>{1, 1}));
}

TEST(StateDict, LenientLoadingReturnsMissingAndUnexpectedNames) {
  Net net;
  const StateDict state{{"shift", full({2}, 5.0)}, {"old", ones({1})}, {"scale.mean", Tensor()}};
  const IncompatibleKeys keys = net.load_state_dict(state, {.strict = false});
  EXPECT_EQ(keys.missing_keys,
            (Names{"output.weight", "output.bias", "scale.factor", "scale.mean", "scale.calls"}));
  EXPECT_EQ(keys.unexpected_keys, (Names{"old"}));
  EXPECT_EQ(net.shift.to_vector<double>(), (std::vector<double>{5, 5}));
}

TEST(OrderedDict, RefusesANameTwice) {
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              StateDict{{"a", Tensor()}, {"a", Tensor()}};
            }),
            "OrderedDict: expected a new name, got \"a\" twice");
}

}  // namespace
}  // namespace halfgrad::nn
