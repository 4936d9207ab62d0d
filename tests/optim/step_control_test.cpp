#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/optim/sgd.h>
#include <halfgrad/tests/message_of.h>

#include "every_optimizer.h"
#include "parameters.h"

namespace halfgrad::optim {
namespace {

using testing::bytes_of;
using testing::every_optimizer;
using testing::kNaN;
using testing::OptimizerCase;
using testing::parameter;
using testing::tensor_of;
using Bytes = std::vector<std::byte>;
using Values = std::vector<double>;

constexpr DType kFloatingTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16};

// 40 elements: whole SIMD registers, which the fused 16-bit SGD of PyTorch 2.6 on the CPU never
// updates, and a partial one.
Values ramp(double scale) {
  Values values;
  for (int i = 0; i < 40; ++i) values.push_back(scale * (i - 17) / 8);
  return values;
}

std::vector<Bytes> everything(const Tensor& param, const Optimizer& optimizer) {
  std::vector<Bytes> all{bytes_of(param.array()), bytes_of(param.grad().array())};
  for (const auto& [name, array] : optimizer.state(param)) all.push_back(bytes_of(array));
  return all;
}

// Two compilations of one formula may fuse different products and sums: a few roundoffs.
void expect_near(const Array& actual, const Array& expected, const char* what) {
  const Values a = Tensor(actual).to_vector<double>();
  const Values e = Tensor(expected).to_vector<double>();
  const double tolerance = 4 * roundoff(expected.dtype());
  for (std::size_t i = 0; i < e.size(); ++i) {
    EXPECT_NEAR(a[i], e[i], tolerance * std::max(1.0, std::abs(e[i]))) << what;
  }
}

Array flag(double value) { return full({}, value, {.dtype = DType::f32}).array(); }

TEST(StepControl, FoundInfKeepsEveryBit) {
  for (const OptimizerCase& c : every_optimizer()) {
    for (const DType dtype : kFloatingTypes) {
      for (const double bad : {1.0, 2.0, -1.0, 1e-30, kNaN}) {
        Tensor param = parameter(ramp(1), dtype);
        const auto optimizer = c.make({param});
        param.set_grad(tensor_of(ramp(0.5), dtype));
        optimizer->step();
        Values gradient = ramp(0.25);
        gradient[3] = kNaN;
        param.set_grad(tensor_of(gradient, dtype));
        const auto before = everything(param, *optimizer);
        const Array found_inf = flag(bad);
        const Array inv_scale = flag(0.5);
        optimizer->step({.inv_scale = &inv_scale, .found_inf = &found_inf});
        EXPECT_EQ(everything(param, *optimizer), before) << c.name << " " << dtype << " " << bad;
      }
    }
  }
}

// After a skipped first step the next one counts as the first.
TEST(StepControl, SkippedFirstStepIsForgotten) {
  for (const OptimizerCase& c : every_optimizer()) {
    for (const DType dtype : kFloatingTypes) {
      Tensor skipped = parameter(ramp(1), dtype);
      Tensor plain = parameter(ramp(1), dtype);
      const auto with_skip = c.make({skipped});
      const auto without = c.make({plain});
      const Array found_inf = flag(1);
      skipped.set_grad(tensor_of(Values(40, kNaN), dtype));
      with_skip->step({.found_inf = &found_inf});
      found_inf.fill_(0);
      for (const double scale : {0.5, 0.25}) {
        skipped.set_grad(tensor_of(ramp(scale), dtype));
        plain.set_grad(tensor_of(ramp(scale), dtype));
        with_skip->step({.found_inf = &found_inf});
        without->step();
      }
      EXPECT_EQ(everything(skipped, *with_skip), everything(plain, *without))
          << c.name << " " << dtype;
    }
  }
}

TEST(StepControl, UnscalesGradientsInPlace) {
  for (const OptimizerCase& c : every_optimizer()) {
    for (const DType dtype : kFloatingTypes) {
      Tensor scaled = parameter(ramp(1), dtype);
      Tensor plain = parameter(ramp(1), dtype);
      const auto optimizer = c.make({scaled});
      const auto reference = c.make({plain});
      const Array inv_scale = flag(1.0 / 1024);
      for (const double scale : {0.5, 0.25}) {
        scaled.set_grad(tensor_of(ramp(scale * 1024), dtype));
        plain.set_grad(tensor_of(ramp(scale), dtype));
        optimizer->step({.inv_scale = &inv_scale});
        reference->step();
      }
      EXPECT_EQ(bytes_of(scaled.grad().array()), bytes_of(plain.grad().array()));
      expect_near(scaled.array(), plain.array(), c.name);
      for (const auto& [name, array] : reference->state(plain)) {
        expect_near(optimizer->state(scaled).at(name), array, c.name);
      }
    }
  }
}

// PyTorch's GradScaler unscales a gradient for each parameter that holds it, and then steps.
TEST(StepControl, UnscalesASharedGradientBeforeAnyParameterMoves) {
  const Array inv_scale = flag(0.25);
  for (const bool one_group : {true, false}) {
    for (const double bad : {0.0, 1.0}) {
      std::vector<Tensor> params{parameter({0}), parameter({0}), parameter({0})};
      const Tensor shared = tensor_of({16});
      params[0].set_grad(shared);
      params[1].set_grad(tensor_of({16}));
      params[2].set_grad(shared);
      std::vector<ParamGroup> groups{{.params = {params[0], params[1]}}};
      if (one_group) groups[0].params.push_back(params[2]);
      if (!one_group) groups.push_back({.params = {params[2]}, .momentum = 0.5});
      SGD sgd(groups, {.lr = 1});
      const Array found_inf = flag(bad);
      sgd.step({.inv_scale = &inv_scale, .found_inf = &found_inf});
      const Values moved{params[0].item(), params[1].item(), params[2].item(), shared.item()};
      EXPECT_EQ(moved, bad != 0 ? (Values{0, 0, 0, 16}) : (Values{-1, -4, -1, 1}));
    }
  }
}

// A 16-bit parameter becomes the rounded result of the float formula.
TEST(StepControl, SixteenBitIsComputedInFloat) {
  for (const OptimizerCase& c : every_optimizer()) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      Tensor low = parameter(ramp(1), dtype);
      Tensor high = parameter(low.to_vector<double>(), DType::f32);
      const auto optimizer = c.make({low});
      const auto reference = c.make({high});
      low.set_grad(tensor_of(ramp(0.5), dtype));
      high.set_grad(tensor_of(ramp(0.5), DType::f32));
      optimizer->step();
      reference->step();
      EXPECT_EQ(bytes_of(low.array()), bytes_of(high.array().to(dtype))) << c.name << " " << dtype;
      for (const auto& [name, array] : reference->state(high)) {
        const Array& moment = optimizer->state(low).at(name);
        EXPECT_EQ(bytes_of(moment), bytes_of(array.to(moment.dtype()))) << c.name << " " << name;
      }
    }
  }
}

TEST(StepControl, StridedGradientsAndParametersAreReadInPlace) {
  for (const OptimizerCase& c : every_optimizer()) {
    const auto run = [&c](bool strided) {
      const auto matrix = [strided](double scale) {
        const Array rows = tensor_of(ramp(scale), DType::f32).array().reshape({5, 8});
        return strided ? rows.transpose(0, 1).contiguous().transpose(0, 1) : rows;
      };
      Tensor param = Tensor(matrix(1)).requires_grad_();
      param.set_grad(Tensor(matrix(0.5)));
      EXPECT_EQ(param.is_contiguous(), !strided);
      const auto optimizer = c.make({param});
      optimizer->step();
      optimizer->step();
      return bytes_of(param.array().contiguous());
    };
    EXPECT_EQ(run(true), run(false)) << c.name;
  }
}

TEST(StepControl, SameBitsForAnyNumberOfThreads) {
  const int before = get_num_threads();
  for (const OptimizerCase& c : every_optimizer()) {
    const auto run = [&c](int threads) {
      set_num_threads(threads);
      std::vector<Tensor> params;
      for (const std::int64_t size : {70000, 3, 0, 16385}) {
        const Tensor index = arange(size, {.dtype = kFloat});
        Tensor param = sin(index);
        param.requires_grad_().set_grad(cos(index));
        params.push_back(param);
      }
      const auto optimizer = c.make(params);
      for (int step = 0; step < 3; ++step) optimizer->step();
      std::vector<Bytes> result;
      for (const Tensor& param : params) result.push_back(bytes_of(param.array()));
      return result;
    };
    const auto one = run(1);
    EXPECT_EQ(run(2), one) << c.name;
    EXPECT_EQ(run(3), one) << c.name;
  }
  set_num_threads(before);
}

// set_data() can change the shape of a parameter whose gradient and state exist. Kernels index them
// as they index the parameter.
TEST(StepControl, RefusesAGradientOrAStateOfAnotherShape) {
  for (const OptimizerCase& c : every_optimizer()) {
    Tensor param = parameter(ramp(1));
    Tensor other = parameter({1});
    const auto optimizer = c.make({other, param});
    const bool has_moments = std::string(c.name) != "sgd";
    param.set_grad(parameter(ramp(1)));
    optimizer->step();
    for (const bool is_step_of_scaler : {false, true}) {
      const auto step = [&] {
        if (is_step_of_scaler) return optimizer->step(StepControl());
        optimizer->step();
      };
      param.set_grad(parameter(ramp(1)));
      other.set_grad(parameter({1}));
      param.set_data(tensor_of(Values(50, 1)));
      std::string message = message_of<std::invalid_argument>(step);
      EXPECT_TRUE(
          message.starts_with("step: expected gradients of their parameters' shapes, got "
                              "one of [40] for a parameter of [50]; "))
          << c.name << ": " << message;
      param.set_grad({});
      param.set_grad(tensor_of(Values(50, 1)));
      message = message_of<std::invalid_argument>(step);
      if (has_moments) {
        EXPECT_TRUE(message.starts_with("step: expected ")) << c.name << ": " << message;
        EXPECT_NE(message.find("of shape [50], as the parameter, in the state of "),
                  std::string::npos)
            << c.name << ": " << message;
        EXPECT_EQ(other.item(), 1) << c.name;
        EXPECT_EQ(optimizer->steps(), is_step_of_scaler ? 2 : 1) << c.name;
      } else {
        EXPECT_EQ(message, "no error") << c.name;
      }
      param.set_data(tensor_of(ramp(1)));  // the state fits again
      other.set_grad({});
      param.set_grad(tensor_of(ramp(1)));
      EXPECT_EQ(message_of(step), "no error") << c.name;
    }
  }
}

}  // namespace
}  // namespace halfgrad::optim
