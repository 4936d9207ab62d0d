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

/// function(inputs...), a Tensor or a vector of them, without keeping what its backward needs:
/// backward runs the function once more (Chen, Xu, Zhang and Guestrin, "Training deep nets with
/// sublinear memory cost", 2016). Memory for all segments becomes memory for one.
///
///   x = utils::checkpoint(block, x);
///
/// The second run sees what the first saw: the autocast region, whichever backward is called in,
/// and the random numbers of default_generator(), so dropout drops the same. Gradients reach the
/// inputs and whatever else the function uses that requires one; of tensors with a history make
/// inputs, or that history's backward runs twice. autograd::grad() and create_graph work as for
/// ops. torch.utils.checkpoint with use_reentrant = False does the same.
///
/// `function` must compute the same both times and may run after the caller's scope has ended:
/// capture by value. Backward throws std::runtime_error if an input, or a weight that the function
/// uses, was changed in place since, or if outputs have other shapes or dtypes than before. Drawing
/// random numbers in it while a Graph captures throws std::invalid_argument: what a captured
/// kernel draws cannot be drawn again.
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
