#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/autograd/tensor.h>

/// A function whose work on a GPU is captured in a graph and replayed, a whole training step for
/// example:
///
///   auto step = hg::capture([&](const hg::Tensor& x, const hg::Tensor& y) {
///     optimizer.zero_grad();
///     const hg::Tensor loss = nn::functional::cross_entropy(model(x), y);
///     loss.backward();
///     optimizer.step();
///     return loss;
///   });
///   for (const auto& [x, y] : loader) losses.add_(step(x, y));
///
/// Each call runs the function once:
///
///   first call    runs the function itself, which allocates optimizer states and caches
///   second call   captures the function in a Graph, and replays it
///   others        copy the arguments to where the graph reads them, and replay it
///
/// A graph belongs to shapes, dtypes and devices of the arguments: calls with others, such as the
/// last batch of an epoch, have a graph of their own. What the function reads beside its arguments
/// and changes on the host from call to call stays as it was at the capture. Learning rates are
/// exceptions: an optimizer sends them before each replay. On the CPU each call runs the function.
namespace halfgrad {

struct CaptureOptions {
  /// The device of the graph. By default that of the first argument on a GPU; else kCUDA if the
  /// first call used a GPU.
  std::optional<Device> device = std::nullopt;
};

namespace detail {

/// The part of Captured that depends neither on the function nor on the number of arguments.
class CapturedCalls {
 public:
  using Function = std::function<std::vector<Tensor>(std::span<const Tensor> arguments)>;

  CapturedCalls(Function function, const CaptureOptions& options);
  std::vector<Tensor> operator()(std::span<const Tensor> arguments) const;
  std::size_t graphs() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace detail

/// The result of capture(). A handle: copies share function and graphs.
template <class F>
class Captured {
 public:
  Captured(F function, const CaptureOptions& options)
      : function_(std::move(function)), options_(options) {}

  /// Runs the function once for `arguments`, which must not require gradients, and returns its
  /// result, detached. A result is overwritten by the next call with the same shapes; clone() keeps
  /// it.
  ///
  /// Throws what the function throws. While the function is captured, a call that would wait for
  /// the GPU, such as item(), throws std::runtime_error. The captured step has then not run, and
  /// the next call tries again.
  template <class... In>
  requires(std::is_same_v<In, Tensor>&&...) auto operator()(const In&... arguments) {
    using Result = std::invoke_result_t<F&, const In&...>;
    static_assert(std::is_void_v<Result> || std::is_same_v<Result, Tensor> ||
                      std::is_same_v<Result, std::vector<Tensor>>,
                  "capture: expected a function that returns nothing, a Tensor or a "
                  "std::vector<Tensor>");
    if (!calls_) calls_.emplace(adapted<In...>(std::index_sequence_for<In...>()), options_);
    const std::array<Tensor, sizeof...(In)> given{arguments...};
    std::vector<Tensor> results = (*calls_)(given);
    if constexpr (std::is_same_v<Result, Tensor>) {
      return results.front();
    } else if constexpr (!std::is_void_v<Result>) {
      return results;
    }
  }

  /// The number of graphs that have been captured.
  std::size_t graphs() const { return calls_ ? calls_->graphs() : 0; }

 private:
  template <class... In, std::size_t... I>
  detail::CapturedCalls::Function adapted(std::index_sequence<I...>) {
    return [function = function_](std::span<const Tensor> arguments) mutable {
      using Result = std::invoke_result_t<F&, const In&...>;
      if constexpr (std::is_void_v<Result>) {
        function(arguments[I]...);
        return std::vector<Tensor>();
      } else if constexpr (std::is_same_v<Result, Tensor>) {
        return std::vector<Tensor>{function(arguments[I]...)};
      } else {
        return function(arguments[I]...);
      }
    };
  }

  F function_;
  CaptureOptions options_;
  std::optional<detail::CapturedCalls> calls_;
};

/// Makes `function` a graph; see the top of this file.
template <class F>
Captured<F> capture(F function, const CaptureOptions& options = {}) {
  return {std::move(function), options};
}

}  // namespace halfgrad
