#include <map>
#include <stdexcept>

#include <halfgrad/testing/formulas/elementwise.h>
#include <halfgrad/testing/kernel_ops/judged_op.h>

namespace halfgrad::testing::detail {
namespace {

using Judge = void (*)(KernelOp&);

template <class F>
constexpr Judge each(F) {
  return judge_by<formulas::Each<F>>;
}

const std::map<std::string, Judge>& elementwise_judges() {
  namespace f = formulas;
  static const std::map<std::string, Judge> judges = {
      {"add", each(f::kAdd)},
      {"sub", each(f::kSub)},
      {"mul", each(f::kMul)},
      {"div", each(f::kDiv)},
      {"remainder", each(f::kRemainder)},
      {"pow", each(f::kPow)},
      {"lerp", each(f::kLerp)},
      {"addcmul", each(f::kAddCMul)},
      {"addcdiv", each(f::kAddCDiv)},
      {"exp", each(f::kExp)},
      {"exp2", each(f::kExp2)},
      {"expm1", each(f::kExpm1)},
      {"log", each(f::kLog)},
      {"log2", each(f::kLog2)},
      {"log10", each(f::kLog10)},
      {"log1p", each(f::kLog1p)},
      {"sqrt", each(f::kSqrt)},
      {"rsqrt", each(f::kRsqrt)},
      {"reciprocal", each(f::kReciprocal)},
      {"square", each(f::kSquare)},
      {"sin", each(f::kSin)},
      {"cos", each(f::kCos)},
      {"tan", each(f::kTan)},
      {"tanh", each(f::kTanh)},
      {"erf", each(f::kErf)},
      {"sigmoid", each(f::kSigmoid)},
      {"leaky_relu", each(f::kLeakyRelu)},
      {"elu", each(f::kElu)},
      {"gelu", each(f::kGelu)},
      {"silu", each(f::kSilu)},
      {"softplus", each(f::kSoftplus)},
      {"dropout", judge_by<f::Dropout>},
  };
  return judges;
}

}  // namespace

void judge_elementwise(KernelOp& op) {
  const auto judge = elementwise_judges().find(op.name);
  if (judge == elementwise_judges().end()) {
    throw std::logic_error("kernel_op: expected a formula for " + op.name + ", which rounds");
  }
  judge->second(op);
}

}  // namespace halfgrad::testing::detail
