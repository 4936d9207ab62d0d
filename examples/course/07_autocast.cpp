// Chapter 7, autocast: the facts that ops state, the policy that turns them into casts, the cache
// of weight casts, and a stray float32 operand.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/amp/inspector/op_log.h>
#include <halfgrad/halfgrad.h>

#include "07_autocast/flow.h"
#include "course.h"
namespace hg = halfgrad;

namespace {

std::string dtype_name(hg::DType dtype) {
  std::ostringstream text;
  text << dtype;
  return text.str();
}

/// One op of each precision class, on float16 operands whose result float16 cannot hold.
struct Example {
  const char* fact;  ///< the class
  const char* call;
  std::function<hg::Tensor()> run;
};

hg::Tensor half(double value, std::int64_t count = 1) {
  return hg::full({count}, value, hg::kHalf);
}

std::vector<Example> examples() {
  return {
      {"tensor_core", "linear of 300 and 300",
       [] {
         return hg::linear(half(300).reshape({1, 1}), half(300).reshape({1, 1}));
       }},
      {"wide_range", "exp of 12", [] { return hg::exp(half(12)); }},
      {"wide_accumulate", "sum of 1024 times 100", [] { return half(100, 1024).sum(); }},
      {"widest_operand", "addcmul of float32 70000 and float16 1 * 1",
       [] { return hg::addcmul(hg::full({1}, 70000.0), half(1), half(1)); }},
      {"any", "add of 40000 and 40000", [] { return half(40000) + half(40000); }},
  };
}

void show_classes(course::Chapter& chapter) {
  std::printf("class            call                                         float16  autocast\n");
  for (const Example& example : examples()) {
    const double in_half = example.run().to(hg::kHalf).item();
    hg::Tensor result;
    {
      const hg::amp::Autocast autocast(hg::kCPU);
      result = example.run();
    }
    std::printf("%-16s %-44s %7g  %g, %s\n", example.fact, example.call, in_half, result.item(),
                dtype_name(result.dtype()).c_str());
    chapter.fact(std::string("value_") + example.fact, result.item());
    chapter.fact(std::string("dtype_") + example.fact, dtype_name(result.dtype()));
  }
  try {
    const hg::amp::Autocast autocast(hg::kCPU);
    static_cast<void>(hg::binary_cross_entropy(half(0.5), half(1)));
  } catch (const std::runtime_error& error) {
    std::printf("unsafe: %s\n", error.what());
  }
}

hg::nn::Sequential make_model() {
  hg::manual_seed(0);
  return hg::nn::Sequential(hg::nn::Linear(32, 64), hg::nn::GELU(), hg::nn::LayerNorm({64}),
                            hg::nn::Linear(64, 10));
}

hg::amp::OpLog log_of(const hg::amp::NamedModel& named, const std::function<void()>& forward) {
  hg::amp::OpLog log{named};
  const hg::OpObserverGuard guard(log);
  const hg::amp::Autocast autocast(hg::kCPU);
  forward();
  return log;
}

std::int64_t bytes_cast(const hg::amp::OpLog& log) {
  std::int64_t bytes = 0;
  for (const hg::amp::OpSummary& op : log.summary()) bytes += op.bytes_cast;
  return bytes;
}

void show_forward_pass(course::Chapter& chapter) {
  auto model = make_model();
  const hg::amp::OpLog log = log_of(hg::amp::NamedModel(model), [&] {
    static_cast<void>(hg::cross_entropy(model(hg::randn({16, 32})), hg::zeros({16}, hg::kInt64)));
  });
  std::printf("\nWhy each op of a small network ran where it ran:\n");
  for (const hg::amp::OpRecord& record : log.records()) std::cout << explain(record) << '\n';
  std::cout << '\n' << log << '\n';
  chapter.fact("ops", static_cast<double>(log.records().size()));
  chapter.fact("forward_bytes", static_cast<double>(bytes_cast(log)));
  chapter.picture("flow", draw_flow(log.records()));
}

/// A weight that is used eight times, as in a recurrent network.
void show_cache(course::Chapter& chapter) {
  const hg::nn::Linear cell(256, 256);
  const hg::amp::NamedModel named(cell);
  for (const bool caches : {true, false}) {
    hg::amp::OpLog log{named};
    const hg::OpObserverGuard guard(log);
    const hg::amp::Autocast autocast(hg::kCPU, {.cache_enabled = caches});
    hg::Tensor h = hg::randn({4, 256});
    for (int time = 0; time < 8; ++time) h = hg::tanh(cell(h));
    int made = 0, cached = 0;
    for (const hg::amp::OpRecord& record : log.records()) {
      for (const hg::amp::OperandRecord& operand : record.operands) {
        if (operand.parameter != "weight") continue;
        made += operand.cast == hg::amp::OperandCast::made ? 1 : 0;
        cached += operand.cast == hg::amp::OperandCast::cached ? 1 : 0;
      }
    }
    const std::string which = caches ? "with_cache" : "without_cache";
    std::printf("%s: the weight is cast %d times and found in the cache %d times\n",
                caches ? "cache on " : "cache off", made, cached);
    chapter.fact("casts_" + which, made);
    chapter.fact("bytes_" + which, static_cast<double>(bytes_cast(log)));
  }
}

/// A float32 mask beside float16 activations makes the product, and what follows, float32.
void show_stray_operand(course::Chapter& chapter) {
  const hg::nn::Linear first(256, 256), second(256, 256);
  const hg::Tensor x = hg::randn({64, 256}), mask = hg::ones({64, 256});
  std::printf("\n");
  for (const bool converts : {false, true}) {
    const hg::amp::OpLog log = log_of(hg::amp::NamedModel(), [&] {
      const hg::Tensor h = first(x);
      const hg::Tensor masked = h * (converts ? mask.to(h.dtype()) : mask);
      std::printf("%s mask: the product is %s\n", converts ? "float16" : "float32",
                  dtype_name(masked.dtype()).c_str());
      if (!converts) chapter.fact("dtype_masked", dtype_name(masked.dtype()));
      static_cast<void>(second(masked));
    });
    for (const hg::amp::OpRecord& record : log.records()) {
      if (record.is_promoted()) std::cout << explain(record) << '\n';
    }
    std::int64_t promoted = 0;
    for (const hg::amp::OpSummary& op : log.summary()) promoted += op.promoted;
    const std::string which = converts ? "half_mask" : "float_mask";
    chapter.fact("promoted_" + which, static_cast<double>(promoted));
    chapter.fact("bytes_" + which, static_cast<double>(bytes_cast(log)));
  }
}

/// The gradients have the dtype of what they belong to.
void show_gradients(course::Chapter& chapter) {
  const hg::nn::Linear layer(4, 4);
  hg::Tensor y;
  {
    const hg::amp::Autocast autocast(hg::kCPU);
    y = layer(hg::ones({1, 4}));
  }
  y.sum().backward();
  std::printf("\n");
  chapter.fact("dtype_output", dtype_name(y.dtype()));
  chapter.fact("dtype_weight", dtype_name(layer.weight.dtype()));
  chapter.fact("dtype_gradient", dtype_name(layer.weight.grad().dtype()));
}

}  // namespace

int main(int argc, char** argv) {
  course::Chapter chapter(
      argc, argv,
      {.slug = "07_autocast", .does = "Shows in which dtype autocast runs each op, and why."});
  return chapter.run([&] {
    show_classes(chapter);
    show_forward_pass(chapter);
    show_cache(chapter);
    show_stray_operand(chapter);
    show_gradients(chapter);
  });
}
