#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::utils {

namespace detail {

using Tensors = std::vector<Tensor>;
Tensors checkpoint(std::function<Tensors(const Tensors&)> function, const Tensors& inputs);

}  // namespace detail

/// Returns function(inputs...), a Tensor or a vector of them, without saving anything for backward:
/// backward runs the function once more (Chen, Xu, Zhang and Guestrin, "Training deep nets with
/// sublinear memory cost", 2016). A chain of checkpointed segments needs the memory of one segment.
///
///   x = utils::checkpoint(block, x);
///
/// The second run has the autocast region of the first, wherever backward is called. It draws the
/// same random values from default_generator(), so dropout drops the same elements. Gradients reach
/// the inputs and every other tensor that the function uses and that requires one. Pass non-leaf
/// tensors as inputs: the backward of one that the function captures runs twice. autograd::grad()
/// and create_graph work as for ops. The counterpart in PyTorch is torch.utils.checkpoint with
/// use_reentrant=False.
///
/// `function` must compute the same both times. It may run after the caller's scope has ended, so
/// capture by value. Backward throws std::runtime_error if an input, or a weight that the function
/// uses, was changed in place since, or if outputs have other shapes or dtypes than before. Drawing
/// random numbers in it while a Graph captures throws std::invalid_argument: a captured kernel
/// cannot repeat its draws.
template <class Function, std::same_as<Tensor>... In>
auto checkpoint(Function function, const In&... inputs) {
  using Result = std::invoke_result_t<const Function&, const In&...>;
  constexpr bool kSingle = std::is_same_v<Result, Tensor>;
  const auto run = [function = std::move(function)](const detail::Tensors& x) -> detail::Tensors {
    return [&]<std::size_t... I>(std::index_sequence<I...>)->detail::Tensors {
      if constexpr (kSingle) return {function(x[I]...)};
      if constexpr (!kSingle) return function(x[I]...);
    }
    (std::index_sequence_for<In...>{});
  };
  detail::Tensors outputs = detail::checkpoint(run, {inputs...});
  if constexpr (kSingle) return outputs.front();
  if constexpr (!kSingle) return outputs;
}

}  // namespace halfgrad::utils
