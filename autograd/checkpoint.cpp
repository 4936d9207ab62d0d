#include <halfgrad/autograd/checkpoint.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <unordered_set>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/core/error.h>
#include <halfgrad/core/random.h>

namespace halfgrad::utils {
namespace {

using detail::Tensors;
using halfgrad::detail::cast_rule;
using halfgrad::detail::Edge;
using halfgrad::detail::gradient_edge;
using halfgrad::detail::SavedTensor;

using Segment = std::function<Tensors(const Tensors&)>;

/// Sets the default generator back to `key` until the end of the scope.
class RandomScope {
 public:
  explicit RandomScope(RandomKey key) { default_generator().set_state(key); }
  ~RandomScope() { default_generator().set_state(previous_); }
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  RandomKey previous_ = default_generator().get_state();
};

std::vector<Edge> edges_of(const Tensors& tensors) {
  std::vector<Edge> edges;
  for (const Tensor& tensor : tensors) edges.push_back(gradient_edge(tensor));
  return edges;
}

/// The leaves that the gradients of `outputs` reach.
Tensors leaves_behind(const Tensors& outputs) {
  Tensors leaves;
  std::unordered_set<const void*> seen;
  std::vector<Edge> edges = edges_of(outputs);
  while (!edges.empty()) {
    const Edge edge = std::move(edges.back());
    edges.pop_back();
    if (edge.leaf != nullptr && seen.insert(edge.leaf.get()).second) leaves.emplace_back(edge.leaf);
    if (edge.node != nullptr && seen.insert(edge.node.get()).second) {
      edges.insert(edges.end(), edge.node->edges().begin(), edge.node->edges().end());
    }
  }
  return leaves;
}

/// Returns `input` as the result of a node that passes gradients on only if *open is true. While it
/// is false, a backward pass ends here, with the complete gradient of the result, and does not
/// reach the nodes that made `input`.
Tensor gate(const Tensor& input, const std::shared_ptr<bool>& open) {
  return halfgrad::detail::record("checkpoint", input.array(), std::span(&input, 1),
                                  [open](const Tensor& grad, std::span<Tensor> grad_inputs) {
                                    if (*open) grad_inputs[0] = grad;
                                  });
}

class CheckpointNode final : public halfgrad::detail::Node {
 public:
  /// `sources` are the function's inputs, then the leaves that it uses; `edges` are their edges.
  CheckpointNode(Segment function, std::vector<SavedTensor> sources, std::size_t inputs,
                 std::vector<Edge> edges, RandomKey random)
      : Node(edges),
        function_(std::move(function)),
        sources_(std::move(sources)),
        inputs_(inputs),
        edges_store_(std::move(edges)),
        rule_(cast_rule != nullptr ? cast_rule->copy() : nullptr),
        random_(random) {}

  const char* name() const override { return "checkpoint"; }
  // The function may call user code, which sees the cast rule of the thread that called backward.
  bool is_user_function() const override { return true; }
  void release_saved() override {
    for (SavedTensor& source : sources_) source.reset();
  }

  void backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) override {
    const bool create_graph = GradMode::is_enabled();
    const auto open = std::make_shared<bool>(false);
    const EnableGradGuard recording;
    Tensors sources;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      Tensor source = sources_[i].unpack(*this);
      if (i < inputs_ && edges()[i].defined()) {
        source = create_graph ? gate(source, open) : source.detach().requires_grad_();
      }
      sources.push_back(std::move(source));
    }
    // A source may have been frozen since the forward pass.
    const auto is_wanted = [&](std::size_t i) {
      return edges()[i].defined() && sources[i].requires_grad();
    };
    Tensors wanted;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (is_wanted(i)) wanted.push_back(sources[i]);
    }
    if (wanted.empty()) return;
    const Tensors outputs =
        run(Tensors(sources.begin(), sources.begin() + std::ptrdiff_t(inputs_)));

    Tensors roots, cotangents;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!grads[i].defined() || !outputs[i].requires_grad()) continue;
      roots.push_back(outputs[i]);
      cotangents.push_back(grads[i]);
    }
    // Hooks of weights run later: here a weight gets only a part of its gradient.
    const Tensors gradients = autograd::grad(roots, wanted, cotangents,
                                             {.retain_graph = true,
                                              .create_graph = create_graph,
                                              .allow_unused = true,
                                              .leaf_hooks = false});
    for (std::size_t i = 0, k = 0; i < sources.size(); ++i) {
      if (is_wanted(i)) grad_inputs[i] = gradients[k++];
    }
    *open = true;
  }

 private:
  Tensors run(const Tensors& inputs) {
    const auto rule = rule_ != nullptr ? rule_->copy() : nullptr;
    const halfgrad::detail::CastRuleScope as_before(rule.get());
    const RandomScope random(random_);
    Tensors result = function_(inputs);
    bool same = result.size() == outputs();
    for (std::size_t i = 0; same && i < result.size(); ++i) {
      same = result[i].sizes() == output(i).sizes && result[i].dtype() == output(i).dtype;
    }
    if (!same) {
      throw halfgrad::detail::Raised<std::runtime_error>(
          "checkpoint: expected a function that computes the same twice, got outputs of another "
          "number, shape or dtype in backward");
    }
    return result;
  }

  Segment function_;
  std::vector<SavedTensor> sources_;
  std::size_t inputs_;
  std::vector<Edge> edges_store_;
  std::unique_ptr<CastRule> rule_;
  RandomKey random_;
};

/// The next random key, which is not used up; while a graph is captured it has a base.
RandomKey next_key() { return default_generator().take(0); }

}  // namespace

Tensors detail::checkpoint(Segment function, const Tensors& inputs) {
  if (!GradMode::is_enabled()) return function(inputs);
  Tensors sources = inputs, detached;
  std::vector<SavedTensor> saved;
  for (const Tensor& input : inputs) {
    saved.emplace_back().save_input(input);
    detached.push_back(input.defined() ? input.detach() : input);
  }
  const RandomKey random = next_key();
  Tensors outputs = function(detached);
  if (random.base != nullptr && next_key().stream != random.stream) {
    throw halfgrad::detail::Raised<std::invalid_argument>(
        "checkpoint: expected a function without random numbers while a graph is captured");
  }
  for (const Tensor& leaf : leaves_behind(outputs)) {
    saved.emplace_back().save_input(leaf);
    sources.push_back(leaf);
  }
  for (Tensor& output : outputs) output = output.detach();
  if (!halfgrad::detail::any_requires_grad(sources)) return outputs;
  const auto node = std::make_shared<CheckpointNode>(std::move(function), std::move(saved),
                                                     inputs.size(), edges_of(sources), random);
  for (const Tensor& output : outputs) {
    output.is_floating_point() ? halfgrad::detail::set_history(output, node)
                               : void(node->add_output(output));
  }
  return outputs;
}

}  // namespace halfgrad::utils
