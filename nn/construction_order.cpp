#include <halfgrad/nn/construction_order.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include <halfgrad/core/warning.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn::detail {
namespace {

bool same_bytes(const Array& a, const Array& b) {
  const Array left = a.to(kCPU).contiguous();
  const Array right = b.to(kCPU).contiguous();
  const auto bytes = static_cast<std::size_t>(left.numel()) * item_size(left.dtype());
  return bytes == 0 || std::memcmp(left.data(), right.data(), bytes) == 0;
}

}  // namespace

/// The modules that own parameters, in the order in which they should have drawn them.
class DrawingOrder {
 public:
  explicit DrawingOrder(std::initializer_list<const Module*> layers) {
    for (const Module* layer : layers) {
      if (layer == nullptr || layer->state_.use_count() > 1) continue;
      std::vector<Module> inside;
      for (const auto& module : layer->modules()) inside.push_back(*module);
      std::erase_if(inside, [](const Module& m) { return m.parameters(false).empty(); });
      std::ranges::stable_sort(inside, {}, stream);
      std::ranges::move(inside, std::back_inserter(modules_));
    }
  }

  bool holds() const { return std::ranges::is_sorted(modules_, {}, stream); }

  /// True if the generator has handed out keys only to these draws since the first of them.
  bool covers_all_keys() const {
    const RandomKey now = default_generator().get_state();
    const RandomKey first = first_key();
    std::uint64_t keys = 0;
    bool one_seed = true;
    for (const Module& module : modules_) {
      keys += module.initialisation().keys;
      one_seed = one_seed && module.initialisation().first.seed == now.seed;
    }
    return one_seed && first.stream + keys == now.stream;
  }

  /// True if every parameter still has the bits that its draw produced.
  bool is_untouched() const { return std::ranges::all_of(modules_, is_as_drawn); }

  void repeat() const {
    default_generator().set_state(first_key());
    for (const Module& module : modules_) {
      Initialisation& drawn = module.initialisation();
      drawn.first = default_generator().get_state();
      if (drawn.draw) drawn.draw();
    }
  }

 private:
  static std::uint64_t stream(const Module& module) { return module.initialisation().first.stream; }

  RandomKey first_key() const {
    return std::ranges::min_element(modules_, {}, stream)->initialisation().first;
  }

  /// Draws again, compares, and restores the current values.
  static bool is_as_drawn(const Module& module) {
    const Initialisation& drawn = module.initialisation();
    if (!drawn.draw) return true;
    const std::vector<Tensor> parameters = module.parameters(false);
    std::vector<Array> before;
    for (const Tensor& parameter : parameters) before.push_back(parameter.array().clone());
    const RandomKey now = default_generator().get_state();
    default_generator().set_state(drawn.first);
    drawn.draw();
    default_generator().set_state(now);
    bool same = true;
    for (std::size_t i = 0; i < before.size(); ++i) {
      same = same && same_bytes(before[i], parameters[i].array());
      parameters[i].array().copy_(before[i]);
    }
    return same;
  }

  std::vector<Module> modules_;
};

void initialise_in_order(std::initializer_list<const Module*> layers) {
  const DrawingOrder order(layers);
  if (order.holds()) return;
  if (order.covers_all_keys() && order.is_untouched()) return order.repeat();
  halfgrad::detail::warn(
      "Sequential: expected layers that were initialised from left to right, got a later one "
      "first; if they are made in the argument list, their weights depend on the compiler: write "
      "Sequential{...} with braces, or make each layer in a statement of its own");
}

}  // namespace halfgrad::nn::detail
