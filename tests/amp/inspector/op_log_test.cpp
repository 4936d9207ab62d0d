#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/inspector/op_log.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad::amp {
namespace {

std::vector<std::string> ops(const OpLog& log) {
  std::vector<std::string> names;
  for (const OpRecord& record : log.records()) names.push_back(record.op);
  return names;
}

TEST(OpLog, RecordsWhatAutocastDecided) {
  const nn::Linear linear(4, 3);
  OpLog log{NamedModel(linear)};
  {
    const OpObserverGuard guard(log);
    const Autocast autocast(default_device_type());
    static_cast<void>(softmax(linear(ones({2, 4})), 1));
  }
  ASSERT_EQ(ops(log), (std::vector<std::string>{"linear", "softmax"}));
  const OpRecord& product = log.records()[0];
  EXPECT_EQ(product.precision, Precision::tensor_core);
  EXPECT_EQ(product.run_dtype(), kHalf);
  EXPECT_EQ(product.depth, 1);
  ASSERT_EQ(product.operands.size(), 3U);
  EXPECT_EQ(product.operands[0].parameter, "");
  EXPECT_EQ(product.operands[1].parameter, "weight");
  EXPECT_EQ(product.operands[2].parameter, "bias");
  for (const OperandRecord& operand : product.operands) {
    EXPECT_EQ(operand.given, kFloat);
    EXPECT_EQ(operand.read, kHalf);
    EXPECT_EQ(operand.cast, OperandCast::made);
    EXPECT_EQ(operand.bytes_cast(), operand.numel * 6);
  }
  EXPECT_EQ(log.records()[1].run_dtype(), kFloat);
  EXPECT_EQ(log.records()[1].operands[0].given, kHalf);
}

TEST(OpLog, ANumberDoesNotDecideInWhichDtypeAnOpRan) {
  OpLog log;
  {
    const OpObserverGuard guard(log);
    const Tensor h = ones({2, 4}, kHalf);
    static_cast<void>(h + 0.01);
    static_cast<void>(h * full({}, 2.0));
    static_cast<void>(h + ones({2, 4}));
    static_cast<void>(ones({3}, kInt64) * full({}, 0.5));
  }
  std::vector<DType> ran;
  for (const OpRecord& record : log.records()) {
    if (record.op == "add" || record.op == "mul") ran.push_back(record.run_dtype());
  }
  EXPECT_EQ(ran, (std::vector<DType>{kHalf, kHalf, kFloat, kFloat}));
  EXPECT_EQ(std::ranges::count_if(log.records(), &OpRecord::is_promoted), 1);
}

TEST(OpLog, TellsCachedCopiesFromNewOnes) {
  const nn::Linear linear(4, 4, {.bias = false});
  OpLog log{NamedModel(linear)};
  {
    const OpObserverGuard guard(log);
    const Autocast autocast(default_device_type());
    static_cast<void>(linear(linear(ones({2, 4}))));
  }
  ASSERT_EQ(log.records().size(), 2U);
  EXPECT_EQ(log.records()[0].operands[1].cast, OperandCast::made);
  EXPECT_EQ(log.records()[1].operands[1].cast, OperandCast::cached);
  EXPECT_EQ(log.records()[1].operands[1].bytes_cast(), 0);
  EXPECT_EQ(log.records()[1].operands[0].cast, OperandCast::none);
}

TEST(OpLog, KeepsConversionsOfTheUser) {
  OpLog log;
  const OpObserverGuard guard(log);
  const Tensor x = ones({3}).to(kHalf);
  static_cast<void>(add(x, x));
  EXPECT_EQ(ops(log), (std::vector<std::string>{"to", "add"}));
  EXPECT_EQ(log.records()[1].operands[0].cast, OperandCast::none);
}

TEST(OpLog, NamesTheModuleThatCalled) {
  const auto model = nn::Sequential{nn::Linear(4, 4), nn::Sequential{nn::ReLU(), nn::Linear(4, 2)}};
  OpLog log{NamedModel(model)};
  const OpObserverGuard guard(log);
  const Tensor y = model(ones({1, 4}));
  static_cast<void>(y.sum());
  std::vector<std::string> modules;
  for (const OpRecord& record : log.records()) modules.push_back(record.module);
  EXPECT_EQ(modules, (std::vector<std::string>{"0", "1.0", "1.1", ""}));
}

TEST(OpLog, FindsOpsThatAFloat32OperandPromoted) {
  OpLog log;
  {
    const OpObserverGuard guard(log);
    const Autocast autocast(default_device_type());
    const Tensor half = mm(ones({2, 2}), ones({2, 2}));
    static_cast<void>(add(half, ones({2})));
    static_cast<void>(add(half, half));
    static_cast<void>(add(half, 2));
    static_cast<void>(cat({half, ones({2, 2})}, 0));
  }
  std::vector<bool> promoted;
  for (const OpRecord& record : log.records()) promoted.push_back(record.is_promoted());
  EXPECT_EQ(promoted, (std::vector<bool>{false, true, false, false, true}));
  std::ostringstream text;
  text << log;
  EXPECT_NE(text.str().find("a float32 operand beside 16-bit ones"), std::string::npos);
}

TEST(OpLog, CountsRegionsAndLossesOfSeveralOps) {
  OpLog log;
  const OpObserverGuard guard(log);
  const Tensor x = ones({2, 2}).to(kHalf);
  log.clear();
  const Autocast outer(default_device_type());
  {
    const Autocast inner(default_device_type(), {.enabled = false});
    static_cast<void>(exp(x));
    EXPECT_EQ(log.records().back().depth, 2);
  }
  static_cast<void>(nn::functional::mse_loss(x, x));
  const OpRecord& loss = log.records().back();
  EXPECT_EQ(loss.op, "mse_loss");
  EXPECT_TRUE(loss.is_composite);
  EXPECT_EQ(loss.depth, 1);
  EXPECT_EQ(loss.operands[0].cast, OperandCast::made);
  EXPECT_EQ(loss.run_dtype(), kFloat);
}

TEST(OpLog, SumsUpByOpAndDtype) {
  const nn::Linear linear(4, 4, {.bias = false});
  OpLog log{NamedModel(linear)};
  const OpObserverGuard guard(log);
  Tensor loss;
  {
    const Autocast autocast(default_device_type());
    loss = linear(linear(ones({2, 4}))).to(kFloat).sum();
  }
  static_cast<void>(linear(ones({2, 4})));
  loss.backward();  // not recorded
  const std::vector<OpSummary> rows = log.summary();
  ASSERT_EQ(rows.size(), 4U);  // linear in float16, to, sum, linear in float32
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].casts_made, 2);
  EXPECT_EQ(rows[0].casts_cached, 1);
  EXPECT_EQ(rows[0].bytes_cast, (8 + 16) * 6);
  EXPECT_EQ(rows[3].op, "linear");
  EXPECT_EQ(rows[3].run_dtype, kFloat);
  EXPECT_EQ(rows[3].casts_made, 0);
}

TEST(OpLog, SumsUpEachStep) {
  const nn::Linear linear(2, 2, {.bias = false});
  OpLog log{NamedModel(linear)};
  for (int step = 0; step < 3; ++step) {
    const OpObserverGuard guard(log);
    const Autocast autocast(default_device_type());
    const Tensor y = linear(ones({2, 2}));
    static_cast<void>(add(y, step == 1 ? ones({2}) : y));
    log.next_step();
  }
  EXPECT_EQ(log.step(), 3);
  EXPECT_EQ(log.summary().size(), 3U) << "add in both dtypes";
  ASSERT_EQ(log.summary(1).size(), 2U);
  EXPECT_EQ(log.summary(1)[0].calls, 1);
  EXPECT_EQ(log.summary(1)[0].casts_made, 2);
  EXPECT_EQ(log.summary(1)[1].promoted, 1);
  EXPECT_TRUE(log.promoted(0).empty());
  ASSERT_EQ(log.promoted(1).size(), 1U);
  EXPECT_EQ(log.promoted(1)[0].op, "add");
  EXPECT_TRUE(log.summary(3).empty());
  log.clear();
  EXPECT_EQ(log.step(), 0);
}

TEST(OpLog, PrintsEachKindOfPromotedCallOnce) {
  OpLog log;
  const OpObserverGuard guard(log);
  const Autocast outer(default_device_type());
  const Autocast autocast(default_device_type());
  const Tensor half = mm(ones({2, 2}), ones({2, 2}));
  for (int i = 0; i < 3; ++i) static_cast<void>(add(half, ones({2})));
  std::ostringstream text;
  text << log;
  const std::size_t first = text.str().find("in 2 nested autocast regions; a float32 operand");
  ASSERT_NE(first, std::string::npos) << text.str();
  EXPECT_EQ(text.str().find("a float32 operand", first + 40), std::string::npos);
  EXPECT_NE(text.str().find("(3 calls)"), std::string::npos);
}

TEST(OpLog, Explains) {
  const auto model = nn::Sequential(nn::Linear(4, 4));
  OpLog log{NamedModel(model)};
  const OpObserverGuard guard(log);
  const Autocast autocast(default_device_type());
  static_cast<void>(model(ones({2, 4}).to(kHalf)));
  EXPECT_EQ(explain(log.records().back()),
            "linear (tensor_core) in 0: ran in float16; operand 1, 0.weight, converted from "
            "float32; operand 2, 0.bias, converted from float32");
}

}  // namespace
}  // namespace halfgrad::amp
