#include <halfgrad/autograd/capture.h>

#include <algorithm>
#include <cstdint>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/launches.h>

namespace halfgrad::detail {
namespace {

bool fits(const Tensor& argument, const Tensor& captured) {
  return argument.sizes() == captured.sizes() && argument.dtype() == captured.dtype() &&
         argument.device() == captured.device();
}

std::vector<Tensor> detached(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> result;
  for (const Tensor& each : tensors) result.push_back(each.defined() ? each.detach() : each);
  return result;
}

void expect_constants(std::span<const Tensor> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].defined())
      fail("capture", "expected argument {} to be defined, got an undefined tensor", i);
    if (arguments[i].requires_grad()) {
      fail("capture",
           "expected arguments that do not require gradients, got argument {} that does; the graph "
           "reads a copy of it. Capture it in the function, or pass x.detach()",
           i);
    }
  }
}

}  // namespace

struct CapturedCalls::State {
  // The calls with arguments of these shapes. The graph reads `arguments` and writes `results`.
  struct Signature {
    std::vector<Tensor> arguments, results;
    std::unique_ptr<Graph> graph;

    bool takes(std::span<const Tensor> given) const {
      return std::equal(given.begin(), given.end(), arguments.begin(), arguments.end(), fits);
    }
    void copy_from(std::span<const Tensor> given) const {
      for (std::size_t i = 0; i < given.size(); ++i) arguments[i].array().copy_(given[i].array());
    }
  };

  Function function;
  CaptureOptions options;
  std::vector<Signature> signatures;

  // Runs the function, and remembers whether it used a GPU.
  std::vector<Tensor> run(std::span<const Tensor> arguments) {
    const std::int64_t before = launches;
    std::vector<Tensor> results = detached(function(arguments));
    if (!options.device && launches != before) options.device = device_of(arguments);
    return results;
  }

  static Device device_of(std::span<const Tensor> arguments) {
    for (const Tensor& each : arguments) {
      if (each.device().is_cuda()) return each.device();
    }
    return kCUDA;
  }

  void capture(Signature& signature, std::span<const Tensor> given) {
    std::vector<Tensor> arguments;
    for (const Tensor& each : given) arguments.push_back(each.clone());
    auto graph = std::make_unique<Graph>(*options.device);
    std::vector<Tensor> results;
    graph->capture([&] { results = detached(function(arguments)); });
    signature = {std::move(arguments), std::move(results), std::move(graph)};
  }
};

CapturedCalls::CapturedCalls(Function function, const CaptureOptions& options)
    : state_(std::make_shared<State>(State{std::move(function), options, {}})) {}

std::vector<Tensor> CapturedCalls::operator()(std::span<const Tensor> arguments) const {
  expect_constants(arguments);
  std::vector<State::Signature>& known = state_->signatures;
  const auto found = std::find_if(known.begin(), known.end(), [&](const State::Signature& each) {
    return each.takes(arguments);
  });
  if (found == known.end()) {
    std::vector<Tensor> results = state_->run(arguments);
    const std::optional<Device> device = state_->options.device;
    if (device && device->is_cuda()) {
      known.push_back({{arguments.begin(), arguments.end()}, {}, nullptr});
    }
    return results;
  }
  if (found->graph == nullptr) {
    state_->capture(*found, arguments);
  } else {
    found->copy_from(arguments);
  }
  found->graph->replay();
  return found->results;
}

std::size_t CapturedCalls::graphs() const {
  return static_cast<std::size_t>(
      std::count_if(state_->signatures.begin(), state_->signatures.end(),
                    [](const State::Signature& each) { return each.graph != nullptr; }));
}

}  // namespace halfgrad::detail
