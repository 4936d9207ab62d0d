#include <algorithm>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/inspector/op_timer.h>
#include <halfgrad/autograd/checkpoint.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/function.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/tests/amp/inspector/op_row.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad::amp {
namespace {

/// Keeps the calls as they come.
class Calls : public TimedOps {
 public:
  using TimedOps::TimedOps;
  std::vector<TimedCall> all;

  const TimedCall& of(const std::string& op, bool is_derivative = false) const {
    for (const TimedCall& call : all) {
      if (call.op == op && call.is_derivative == is_derivative) return call;
    }
    throw std::out_of_range("expected a call of " + op);
  }

 protected:
  void timed(std::span<const TimedCall> calls) override {
    all.insert(all.end(), calls.begin(), calls.end());
  }
};

std::vector<std::string> names(const std::vector<OpTime>& rows) {
  std::vector<std::string> texts;
  for (const OpTime& row : rows) {
    texts.push_back(row.op + (row.is_derivative ? " backward" : "") +
                    (row.module.empty() ? "" : " in " + row.module));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

/// Sleeps 20 ms forward and 30 ms backward.
struct Sleep : autograd::Function<Sleep> {
  static Tensor forward(autograd::AutogradContext* /*context*/, const Tensor& x) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return x.clone();
  }
  static autograd::variable_list backward(autograd::AutogradContext* /*context*/,
                                          const autograd::variable_list& grads) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    halfgrad::detail::launches += 3;
    return {grads[0] * 2};
  }
};

TEST(OpTimer, CountsCallsByOpModuleDtypeAndDirection) {
  const nn::Sequential model(nn::Linear(4, 8), nn::ReLU(), nn::Linear(8, 2));
  OpTimer timer{NamedModel(model)};
  {
    const OpObserverGuard guard(timer);
    for (int i = 0; i < 3; ++i) model(ones({5, 4})).sum().backward();
  }
  std::vector<OpTime> rows = timer.times();
  // The products, sums and views of which derivatives consist.
  std::erase_if(rows, [](const OpTime& row) { return !row.part_of.empty(); });
  EXPECT_EQ(names(rows),
            (std::vector<std::string>{"linear backward in 0", "linear backward in 2", "linear in 0",
                                      "linear in 2", "relu backward in 1", "relu in 1", "sum",
                                      "sum backward"}));
  for (const OpTime& row : rows) {
    EXPECT_EQ(row.calls, 3) << row.op;
    EXPECT_EQ(row.dtype, kFloat) << row.op;
    EXPECT_GT(row.self_seconds, 0) << row.op;
    EXPECT_GE(row.seconds, row.self_seconds) << row.op;
  }
  const OpTime first = row_of(timer, "linear");
  EXPECT_EQ(first.result_bytes, 3 * 5 * 8 * 4);
  EXPECT_GE(first.peak_live_bytes, 5 * 8 * 4);
  // The gradients of the weight and the bias; the input needs none.
  for (const OpTime& row : rows) {
    if (row.op == "linear" && row.module == "0" && row.is_backward) {
      EXPECT_EQ(row.result_bytes, 3 * (4 * 8 + 8) * 4);
    }
  }
}

TEST(OpTimer, SeparatesDtypes) {
  OpTimer timer;
  {
    const OpObserverGuard guard(timer);
    const Tensor x = ones({3}), h = x.to(kHalf);
    static_cast<void>(x + x);
    static_cast<void>(h + h);
  }
  std::vector<DType> dtypes;
  for (const OpTime& row : timer.times()) {
    if (row.op == "add") dtypes.push_back(row.dtype);
  }
  EXPECT_EQ(dtypes, (std::vector<DType>{kFloat, kHalf}));
}

TEST(OpTimer, CastsByAutocastArePartOfTheOp) {
  Calls calls;
  {
    const OpObserverGuard guard(calls);
    const Autocast autocast(default_device_type());
    static_cast<void>(matmul(ones({2, 4}), ones({4, 2})));
  }
  calls.finish();
  const TimedCall& product = calls.of("matmul");
  const TimedCall& cast = calls.of("to");
  EXPECT_EQ(cast.parent, product.id);
  EXPECT_GE(cast.start, product.start);
  EXPECT_LE(cast.start + cast.seconds, product.start + product.seconds + 1e-9);
  EXPECT_LT(product.self_seconds, product.seconds);
}

TEST(OpTimer, CompositeOpsAreNotCountedTwice) {
  OpTimer timer;
  Calls calls;
  {
    const OpObserverGuard guard(timer);
    static_cast<void>(mse_loss(ones({4}), zeros({4})));
  }
  {
    const OpObserverGuard guard(calls);
    static_cast<void>(mse_loss(ones({4}), zeros({4})));
  }
  calls.finish();
  const OpTime loss = row_of(timer, "mse_loss");
  EXPECT_TRUE(loss.is_composite);
  EXPECT_EQ(loss.calls, 1);
  double total = 0;
  for (const OpTime& row : timer.times()) total += row.self_seconds;
  EXPECT_NEAR(total, loss.seconds, 1e-9);  // every other op is part of the loss
  EXPECT_GT(timer.times().size(), 1U);
  for (const TimedCall& call : calls.all) {
    EXPECT_EQ(call.parent, call.is_composite ? -1 : calls.of("mse_loss").id) << call.op;
  }
}

TEST(OpTimer, MeasuresTimeAndLaunches) {
  OpTimer timer;
  {
    const OpObserverGuard guard(timer);
    Sleep::apply(ones({2}).requires_grad_()).sum().backward();
  }
  std::vector<OpTime> rows = timer.times();
  std::erase_if(rows, [](const OpTime& row) { return row.self_seconds < 0.250; });
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(rows[0].is_derivative);
  if (default_device_type() == kCPU) {
    EXPECT_EQ(rows[0].launches, 3);
    EXPECT_EQ(row_of(timer, "sum").launches, 0);
  }
  EXPECT_LT(row_of(timer, "sum").self_seconds, 0.250);
}

TEST(OpTimer, BackwardCallsKnowTheirForwardCalls) {
  Calls calls;
  {
    const OpObserverGuard guard(calls);
    const Tensor x = ones({3}).requires_grad_();
    x.exp().sum().backward();
  }
  calls.finish();
  EXPECT_EQ(calls.of("exp", true).forward, calls.of("exp").id);
  EXPECT_EQ(calls.of("sum", true).forward, calls.of("sum").id);
  EXPECT_LT(calls.of("sum", true).start, calls.of("exp", true).start);
}

TEST(OpTimer, LeavesOutOpsThatThrow) {
  Calls calls;
  {
    const OpObserverGuard guard(calls);
    EXPECT_THROW(matmul(ones({2, 3}), ones({2, 3})), std::invalid_argument);
    EXPECT_THROW(mse_loss(ones({2, 3}), ones({4, 5})), std::invalid_argument);
    static_cast<void>(exp(ones({2})));
  }
  calls.finish();
  ASSERT_EQ(calls.all.back().op, "exp");
  EXPECT_EQ(calls.all.back().parent, -1);
  for (const TimedCall& call : calls.all) {
    EXPECT_NE(call.op, "matmul");
    EXPECT_NE(call.op, "mse_loss");
  }
}

TEST(OpTimer, ViewsTakeNoMemory) {
  OpTimer timer;
  {
    const OpObserverGuard guard(timer);
    const Tensor x = ones({4, 6});
    static_cast<void>(x.transpose(0, 1));
    static_cast<void>(cat({x, x}, 0));
  }
  EXPECT_EQ(row_of(timer, "transpose").result_bytes, 0);
  EXPECT_EQ(row_of(timer, "cat").result_bytes, 2 * 4 * 6 * 4);
  EXPECT_GT(row_of(timer, "cat").seconds, row_of(timer, "transpose").seconds);
}

TEST(OpTimer, ACheckpointRunsItsOpsInBackward) {
  const nn::Linear linear(3, 3);
  OpTimer timer{NamedModel(nn::Sequential(linear))};
  {
    const OpObserverGuard guard(timer);
    utils::checkpoint([&](const Tensor& x) { return linear(x).exp(); },
                      ones({2, 3}).requires_grad_())
        .sum()
        .backward();
  }
  std::int64_t run_again = 0, derivatives = 0;
  for (const OpTime& row : timer.times()) {
    if (row.op != "exp" || !row.is_backward) continue;
    EXPECT_EQ(row.part_of, "checkpoint");
    ++(row.is_derivative ? derivatives : run_again);
  }
  EXPECT_EQ(run_again, 1);
  EXPECT_EQ(derivatives, 1);
  EXPECT_EQ(row_of(timer, "exp").calls, 1);
}

TEST(OpTimer, ClearForgetsRows) {
  OpTimer timer;
  {
    const OpObserverGuard guard(timer);
    static_cast<void>(exp(ones({2})));
  }
  EXPECT_FALSE(timer.times().empty());
  timer.clear();
  EXPECT_TRUE(timer.times().empty());
}

TEST(OpTimer, PrintsATable) {
  OpTimer timer;
  {
    const OpObserverGuard guard(timer);
    static_cast<void>(exp(ones({2})));
  }
  std::ostringstream text;
  text << timer;
  EXPECT_NE(text.str().find("self ms"), std::string::npos);
  EXPECT_NE(text.str().find("exp"), std::string::npos);
}

}  // namespace
}  // namespace halfgrad::amp
